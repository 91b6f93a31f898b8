/** Places on the small map: north is up; it shows the whole map, or what is around the avatar. */

export interface Extent {
  west: number;
  south: number;
  width: number;
  height: number;
}

/** A larger map is shown in part. */
const MAX_SHOWN_M = 400;

export class MapView {
  /** Pixels a metre. */
  scale = 1;
  #west = 0;
  #north = 0;

  /** Fits the map into a square of `pixels`, around `x`, `y` if it is too large. */
  fit(map: Extent, pixels: number, x: number, y: number): void {
    const shown = Math.min(Math.max(map.width, map.height), MAX_SHOWN_M);
    this.scale = pixels / shown;
    this.#west = placeWindow(map.west, map.width, shown, x);
    this.#north = placeWindow(map.south, map.height, shown, y) + shown;
  }

  /** Pixels from the left. */
  across(x: number): number {
    return (x - this.#west) * this.scale;
  }

  /** Pixels from the top. */
  down(y: number): number {
    return (this.#north - y) * this.scale;
  }

  /** The place on the map at a pixel. */
  x(across: number): number {
    return this.#west + across / this.scale;
  }

  y(down: number): number {
    return this.#north - down / this.scale;
  }
}

/** Where a window of `shown` metres begins: inside the map, or with the map in its middle. */
function placeWindow(start: number, length: number, shown: number, around: number): number {
  if (length <= shown) return start - (shown - length) / 2;
  return Math.min(Math.max(around - shown / 2, start), start + length - shown);
}
