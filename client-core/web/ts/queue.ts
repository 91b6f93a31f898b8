/**
 * A bounded queue of events. When it is full, updates are dropped first, then the older half of
 * what is left. Dropped events are counted, and the reader gets the number as an event `missed`.
 * After the last event no more are accepted.
 */

import type { GameEvent } from "./events.js";

/** Tells that events were dropped. */
export type Missed = Extract<GameEvent, { ev: "missed" }>;

export class EventQueue<E extends { ev: string }> {
  #events: E[] = [];
  #missed = 0;
  #closed = false;
  #readers: (() => void)[] = [];

  constructor(private readonly max: number, private readonly isUpdate: (event: E) => boolean) {}

  /** Whether the last event was appended. */
  get isClosed(): boolean {
    return this.#closed;
  }

  push(event: E): void {
    if (this.#closed) return;
    if (this.#events.length >= this.max) this.#makeRoom();
    this.#events.push(event);
    this.#wake();
  }

  /** Appends an event that contains all that the outdated ones say; removes them. */
  pushInstead(isOutdated: (event: E) => boolean, event: E): void {
    this.#events = this.#events.filter((older) => !isOutdated(older));
    this.push(event);
  }

  /** Appends the last event. */
  close(last: E): void {
    this.push(last);
    this.#closed = true;
  }

  /** The events that have come so far. */
  take(): (E | Missed)[] {
    const events: (E | Missed)[] = this.#events;
    if (this.#missed > 0) events.unshift({ ev: "missed", count: this.#missed });
    this.#events = [];
    this.#missed = 0;
    return events;
  }

  /** The oldest event, as soon as there is one; undefined after the last one. */
  async next(): Promise<E | Missed | undefined> {
    for (;;) {
      if (this.#missed > 0) {
        const count = this.#missed;
        this.#missed = 0;
        return { ev: "missed", count };
      }
      const event = this.#events.shift();
      if (event !== undefined || this.#closed) return event;
      await new Promise<void>((resolve) => this.#readers.push(resolve));
    }
  }

  #makeRoom(): void {
    const before = this.#events.length;
    const kept = this.#events.filter((event) => !this.isUpdate(event));
    this.#events = kept.slice(Math.max(0, kept.length - this.max / 2));
    this.#missed += before - this.#events.length;
  }

  #wake(): void {
    const readers = this.#readers;
    if (readers.length === 0) return;
    this.#readers = [];
    for (const wake of readers) wake();
  }
}
