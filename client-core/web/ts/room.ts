/** A room that the player has a seat in. */

import type { Driver } from "./driver.js";
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
  readonly #driver: Driver;
  #game: { queue: GameQueue; game: Game } | undefined;

  /** @internal */
  constructor(driver: Driver, id: number) {
    this.#driver = driver;
    this.id = id;
  }

  /** Starts the game and enters it; for the room's host only. */
  async start(): Promise<Game> {
    this.#check();
    this.#driver.inbox.forgetFailure();
    await this.#driver.ask((core, now) => core.start_room(now));
    return this.play();
  }

  /** Enters the game as soon as it runs: at once, or when the room's host starts it. */
  async play(): Promise<Game> {
    this.#check();
    const present = () => this.#driver.room;
    const queue = await this.#driver.inbox.waitForGame(this.id, present);
    if (this.#game?.queue !== queue) {
      this.#game = { queue, game: new Game(this.#driver, this.id, queue) };
    }
    return this.#game.game;
  }

  /** Its members. */
  async players(): Promise<PlayerListing[]> {
    this.#check();
    const answer = await this.#driver.ask((core, now) => core.list_players(now, false));
    return answer.players as PlayerListing[];
  }

  /** Says something to all members. */
  async say(text: string): Promise<void> {
    this.#check();
    await this.#driver.ask((core, now) => core.say(now, true, text));
  }

  /** Sets whether the player is ready; a room may wait for all its members. */
  async setReady(ready: boolean): Promise<void> {
    this.#check();
    await this.#driver.ask((core, now) => core.set_ready(now, ready));
  }

  /** Removes a player; for the room's host only. */
  async kick(player: number): Promise<void> {
    this.#check();
    await this.#driver.ask((core, now) => core.kick(now, player));
  }

  /** Leaves the game and the room. */
  async leave(): Promise<void> {
    this.#check();
    await this.#driver.ask((core, now) => core.leave_room(now));
  }

  /** A request names no room: it means the one that the player is in. */
  #check(): void {
    if (this.#driver.room !== this.id) {
      throw new AmbitError("not_in_room", "the player is not in this room any more");
    }
  }
}
