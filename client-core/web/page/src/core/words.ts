/** Names of a game's schema and of parameters, as players read them. */

import type { Schema } from "../ambit/ambit.js";

/** The game's own label, otherwise the words of the name. */
export function labelOf({ name, label }: { name: string; label: string }): string {
  return label || forPlayers(name);
}

/** `turn-left` is "Turn left". */
export function forPlayers(name: string): string {
  const words = asWords(name);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** `iron-ring` is "iron ring". */
export function asWords(name: string): string {
  return name.replaceAll(/[-_]+/g, " ").trim();
}

/** The text, or its beginning with an ellipsis, if it is wider than `most` as measured. */
export function fitted(text: string, most: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= most) return text;
  const letters = [...text];
  while (letters.length > 1 && widthOf(`${letters.join("").trimEnd()}\u2026`) > most) letters.pop();
  return `${letters.join("").trimEnd()}\u2026`;
}

/** What players read instead of a text: by its component's name and the text, with a blank. */
export type WordsOfTexts = ReadonlyMap<string, string>;

/** A text that events tell as a choice of the same name, such as a phase, is shown as that is. */
export function wordsOfTexts({ events }: Pick<Schema, "events">): WordsOfTexts {
  const fields = events.flatMap((event) => event.fields);
  return new Map(
    fields.flatMap((field) => {
      if (field.type !== "choice") return [];
      const labels = field.choices.map((name, at) => {
        return labelOf({ name, label: field.about[at]?.label ?? "" });
      });
      return field.choices.map((name, at) => [`${field.name} ${name}`, labels[at] ?? name] as const);
    }),
  );
}

/** All names among which players choose in commands. */
export function choiceNames({ commands }: Pick<Schema, "commands">): ReadonlySet<string> {
  const fields = commands.flatMap((command) => command.fields);
  return new Set(fields.flatMap((field) => (field.type === "choice" ? field.choices : [])));
}
