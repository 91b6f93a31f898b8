/** Whom the own avatar has felled: the page shows each kill clearly. */

import type { EventKind, GameEvent } from "../ambit/ambit.js";
import { objectsOf } from "./event_texts.js";

/**
 * The object that has fallen, if an event tells a death of which it names the own avatar as the
 * other one; undefined otherwise.
 */
export function felledBy(kind: EventKind, event: GameEvent, own: number): number | undefined {
  if (kind.effect?.form !== "death") return undefined;
  const [fallen, ...others] = objectsOf(kind, event);
  const isOwn = typeof fallen === "number" && fallen !== own && others.includes(own);
  return isOwn ? fallen : undefined;
}
