/**
 * What the page knows about the lobby, from lists and events. No DOM.
 *
 * Bound: {@link MAX_CHAT} lines of chat.
 */

import type {
  GameListing,
  LobbyEvent,
  PartyListing,
  PlayerListing,
  RoomListing,
} from "../ambit/ambit.js";
import type { Invitation } from "./party_panel.js";

export interface ChatLine {
  channel: "lobby" | "room" | "whisper" | "party" | "notice";
  from: string;
  /** Of a whisper; empty if the receiver is not known. */
  to: string;
  text: string;
}

const MAX_CHAT = 200;

/** What a player can do with a room of the list: `removed` means that its host has put it out. */
export type RoomAction = "join" | "full" | "playing" | "removed";

/** The one way into a world that the lobby offers before all others. */
export type WayIn =
  | { to: "room"; room: RoomListing }
  | { to: "game"; game: string }
  | { to: "create" };

export class LobbyModel {
  readonly rooms = new Map<number, RoomListing>();
  /** Of the player's room. */
  members: PlayerListing[] = [];
  everybody: PlayerListing[] = [];
  party: PartyListing | undefined;
  /** The newest one that is not answered. */
  invitation: Invitation | undefined;
  readonly chat: ChatLine[] = [];
  readonly #barred = new Set<number>();
  /** Where the lines of a room in the chat were said. */
  #chatRoom: number | undefined;

  setRooms(rooms: readonly RoomListing[]): void {
    this.rooms.clear();
    for (const room of rooms) this.rooms.set(room.id, room);
    for (const room of this.#barred) if (!this.rooms.has(room)) this.#barred.delete(room);
  }

  /** The server that sent all this is gone. */
  forget(): void {
    this.rooms.clear();
    this.#barred.clear();
    this.members = [];
    this.everybody = [];
    this.party = this.invitation = undefined;
  }

  /** Running rooms last, the newest first: those that can be joined before they begin. */
  sortedRooms(): RoomListing[] {
    const rooms = [...this.rooms.values()];
    return rooms.sort((a, b) => Number(a.running) - Number(b.running) || b.id - a.id);
  }

  /** What the list offers for a room. */
  actionOf(room: RoomListing, games: readonly GameListing[]): RoomAction {
    if (this.#barred.has(room.id)) return "removed";
    const game = games.find(({ name }) => name === room.game);
    if (room.running && game?.join_running === false) return "playing";
    return room.players < room.capacity ? "join" : "full";
  }

  /**
   * Where a newcomer gets into a game at once: among most others, without a password. Else alone
   * into the first game that is begun alone, into a room that waits for players, or a new one.
   */
  wayIn(games: readonly GameListing[]): WayIn {
    const open = this.#openRooms(games);
    const room = fullest(open.filter(({ running }) => running));
    if (room) return { to: "room", room };
    const quick = games.find(({ quick_start }) => quick_start);
    if (quick) return { to: "game", game: quick.name };
    const waiting = fullest(open);
    return waiting ? { to: "room", room: waiting } : { to: "create" };
  }

  /** The running room of this game in which one plays at once, among most others. */
  runningRoomOf(game: string, games: readonly GameListing[]): RoomListing | undefined {
    const open = this.#openRooms(games);
    return fullest(open.filter((room) => room.running && room.game === game));
  }

  /** The rooms without a password that have players. */
  #openRooms(games: readonly GameListing[]): RoomListing[] {
    return this.sortedRooms().filter(
      (room) =>
        !room.password && !this.#isDeserted(room) && this.actionOf(room, games) === "join",
    );
  }

  /** Its only player, who is its host then, is away. */
  #isDeserted({ host, players }: RoomListing): boolean {
    return players === 1 && this.everybody.find(({ id }) => id === host)?.connected === false;
  }

  /**
   * The room in which a party plays again after its room has closed, if one of them has already
   * created it.
   */
  madeAgain(ended: RoomListing, games: readonly GameListing[]): RoomListing | undefined {
    return this.sortedRooms().find(
      (room) =>
        room.id > ended.id &&
        room.name === ended.name &&
        room.game === ended.game &&
        !room.password &&
        this.actionOf(room, games) === "join",
    );
  }

  /** The rooms that do not let the player in: their hosts have put it out. */
  get barred(): readonly number[] {
    return [...this.#barred];
  }

  /** The server bars from the room as long as it exists. */
  bar(room: number): void {
    this.#barred.add(room);
  }

  addChat(line: ChatLine): void {
    if (this.chat.length >= MAX_CHAT) this.chat.shift();
    this.chat.push(line);
  }

  /** The player has a seat: what was said in another room is not said here. */
  enterRoom(room: number): void {
    if (room !== this.#chatRoom) this.#dropRoomChat();
    this.#chatRoom = room;
  }

  /** The player has left by itself: there is no event about that. */
  leaveRoom(): void {
    this.#dropRoomChat();
    this.#chatRoom = undefined;
  }

  #dropRoomChat(): void {
    const kept = this.chat.filter(({ channel }) => channel !== "room");
    this.chat.splice(0, this.chat.length, ...kept);
  }

  /** `room` is the player's. */
  handle(event: LobbyEvent, room: number | undefined): void {
    switch (event.ev) {
      case "rooms":
        return this.setRooms(event.rooms);
      case "room_changed":
        return void this.rooms.set(event.room.id, event.room);
      case "joined":
      case "created":
        return void this.rooms.set(event.id, event);
      case "room_gone":
        this.rooms.delete(event.room);
        this.#barred.delete(event.room);
        return;
      case "players":
        if (event.room === room) this.members = event.players;
        return;
      case "renamed":
        for (const list of [this.members, this.everybody]) {
          const renamed = list.find(({ id }) => id === event.player);
          if (renamed) renamed.name = event.name;
        }
        return;
      case "invited":
        this.invitation = { party: event.party, name: event.name };
        return;
      case "party":
        this.party = event.party ?? undefined;
        if (this.party?.id === this.invitation?.party) this.invitation = undefined;
        return;
      case "chat": {
        const { channel, from, text } = event;
        const to = this.everybody.find(({ id }) => id === event.to_id)?.name ?? "";
        return this.addChat({ channel, from, to, text });
      }
      case "notice":
        return this.addChat({ channel: "notice", from: "", to: "", text: event.message });
      case "left":
        this.members = [];
        // What was said in a room is for those who are in it.
        this.leaveRoom();
        if (event.reason === "kicked") this.bar(event.room);
        return;
      case "welcome":
        // A server with a new session for the player refuses again if the player is barred.
        if (!event.resumed) {
          this.#barred.clear();
          this.party = this.invitation = undefined;
        }
        return;
    }
  }
}

function fullest(rooms: readonly RoomListing[]): RoomListing | undefined {
  return rooms.reduce<RoomListing | undefined>(
    (found, room) => (found && found.players >= room.players ? found : room),
    undefined,
  );
}
