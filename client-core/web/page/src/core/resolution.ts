/**
 * How many pixels are drawn for each of CSS: as many as the machine draws in time. What moves
 * smoothly and is a little coarse looks better than what is sharp and jerks.
 */

const STEPS = [0.5, 0.65, 0.8, 1, 1.25, 1.5, 2];
/** The number of frames that are judged together. */
const FRAMES = 40;
/** After longer than that the page was not seen, or loaded something. */
const GAP_MS = 700;
/** The number of good judgements in a row after which a step up is tried. */
const PATIENCE = 4;

/** Milliseconds from frame to frame: below `fast` there is time for more pixels. */
export interface Pace {
  fast: number;
  slow: number;
}
/** A display of 60 Hz shows a frame each 16.7 ms. */
export const SMOOTH: Pace = { fast: 17.5, slow: 22 };
/** Without a graphics card nothing is smooth; some sharpness is worth more than 20 frames. */
export const BEARABLE: Pace = { fast: 38, slow: 62 };

export class Resolution {
  #at: number;
  /** Steps from here on were tried, and took too long. */
  #tooMany = STEPS.length;
  #sum = 0;
  #frames = 0;
  #good = 0;

  /** Begins near `start`; never above `most`. */
  constructor(start: number, private readonly most: number, private readonly pace: Pace) {
    const above = STEPS.findIndex((step) => step > Math.min(start, most));
    this.#at = Math.max(0, (above < 0 ? STEPS.length : above) - 1);
  }

  get ratio(): number {
    return Math.min(STEPS[this.#at] as number, this.most);
  }

  /** After each frame. True if the ratio is another one now. */
  note(intervalMs: number): boolean {
    if (!(intervalMs > 0 && intervalMs < GAP_MS)) return false;
    this.#sum += intervalMs;
    this.#frames += 1;
    if (this.#frames < FRAMES) return false;
    const mean = this.#sum / this.#frames;
    this.#sum = this.#frames = 0;
    if (mean > this.pace.slow && this.#at > 0) {
      this.#good = 0;
      this.#tooMany = this.#at;
      this.#at -= 1;
      return true;
    }
    this.#good = mean < this.pace.fast ? this.#good + 1 : 0;
    const next = this.#at + 1;
    const isUseful = next < this.#tooMany && (STEPS[this.#at] as number) < this.most;
    if (this.#good < PATIENCE || !isUseful) return false;
    this.#good = 0;
    this.#at = next;
    return true;
  }
}
