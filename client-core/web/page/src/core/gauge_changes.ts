/** Sudden changes of what bars show, for numbers that rise from an object: damage, healing. */

import type { Point } from "./camera.js";
import { InSight } from "./in_sight.js";

/** A change below is regeneration, or the rounding of it. */
const LEAST = 2;
/** How long a number is shown. */
export const SHOWN_MS = 900;
const MAX_NUMBERS = 24;
/** Changes in such a short time are one number: two would be written over each other. */
const TOGETHER_MS = 450;
/** For this time after a change an object counts as one to which something happens. */
const RECENT_MS = 2_500;

export interface RisingNumber extends Point {
  id: number;
  change: number;
  text: string;
  at: number;
}

export class GaugeChanges {
  readonly #values = new InSight<{ value: number; changedAt: number }>();
  readonly numbers: RisingNumber[] = [];

  begin(now: number): void {
    this.#values.begin();
    while (this.numbers[0] && now > this.numbers[0].at + SHOWN_MS) this.numbers.shift();
  }

  /** The bar of an object at this place has this value in this frame. */
  note(now: number, id: number, value: number, x: number, y: number, z: number): void {
    const known = this.#values.see(id) ?? this.#values.add(id, { value, changedAt: -Infinity });
    const change = value - known.value;
    known.value = value;
    if (Math.abs(change) < LEAST) return;
    known.changedAt = now;
    for (const number of this.numbers) {
      const isSame = number.id === id && number.change < 0 === change < 0;
      if (!isSame || now > number.at + TOGETHER_MS) continue;
      number.change += change;
      number.text = textOf(number.change);
      return;
    }
    if (this.numbers.length >= MAX_NUMBERS) this.numbers.shift();
    this.numbers.push({ id, change, text: textOf(change), x, y, z, at: now });
  }

  /** Whether the object has lately been hurt or healed. */
  isRecent(now: number, id: number): boolean {
    return now < (this.#values.get(id)?.changedAt ?? -Infinity) + RECENT_MS;
  }

  /** Forgets what is not in sight any more. */
  end(): void {
    this.#values.end();
  }
}

function textOf(change: number): string {
  return change < 0 ? `−${Math.round(-change)}` : `+${Math.round(change)}`;
}
