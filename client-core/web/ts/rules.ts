/** What a page knows about the room of its game. */

import type { GateArea } from "./presentation.js";

/** What the host reports when the player joins: the rules of the room. */
export interface GameRules {
  /** The local lag: from when the host has a command to its effect, for all players. */
  delay_ms: number;
  /** How often the room simulates and sends, a second. */
  tick_hz: number;
  /** Extents of the map on x and y, from 0, in metres. */
  width: number;
  height: number;
  /** Edge of a cell, in metres. */
  cell: number;
  /**
   * Radii of the zones of interest, in cells around the avatar's: objects come into sight in the
   * inner zone, and stay in sight in the outer one.
   */
  inner: number;
  outer: number;
  /** Where the map leads to others. */
  gates: GateArea[];
}
