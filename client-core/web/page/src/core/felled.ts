/** Whom the own avatar has felled: the page shows each kill clearly. */

import type { EventKind, GameEvent } from "../ambit/ambit.js";

/**
 * The object that has fallen, if an event tells a death of which it names the own avatar as the
 * other one; undefined otherwise.
 */
export function felledBy(kind: EventKind, event: GameEvent, own: number): number | undefined {
  if (kind.effect?.form !== "death") return undefined;
  const objects = kind.fields.filter(({ type }) => type === "object");
  const [fallen, ...others] = objects.map(({ name }) => (event as Record<string, unknown>)[name]);
  const isOwn = typeof fallen === "number" && fallen !== own && others.includes(own);
  return isOwn ? fallen : undefined;
}
