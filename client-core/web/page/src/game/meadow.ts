/**
 * Grass, flowers and pebbles on ground that has the page's own colour: by them movement is seen.
 *
 * A square of them repeats; nine of it are around the viewer, however large the map is.
 */

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { seededUnits } from "../core/seeded.js";
import { coloured, instances, noteChange } from "./three_parts.js";

const SQUARE_M = 44;
const SQUARES = [-1, 0, 1];
const BLADES = 7;
/** Tufts and flowers stand together: the number of such places in a square, and their spread. */
const PLACES = 70;
const SPREAD_M = 2.6;
/** Of all in a square; fewer where each is drawn by the processor. */
const COUNTS = { grass: 1_150, flowers: 110, pebbles: 60 } as const;
const CHEAP_SHARE = 0.12;
/** By day and by night. */
const COLOURS = {
  light: {
    grass: [0x7da24f, 0x8bb258, 0x6c9247, 0x98ba5e],
    flowers: [0xf7efd0, 0xf4d35e, 0xe9a6b8, 0xb7a6e8],
    pebbles: [0x9a958c, 0x857f76, 0xb0aa9f],
  },
  dark: {
    grass: [0x4a6b4c, 0x547852, 0x416045, 0x5d8257],
    flowers: [0x8f8a70, 0x8c7a3c, 0x855f6b, 0x6a6288],
    pebbles: [0x4a5054, 0x3e4448, 0x565c60],
  },
} as const;

type Sort = keyof typeof COUNTS;
const SORTS = ["grass", "flowers", "pebbles"] as const;
const SHAPES: Readonly<Record<Sort, () => THREE.BufferGeometry>> = { grass, flowers, pebbles };

export class Meadow {
  readonly group = new THREE.Group();
  readonly #meshes: readonly (readonly [Sort, THREE.InstancedMesh])[];

  constructor(isCheap: boolean) {
    const share = isCheap ? CHEAP_SHARE : 1;
    const material = new THREE.MeshBasicMaterial({ side: THREE.DoubleSide, vertexColors: true });
    this.#meshes = SORTS.map((sort) => {
      const count = Math.round(COUNTS[sort] * share) * SQUARES.length ** 2;
      return [sort, instances(SHAPES[sort](), material, count, false)];
    });
    this.group.visible = false;
    this.group.add(...this.#meshes.map(([, mesh]) => mesh));
  }

  /** The same one for all players. */
  show(isDark: boolean): void {
    const unit = seededUnits(11);
    const places = Array.from({ length: PLACES }, () => [unit(), unit()] as const);
    const matrix = new THREE.Matrix4();
    const scale = new THREE.Vector3();
    const colour = new THREE.Color();
    const around = () => SPREAD_M * (unit() + unit() - 1);
    for (const [sort, mesh] of this.#meshes) {
      const colours = COLOURS[isDark ? "dark" : "light"][sort];
      const perSquare = mesh.count / SQUARES.length ** 2;
      let index = 0;
      for (let plant = 0; plant < perSquare; plant += 1) {
        const [px, py] = places[Math.floor(unit() * PLACES)] ?? [0, 0];
        // Every other one stands for itself.
        const alone = unit() < 0.4;
        const x = SQUARE_M * ((alone ? unit() : px) - 0.5) + around();
        const y = SQUARE_M * ((alone ? unit() : py) - 0.5) + around();
        matrix.makeRotationZ(2 * Math.PI * unit()).scale(scale.setScalar(0.65 + 0.7 * unit()));
        colour.set(colours[Math.floor(unit() * colours.length)] ?? 0);
        for (const east of SQUARES) {
          for (const north of SQUARES) {
            matrix.setPosition(x + SQUARE_M * east, y + SQUARE_M * north, 0);
            mesh.setMatrixAt(index, matrix);
            mesh.setColorAt(index, colour);
            index += 1;
          }
        }
      }
      noteChange(mesh);
    }
    this.group.visible = true;
  }

  /** Is where the viewer looks; by whole squares, so that nothing is seen to move. */
  follow(x: number, y: number): void {
    const near = (metres: number) => SQUARE_M * Math.round(metres / SQUARE_M);
    this.group.position.set(near(x), near(y), 0);
  }
}

/** Blades around a middle, each of which leans outwards; lighter at their tips. */
function grass(): THREE.BufferGeometry {
  const blades = Array.from({ length: BLADES }, (_, blade) => {
    const high = 0.28 + 0.16 * ((blade * 0.618) % 1);
    const out = 0.16 + 0.1 * ((blade * 0.414) % 1);
    const corners = [[0.03, -0.035, 0], [0.03, 0.035, 0], [out, 0, high]] as const;
    return triangle(corners, [0.6, 0.6, 1.05]).rotateZ((2 * Math.PI * blade) / BLADES);
  });
  return mergeGeometries(blades);
}

/** Five petals on a stalk. */
function flowers(): THREE.BufferGeometry {
  const petals = Array.from({ length: 5 }, (_, petal) => {
    const corners = [[0, 0, 0.2], [0.12, -0.06, 0.24], [0.12, 0.06, 0.24]] as const;
    return triangle(corners, [0.8, 1.1, 1.1]).rotateZ((2 * Math.PI * petal) / 5);
  });
  const stalk = triangle([[-0.012, 0, 0], [0.012, 0, 0], [0, 0, 0.2]], [0.35, 0.35, 0.5]);
  return mergeGeometries([...petals, stalk]);
}

function pebbles(): THREE.BufferGeometry {
  const stone = new THREE.IcosahedronGeometry(0.15, 0).scale(1.25, 1, 0.6).translate(0, 0, 0.03);
  // Its faces are in the light of the sun or not.
  const normals = stone.getAttribute("normal");
  coloured(stone, (corner) => {
    const light = 0.72 + 0.3 * normals.getZ(corner) - 0.16 * normals.getX(corner);
    return [light, light, light];
  });
  stone.deleteAttribute("uv");
  stone.deleteAttribute("normal");
  return stone;
}

function triangle(
  corners: readonly (readonly [number, number, number])[],
  lights: readonly number[],
): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(corners.flat(), 3));
  return coloured(geometry, (corner) => Array<number>(3).fill(lights[corner] ?? 0));
}
