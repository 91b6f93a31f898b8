/**
 * The zones of interest around the own avatar, as the server computes them: an object becomes
 * visible in the inner one and stays visible in the outer one. Both are squares of whole cells.
 */

import type { GameRules } from "../ambit/ambit.js";

export interface InterestSettings extends Pick<GameRules, "cell" | "inner" | "outer"> {
  /** How far the avatar must be beyond its cell's border before the zones move. */
  marginM: number;
}

/** The radius around the avatar in which all objects are known, at any place in its cell. */
export function knownM(
  { cell, inner, marginM }: InterestSettings,
  map: { width: number; height: number },
): number {
  const isAllOfIt = inner + 1 >= Math.ceil(Math.max(map.width, map.height) / cell);
  return isAllOfIt ? Infinity : inner * cell - marginM;
}

/** A square of the map, in metres. */
export interface Square {
  west: number;
  south: number;
  edge: number;
}

/** The cell that counts as the viewer's. It changes only with the margin: see `margin`. */
export class ViewerCell {
  x = NaN;
  y = NaN;

  /** Follows the avatar; returns whether the cell is another one now. */
  follow(x: number, y: number, { cell, marginM }: InterestSettings): boolean {
    const beforeX = this.x;
    const beforeY = this.y;
    const stays =
      x >= this.x * cell - marginM &&
      x < (this.x + 1) * cell + marginM &&
      y >= this.y * cell - marginM &&
      y < (this.y + 1) * cell + marginM;
    if (!stays) {
      this.x = Math.floor(x / cell);
      this.y = Math.floor(y / cell);
    }
    return this.x !== beforeX || this.y !== beforeY;
  }

  /** The zone of a radius around the cell. */
  zone(radius: number, cell: number, into: Square): void {
    into.west = (this.x - radius) * cell;
    into.south = (this.y - radius) * cell;
    into.edge = (2 * radius + 1) * cell;
  }
}
