/**
 * Pointers towards objects that are in sight and outside the picture: the nearest ones with a name,
 * one for each direction. An object that has just hit the player comes first.
 */

import type { Frame } from "../ambit/ambit.js";
import type { Point, ViewCamera } from "../core/camera.js";
import { type Attackers, type EdgePlace, edgePlace } from "../core/edge.js";
import { el, note, setHidden, setText, span } from "../dom.js";
import { texts } from "../texts.js";

const MAX_POINTERS = 4;
/** Of half the picture: a pointer that is closer to a nearer one's says nothing new. */
const APART = 0.16;
/** From this cosine of its angle on, an arrow is at the left or at the right. */
const BESIDE = 0.6;
/** From the middle of an arrow to its label. */
const BESIDE_PX = 20;
/** The room of a label and an arrow beside it. */
const LABEL_PX = { wide: 160, high: 26 } as const;
/** Others come into sight a moment after the start. */
const ALONE_MS = 1_200;

export class EdgePointers {
  readonly element = el("div", { class: "edge-pointers", "aria-hidden": "true" });
  readonly #pointers = Array.from({ length: MAX_POINTERS }, () =>
    el("div", { class: "edge-pointer", hidden: true }, span("arrow"), span("who")),
  );
  /** The nearest objects found, and their distances; those that have hit come first. */
  readonly #indices = new Int32Array(MAX_POINTERS);
  readonly #distances = new Float64Array(MAX_POINTERS);
  /** Where those that are shown stand. */
  readonly #across = new Float64Array(MAX_POINTERS);
  readonly #up = new Float64Array(MAX_POINTERS);
  /** 1 if the label is to the right of the nearest one's arrow, -1 if it is to the left. */
  #side = 1;
  readonly #at: Point = { x: 0, y: 0, z: 0 };
  readonly #place: EdgePlace = { x: 0, y: 0, angle: 0 };

  /** Shown until another object is in sight: how to find others. */
  readonly nobody = note("p", "hint nobody", texts.nobody_in_sight);
  #nobodyAt: number | undefined;
  #hasSeen = false;

  /** `looks`: the view looks ahead, so that turning shows others. */
  constructor(private readonly attackers: Attackers, looks: boolean) {
    this.#hasSeen = !looks;
    this.element.append(...this.#pointers);
  }

  update(now: number, frame: Frame, camera: ViewCamera): void {
    const { avatar } = frame;
    let count = 0;
    let others = 0;
    for (let index = 0; avatar >= 0 && index < frame.count; index += 1) {
      if (index === avatar || frame.label(index) === undefined) continue;
      others += 1;
      const [x, y] = [frame.x(index), frame.y(index)];
      if (!edgePlace(camera, x, y, frame.z(index), this.#at, this.#place)) continue;
      const away = Math.hypot(x - frame.x(avatar), y - frame.y(avatar));
      const hasHit = this.attackers.has(now, frame.id(index));
      count = this.#insert(count, index, hasHit ? away - 1e6 : away);
    }
    if (avatar >= 0 && !this.#hasSeen) this.#search(now, others);
    for (let nth = 0; nth < MAX_POINTERS; nth += 1) {
      const pointer = this.#pointers[nth] as HTMLElement;
      const isShown = nth < count && this.#isApart(nth, frame, camera);
      setHidden(pointer, !isShown);
      if (isShown) this.#show(pointer, now, frame, this.#indices[nth] as number);
    }
  }

  /** Puts the place of a pointer into `#place`; false if a nearer object has a pointer there. */
  #isApart(nth: number, frame: Frame, camera: ViewCamera): boolean {
    const [place, across, up] = [this.#place, this.#across, this.#up];
    const index = this.#indices[nth] as number;
    edgePlace(camera, frame.x(index), frame.y(index), frame.z(index), this.#at, place);
    // One that is left out takes no room.
    across[nth] = up[nth] = Infinity;
    if (nth === 0) this.#side = sideOf(place);
    else if (this.#isUnderLabel(place)) return false;
    for (let other = 0; other < nth; other += 1) {
      const dx = ((across[other] as number) - place.x) * camera.aspect;
      if (Math.hypot(dx, (up[other] as number) - place.y) < APART) return false;
    }
    across[nth] = place.x;
    up[nth] = place.y;
    return true;
  }

  /** Whether the label of the nearest one covers this place. */
  #isUnderLabel({ x, y }: EdgePlace): boolean {
    const along = ((x - (this.#across[0] as number)) * this.#side * innerWidth) / 2;
    const above = ((y - (this.#up[0] as number)) * innerHeight) / 2;
    return along > 0 && along < LABEL_PX.wide && Math.abs(above) < LABEL_PX.high;
  }

  #search(now: number, others: number): void {
    this.#nobodyAt ??= now;
    this.#hasSeen = others > 0;
    setHidden(this.nobody, this.#hasSeen || now < this.#nobodyAt + ALONE_MS);
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

  #show(pointer: HTMLElement, now: number, frame: Frame, index: number): void {
    const place = this.#place;
    const hasHit = this.attackers.has(now, frame.id(index));
    pointer.classList.toggle("attacker", hasHit);
    const { style } = pointer;
    style.left = `${(50 * (1 + place.x)).toFixed(2)}%`;
    style.top = `${(50 * (1 - place.y)).toFixed(2)}%`;
    const [arrow, who] = pointer.children as unknown as [HTMLElement, HTMLElement];
    arrow.style.rotate = `${(-place.angle).toFixed(3)}rad`;
    // The nearest one has a label: its name and its distance.
    const isNearest = index === this.#indices[0];
    setHidden(who, !isNearest);
    if (isNearest) {
      const { avatar } = frame;
      const away = Math.hypot(frame.x(index) - frame.x(avatar), frame.y(index) - frame.y(avatar));
      setText(who, texts.how_far(frame.label(index) ?? "", Math.round(away)));
      const side = this.#side;
      who.style.translate = `calc(${50 * side - 50}% + ${BESIDE_PX * side}px) -50%`;
    }
    style.color = hasHit ? "" : frame.kind(index).look.colour;
  }
}

/** An arrow above or below is that far from the sides: of half the picture. */
const ROOM = 0.35;

/** Beside the arrow: inwards at the left and at the right, outwards above and below. */
function sideOf({ x, angle }: EdgePlace): number {
  const isAtSide = Math.abs(Math.cos(angle)) > BESIDE || Math.abs(x) > ROOM;
  return x > 0 === isAtSide ? -1 : 1;
}
