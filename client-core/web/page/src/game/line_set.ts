/** Coloured lines that change from frame to frame, in one buffer that only grows. */

import * as THREE from "three";

/** Length of the pieces of a grid's lines, in steps of the grid. */
const PIECE_STEPS = 2;
/** Less than a grid's smallest step. */
const ROUNDING_M = 1e-6;

export class LineSet {
  readonly lines: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  #places = new THREE.BufferAttribute(new Float32Array(256 * 6), 3);
  #count = 0;

  constructor(colour: number, opacity = 1) {
    const material = new THREE.LineBasicMaterial({
      color: colour,
      transparent: opacity < 1,
      // Light behind lines shines through them.
      depthWrite: opacity === 1,
      opacity,
    });
    this.lines = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    this.lines.frustumCulled = false;
    this.#attach();
  }

  begin(): void {
    this.#count = 0;
  }

  add(x: number, y: number, z: number, toX: number, toY: number, toZ: number): void {
    if (2 * (this.#count + 1) > this.#places.count) this.#grow();
    this.#places.setXYZ(2 * this.#count, x, y, z);
    this.#places.setXYZ(2 * this.#count + 1, toX, toY, toZ);
    this.#count += 1;
  }

  addSquare(west: number, south: number, width: number, height: number, z: number): void {
    const [east, north] = [west + width, south + height];
    this.add(west, south, z, east, south, z);
    this.add(east, south, z, east, north, z);
    this.add(east, north, z, west, north, z);
    this.add(west, north, z, west, south, z);
  }

  /**
   * Lines every `step` metres over a rectangle. They are in pieces: not every browser draws a line
   * whose one end is behind the viewer.
   */
  addGrid(west: number, south: number, width: number, height: number, step: number, z: number) {
    const [east, north] = [west + width, south + height];
    const piece = PIECE_STEPS * step;
    for (let x = west; x <= east + ROUNDING_M; x += step) {
      for (let y = south; y < north; y += piece) {
        this.add(x, y, z, x, Math.min(y + piece, north), z);
      }
    }
    for (let y = south; y <= north + ROUNDING_M; y += step) {
      for (let x = west; x < east; x += piece) {
        this.add(x, y, z, Math.min(x + piece, east), y, z);
      }
    }
  }

  end(): void {
    const { geometry } = this.lines;
    geometry.setDrawRange(0, 2 * this.#count);
    // Nothing to draw would be a draw call, too.
    this.lines.visible = this.#count > 0;
    this.#places.needsUpdate = true;
  }

  dispose(): void {
    this.lines.removeFromParent();
    this.lines.geometry.dispose();
    this.lines.material.dispose();
  }

  #grow(): void {
    const larger = new Float32Array(2 * this.#places.array.length);
    larger.set(this.#places.array);
    this.#places = new THREE.BufferAttribute(larger, 3);
    this.#attach();
  }

  #attach(): void {
    // A buffer on the graphics card cannot grow: the old one is freed.
    this.lines.geometry.dispose();
    this.#places.setUsage(THREE.DynamicDrawUsage);
    this.lines.geometry.setAttribute("position", this.#places);
  }
}
