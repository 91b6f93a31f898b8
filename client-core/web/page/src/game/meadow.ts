/** Grass and flowers on ground that has the page's own colour: by them movement is seen. */

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Extent } from "../core/map_view.js";
import { seededUnits } from "../core/seeded.js";

const MAX_TUFTS = 900;
const TUFTS_PER_M2 = 0.12;
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
    this.mesh = new THREE.InstancedMesh(tuft(), material, MAX_TUFTS);
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
  }

  /** The same meadow on the same map. */
  show({ west, south, width, height }: Extent, isDark: boolean): void {
    const unit = seededUnits(11);
    const matrix = new THREE.Matrix4();
    const scale = new THREE.Vector3();
    const colour = new THREE.Color();
    const colours = isDark ? COLOURS.dark : COLOURS.light;
    const count = Math.min(MAX_TUFTS, Math.round(TUFTS_PER_M2 * width * height));
    for (let index = 0; index < count; index += 1) {
      const size = 0.16 + 0.26 * unit();
      matrix.makeRotationZ(2 * Math.PI * unit()).scale(scale.setScalar(size));
      matrix.setPosition(west + width * unit(), south + height * unit(), 0);
      this.mesh.setMatrixAt(index, matrix);
      const choice = unit();
      const grasses = colours.length - 1;
      const at = choice > FLOWERS ? grasses : Math.floor((choice / FLOWERS) * grasses);
      this.mesh.setColorAt(index, colour.set(colours[at] ?? 0));
    }
    this.mesh.count = count;
    this.mesh.visible = true;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
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
