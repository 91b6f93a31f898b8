/**
 * One direction of a bad network, without a clock and without I/O.
 *
 * Datagrams and bytes of the stream go in, with the time; what has arrived comes out of
 * {@link BadLine.poll}. The same seed and calls give the same result.
 *
 * Invariants:
 * 1. Bytes of the stream come out completely and in order. A packet of theirs that is lost costs
 *    the time of sending it again.
 * 2. A datagram comes out once or never, `delayMs` to `delayMs + jitterMs` after it went in. One
 *    may overtake another.
 * 3. A line that stops lets nothing pass until it goes on; then all that waits arrives together.
 * 4. At most {@link MAX_DATAGRAMS} datagrams are under way; further ones are lost.
 *
 * Units: milliseconds of any clock that does not run back.
 */

import { Random } from "./random.js";

/** What is bad about a line. All zero: everything comes out at once. */
export interface LineConditions {
  delayMs: number;
  /** The most that is added to the delay, evenly distributed. */
  jitterMs: number;
  lossPercent: number;
  /**
   * For how long the line stops now and then; what was sent meanwhile arrives all at once. Between
   * two stops are up to {@link STOP_INTERVAL_MS}.
   */
  throttleMs?: number;
}

export const GOOD_LINE: Readonly<LineConditions> = {
  delayMs: 0,
  jitterMs: 0,
  lossPercent: 0,
  throttleMs: 0,
};

/** What has arrived. */
export interface Parcel {
  lane: "stream" | "datagram";
  bytes: Uint8Array;
}

/** More than a room sends in the longest delay that the page offers. */
const MAX_DATAGRAMS = 2_048;
/** Beside two delays: what a sender waits until it takes a packet for lost. */
const RESEND_MS = 30;
/** The most between two stops of a line that stops; on average half of it. */
const STOP_INTERVAL_MS = 4_000;
/** A line that loses all would hold the stream for ever. */
const MAX_RESENDS = 5;

interface Waiting {
  due: number;
  bytes: Uint8Array;
}

export class BadLine {
  readonly #random: Random;
  /** In order of sending, and so of arrival. */
  readonly #stream: Waiting[] = [];
  /** In order of arrival. */
  readonly #datagrams: Waiting[] = [];
  /** When the newest stop begins or began. */
  #stopsAt = -Infinity;

  constructor(
    seed: number,
    /** May change at any time; what is under way keeps its time of arrival. */
    public conditions: LineConditions = { ...GOOD_LINE },
  ) {
    this.#random = new Random(seed);
  }

  handleStream(now: number, bytes: Uint8Array): void {
    let due = this.#goesOnAt(now) + this.#delay();
    for (let resends = 0; resends < MAX_RESENDS && this.#isLost(); resends += 1) {
      due += 2 * this.conditions.delayMs + RESEND_MS;
    }
    const before = this.#stream.at(-1)?.due ?? -Infinity;
    this.#stream.push({ due: Math.max(due, before), bytes });
  }

  handleDatagram(now: number, bytes: Uint8Array): void {
    const due = this.#goesOnAt(now) + this.#delay();
    if (this.#isLost() || this.#datagrams.length >= MAX_DATAGRAMS) return;
    let at = this.#datagrams.length;
    while (at > 0 && (this.#datagrams[at - 1] as Waiting).due > due) at -= 1;
    this.#datagrams.splice(at, 0, { due, bytes });
  }

  /** What has arrived by `now`, until there is nothing left. */
  poll(now: number): Parcel | undefined {
    const stream = this.#stream[0]?.due ?? Infinity;
    const datagram = this.#datagrams[0]?.due ?? Infinity;
    if (Math.min(stream, datagram) > now) return undefined;
    return stream <= datagram
      ? { lane: "stream", bytes: (this.#stream.shift() as Waiting).bytes }
      : { lane: "datagram", bytes: (this.#datagrams.shift() as Waiting).bytes };
  }

  /** When {@link BadLine.poll} has something next, or Infinity. */
  nextDeadline(): number {
    return Math.min(this.#stream[0]?.due ?? Infinity, this.#datagrams[0]?.due ?? Infinity);
  }

  /** When something that is sent now leaves. */
  #goesOnAt(now: number): number {
    const { throttleMs = 0 } = this.conditions;
    if (throttleMs <= 0) return now;
    if (this.#stopsAt === -Infinity) this.#stopsAt = now + this.#interval();
    while (this.#stopsAt + throttleMs <= now) this.#stopsAt += throttleMs + this.#interval();
    return now < this.#stopsAt ? now : this.#stopsAt + throttleMs;
  }

  #interval(): number {
    return this.#random.next() * STOP_INTERVAL_MS;
  }

  #delay(): number {
    return this.conditions.delayMs + this.#random.next() * this.conditions.jitterMs;
  }

  #isLost(): boolean {
    return this.#random.next() * 100 < this.conditions.lossPercent;
  }
}
