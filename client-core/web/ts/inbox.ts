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
import type { GameEvent, GameListing, LobbyEvent } from "./events.js";
import type { CoreEvent, Envelope } from "./messages.js";
import { EventQueue } from "./queue.js";

const MAX_LOBBY_EVENTS = 1_024;
const MAX_GAME_EVENTS = 8_192;

export interface Welcome {
  player: number;
  name: string;
  resumed: boolean;
  games: GameListing[];
}

/** The events of one game. */
export type GameQueue = EventQueue<GameEvent>;

/** Why something has ended. */
export interface End {
  code: string;
  message: string;
}

interface Waiting {
  resolve: (event: CoreEvent) => void;
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
  answer(number: number): Promise<CoreEvent> {
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
    this.lobby.close({ ev: "closed", ...end });
    this.#wake();
  }

  /** Sorts an event. */
  handle({ of, request, event }: Envelope): void {
    this.#noteRoom(event);
    const waiting = this.#answers.get(request);
    if (request !== 0 && waiting) {
      this.#answers.delete(request);
      if (event.ev === "error") {
        waiting.reject(new AmbitError(text(event.code), text(event.message)));
      } else {
        waiting.resolve(event);
      }
    } else if (of === "game") {
      this.#sortGame(event);
    } else {
      this.#sortLobby(event);
    }
    this.#wake();
  }

  #sortGame(event: CoreEvent): void {
    switch (event.ev) {
      case "started":
        this.#startGame(event.room as number, event.map as number);
        break;
      case "ended": {
        const end = endOf(event);
        this.#endGame(end);
        this.#out = end;
        break;
      }
      default:
        this.#game?.queue.push(event as unknown as GameEvent);
    }
  }

  #sortLobby(event: CoreEvent): void {
    switch (event.ev) {
      case "connecting":
      case "done":
        break;
      case "welcome": {
        const welcome = event as unknown as Welcome;
        if (this.#welcome) this.lobby.push({ ev: "resumed", is_new_session: !welcome.resumed });
        this.#welcome = welcome;
        break;
      }
      case "closed":
        this.finish(endOf(event));
        break;
      case "rooms":
        this.lobby.pushInstead((older) => older.ev === "rooms", event as unknown as LobbyEvent);
        break;
      case "players":
        if (event.room !== null) {
          this.lobby.pushInstead(
            (older) => older.ev === "players" && older.room === event.room,
            event as unknown as LobbyEvent,
          );
        }
        break;
      default:
        this.lobby.push(event as unknown as LobbyEvent);
    }
  }

  /** Notes that the player has entered or left a room. */
  #noteRoom(event: CoreEvent): void {
    if (event.ev === "created" || event.ev === "joined") {
      this.#out = undefined;
    } else if (event.ev === "left") {
      const end = { code: text(event.reason), message: text(event.message) };
      this.#endGame(end);
      this.#out = end;
    }
  }

  #startGame(room: number, map: number): void {
    if (this.#game?.room === room) {
      this.#game.queue.push({ ev: "resumed", map });
      return;
    }
    this.#out = undefined;
    const isUpdate = (event: GameEvent) => event.ev === "update" || event.ev === "map_progress";
    this.#game = { room, queue: new EventQueue<GameEvent>(MAX_GAME_EVENTS, isUpdate) };
  }

  #endGame(end: End): void {
    this.#game?.queue.close({ ev: "ended", ...end });
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

function endOf(event: CoreEvent): End {
  return { code: text(event.code), message: text(event.message) };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
