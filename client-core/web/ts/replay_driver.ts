/**
 * Hands the core what a client of a recorded room was sent, at the times of the room.
 *
 * The core's clock is that of the replay, which may stand or jump ahead. What the core wants to
 * send goes nowhere. After a jump it is handed in for {@link SLICE_MS} at a time, so that the page
 * is answered in between; of what is passed over, events say only what there is.
 */

import type { WebClient } from "./ambit-glue.js";
import type { ClientDriver } from "./driver.js";
import { AmbitError, messageOf } from "./errors.js";
import type { Envelope } from "./messages.js";
import { positionOf, type ReplayClock } from "./replay_clock.js";
import { OF_DATAGRAMS, OF_GAME, OF_LOBBY, RecordedMessages } from "./replay_messages.js";
import type { Stats, WorkerStats } from "./stats.js";

/** How often the time of a replay that plays moves on: ticks are 16 to 100 ms apart. */
const STEP_MS = 8;
const SLICE_MS = 30;
/** A longer way is a jump, unless the replay runs so fast. */
const JUMP_MS = 1_500;
/** Further ahead nothing is drawn. */
const MAX_AHEAD_MS = 50;
/** The number of the core's output that dials the host. */
const CONNECT_GAME = 4;
/** An address that is never dialled. */
const NOWHERE = "127.0.0.1:1";
/** What a page has to know of what is passed over. */
const LASTING = new Set<string>(["started", "map", "ended"]);

export class ReplayDriver implements ClientDriver {
  readonly #messages: RecordedMessages;
  /** The room time that is reached. */
  #reached: number;
  /** Until then events are passed over. */
  #jumpsTo = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  readonly #took: WorkerStats = { decoding_ms: 0, drawing_ms: 0 };

  constructor(
    private readonly core: WebClient,
    messages: ArrayBuffer,
    private clock: ReplayClock,
    private readonly report: (events: Envelope[]) => void,
  ) {
    this.#messages = new RecordedMessages(messages);
    this.#reached = this.#messages.nextAt;
    core.set_servers([NOWHERE]);
    core.connect(this.#reached);
    core.handle_world_connected(this.#reached, NOWHERE, new Uint8Array(0), "replay");
  }

  /** Room time for each unit of time, as it is shown now. */
  get speed(): number {
    return this.#isBehind() || this.#reached >= this.clock.end ? 0 : this.clock.speed;
  }

  /** Another speed, or a later time. */
  setClock(clock: ReplayClock): void {
    this.clock = clock;
    this.advance();
  }

  read<R>(get: (core: WebClient) => R, instead: R): R {
    return this.#isOver ? instead : get(this.core);
  }

  run<R>(): R {
    throw new AmbitError("not_playing", "this is a replay: nothing can be done in it");
  }

  async quit(): Promise<void> {
    this.leave();
  }

  setLine(): void {}

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.core.free();
  }

  stats(): Stats {
    const counted = this.read((core) => core.stats(this.#reached), "{}");
    return { ...(JSON.parse(counted) as Stats), worker: { ...this.#took } };
  }

  draw(time: number): number {
    this.advance();
    if (this.#isOver) return NaN;
    const begin = performance.now();
    const wanted = positionOf(this.clock, time + performance.timeOrigin);
    const at = Math.min(Math.max(wanted, this.#reached), this.#reached + MAX_AHEAD_MS);
    try {
      return this.core.draw(this.#reached, this.#isBehind() ? this.#reached : at);
    } catch (thrown) {
      this.#fail(thrown);
      return NaN;
    } finally {
      this.#took.drawing_ms += performance.now() - begin;
    }
  }

  /** Hands in what is due. */
  advance(): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    try {
      this.#timer = this.#handIn();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** A timer for the rest, if there will be some. */
  #handIn(): ReturnType<typeof setTimeout> | undefined {
    const begin = performance.now();
    const goal = positionOf(this.clock, performance.timeOrigin + begin);
    if (goal - this.#reached > JUMP_MS) this.#jumpsTo = goal;
    for (;;) {
      const messageAt = this.#messages.nextAt;
      const deadline = Math.max(this.core.next_deadline(), this.#reached);
      const due = Math.min(messageAt, deadline);
      if (due > goal) break;
      if (performance.now() - begin > SLICE_MS) return setTimeout(() => this.advance());
      this.#reached = Math.max(due, this.#reached);
      if (messageAt <= deadline) this.#take();
      else this.core.handle_timeout(this.#reached);
      this.#settle();
    }
    this.#reached = Math.max(goal, this.#reached);
    this.#took.decoding_ms += performance.now() - begin;
    const isMoving = this.clock.speed > 0 && goal < this.clock.end;
    return isMoving ? setTimeout(() => this.advance(), STEP_MS) : undefined;
  }

  #take(): void {
    const message = this.#messages.take();
    const [now, core] = [this.#reached, this.core];
    if (message?.of === OF_LOBBY) core.handle_world_bytes(now, message.bytes);
    else if (message?.of === OF_GAME) core.handle_game_bytes(now, message.bytes);
    else if (message?.of === OF_DATAGRAMS) core.handle_datagram(now, message.bytes);
  }

  #settle(): void {
    const core = this.core;
    for (let number = core.poll_output(); number !== 0; number = core.poll_output()) {
      if (number === CONNECT_GAME) core.handle_game_connected(this.#reached);
    }
    const events: Envelope[] = [];
    while (core.has_events()) {
      const envelope = JSON.parse(core.poll_event() ?? "null") as Envelope;
      if (this.#counts(envelope)) events.push(envelope);
    }
    if (events.length > 0) this.report(events);
  }

  #counts({ of, event }: Envelope): boolean {
    // A replay has no physics of its own: such objects are drawn between the host's poses.
    if (event.ev === "notice") return false;
    return of === "lobby" || LASTING.has(event.ev) || this.#reached >= this.#jumpsTo;
  }

  #isBehind(): boolean {
    return this.#reached < this.#jumpsTo;
  }

  /** The core has panicked. */
  #fail(thrown: unknown): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    const message = `the replay failed: ${messageOf(thrown)}`;
    const event = { ev: "closed", code: "client_failed", message } as const;
    this.report([{ of: "lobby", request: 0, event }]);
  }
}
