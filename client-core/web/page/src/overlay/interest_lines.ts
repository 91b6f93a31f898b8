/** The cells around the avatar and both zones of interest, drawn on the ground. */

import * as THREE from "three";
import { type InterestSettings, type Square, ViewerCell } from "../core/interest.js";
import { LineSet } from "../game/line_set.js";

const HEIGHT_M = 0.06;

export class InterestLines {
  readonly group = new THREE.Group();
  readonly #cells = new LineSet(0x3a6ea5, 0.35);
  readonly #outer = new LineSet(0x2f8fff);
  readonly #inner = new LineSet(0x6fd0ff);
  readonly #square: Square = { west: 0, south: 0, edge: 0 };
  #settings: InterestSettings = { cell: 10, inner: 1, outer: 2, marginM: 0 };
  #cell = new ViewerCell();

  constructor() {
    this.group.add(this.#cells.lines, this.#outer.lines, this.#inner.lines);
    this.group.visible = false;
  }

  /** Draws again at the next call of `follow`. */
  setSettings(settings: InterestSettings): void {
    this.#settings = settings;
    this.#cell = new ViewerCell();
  }

  follow(x: number, y: number): void {
    const { cell, inner, outer } = this.#settings;
    const square = this.#square;
    if (!this.#cell.follow(x, y, this.#settings)) return;
    this.#cell.zone(outer + 1, cell, square);
    this.#cells.begin();
    this.#cells.addGrid(square.west, square.south, square.edge, square.edge, cell, HEIGHT_M);
    this.#cells.end();
    this.#draw(this.#outer, outer);
    this.#draw(this.#inner, inner);
  }

  #draw(lines: LineSet, radius: number): void {
    const square = this.#square;
    this.#cell.zone(radius, this.#settings.cell, square);
    lines.begin();
    // Lines are one pixel wide: three of them differ from the cells.
    for (const inset of [0, 0.06, 0.12]) {
      const edge = square.edge - 2 * inset;
      lines.addSquare(square.west + inset, square.south + inset, edge, edge, HEIGHT_M);
    }
    lines.end();
  }
}
