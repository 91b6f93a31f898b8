/**
 * Events: what happens in the lobby, and what happens in a game. The keys are those of the lines
 * that the console prints; times are room time in milliseconds, positions metres.
 */

import type { Missed } from "./queue.js";

export interface GameListing {
  name: string;
  description: string;
  min_players: number;
  join_running: boolean;
}

/** With what a room of a game can be created, within the limits of the server. */
export interface GameDescription {
  game: string;
  /** The seats of a room that is created without a number of them. */
  default_capacity: number;
  max_capacity: number;
  /** Those of every room, and then the game's own. */
  parameters: ParameterListing[];
}

/** A parameter of a room. */
export interface ParameterListing {
  /** The key in `NewRoom.parameters`. */
  key: string;
  /** What players read instead of the key; may be empty. */
  label: string;
  /** As a player would write it; empty if the server chooses. */
  default: string;
  /** What it is, its unit, and what raising it costs. */
  about: string;
  kind: "whole" | "decimal" | "size" | "word" | "unknown";
  /** Of numbers; of each extent of a size. Both ends are allowed. */
  min?: number;
  max?: number;
  /** The allowed words. */
  words?: string[];
}

export interface RoomListing {
  id: number;
  name: string;
  game: string;
  players: number;
  capacity: number;
  running: boolean;
  /** Whether a password is needed to join. */
  password: boolean;
  /** The player who may start the game and kick players. */
  host: number;
  parameters: Record<string, string>;
}

export interface PlayerListing {
  id: number;
  name: string;
  ready: boolean;
  host: boolean;
  /** False during the grace period. */
  connected: boolean;
}

/** Something that happens in the lobby, beside the answers to requests. */
export type LobbyEvent =
  | {
      ev: "chat";
      channel: "lobby" | "room" | "whisper";
      from: string;
      from_id: number;
      /** The receiver of a whisper. */
      to_id: number | null;
      text: string;
    }
  /** The server has dropped chat messages (`chat_missed`). */
  | { ev: "notice"; code: string; message: string; count?: number }
  /** The rooms, after a pause of the connection; only while they are watched. */
  | { ev: "rooms"; rooms: RoomListing[] }
  | { ev: "room_changed"; room: RoomListing }
  | { ev: "room_gone"; room: number }
  /** The members of the player's room have changed. */
  | { ev: "players"; room: number | null; players: PlayerListing[] }
  | { ev: "renamed"; player: number; name: string }
  /** The player is in a room without having asked for it just now. */
  | ({ ev: "joined" | "created"; room: number; members?: PlayerListing[] } & RoomListing)
  /** The player was removed from the room. */
  | { ev: "left"; room: number; reason: string; message: string }
  /** The connection to the lobby broke. The client restores it; a game goes on meanwhile. */
  | { ev: "interrupted"; reason: string; retry_in_ms: number }
  | { ev: "resumed"; is_new_session: boolean }
  | { ev: "error"; code: string; message: string }
  | Missed
  /** The connection is closed for good: the last event. */
  | { ev: "closed"; code: string; message: string };

/** Components by their names, as the console prints them. */
export type ComponentValues = Record<string, unknown>;

/**
 * Something that happens in a game. A page that only draws needs none of these: each frame is
 * complete.
 */
export type GameEvent =
  | {
      ev: "enter";
      t: number;
      id: number;
      kind: string;
      own: boolean;
      x: number;
      y: number;
      z: number;
      components: ComponentValues;
    }
  | { ev: "update"; t: number; id: number; components: ComponentValues }
  | { ev: "leave"; t: number; id: number }
  /** Something that the schema declares. Its fields are beside these keys. */
  | {
      ev: "event";
      t: number;
      name: string;
      effect: number;
      late: boolean;
      [field: string]: unknown;
    }
  /**
   * The host has executed a command, which is final. It takes effect at this room time, for
   * everybody; some ticks earlier if the first confirmation was lost.
   */
  | { ev: "confirmed"; t: number; command: number; effect: number }
  /** The game refused a command, or the command was lost. */
  | { ev: "refused"; command: number; code: string; message: string }
  /** `physics_missing`, `room_late`, `room_overloaded`, `room_in_time`. */
  | { ev: "notice"; t: number; code: string; message: string }
  /** The static map has arrived: `Game.map`. */
  | { ev: "map"; t: number; obstacles: number; bytes: number }
  | { ev: "map_progress"; t: number; received: number; total: number }
  /** The game's connection broke. The client restores it. */
  | { ev: "interrupted"; reason: string; retry_in_ms: number }
  /**
   * The host was asked and has not answered for a second: the line may be dead, and what is shown is
   * as old. After 3 s of silence the client dials anew.
   */
  | { ev: "silent"; silent_ms: number }
  /** The host is heard again. */
  | { ev: "heard" }
  /** The game goes on. All objects have left and enter again, with new ids. */
  | { ev: "resumed"; map: number }
  | { ev: "error"; code: string; message: string }
  | Missed
  /** The player is not in the game any more: the last event. */
  | { ev: "ended"; code: string; message: string };
