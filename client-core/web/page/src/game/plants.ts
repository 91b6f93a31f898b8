/** Bushes, trees and the wood around a map of open land: a draw call for each sort. */

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { StaticObstacle } from "../ambit/ambit.js";
import type { Extent } from "../core/map_view.js";
import { type Plant, plantPlaces, type PlantSort } from "../core/plants.js";
import { seededUnits } from "../core/seeded.js";
import { coloured, instances, noteChange, unshared } from "./three_parts.js";

/** Plants within this distance of the viewer are drawn, chosen again after each step of it. */
const SEEN_M = 75;
const STEP_M = 8;
const SORTS: readonly PlantSort[] = ["bush", "tree", "fir"];
const LEAVES = { light: 0x7fae4e, dark: 0x2b4a36 } as const;
const NEEDLES = { light: 0x5c9c5e, dark: 0x234234 } as const;

export class Plants {
  readonly group = new THREE.Group();
  readonly #material = new THREE.MeshStandardMaterial({
    roughness: 1,
    vertexColors: true,
    flatShading: true,
  });
  readonly #meshes: ReadonlyMap<PlantSort, THREE.InstancedMesh>;
  readonly #matrix = new THREE.Matrix4();
  readonly #colour = new THREE.Color();
  readonly #scale = new THREE.Vector3();
  #places: readonly Plant[] = [];
  #isDark = false;
  #around: readonly [x: number, y: number] | undefined;

  /** At most `most` of each sort are drawn. */
  constructor(private readonly most: number) {
    const shapes = { bush: bush(), tree: tree(), fir: fir() };
    this.#meshes = new Map(
      SORTS.map((sort) => {
        const mesh = instances(shapes[sort], this.#material, most, true);
        mesh.count = 0;
        return [sort, mesh];
      }),
    );
    this.group.add(...this.#meshes.values());
  }

  show(extent: Extent, obstacles: readonly StaticObstacle[]): void {
    this.#places = plantPlaces(extent, obstacles);
    this.#around = undefined;
  }

  paint(isDark: boolean): void {
    this.#isDark = isDark;
    this.#around = undefined;
  }

  /** Only those around the viewer are drawn, however large the map is. */
  follow(x: number, y: number): void {
    const [oldX, oldY] = this.#around ?? [Infinity, Infinity];
    if (Math.hypot(x - oldX, y - oldY) < STEP_M) return;
    this.#around = [x, y];
    for (const mesh of this.#meshes.values()) mesh.count = 0;
    for (const plant of this.#places) {
      const mesh = this.#meshes.get(plant.sort);
      if (!mesh || mesh.count >= this.most) continue;
      if (Math.hypot(plant.x - x, plant.y - y) > SEEN_M) continue;
      this.#plant(mesh, plant);
      mesh.count += 1;
    }
    for (const mesh of this.#meshes.values()) {
      // Nothing to draw would be a draw call, too.
      mesh.visible = mesh.count > 0;
      noteChange(mesh);
    }
  }

  #plant(mesh: THREE.InstancedMesh, { sort, x, y, z, size, turn }: Plant): void {
    const chance = (turn * 7.3) % 1;
    const height = size * (0.9 + 0.35 * chance);
    this.#matrix.makeRotationZ(turn).scale(this.#scale.set(size, size, height));
    mesh.setMatrixAt(mesh.count, this.#matrix.setPosition(x, y, z));
    const colours = sort === "fir" ? NEEDLES : LEAVES;
    this.#colour.set(this.#isDark ? colours.dark : colours.light);
    // Some are more yellow than others.
    this.#colour.offsetHSL(0.035 * (0.5 - chance), 0, 0.05 * (chance - 0.5));
    mesh.setColorAt(mesh.count, this.#colour);
  }
}

/** Half as wide as 1; the ground is at 0. */
function bush(): THREE.BufferGeometry {
  const leaves = [
    crown(0.62, -0.25, 0.1, 0.45, 3),
    crown(0.55, 0.4, 0.25, 0.4, 5),
    crown(0.5, 0.1, -0.4, 0.36, 7),
  ];
  return mergeGeometries(leaves.map((part) => painted(part, 1)));
}

function tree(): THREE.BufferGeometry {
  const trunk = new THREE.CylinderGeometry(0.09, 0.16, 1.3, 7).rotateX(Math.PI / 2);
  return mergeGeometries([
    painted(trunk.translate(0, 0, 0.65), [0.32, 0.2, 0.12]),
    painted(crown(0.72, -0.18, 0.05, 1.5, 11), 1),
    painted(crown(0.58, 0.4, 0.22, 1.36, 13), 0.86),
    painted(crown(0.55, 0.08, -0.4, 1.42, 17), 0.92),
    painted(crown(0.5, 0, 0.1, 2.02, 19), 1.2),
  ]);
}

function fir(): THREE.BufferGeometry {
  const trunk = new THREE.CylinderGeometry(0.1, 0.13, 0.6, 7).rotateX(Math.PI / 2);
  const tier = (radius: number, z: number, shade: number) =>
    painted(new THREE.ConeGeometry(radius, 1.05, 9).rotateX(Math.PI / 2).translate(0, 0, z), shade);
  return mergeGeometries([
    painted(trunk.translate(0, 0, 0.3), [0.28, 0.18, 0.11]),
    tier(0.82, 0.95, 0.8),
    tier(0.66, 1.5, 1),
    tier(0.46, 2.05, 1.2),
  ]);
}

/** A ball with corners that are not all equally far out. */
function crown(radius: number, x: number, y: number, z: number, seed: number) {
  const ball = new THREE.IcosahedronGeometry(radius, 1);
  const places = ball.getAttribute("position");
  for (let corner = 0; corner < places.count; corner += 1) {
    const [a, b, c] = [places.getX(corner), places.getY(corner), places.getZ(corner)];
    // By the place, so that corners of neighbouring faces stay together.
    const sum = Math.round(64 * (a + 2 * b + 3 * c)) & 0xff;
    const share = 0.86 + 0.26 * seededUnits(sum + 256 * seed)();
    places.setXYZ(corner, share * a, share * b, share * c);
  }
  return ball.translate(x, y, z);
}

/** A share of the plant's colour, or one of its own; darker below. */
function painted(
  geometry: THREE.BufferGeometry,
  shade: number | readonly [red: number, green: number, blue: number],
): THREE.BufferGeometry {
  const plain = unshared(geometry);
  plain.computeBoundingBox();
  const { min, max } = plain.boundingBox ?? new THREE.Box3();
  const places = plain.getAttribute("position");
  const own = typeof shade === "number" ? [shade, shade, shade] : shade;
  return coloured(plain, (corner) => {
    const height = (places.getZ(corner) - min.z) / Math.max(max.z - min.z, 0.01);
    return own.map((part) => (0.62 + 0.48 * height) * part);
  });
}
