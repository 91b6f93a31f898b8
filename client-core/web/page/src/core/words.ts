/** Names of a game's schema and of parameters, as players read them. */

/** The game's own label, otherwise the words of the name. */
export function labelOf({ name, label }: { name: string; label: string }): string {
  return label || forPlayers(name);
}

/** `turn-left` is "Turn left". */
export function forPlayers(name: string): string {
  const words = name.replaceAll(/[-_]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
