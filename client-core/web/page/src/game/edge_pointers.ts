/**
 * Pointers along the edge of the picture to whoever is in sight and outside it: those with a name,
 * the nearest ones; whoever has just hit the player first.
 */

import type { Frame } from "../ambit/ambit.js";
import type { Point, ViewCamera } from "../core/camera.js";
import { type Attackers, type EdgePlace, edgePlace } from "../core/edge.js";
import { el, setHidden } from "../dom.js";

const MAX_POINTERS = 6;

export class EdgePointers {
  readonly element = el("div", { class: "edge-pointers", "aria-hidden": "true" });
  readonly #attackers: Attackers;
  readonly #pointers = Array.from({ length: MAX_POINTERS }, () =>
    el("div", { class: "edge-pointer", hidden: true }),
  );
  /** The nearest objects so far, and how far they are; those that have hit come first. */
  readonly #indices = new Int32Array(MAX_POINTERS);
  readonly #distances = new Float64Array(MAX_POINTERS);
  readonly #at: Point = { x: 0, y: 0, z: 0 };
  readonly #place: EdgePlace = { x: 0, y: 0, angle: 0 };

  constructor(attackers: Attackers) {
    this.#attackers = attackers;
    this.element.append(...this.#pointers);
  }

  update(now: number, frame: Frame, camera: ViewCamera): void {
    const { avatar } = frame;
    let count = 0;
    for (let index = 0; avatar >= 0 && index < frame.count; index += 1) {
      if (index === avatar || frame.label(index) === undefined) continue;
      const [x, y] = [frame.x(index), frame.y(index)];
      if (!edgePlace(camera, x, y, frame.z(index), this.#at, this.#place)) continue;
      const away = Math.hypot(x - frame.x(avatar), y - frame.y(avatar));
      const hasHit = this.#attackers.has(now, frame.id(index));
      count = this.#insert(count, index, hasHit ? away - 1e6 : away);
    }
    this.#pointers.forEach((pointer, place) => {
      setHidden(pointer, place >= count);
      if (place < count) this.#show(pointer, now, frame, camera, this.#indices[place] as number);
    });
  }

  /** Sorted in; the farthest one falls out. */
  #insert(count: number, index: number, away: number): number {
    const [indices, distances] = [this.#indices, this.#distances];
    let place = Math.min(count, MAX_POINTERS - 1);
    if (count === MAX_POINTERS && away >= (distances[place] as number)) return count;
    for (; place > 0 && away < (distances[place - 1] as number); place -= 1) {
      indices[place] = indices[place - 1] as number;
      distances[place] = distances[place - 1] as number;
    }
    indices[place] = index;
    distances[place] = away;
    return Math.min(count + 1, MAX_POINTERS);
  }

  #show(pointer: HTMLElement, now: number, frame: Frame, camera: ViewCamera, index: number): void {
    const place = this.#place;
    edgePlace(camera, frame.x(index), frame.y(index), frame.z(index), this.#at, place);
    const hasHit = this.#attackers.has(now, frame.id(index));
    pointer.classList.toggle("attacker", hasHit);
    const { style } = pointer;
    style.left = `${(50 * (1 + place.x)).toFixed(2)}%`;
    style.top = `${(50 * (1 - place.y)).toFixed(2)}%`;
    style.rotate = `${(-place.angle).toFixed(3)}rad`;
    style.color = hasHit ? "" : frame.kind(index).look.colour;
  }
}
