/** Which names are shown, so that none is written over another or over a bar. */

import type { Frame } from "../ambit/ambit.js";

const MAX_LABELS = 128;
/** A name that is higher than that is no longer read as that of who is below. */
const LINES = 2;

/** The first ones that fit. All is in pixels, from the middle of the screen or any other place. */
export class LabelLayout {
  readonly #across = new Float32Array(MAX_LABELS);
  readonly #up = new Float32Array(MAX_LABELS);
  readonly #wide = new Float32Array(MAX_LABELS);
  readonly #high = new Float32Array(MAX_LABELS);
  #count = 0;

  begin(): void {
    this.#count = 0;
  }

  /** Whether there is room for a name of this size around a place on the screen; takes it. */
  takes(across: number, up: number, width: number, height: number): boolean {
    for (let other = 0; other < this.#count; other += 1) {
      const wide = (width + (this.#wide[other] as number)) / 2;
      const high = (height + (this.#high[other] as number)) / 2;
      const isBeside = Math.abs((this.#across[other] as number) - across) >= wide;
      const isAbove = Math.abs((this.#up[other] as number) - up) >= high;
      if (!isBeside && !isAbove) return false;
    }
    this.reserve(across, up, width, height);
    return true;
  }

  /**
   * In which line a name fits: 0 at its place, otherwise one above the other; takes it. -1 if there
   * is no room in any.
   */
  lineFor(across: number, up: number, width: number, height: number): number {
    for (let line = 0; line < LINES; line += 1) {
      if (this.takes(across, up + line * height, width, height)) return line;
    }
    return -1;
  }

  /** Reserves the place of something that is drawn in any case, such as a bar. */
  reserve(across: number, up: number, width: number, height: number): void {
    if (this.#count >= MAX_LABELS) return;
    this.#across[this.#count] = across;
    this.#up[this.#count] = up;
    this.#wide[this.#count] = width;
    this.#high[this.#count] = height;
    this.#count += 1;
  }
}

/** A smaller name cannot be read. */
const LEAST_SCALE = 0.7;

/**
 * By how much a name is made smaller to be no wider than what it belongs to; 0 if it could not be
 * read then. Both are in pixels.
 */
export function scaleToFit(nameWide: number, bodyWide: number): number {
  const scale = Math.min(1, bodyWide / Math.max(nameWide, 1));
  return scale < LEAST_SCALE ? 0 : scale;
}

/** They change seldom: they are counted a few times a second. */
const COUNT_MS = 300;

/** Names that several objects in sight have, such as those of monsters: they tell little. */
export class SharedNames {
  readonly #times = new Map<string, number>();
  #countedAt = -Infinity;

  count(now: number, frame: Pick<Frame, "count" | "label">): void {
    if (now < this.#countedAt + COUNT_MS) return;
    this.#countedAt = now;
    this.#times.clear();
    for (let index = 0; index < frame.count; index += 1) {
      const name = frame.label(index);
      if (name !== undefined) this.#times.set(name, (this.#times.get(name) ?? 0) + 1);
    }
  }

  has(name: string): boolean {
    return (this.#times.get(name) ?? 0) > 1;
  }
}
