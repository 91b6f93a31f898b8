/**
 * What the page knows about the lobby, from lists and events. No DOM.
 *
 * Bound: {@link MAX_CHAT} lines of chat.
 */

import type { LobbyEvent, PlayerListing, RoomListing } from "../ambit/ambit.js";

export interface ChatLine {
  channel: "lobby" | "room" | "whisper" | "notice";
  from: string;
  /** Of a whisper; empty if the receiver is not known. */
  to: string;
  text: string;
}

const MAX_CHAT = 200;

export class LobbyModel {
  readonly rooms = new Map<number, RoomListing>();
  /** Of the player's room. */
  members: PlayerListing[] = [];
  everybody: PlayerListing[] = [];
  readonly chat: ChatLine[] = [];

  setRooms(rooms: readonly RoomListing[]): void {
    this.rooms.clear();
    for (const room of rooms) this.rooms.set(room.id, room);
  }

  /** Who told of all this is gone. */
  forget(): void {
    this.rooms.clear();
    this.members = [];
    this.everybody = [];
  }

  /** Running rooms last, the newest first: those that can be joined before they begin. */
  sortedRooms(): RoomListing[] {
    const rooms = [...this.rooms.values()];
    return rooms.sort((a, b) => Number(a.running) - Number(b.running) || b.id - a.id);
  }

  /** Where a newcomer gets into a game at once: among most others, without a password. */
  bestRoom(): RoomListing | undefined {
    const open = this.sortedRooms().filter(
      ({ running, password, players, capacity }) => running && !password && players < capacity,
    );
    return open.reduce<RoomListing | undefined>(
      (best, room) => (best && best.players >= room.players ? best : room),
      undefined,
    );
  }

  addChat(line: ChatLine): void {
    if (this.chat.length >= MAX_CHAT) this.chat.shift();
    this.chat.push(line);
  }

  /** `room` is the player's. */
  handle(event: LobbyEvent, room: number | undefined): void {
    switch (event.ev) {
      case "rooms":
        return this.setRooms(event.rooms);
      case "room_changed":
        this.rooms.set(event.room.id, event.room);
        return;
      case "joined":
      case "created":
        this.rooms.set(event.id, event);
        return;
      case "room_gone":
        this.rooms.delete(event.room);
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
      case "chat":
        this.addChat({
          channel: event.channel,
          from: event.from,
          to: this.everybody.find(({ id }) => id === event.to_id)?.name ?? "",
          text: event.text,
        });
        return;
      case "notice":
        this.addChat({ channel: "notice", from: "", to: "", text: event.message });
        return;
      case "left":
        this.members = [];
        return;
    }
  }
}
