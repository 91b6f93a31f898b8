/**
 * When something happens to an object that no event tells: it comes into sight, a flag is set, a
 * gauge falls at once.
 */

import { InSight } from "./in_sight.js";

/** For this time after the start, objects that come into sight count as present before. */
const SETTLING_MS = 1_500;
/** How often a flag that stays set shows its effect. */
const REPEAT_MS = 600;
/** A smaller fall is that of a rate, or the rounding of it. */
const LEAST_FALL = 2;

export class Moments {
  /** For each component with an effect: the value of a gauge, or when a flag was shown. */
  readonly #known = new InSight<number[]>();
  #startedAt = NaN;

  /** A frame begins. */
  begin(now: number): void {
    this.#known.begin();
    if (Number.isNaN(this.#startedAt)) this.#startedAt = now;
  }

  /** Another map: all that is on it was there before. */
  restart(): void {
    this.#known.clear();
    this.#startedAt = NaN;
  }

  /** An object is in sight in this frame; returns whether it has just come. */
  comes(now: number, id: number): boolean {
    if (this.#known.see(id)) return false;
    this.#known.add(id, []);
    return now > this.#startedAt + SETTLING_MS;
  }

  /** After `comes`: whether its component with this value has an effect now. */
  happens(now: number, id: number, component: number, value: unknown): boolean {
    const values = this.#known.get(id);
    if (!values) return false;
    const before = values[component];
    if (typeof value === "number") {
      values[component] = value;
      return before !== undefined && value <= before - LEAST_FALL;
    }
    if (value !== true) {
      values[component] = -Infinity;
      return false;
    }
    if (before !== undefined && now < before + REPEAT_MS) return false;
    values[component] = now;
    return true;
  }

  /** After `comes`: whether this flag, which shows something as long as it is set, was just set. */
  begins(id: number, component: number, isSet: boolean): boolean {
    const values = this.#known.get(id);
    if (!values) return false;
    const wasSet = values[component] === 1;
    values[component] = isSet ? 1 : 0;
    return isSet && !wasSet;
  }

  /** A frame ends: forgets what is out of sight. */
  end(): void {
    this.#known.end();
  }
}
