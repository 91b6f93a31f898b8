/** What players read of an event: its game's line, with what is in the fields. */

import type { EventKind, Field, GameEvent } from "../ambit/ambit.js";
import { asWords, forPlayers, labelOf } from "./words.js";

/**
 * The name of an object, or what it is, perhaps at the start of a sentence; undefined if it is not
 * known any more.
 */
export type NameOf = (object: number, isFirst: boolean) => string | undefined;

/**
 * Undefined if the game has no words for it. A sentence is left out in which nothing can be said:
 * of an object that is not known, or with a text that is empty. Without the first one the others say
 * nothing. `names` are the game's own.
 */
export function textOf(
  kind: EventKind,
  event: GameEvent,
  nameOf: NameOf,
  names: ReadonlySet<string> = new Set(),
): string | undefined {
  const values = event as Record<string, unknown>;
  const sentences = kind.text.split(/(?<=[.!?]) /).map((sentence) => {
    let isKnown = true;
    const text = sentence.replaceAll(/\{(\w+)\}/g, (_, name: string, at: number) => {
      const field = kind.fields.find((other) => other.name === name);
      const word = field && wordOf(field, values[name], at === 0, nameOf, names);
      isKnown &&= Boolean(word);
      return word ?? "";
    });
    return isKnown ? text : "";
  });
  return sentences[0] ? sentences.filter(Boolean).join(" ") : undefined;
}

function wordOf(
  field: Field,
  value: unknown,
  isFirst: boolean,
  nameOf: NameOf,
  names: ReadonlySet<string>,
): string | undefined {
  if (field.type === "object") {
    return typeof value === "number" ? nameOf(value, isFirst) : undefined;
  }
  if (field.type === "choice") {
    const label = field.about[field.choices.indexOf(String(value))]?.label ?? "";
    return labelOf({ name: String(value), label });
  }
  if (typeof value === "number") return String(Math.round(value));
  if (typeof value !== "string") return undefined;
  // A player's own name is written as the player writes it.
  if (!names.has(value)) return value;
  return isFirst ? forPlayers(value) : asWords(value);
}
