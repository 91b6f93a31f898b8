/**
 * Sorts what the core reports: answers to the requests that wait for them, events of the lobby to
 * one queue, those of the game to another.
 *
 * Each accepted request gets one answer; after the end, the error `closed`. Each game has a queue
 * of its own, and its last event is `ended`.
 *
 * Bounds: {@link MAX_LOBBY_EVENTS}, {@link MAX_GAME_EVENTS}, and as many answers as the core has
 * pending requests. Of the lists in the lobby's queue only the newest is kept: one of rooms, and
 * one of the members of each room.
 */

import { AmbitError } from "./errors.js";
import type { GameEvent, LobbyEvent, Welcome } from "./events.js";
import type { Envelope } from "./messages.js";
import { EventQueue } from "./queue.js";

const MAX_LOBBY_EVENTS = 1_024;
const MAX_GAME_EVENTS = 8_192;

/** The events of one game. */
export type GameQueue = EventQueue<GameEvent>;

/** Why something has ended. */
export interface End {
  code: string;
  message: string;
}

interface Waiting {
  resolve: (event: LobbyEvent) => void;
  reject: (error: AmbitError) => void;
}

export class Inbox {
  readonly lobby = new EventQueue<LobbyEvent>(
    MAX_LOBBY_EVENTS,
    (event) => event.ev === "room_changed",
  );
  #answers = new Map<number, Waiting>();
  #welcome: Welcome | undefined;
  /** The room whose game runs, and its events. */
  #game: { room: number; queue: GameQueue } | undefined;
  /** Why the last room was left, or its game ended. */
  #out: End | undefined;
  #closed: End | undefined;
  #watchers: (() => void)[] = [];

  /** Why the client has ended. */
  get closed(): End | undefined {
    return this.#closed;
  }

  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  /** The answer to the request with this number. */
  answer(number: number): Promise<LobbyEvent> {
    return new Promise((resolve, reject) => this.#answers.set(number, { resolve, reject }));
  }

  /** Waits until the lobby has welcomed the client. */
  waitForWelcome(): Promise<Welcome> {
    return this.#waitUntil(() => {
      if (this.#welcome) return this.#welcome;
      if (this.#closed) throw new AmbitError(this.#closed.code, this.#closed.message);
      return undefined;
    });
  }

  /** Waits until the player is in the game of `room`. `present` is the player's room. */
  waitForGame(room: number, present: () => number | undefined): Promise<GameQueue> {
    return this.#waitUntil(() => {
      if (this.#game?.room === room) return this.#game.queue;
      const out = this.#closed ?? this.#out;
      const now = present();
      if (out && (now === room || now === undefined)) throw new AmbitError(out.code, out.message);
      if (now !== undefined && now !== room) {
        throw new AmbitError("left", "the player is in another room now");
      }
      return undefined; // On the way: into the game, or out of the room.
    });
  }

  /** Waits until the client has ended. */
  waitForEnd(): Promise<true> {
    return this.#waitUntil(() => (this.#closed ? true : undefined));
  }

  /** Forgets why the last attempt to get into the game failed. */
  forgetFailure(): void {
    this.#out = undefined;
  }

  /** The client has ended. */
  finish(end: End): void {
    if (this.#closed) return;
    this.#closed = end;
    this.#endGame(end);
    const error = new AmbitError("closed", `the connection to the lobby is closed: ${end.message}`);
    for (const waiting of this.#answers.values()) waiting.reject(error);
    this.#answers.clear();
    const { code, message } = end;
    this.lobby.close({ ev: "closed", code, message });
    this.#wake();
  }

  /** Sorts an event. */
  handle(envelope: Envelope): void {
    if (envelope.of === "game") this.#sortGame(envelope.event);
    else this.#handleLobby(envelope.request, envelope.event);
    this.#wake();
  }

  #handleLobby(request: number, event: LobbyEvent): void {
    this.#noteRoom(event);
    const waiting = this.#answers.get(request);
    if (!waiting) return this.#sortLobby(event);
    this.#answers.delete(request);
    if (event.ev === "error") waiting.reject(new AmbitError(event.code, event.message));
    else waiting.resolve(event);
  }

  #sortGame(event: GameEvent): void {
    if (event.ev === "started" && event.room !== this.#game?.room) {
      this.#out = undefined;
      const isUpdate = ({ ev }: GameEvent) => ev === "update" || ev === "map_progress";
      const queue = new EventQueue<GameEvent>(MAX_GAME_EVENTS, isUpdate);
      this.#game = { room: event.room, queue };
    } else if (event.ev === "ended") {
      this.#endGame(event);
      this.#out = event;
    } else {
      this.#game?.queue.push(event);
    }
  }

  #sortLobby(event: LobbyEvent): void {
    switch (event.ev) {
      // Answers, and what no page needs to know.
      case "connecting":
      case "done":
      case "game":
        return;
      case "welcome":
        if (this.#welcome) this.lobby.push(event);
        this.#welcome = event;
        break;
      case "closed":
        return this.finish(event);
      case "rooms":
        return this.lobby.pushInstead((older) => older.ev === "rooms", event);
      case "players":
        if (event.room !== null) {
          const { room } = event;
          this.lobby.pushInstead((older) => older.ev === "players" && older.room === room, event);
        }
        break;
      default:
        this.lobby.push(event);
    }
  }

  /** Notes that the player has entered or left a room. */
  #noteRoom(event: LobbyEvent): void {
    if (event.ev === "created" || event.ev === "joined") {
      this.#out = undefined;
    } else if (event.ev === "left") {
      const end = { code: event.reason, message: event.message };
      this.#endGame(end);
      this.#out = end;
    }
  }

  #endGame(end: End): void {
    const { code, message } = end;
    this.#game?.queue.close({ ev: "ended", code, message });
    this.#game = undefined;
  }

  /** Waits until `ready` returns a value, or throws. */
  async #waitUntil<T>(ready: () => T | undefined): Promise<T> {
    for (;;) {
      const value = ready();
      if (value !== undefined) return value;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  #wake(): void {
    const watchers = this.#watchers;
    if (watchers.length === 0) return;
    this.#watchers = [];
    for (const wake of watchers) wake();
  }
}
