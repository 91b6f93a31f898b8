/** Which object is meant by a point of the screen, and which one comes next on the keyboard. */

import type { Frame } from "../ambit/ambit.js";
import type { Point, ViewCamera } from "./camera.js";

/** A place on the screen counts as an object's up to that far away: a finger is not exact. */
const REACH = 0.06;

type Pickable = Pick<Frame, "count" | "x" | "y" | "z">;

const place: Point = { x: 0, y: 0, z: 0 };

/** An avatar walks on while its command is under way. */
const REACH_SLACK_M = 0.5;

/** The place nearest to `place` within reach of `from`. */
export function withinReach(place: Point, from: Point, reachM: number): Point {
  const [x, y] = [place.x - from.x, place.y - from.y];
  const share = Math.max(0, reachM - REACH_SLACK_M) / Math.hypot(x, y, place.z - from.z);
  return share < 1 ? { x: from.x + share * x, y: from.y + share * y, z: place.z } : place;
}

/** The index of the object nearest to a point of the screen (-1 to 1), or -1. */
export function pickObject(
  camera: ViewCamera,
  objects: Pickable,
  screenX: number,
  screenY: number,
  isAllowed: (index: number) => boolean,
): number {
  let best = -1;
  let bestDistance = REACH;
  for (let index = 0; index < objects.count; index += 1) {
    if (!isAllowed(index)) continue;
    if (!camera.project(objects.x(index), objects.y(index), objects.z(index), place)) continue;
    const across = (place.x - screenX) * camera.aspect;
    const distance = Math.hypot(across, place.y - screenY);
    if (distance < bestDistance) [best, bestDistance] = [index, distance];
  }
  return best;
}

/** The allowed objects by their distance from a place: the order that the keyboard offers. */
export function nearestFirst(
  objects: Pickable,
  x: number,
  y: number,
  isAllowed: (index: number) => boolean,
): number[] {
  const distance = (index: number) => Math.hypot(objects.x(index) - x, objects.y(index) - y);
  return Array.from({ length: objects.count }, (_, index) => index)
    .filter(isAllowed)
    .sort((a, b) => distance(a) - distance(b));
}
