/**
 * What the player points at: a place or an object, by the pointer or by the keyboard.
 *
 * The keyboard moves a visible aim; a press of the pointer takes over again.
 */

import type { Frame } from "../ambit/ambit.js";
import type { Point, ViewCamera } from "../core/camera.js";
import { AHEAD_M } from "../core/held_walk.js";
import type { Extent } from "../core/map_view.js";
import { nearestFirst, pickObject } from "../core/picking.js";

const AIM_M_PER_S = 14;

/** Where the pointer is on the screen, from -1 to 1. */
export interface ScreenPlace {
  readonly isKnown: boolean;
  readonly x: number;
  readonly y: number;
}

export class Aim {
  readonly place: Point = { x: 0, y: 0, z: 0 };
  /** Whether the keyboard aims. */
  usesKeys = false;
  /** Seen from around, the ground is aimed at; from above, the height of the avatar. */
  readonly #isOnFloor: boolean;
  #extent: Extent = { west: 0, south: 0, width: 0, height: 0 };
  #chosen = 0;

  constructor(private readonly camera: ViewCamera, readonly pointer: ScreenPlace) {
    this.#isOnFloor = camera.mode === "around";
  }

  /** An aim on the map before means nothing on another one. */
  setExtent(extent: Extent): void {
    this.#extent = extent;
    this.usesKeys = false;
  }

  /** The place under the pointer. False if that is the sky. */
  underPointer(into: Point): boolean {
    const height = this.#isOnFloor ? 0 : this.camera.target.z;
    const { x, y } = this.pointer;
    if (!this.camera.groundPoint(x, y, height, into)) return false;
    this.keepOnMap(into);
    return true;
  }

  /** Aims at a place of the map. */
  put(x: number, y: number): Point {
    [this.place.x, this.place.y] = [x, y];
    this.keepOnMap(this.place);
    return this.place;
  }

  /** Where a key acts: at the visible aim, else under the pointer, else (the sky) ahead. */
  resolve(): Point {
    const isSeen = this.usesKeys || (this.pointer.isKnown && this.underPointer(this.place));
    return isSeen ? this.place : this.ahead();
  }

  /** Some metres up the screen: at the avatar itself, a bolt would have no way to go. */
  ahead(): Point {
    const { right, target } = this.camera;
    return this.put(target.x - AHEAD_M * right.y, target.y + AHEAD_M * right.x);
  }

  /** Shows the aim, ahead of the avatar unless it is shown already. */
  show(): void {
    if (!this.usesKeys) this.ahead();
    this.usesKeys = true;
  }

  /** The id of the object under the pointer; undefined if there is none. */
  objectUnderPointer(frame: Frame): number | undefined {
    const { x, y } = this.pointer;
    const index = pickObject(this.camera, frame, x, y, (other) => !frame.isOwn(other));
    return index < 0 ? undefined : frame.id(index);
  }

  /** Moves the aim with the arrow keys, along the axes of the screen. */
  move(held: ReadonlySet<string>, seconds: number): void {
    const across = Number(held.has("arrowright")) - Number(held.has("arrowleft"));
    const along = Number(held.has("arrowup")) - Number(held.has("arrowdown"));
    if (across === 0 && along === 0) return;
    const { right } = this.camera;
    if (!this.usesKeys) Object.assign(this.place, this.camera.target);
    this.usesKeys = true;
    const way = AIM_M_PER_S * seconds;
    this.place.x += (right.x * across - right.y * along) * way;
    this.place.y += (right.y * across + right.x * along) * way;
    this.keepOnMap(this.place);
  }

  /** Chooses the nearest object, or with a step the next or the one before, and marks it. */
  choose(frame: Frame, step: number): void {
    const { x, y } = this.camera.target;
    const others = nearestFirst(frame, x, y, (index) => !frame.isOwn(index));
    const at = step === 0 ? 0 : others.indexOf(frame.indexOf(this.#chosen)) + step;
    const index = others[(at + others.length) % Math.max(1, others.length)];
    if (index === undefined) return;
    this.#chosen = frame.id(index);
    this.usesKeys = true;
    Object.assign(this.place, { x: frame.x(index), y: frame.y(index), z: frame.z(index) });
  }

  /** The id of the chosen object, if it is still in sight. */
  chosen(frame: Frame): number | undefined {
    return frame.indexOf(this.#chosen) < 0 ? undefined : this.#chosen;
  }

  /** Moves a place to the nearest one on the map. */
  keepOnMap(place: Point): void {
    const { west, south, width, height } = this.#extent;
    place.x = Math.min(Math.max(place.x, west), west + width);
    place.y = Math.min(Math.max(place.y, south), south + height);
  }
}
