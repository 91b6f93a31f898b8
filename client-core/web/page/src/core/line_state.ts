/** How the line to the game's host is, for a mark that is always in the picture. */

import type { LineFigures } from "./meter.js";

export type LineQuality = "good" | "weak" | "silent" | "broken";

/** A line with a longer round trip, or with more loss, is weak. */
const WEAK_RTT_MS = 250;
const WEAK_LOSS_PERCENT = 4;

export class LineState {
  /** Since when nothing has been heard. */
  #silentSince: number | undefined;
  #isBroken = false;

  /** The host does not answer; it was heard `silentMs` ago. */
  fallSilent(now: number, silentMs: number): void {
    this.#silentSince ??= now - silentMs;
  }

  /** The connection broke; the client makes another one. */
  break(now: number): void {
    this.#silentSince ??= now;
    this.#isBroken = true;
  }

  /** The host is heard again. */
  recover(): void {
    this.#silentSince = undefined;
    this.#isBroken = false;
  }

  /** Whether what is shown is as old as the silence. */
  get isDead(): boolean {
    return this.#silentSince !== undefined;
  }

  /** Whole seconds without a word of the host; 0 if it is heard. A frame's time may be before it. */
  silentSeconds(now: number): number {
    return Math.floor(Math.max(0, now - (this.#silentSince ?? now)) / 1_000);
  }

  /** `rttMs` is null before it is known. */
  quality(rttMs: number | null, { lossPercent }: Pick<LineFigures, "lossPercent">): LineQuality {
    if (this.#isBroken) return "broken";
    if (this.isDead) return "silent";
    const isWeak = (rttMs ?? 0) > WEAK_RTT_MS || lossPercent > WEAK_LOSS_PERCENT;
    return isWeak ? "weak" : "good";
  }
}
