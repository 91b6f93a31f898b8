/** How the map is drawn: from the scenery that its game declares. */

import type { Scenery, StaticObstacle } from "../ambit/ambit.js";
import { parseColour } from "./look.js";

/** How much lighter or darker lines on the ground are than the ground. */
const LINE_SHARE = 0.28;

/** The colour of an obstacle, as 0xRRGGBB; undefined if its game leaves it to the page. */
export function obstacleColour(scenery: Scenery, obstacle: StaticObstacle): number | undefined {
  const look = obstacle.look === null ? undefined : scenery.obstacles[obstacle.look];
  return look && parseColour(look.colour);
}

/** A colour that is visible on the ground, and not loud: lighter on a dark one, or darker. */
export function lineColour(ground: number): number {
  const parts = [16, 8, 0].map((bits) => (ground >> bits) & 0xff);
  const isDark = parts.reduce((sum, part) => sum + part) < 3 * 128;
  return mixed(ground, isDark ? 0xffffff : 0, LINE_SHARE);
}

/** The colour at this share of the way from one to another. */
export function mixed(one: number, other: number, share: number): number {
  return [16, 8, 0].reduce((colour, bits) => {
    const [from, to] = [(one >> bits) & 0xff, (other >> bits) & 0xff];
    return colour | (Math.round(from + (to - from) * share) << bits);
  }, 0);
}

/** The corners of a box on the ground, in order. Each side is at least `leastM` wide. */
export function corners(box: StaticObstacle, leastM: number): [x: number, y: number][] {
  const [along, across] = [box.half[0], box.half[1]].map((half) => Math.max(half, leastM / 2));
  const [cos, sin] = [Math.cos(box.yaw), Math.sin(box.yaw)];
  const signs = [[1, 1], [-1, 1], [-1, -1], [1, -1]] as const;
  return signs.map(([one, other]) => {
    const [x, y] = [one * (along as number), other * (across as number)];
    return [box.centre[0] + cos * x - sin * y, box.centre[1] + sin * x + cos * y];
  });
}
