/** Where near the edge of the picture a pointer stands that shows the way to what is outside. */

import type { Point, ViewCamera } from "./camera.js";

/**
 * Pointers stand on an ellipse with these shares of half the picture: buttons, bars and tables are
 * outside of it, on wide screens and on upright ones. Most of them are below.
 */
const INSIDE = { across: 0.68, up: 0.6, down: 0.34 } as const;

export interface EdgePlace {
  /** From -1 at the left and at the bottom to 1. */
  x: number;
  y: number;
  /** Counter-clockwise from the right, on the screen. */
  angle: number;
}

/** False if the point is in the picture, or where the camera looks. `at` is for the projection. */
export function edgePlace(
  camera: ViewCamera,
  x: number,
  y: number,
  z: number,
  at: Point,
  into: EdgePlace,
): boolean {
  const isAhead = camera.project(x, y, z, at);
  if (isAhead && Math.abs(at.x) < 1 && Math.abs(at.y) < 1) return false;
  const { right, target, yaw } = camera;
  const [dx, dy] = [x - target.x, y - target.y];
  const across = dx * right.x + dy * right.y;
  const up = -dx * Math.sin(yaw) + dy * Math.cos(yaw);
  if (across === 0 && up === 0) return false;
  const high = up * camera.aspect;
  const share = 1 / Math.hypot(across / INSIDE.across, high / (high < 0 ? INSIDE.down : INSIDE.up));
  into.x = across * share;
  into.y = high * share;
  into.angle = Math.atan2(up, across);
  return true;
}

/** Who has hurt the player lately: a pointer to them stays for a while. */
export class Attackers {
  readonly #until = new Map<number, number>();
  #newest = -1;
  #newestUntil = -Infinity;

  note(now: number, id: number): void {
    if (this.#until.size >= MAX_ATTACKERS) this.#until.clear();
    this.#until.set(id, now + SHOWN_MS);
    this.#newest = id;
    this.#newestUntil = now + NEWEST_MS;
  }

  /** The object that has just hurt the player, or -1. */
  newest(now: number): number {
    return now < this.#newestUntil ? this.#newest : -1;
  }

  has(now: number, id: number): boolean {
    return (this.#until.get(id) ?? 0) > now;
  }
}

const MAX_ATTACKERS = 32;
const SHOWN_MS = 2_500;
const NEWEST_MS = 400;
