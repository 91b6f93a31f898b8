/** Sudden changes of what bars show, for numbers that rise from an object: damage, healing. */

/** A change below is regeneration, or the rounding of it. */
const LEAST = 2;
/** How long a number is shown. */
export const SHOWN_MS = 900;
const MAX_NUMBERS = 24;

export interface RisingNumber {
  text: string;
  x: number;
  y: number;
  z: number;
  at: number;
}

export class GaugeChanges {
  readonly #values = new Map<number, { value: number; seenAt: number }>();
  readonly numbers: RisingNumber[] = [];
  #frame = 0;

  begin(now: number): void {
    this.#frame += 1;
    while (this.numbers[0] && now > this.numbers[0].at + SHOWN_MS) this.numbers.shift();
  }

  /** The bar of an object at this place has this value in this frame. */
  note(now: number, id: number, value: number, x: number, y: number, z: number): void {
    const known = this.#values.get(id);
    if (!known) {
      this.#values.set(id, { value, seenAt: this.#frame });
      return;
    }
    const change = value - known.value;
    [known.value, known.seenAt] = [value, this.#frame];
    if (Math.abs(change) < LEAST) return;
    if (this.numbers.length >= MAX_NUMBERS) this.numbers.shift();
    const text = change < 0 ? `−${Math.round(-change)}` : `+${Math.round(change)}`;
    this.numbers.push({ text, x, y, z, at: now });
  }

  /** Forgets what is not in sight any more. */
  end(): void {
    for (const [id, { seenAt }] of this.#values) {
      if (seenAt !== this.#frame) this.#values.delete(id);
    }
  }
}
