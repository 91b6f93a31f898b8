/** What players read of an event: its game's line, with what is in the fields. */

import type { EventKind, Field, GameEvent } from "../ambit/ambit.js";
import { texts } from "../texts.js";
import { asWords, forPlayers } from "./words.js";

/** An event that the game itself declares. */
export type DeclaredEvent = Extract<GameEvent, { ev: "event" }>;

/** What the fields of an event say that name objects, in their order. */
export function objectsOf({ fields }: Pick<EventKind, "fields">, event: GameEvent): unknown[] {
  const named = fields.filter(({ type }) => type === "object");
  return named.map(({ name }) => (event as Record<string, unknown>)[name]);
}

/**
 * The name of an object, or what it is, perhaps at the start of a sentence; undefined if it is not
 * known any more.
 */
export type NameOf = (object: number, isFirst: boolean) => string | undefined;

/** A sentence of an event, and the objects that it names. */
export interface Sentence {
  text: string;
  objects: readonly number[];
}

/** What the game says of an event; undefined if it has no words for it: see {@link sentencesOf}. */
export function textOf(
  kind: Pick<EventKind, "fields" | "text">,
  event: GameEvent,
  nameOf: NameOf,
): string | undefined {
  const sentences = sentencesOf(kind, event, nameOf);
  return sentences.length > 0 ? sentences.map(({ text }) => text).join(" ") : undefined;
}

/**
 * Empty if the game has no words for it. A sentence of its text is left out in which nothing can be
 * said: of an object that is not known, or with a text that is empty. Without the first one the
 * others say nothing.
 */
export function sentencesOf(
  { fields, text }: Pick<EventKind, "fields" | "text">,
  event: GameEvent,
  nameOf: NameOf,
): Sentence[] {
  const values = event as Record<string, unknown>;
  const sentences = text.split(/(?<=[.!?]) /).map((sentence): Sentence => {
    let isKnown = true;
    const objects: number[] = [];
    const told = sentence.replaceAll(/\{(\w+)\}/g, (_, name: string, at: number) => {
      const [field, value] = [fields.find((other) => other.name === name), values[name]];
      if (field?.type === "object" && typeof value === "number") objects.push(value);
      const word = field && wordOf(field, value, at === 0, nameOf);
      isKnown &&= Boolean(word);
      return word ?? "";
    });
    return { text: isKnown ? told : "", objects };
  });
  return sentences[0]?.text ? sentences.filter((sentence) => sentence.text !== "") : [];
}

function wordOf(
  field: Field,
  value: unknown,
  isFirst: boolean,
  nameOf: NameOf,
): string | undefined {
  if (field.type === "object") {
    return typeof value === "number" ? nameOf(value, isFirst) : undefined;
  }
  if (field.type === "choice") {
    const { label = "", rarity } = field.about[field.choices.indexOf(String(value))] ?? {};
    const word = label || (isFirst ? forPlayers(String(value)) : asWords(String(value)));
    // What is usual needs no word.
    const isRare = rarity && rarity !== "common";
    return isRare ? `${word} (${texts.rarity[rarity].toLowerCase()})` : word;
  }
  if (typeof value === "number") return String(Math.round(value));
  // What players write themselves, such as their names.
  return typeof value === "string" ? value : undefined;
}
