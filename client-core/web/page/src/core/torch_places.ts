/** Where torches are on the walls of a map: along their long sides, at equal distances. */

import type { StaticObstacle } from "../ambit/ambit.js";
import type { Point } from "./camera.js";

export interface TorchPlace extends Point {
  /** The direction away from the wall. */
  outwards: number;
}

const APART_M = 12;
/** What is lower or shorter is no wall. */
const LEAST_HALF_M = { high: 0.8, long: 1.1 } as const;
const HEIGHT_M = 1.7;
const MOST = 20_000;

export function torchPlaces(obstacles: readonly StaticObstacle[]): TorchPlace[] {
  const places: TorchPlace[] = [];
  for (const { shape, centre, half, yaw } of obstacles) {
    const [along, across] = [Math.max(half[0], half[1]), Math.min(half[0], half[1])];
    if (shape !== "box" || half[2] < LEAST_HALF_M.high || along < LEAST_HALF_M.long) continue;
    const way = yaw + (half[0] >= half[1] ? 0 : Math.PI / 2);
    const count = Math.max(1, Math.floor((2 * along) / APART_M));
    for (let torch = 0; torch < count; torch += 1) {
      const from = -along + ((torch + 0.5) * 2 * along) / count;
      for (const side of [1, -1]) {
        if (places.length >= MOST) return places;
        const outwards = way + (side * Math.PI) / 2;
        const away = across + 0.05;
        places.push({
          x: centre[0] + from * Math.cos(way) + away * Math.cos(outwards),
          y: centre[1] + from * Math.sin(way) + away * Math.sin(outwards),
          z: centre[2] - half[2] + HEIGHT_M,
          outwards,
        });
      }
    }
  }
  return places;
}
