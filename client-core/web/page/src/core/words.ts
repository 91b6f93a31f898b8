/** Names of a game's schema and of parameters, as players read them. */

import type { Component, Schema } from "../ambit/ambit.js";

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

/** What players read of a text of the game: the label of its word, otherwise its own words. */
export function wordOf({ words }: Pick<Component, "words">, text: string): string {
  return labelOf({ name: text, label: words.find(({ is }) => is === text)?.label ?? "" });
}

/** What players read instead of the names of components, where the game says that. */
export function componentLabels({ kinds }: Pick<Schema, "kinds">): Map<string, string> {
  const components = kinds.flatMap((kind) => kind.components);
  const labelled = components.filter(({ label }) => label !== "");
  return new Map(labelled.map(({ name, label }) => [name, label]));
}

/** The names of the texts that a choice of the player sets. */
export function chosenTexts({ commands }: Pick<Schema, "commands">): Set<string> {
  const fields = commands.flatMap((command) => command.fields);
  return new Set(fields.flatMap((field) => (field.type === "choice" ? [field.sets] : [])));
}
