/** What the page knows about a room: from its host, and from the parameters it was created with. */

import type { GameDescription, GameRules } from "../ambit/ambit.js";
import type { InterestSettings } from "./interest.js";
import type { Extent } from "./map_view.js";

export interface RoomSettings extends GameRules, InterestSettings {
  /** What the host sends this player at most; NaN if that is not known. */
  budgetBytes: number;
}

export function extentOf({ width, height }: GameRules): Extent {
  return { west: 0, south: 0, width, height };
}

/** A number among the parameters of a room: chosen, or the default of its game; NaN if unknown. */
export function parameterOf(
  chosen: Record<string, string>,
  description: GameDescription | undefined,
  key: string,
): number {
  const declared = description?.parameters.find((other) => other.key === key);
  return parseFloat(chosen[key] ?? declared?.default ?? "");
}
