/** A room that the player has a seat in. */

import type { CorePort } from "./core_port.js";
import { AmbitError } from "./errors.js";
import type { PlayerListing } from "./events.js";
import { Game } from "./game.js";
import type { GameQueue } from "./inbox.js";

/**
 * A room that the player has a seat in; a player has one at a time. After the player has left, all
 * requests fail with `not_in_room`.
 */
export class Room {
  /** Its number in the lobby: what other players join it by. */
  readonly id: number;
  readonly #port: CorePort;
  #game: { queue: GameQueue; game: Game } | undefined;

  /** @internal */
  constructor(port: CorePort, id: number) {
    this.#port = port;
    this.id = id;
  }

  /** Starts the game and enters it; for the room's host only. */
  async start(): Promise<Game> {
    this.#check();
    this.#port.inbox.forgetFailure();
    await this.#port.ask("start_room");
    return this.play();
  }

  /** Enters the game as soon as it runs: at once, or when the room's host starts it. */
  async play(): Promise<Game> {
    this.#check();
    const present = () => this.#port.state.room;
    const queue = await this.#port.inbox.waitForGame(this.id, present);
    if (this.#game?.queue !== queue) {
      this.#game = { queue, game: new Game(this.#port, this.id, queue) };
    }
    return this.#game.game;
  }

  /** Its members. */
  async players(): Promise<PlayerListing[]> {
    this.#check();
    const answer = await this.#port.ask<"players">({ list_players: { everybody: false } });
    return answer.players;
  }

  /** Says something to all members. */
  async say(text: string): Promise<void> {
    this.#check();
    await this.#port.ask({ say: { to: "room", text } });
  }

  /** Sets whether the player is ready; a room may wait for all its members. */
  async setReady(ready: boolean): Promise<void> {
    this.#check();
    await this.#port.ask({ set_ready: ready });
  }

  /** Removes a player; for the room's host only. */
  async kick(player: number): Promise<void> {
    this.#check();
    await this.#port.ask({ kick: player });
  }

  /** Leaves the game and the room. */
  async leave(): Promise<void> {
    this.#check();
    await this.#port.ask("leave_room");
  }

  /** A request names no room: it means the one that the player is in. */
  #check(): void {
    if (this.#port.state.room !== this.id) {
      throw new AmbitError("not_in_room", "the player is not in this room any more");
    }
  }
}
