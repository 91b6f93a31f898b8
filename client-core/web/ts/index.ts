/**
 * The Ambit client for browsers: requests with answers, frames to draw, commands by name.
 *
 * {@link connect} returns a {@link Client}; its rooms return a {@link Room}, and that a
 * {@link Game}. The names and the behaviour are those of the Rust crate `ambit-client`.
 */

export type { Client, GameDescription, RoomSettings } from "./client.js";
export { GOOD_LINE, type LineConditions } from "./bad_line.js";
export {
  connect,
  type ConnectOptions,
  type PasswordSignIn,
  type PhysicsSource,
  type ServerAddress,
  type WasmSource,
} from "./connect.js";
export { DeviceAccount } from "./device_account.js";
export { AmbitError } from "./errors.js";
export type {
  ComponentValues,
  GameEvent,
  GameListing,
  LobbyEvent,
  ParameterListing,
  PartyListing,
  PlayerListing,
  RoomListing,
  Value,
} from "./events.js";
export {
  FLAG_MOVES,
  FLAG_OWN,
  type Frame,
  type Gauge,
  OBJECT_NUMBERS,
  type RowValue,
  VALUE_FLOATS,
} from "./frame.js";
export type { Game, StaticObstacle } from "./game.js";
export type { Room } from "./room.js";
export type { GameRules } from "./rules.js";
export type * from "./schema.js";
export type { Lengths, SimulationStats, Stats, WorkerStats } from "./stats.js";
