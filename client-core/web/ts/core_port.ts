/**
 * The page's end of a client, which runs in a worker: calls go out, and what the worker has reported
 * is here to be read at once.
 *
 * Bounds: {@link Inbox}; of pictures, the newest one.
 */

import type { LineConditions } from "./bad_line.js";
import { AmbitError } from "./errors.js";
import type { LobbyEvent, LobbyRequest } from "./events.js";
import { Inbox } from "./inbox.js";
import {
  type Answer,
  type CoreFunction,
  type FromWorker,
  type GameState,
  NOBODY,
  type ReplaySetup,
  type Setup,
  type ToWorker,
} from "./messages.js";
import type { NewTexts, Picture } from "./picture.js";
import type { ReplayClock } from "./replay_clock.js";
import type { Stats } from "./stats.js";

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: AmbitError) => void;
}

export class CorePort {
  readonly inbox = new Inbox();
  state = NOBODY;
  /** Of the game that runs, or ran last. */
  game: GameState | undefined;
  /** Texts of pictures, by number. */
  texts = new Map<number, string>();
  readonly #calls = new Map<number, Waiting>();
  /** The newest one, and how it came. */
  #schema: { text: string; schema: GameState["schema"] } | undefined;
  #lastCall = 0;
  #picture: Picture | undefined;
  #spares: ArrayBuffer[] = [];

  constructor(
    private readonly port: MessagePort,
    /** Called when the session has another token, and with undefined when it is over. */
    private readonly storeToken: (token: Uint8Array | undefined) => void,
  ) {
    port.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#handle(data);
  }

  /** Begins to connect; fails if the worker cannot. */
  async connect(setup: Setup): Promise<void> {
    await this.#answer((call) => ({ do: "connect", call, setup }));
  }

  /** Begins to replay a recording instead. */
  async replay(setup: ReplaySetup): Promise<void> {
    await this.#answer((call) => ({ do: "replay", call, setup }));
  }

  /** Of a replay. */
  setClock(clock: ReplayClock): void {
    this.#post({ do: "clock", clock });
  }

  /** Calls a function of the core; returns what it returns. */
  call(name: CoreFunction, ...values: readonly unknown[]): Promise<unknown> {
    return this.#answer((call) => ({ do: "call", call, name, values }));
  }

  /** The same, without an answer. */
  tell(name: CoreFunction, ...values: readonly unknown[]): void {
    this.#post({ do: "call", call: 0, name, values });
  }

  /** Sends a request to the lobby, and waits for its answer, of a kind that the caller knows. */
  ask<Ev extends LobbyEvent["ev"]>(request: LobbyRequest): Promise<Answer<Ev>> {
    const values = [JSON.stringify(request)];
    return new Promise((resolve, reject) => {
      const { closed } = this.inbox;
      if (closed) {
        throw new AmbitError("closed", `the connection is closed: ${closed.message}`);
      }
      // At once, since the event that answers may be in the next message.
      const answer = (number: unknown) =>
        this.inbox.answer(number as number).then((event) => resolve(event as Answer<Ev>), reject);
      this.#send({ resolve: answer, reject }, (call) => {
        return { do: "call", call, name: "request", values };
      });
    });
  }

  stats(): Promise<Stats> {
    return this.#answer((call) => ({ do: "stats", call })) as Promise<Stats>;
  }

  /** Ends the session, and waits until the browser has told the server. */
  async quit(): Promise<void> {
    const done = this.#answer((call) => ({ do: "quit", call }));
    await this.inbox.waitForEnd();
    await done;
  }

  setLine(conditions: LineConditions): void {
    this.#post({ do: "line", conditions });
  }

  /** The page is left: at once, for it may have no other moment. */
  leave(quits: boolean): void {
    this.#post({ do: "leave", quits });
  }

  /** Asks for a picture for this time of `performance.now()`'s clock. */
  requestPicture(at: number): void {
    const buffers = this.#spares;
    this.#spares = [];
    this.#post({ do: "draw", at: at + performance.timeOrigin, buffers }, buffers);
  }

  /** The newest picture that has come since the last call. Its buffer goes back by {@link reuse}. */
  takePicture(): Picture | undefined {
    const picture = this.#picture;
    this.#picture = undefined;
    return picture;
  }

  /** The buffer of a picture that is not needed any more. */
  reuse(buffer: ArrayBuffer): void {
    this.#spares.push(buffer);
  }

  /** The worker does not work. */
  fail(message: string): void {
    const error = new AmbitError("client_failed", message);
    for (const waiting of this.#calls.values()) waiting.reject(error);
    this.#calls.clear();
    this.inbox.finish({ code: error.code, message });
  }

  #answer(message: (call: number) => ToWorker): Promise<unknown> {
    return new Promise((resolve, reject) => this.#send({ resolve, reject }, message));
  }

  #send(waiting: Waiting, message: (call: number) => ToWorker): void {
    this.#lastCall += 1;
    this.#calls.set(this.#lastCall, waiting);
    this.#post(message(this.#lastCall));
  }

  #post(message: ToWorker, transfer: Transferable[] = []): void {
    this.port.postMessage(message, transfer);
  }

  #handle(message: FromWorker): void {
    switch (message.say) {
      case "returned":
        return this.#take(message.call)?.resolve(message.value);
      case "failed": {
        const { call, code } = message;
        return this.#take(call)?.reject(new AmbitError(code, message.message));
      }
      case "news":
        return this.#handleNews(message);
      case "picture":
        if (this.#picture) this.reuse(this.#picture.buffer);
        this.#picture = message.picture;
        // Also those of a picture that is never shown.
        this.#noteTexts(message.picture.texts);
        break;
    }
  }

  #take(call: number): Waiting | undefined {
    const waiting = this.#calls.get(call);
    this.#calls.delete(call);
    return waiting;
  }

  #handleNews({ state, game, events }: Extract<FromWorker, { say: "news" }>): void {
    this.state = state;
    if (game) {
      this.game = this.#withKnownSchema(game);
      // It shows another game.
      this.#picture = undefined;
    }
    for (const envelope of events) {
      const { event } = envelope;
      if (event.ev === "welcome") this.storeToken(state.token);
      // Otherwise the session may still be there when the page is loaded again.
      if (event.ev === "closed" && (event.code === "quit" || event.code === "taken_over")) {
        this.storeToken(undefined);
      }
      this.inbox.handle(envelope);
    }
  }

  /**
   * The schema stays the same object as long as it says the same, as on another map: what a page
   * has put into it, such as texts in another language, stays, too.
   */
  #withKnownSchema(game: GameState): GameState {
    const text = JSON.stringify(game.schema);
    const isKnown = this.#schema?.text === text;
    if (!this.#schema || !isKnown) this.#schema = { text, schema: game.schema };
    return { ...game, schema: this.#schema.schema };
  }

  #noteTexts(news: NewTexts | undefined): void {
    if (!news) return;
    if (news.replaces) this.texts = new Map(news.texts);
    else for (const [number, text] of news.texts) this.texts.set(number, text);
  }
}
