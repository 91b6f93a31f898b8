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

/** All names among which players choose in commands. */
export function choiceNames({ commands }: Pick<Schema, "commands">): ReadonlySet<string> {
  const fields = commands.flatMap((command) => command.fields);
  return new Set(fields.flatMap((field) => (field.type === "choice" ? field.choices : [])));
}
