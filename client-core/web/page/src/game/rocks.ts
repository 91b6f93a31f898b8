/** Rocks in space: irregular, with facets and craters, slowly turning; two shapes for all. */

import * as THREE from "three";
import type { StaticObstacle } from "../ambit/ambit.js";
import { seededUnits } from "../core/seeded.js";
import { instances, noteChange } from "./three_parts.js";

const SEEDS = [31, 47];
/** Triangles of a shape: 20 x (this + 1)². */
const DETAIL = 4;
const CRATERS = 7;
/** Radians a second, at least and at most. */
const TURN_PER_S = [0.04, 0.16] as const;

export class Rocks {
  readonly group = new THREE.Group();
  readonly #material = new THREE.MeshStandardMaterial({
    roughness: 0.95,
    vertexColors: true,
    flatShading: true,
  });
  readonly #geometries = SEEDS.map(rockOf);
  #meshes: THREE.InstancedMesh[] = [];
  #rocks: readonly StaticObstacle[] = [];
  readonly #still = matchMedia("(prefers-reduced-motion: reduce)");
  readonly #axis = new THREE.Vector3();
  readonly #turn = new THREE.Quaternion();
  readonly #place = new THREE.Vector3();
  readonly #scale = new THREE.Vector3();
  readonly #matrix = new THREE.Matrix4();

  show(rocks: readonly StaticObstacle[]): void {
    for (const mesh of this.#meshes) {
      mesh.removeFromParent();
      mesh.dispose();
    }
    this.#rocks = rocks;
    this.#meshes = this.#geometries.map((geometry, shape) => {
      const count = rocks.filter((_, index) => index % SEEDS.length === shape).length;
      const mesh = instances(geometry, this.#material, count, true);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.visible = count > 0;
      return mesh;
    });
    this.group.add(...this.#meshes);
    this.turn(0);
  }

  /** They stand still for players who want little motion. */
  turn(seconds: number): void {
    const time = this.#still.matches ? 0 : seconds;
    this.#rocks.forEach(({ centre, half }, index) => {
      const chance = (index * 0.618034) % 1;
      const other = (index * 0.754878) % 1;
      const [slow, fast] = TURN_PER_S;
      this.#axis.set(Math.cos(9 * chance), Math.sin(7 * other), chance - 0.5).normalize();
      const speed = (slow + (fast - slow) * other) * (index % 3 === 0 ? -1 : 1);
      this.#turn.setFromAxisAngle(this.#axis, 6.3 * chance + speed * time);
      this.#matrix.compose(
        this.#place.set(...centre),
        this.#turn,
        this.#scale.setScalar(Math.max(half[0], half[1])),
      );
      const mesh = this.#meshes[index % SEEDS.length];
      mesh?.setMatrixAt(Math.floor(index / SEEDS.length), this.#matrix);
    });
    for (const mesh of this.#meshes) mesh.instanceMatrix.needsUpdate = true;
  }

  paint(colourOf: (rock: StaticObstacle) => number): void {
    const colour = new THREE.Color();
    this.#rocks.forEach((rock, index) => {
      // No two are of exactly the same stone.
      colour.set(colourOf(rock)).multiplyScalar(0.85 + 0.4 * ((index * 0.618034) % 1));
      this.#meshes[index % SEEDS.length]?.setColorAt(Math.floor(index / SEEDS.length), colour);
    });
    this.#meshes.forEach(noteChange);
  }
}

/** About a ball of radius 1: what stops ships is round, so it is nowhere far off. */
function rockOf(seed: number): THREE.BufferGeometry {
  const unit = seededUnits(seed);
  const direction = () => {
    const [z, turn] = [2 * unit() - 1, 2 * Math.PI * unit()];
    const across = Math.sqrt(1 - z * z);
    return new THREE.Vector3(across * Math.cos(turn), across * Math.sin(turn), z);
  };
  const waves = Array.from({ length: 7 }, (_, wave) => ({
    way: direction().multiplyScalar(1.6 + wave),
    phase: 6 * unit(),
    height: 0.1 / (1 + 0.55 * wave),
  }));
  const craters = Array.from({ length: CRATERS }, () => ({
    way: direction(),
    wide: 0.2 + 0.3 * unit(),
  }));
  const geometry = new THREE.IcosahedronGeometry(1, DETAIL);
  const places = geometry.getAttribute("position");
  const colours = new Float32Array(3 * places.count);
  const at = new THREE.Vector3();
  for (let corner = 0; corner < places.count; corner += 1) {
    at.fromBufferAttribute(places, corner).normalize();
    let height = 1;
    for (const { way, phase, height: high } of waves) {
      height += high * Math.sin(at.dot(way) + phase);
    }
    let shade = 0.8 + 0.2 * Math.sin(5 * at.x + 3 * at.y + seed);
    for (const { way, wide } of craters) {
      const away = Math.acos(Math.min(Math.max(at.dot(way), -1), 1)) / wide;
      if (away < 1) {
        height -= 0.13 * (1 - away * away);
        shade *= 0.55 + 0.45 * away;
      } else if (away < 1.3) {
        height += 0.05 * (1.3 - away);
        shade *= 1.12;
      }
    }
    places.setXYZ(corner, at.x * height, at.y * height, at.z * height);
    colours.fill(shade, 3 * corner, 3 * corner + 3);
  }
  geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  geometry.deleteAttribute("uv");
  geometry.computeVertexNormals();
  return geometry;
}
