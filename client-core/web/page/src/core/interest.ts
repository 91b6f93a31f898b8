/**
 * The zones of interest around the own avatar, as the server computes them: an object becomes
 * visible in the inner one and stays visible in the outer one. Both are squares of whole cells.
 */

export interface InterestSettings {
  /** Edge of a cell, in metres. */
  cellM: number;
  /** Radii, in cells around the viewer's. */
  inner: number;
  outer: number;
  /** How far the avatar must be beyond its cell's border before the zones move. */
  marginM: number;
}

/** The radius around the avatar in which all objects are known, at any place in its cell. */
export function knownM(
  { cellM, inner, marginM }: InterestSettings,
  map: { width: number; height: number },
): number {
  const isAllOfIt = inner + 1 >= Math.ceil(Math.max(map.width, map.height) / cellM);
  return isAllOfIt ? Infinity : inner * cellM - marginM;
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
  follow(x: number, y: number, { cellM, marginM }: InterestSettings): boolean {
    const beforeX = this.x;
    const beforeY = this.y;
    const stays =
      x >= this.x * cellM - marginM &&
      x < (this.x + 1) * cellM + marginM &&
      y >= this.y * cellM - marginM &&
      y < (this.y + 1) * cellM + marginM;
    if (!stays) {
      this.x = Math.floor(x / cellM);
      this.y = Math.floor(y / cellM);
    }
    return this.x !== beforeX || this.y !== beforeY;
  }

  /** The zone of a radius around the cell. */
  zone(radius: number, cellM: number, into: Square): void {
    into.west = (this.x - radius) * cellM;
    into.south = (this.y - radius) * cellM;
    into.edge = (2 * radius + 1) * cellM;
  }
}
