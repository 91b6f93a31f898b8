/** A player in the lobby. */

import type { LineConditions } from "./bad_line.js";
import type { CorePort } from "./core_port.js";
import type {
  GameDescription as RoomOptions,
  GameListing,
  LobbyEvent,
  NewRoom,
  PlayerListing,
  RoomListing,
} from "./events.js";
import { Room } from "./room.js";
import type { Schema } from "./schema.js";
import type { Stats } from "./stats.js";

/** With what a room of a game can be created, and what the game declares. */
export interface GameDescription extends RoomOptions {
  /** Of a room without parameters; null if the server does not tell it. */
  schema: Schema | null;
}

/** The settings of a new room, all optional. */
export type RoomSettings = Pick<NewRoom, "capacity" | "password" | "parameters">;

/** A player in the lobby: rooms, chat, and the way into games. */
export class Client {
  readonly #port: CorePort;
  #watchesRooms = false;
  #room: Room | undefined;

  /** @internal */
  constructor(port: CorePort) {
    this.#port = port;
  }

  /** The player's number in the lobby. */
  get player(): number {
    return this.#port.state.player;
  }

  /** The player's name. */
  get name(): string {
    return this.#port.state.name;
  }

  /** The player's account, if the session has one: the same tomorrow. */
  get account(): string | undefined {
    return this.#port.inbox.welcome?.account ?? undefined;
  }

  /** The games that the server offers. */
  get games(): readonly GameListing[] {
    return this.#port.inbox.welcome?.games ?? [];
  }

  /** The room that the player is in: of a resumed session perhaps from the start. */
  get room(): Room | undefined {
    const id = this.#port.state.room;
    return id === undefined ? undefined : this.#roomOf(id);
  }

  /** Whether the lobby answers now: false while a broken connection is restored. */
  get isConnected(): boolean {
    return this.#port.state.isConnected;
  }

  /** Whether the connection is closed for good. */
  get isClosed(): boolean {
    return this.#port.inbox.closed !== undefined;
  }

  /** Secret: it resumes this session, or takes it over. */
  get resumeToken(): Uint8Array {
    return this.#port.state.token;
  }

  /** Counters and measurements as they are now. */
  stats(): Promise<Stats> {
    return this.#port.stats();
  }

  /** Makes the line bad in both directions from now on, for trying things out. */
  setLine(conditions: LineConditions): void {
    this.#port.setLine(conditions);
  }

  /** Creates a room for a game, with the player as its host. */
  async createRoom(name: string, game: string, settings: RoomSettings = {}): Promise<Room> {
    const key = [...crypto.getRandomValues(new Uint8Array(16))];
    const create_room = { ...settings, name, game, key };
    const created = await this.#port.ask<"created">({ create_room });
    return this.#roomOf(created.id);
  }

  /** Takes a seat in a room. */
  async joinRoom(room: number, { password = "" }: { password?: string } = {}): Promise<Room> {
    const joined = await this.#port.ask<"joined">({ join_room: { room, password } });
    return this.#roomOf(joined.id);
  }

  /**
   * Takes a seat in any room of a game that was created with these parameters and has no password,
   * the fullest one; or in a new one, which starts as soon as enough players are there.
   */
  async quickJoin(game: string, parameters: RoomSettings["parameters"] = {}): Promise<Room> {
    const joined = await this.#port.ask<"joined">({ quick_join: { game, parameters } });
    return this.#roomOf(joined.id);
  }

  /** Sets what the player wishes in rooms that it joins from now on: a class, a team. */
  async setWishes(wishes: Record<string, string>): Promise<void> {
    await this.#port.ask({ set_wishes: wishes });
  }

  /** What the player signs in with later, if this session began with a password: `ann#48213`. */
  get login(): string | undefined {
    return this.#port.inbox.welcome?.login ?? undefined;
  }

  /** All that the server has stored of the player's account: an object of JSON. */
  async readAccount(): Promise<string> {
    return (await this.#port.ask<"account_data">("read_account")).json;
  }

  /** Deletes it; in no room. Then the session ends. */
  async eraseAccount(): Promise<void> {
    await this.#port.ask("erase_account");
  }

  /** Sets another password. */
  async setPassword(password: string, newPassword: string): Promise<void> {
    await this.#port.ask({ set_password: { password, new_password: newPassword } });
  }

  /** With what a room of a game can be created, and what the game declares. */
  async describeGame(name: string): Promise<GameDescription> {
    const answer = await this.#port.ask<"game">({ describe_game: { game: name } });
    return answer as RoomOptions as GameDescription;
  }

  /** The rooms of the lobby. */
  async rooms(): Promise<RoomListing[]> {
    // A request for the list also says whether changes are reported.
    const subscribe = this.#watchesRooms;
    const answer = await this.#port.ask<"rooms">({ list_rooms: { subscribe } });
    return answer.rooms;
  }

  /** Lists the rooms, and from then on reports each change as an event, or no longer. */
  watchRooms(watch: boolean): Promise<RoomListing[]> {
    this.#watchesRooms = watch;
    return this.rooms();
  }

  /** Everybody in the lobby. */
  async players(): Promise<PlayerListing[]> {
    const answer = await this.#port.ask<"players">({ list_players: { everybody: true } });
    return answer.players;
  }

  /** Says something to everybody in the lobby. */
  async say(text: string): Promise<void> {
    await this.#port.ask({ say: { to: "lobby", text } });
  }

  /** Says something to the party. */
  async sayToParty(text: string): Promise<void> {
    await this.#port.ask({ say: { to: "party", text } });
  }

  /**
   * Invites a player, by name, to the party that the player leads, or to a new one. Who accepts
   * comes into each room that the leader joins from then on; the event `party` tells of changes.
   */
  async invite(player: string): Promise<void> {
    await this.#port.ask({ invite: player });
  }

  /** Accepts the invitation of an event `invited`. */
  async joinParty(party: number): Promise<void> {
    await this.#port.ask({ join_party: party });
  }

  /** Leaves the party; who leads it may put another member out instead, by id. */
  async leaveParty(player?: number): Promise<void> {
    await this.#port.ask({ leave_party: player === undefined ? {} : { player } });
  }

  /** Says something to one player, by name. */
  async whisper(to: string, text: string): Promise<void> {
    await this.#port.ask({ say: { to: { player_named: to }, text } });
  }

  /** Takes another name; returns the name in use. */
  async rename(name: string): Promise<string> {
    await this.#port.ask({ set_name: name });
    return this.name;
  }

  /** The events of the lobby that have come so far. At most 1,024 wait; see the event `missed`. */
  events(): LobbyEvent[] {
    return this.#port.inbox.lobby.take();
  }

  /** The next event of the lobby, as soon as there is one; undefined after `closed`. */
  nextEvent(): Promise<LobbyEvent | undefined> {
    return this.#port.inbox.lobby.next();
  }

  /** Leaves game, room and lobby. */
  quit(): Promise<void> {
    return this.#port.quit();
  }

  #roomOf(id: number): Room {
    if (this.#room?.id !== id) this.#room = new Room(this.#port, id);
    return this.#room;
  }
}
