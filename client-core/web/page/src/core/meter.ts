/** What the overlay shows of the line: rates and shares of the last seconds, from counters. */

import type { Stats } from "../ambit/ambit.js";

/** The growth of a counter a second, over the last seconds. */
export class RateMeter {
  readonly #times: number[] = [];
  readonly #counts: number[] = [];

  constructor(private readonly windowMs = 2_000) {}

  /** Takes the counter's value; returns the rate. */
  sample(now: number, count: number): number {
    // After a pause it would be a mean over the whole pause.
    if (now - (this.#times.at(-1) ?? now) > this.windowMs) {
      this.#times.length = 0;
      this.#counts.length = 0;
    }
    this.#times.push(now);
    this.#counts.push(count);
    while (this.#times.length > 2 && (this.#times[1] as number) < now - this.windowMs) {
      this.#times.shift();
      this.#counts.shift();
    }
    const elapsed = now - (this.#times[0] as number);
    return elapsed > 0 ? ((count - (this.#counts[0] as number)) * 1_000) / elapsed : 0;
  }
}

/** The counters that count here. */
export type LineCounters = Pick<
  Stats,
  | "datagrams_down"
  | "datagrams_lost"
  | "bytes_down"
  | "bytes_up"
  | "events"
  | "late_events"
  | "updates"
  | "late_updates"
>;

export type LineFigures = ReturnType<LineMeter["sample"]>;

/** Longer than for rates: a share of few is not worth much. */
const SHARE_WINDOW_MS = 5_000;

export class LineMeter {
  readonly #down = new RateMeter();
  readonly #up = new RateMeter();
  readonly #datagrams = new RateMeter();
  readonly #arrived = new RateMeter(SHARE_WINDOW_MS);
  readonly #lost = new RateMeter(SHARE_WINDOW_MS);
  readonly #changes = new RateMeter(SHARE_WINDOW_MS);
  readonly #late = new RateMeter(SHARE_WINDOW_MS);

  sample(now: number, stats: LineCounters) {
    // One that comes late was counted as lost before.
    const lost = Math.max(0, this.#lost.sample(now, stats.datagrams_lost));
    const arrived = this.#arrived.sample(now, stats.datagrams_down);
    const late = this.#late.sample(now, stats.late_events + stats.late_updates);
    const changes = this.#changes.sample(now, stats.events + stats.updates);
    return {
      downBytes: this.#down.sample(now, stats.bytes_down),
      upBytes: this.#up.sample(now, stats.bytes_up),
      datagrams: this.#datagrams.sample(now, stats.datagrams_down),
      lossPercent: percent(lost, lost + arrived),
      latePercent: percent(late, changes),
    };
  }
}

function percent(part: number, whole: number): number {
  return whole > 0 ? (100 * part) / whole : NaN;
}
