/**
 * What a page and its worker say to each other.
 *
 * The client runs in the worker: connections, decoding and timers do not wait for the page, however
 * long it draws. The page keeps what the worker has reported, and reads from that.
 *
 * One port a client, so messages come in order. A call's `returned` comes before the events that it
 * has caused, and the state comes with the events that have changed it. Times are milliseconds since
 * the Unix epoch, since the clocks of page and worker begin at different times.
 */

import type { ServerAddress } from "./connection.js";
import type { AccountKeys } from "./device_account.js";
import type { LineConditions } from "./bad_line.js";
import type { GameEvent, LobbyEvent } from "./events.js";
import type { Picture } from "./picture.js";
import type { ReplayClock } from "./replay_clock.js";
import type { GameRules } from "./rules.js";
import type { Schema } from "./schema.js";

/** An event with the number of the request that it answers, or 0: `event_json.rs` of the boundary. */
export type Envelope =
  | { of: "lobby"; request: number; event: LobbyEvent }
  | { of: "game"; request: number; event: GameEvent };

/** The answer to a request, of the kind that it asks for. */
export type Answer<Ev extends LobbyEvent["ev"]> = Extract<LobbyEvent, { ev: Ev }>;

/** Where a module of WebAssembly is; true for beside the worker's script. */
export type ModuleSource = true | string | WebAssembly.Module;

/** Those of the physics, by the names of games; true for all beside the worker's script. */
export type PhysicsSources = true | Readonly<Record<string, ModuleSource>>;

/** What a client is connected with; see `ConnectOptions`. */
export interface Setup {
  settings: string;
  token: Uint8Array;
  account: AccountKeys | undefined;
  servers: readonly (string | ServerAddress)[];
  physics: PhysicsSources;
  line: LineConditions;
  wasm: ModuleSource;
}

/** What a replay begins with. */
export interface ReplaySetup {
  settings: string;
  /** What a client was sent: `replay_messages.ts`. */
  messages: ArrayBuffer;
  clock: ReplayClock;
  wasm: ModuleSource;
}

/** Functions of the core that the page calls by their names; each takes the time first. */
export type CoreFunction = "request" | "send" | "hold" | "set_axis";

/** `call` is 0 if nobody waits for the end. */
export type ToWorker =
  | { do: "connect"; call: number; setup: Setup }
  | { do: "replay"; call: number; setup: ReplaySetup }
  | { do: "clock"; clock: ReplayClock }
  | { do: "call"; call: number; name: CoreFunction; values: readonly unknown[] }
  | { do: "stats"; call: number }
  | { do: "quit"; call: number }
  /** Draws what is in sight at a time. The buffers are for further pictures. */
  | { do: "draw"; at: number; buffers: ArrayBuffer[] }
  | { do: "line"; conditions: LineConditions }
  /** The page is left, and may come back; it does not if the player `quits`. */
  | { do: "leave"; quits: boolean };

export type FromWorker =
  | { say: "returned"; call: number; value: unknown }
  | { say: "failed"; call: number; code: string; message: string }
  | { say: "news"; state: PlayerState; game: GameState | undefined; events: Envelope[] }
  | { say: "picture"; picture: Picture };

/** What is known about the player. */
export interface PlayerState {
  player: number;
  name: string;
  /** The room that the player is in. */
  room: number | undefined;
  isConnected: boolean;
  token: Uint8Array;
}

/** Before the first news. */
export const NOBODY: PlayerState = {
  player: 0,
  name: "",
  room: undefined,
  isConnected: false,
  token: new Uint8Array(0),
};

/** What is known about the game: after its start, and again with its map. */
export interface GameState {
  schema: Schema;
  rules: GameRules;
  /** The obstacles, once there are any: `map_obstacles` of the core. */
  obstacles: Float32Array | undefined;
}
