/**
 * Grass and flowers on ground that has the page's own colour: by them movement is seen.
 *
 * A square of it repeats; nine of them are around the viewer, however large the map is.
 */

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { seededUnits } from "../core/seeded.js";

const SQUARE_M = 44;
const TUFTS = 200;
const SQUARES = [-1, 0, 1];
const BLADES = 5;
/** Beyond this share of all there are flowers. */
const FLOWERS = 0.94;
/** Of grass by day and by night, and of a few flowers. */
const COLOURS = {
  light: [0x6f9455, 0x7ba05c, 0x86ab66, 0x678c4e, 0xf4e7a4],
  dark: [0x2c4232, 0x334b39, 0x283c2e, 0x304636, 0x6b6a4c],
};

export class Meadow {
  readonly mesh: THREE.InstancedMesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>;

  constructor() {
    const material = new THREE.MeshBasicMaterial({ side: THREE.DoubleSide });
    this.mesh = new THREE.InstancedMesh(tuft(), material, TUFTS * SQUARES.length ** 2);
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
  }

  /** The same one for everybody. */
  show(isDark: boolean): void {
    const unit = seededUnits(11);
    const matrix = new THREE.Matrix4();
    const scale = new THREE.Vector3();
    const colour = new THREE.Color();
    const colours = isDark ? COLOURS.dark : COLOURS.light;
    const grasses = colours.length - 1;
    let index = 0;
    for (let tuft = 0; tuft < TUFTS; tuft += 1) {
      const choice = unit();
      const at = choice > FLOWERS ? grasses : Math.floor((choice / FLOWERS) * grasses);
      matrix.makeRotationZ(2 * Math.PI * unit()).scale(scale.setScalar(0.16 + 0.26 * unit()));
      const [x, y] = [SQUARE_M * (unit() - 0.5), SQUARE_M * (unit() - 0.5)];
      for (const east of SQUARES) {
        for (const north of SQUARES) {
          matrix.setPosition(x + SQUARE_M * east, y + SQUARE_M * north, 0);
          this.mesh.setMatrixAt(index, matrix);
          this.mesh.setColorAt(index, colour.set(colours[at] ?? 0));
          index += 1;
        }
      }
    }
    this.mesh.visible = true;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  /** Is where the viewer looks; by whole squares, so that nothing is seen to move. */
  follow(x: number, y: number): void {
    const near = (metres: number) => SQUARE_M * Math.round(metres / SQUARE_M);
    this.mesh.position.set(near(x), near(y), 0);
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.dispose();
  }
}

/** Blades around a middle, each of which leans outwards. */
function tuft(): THREE.BufferGeometry {
  const blades = Array.from({ length: BLADES }, (_, blade) => {
    const geometry = new THREE.BufferGeometry();
    const corners = Float32Array.of(0.1, -0.13, 0, 0.1, 0.13, 0, 0.75, 0, 0.8);
    geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
    return geometry.rotateZ((2 * Math.PI * blade) / BLADES);
  });
  return mergeGeometries(blades);
}
