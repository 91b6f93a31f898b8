/** Names of a game's schema, as players read them: `turn-left` is "Turn left". */

export function forPlayers(name: string): string {
  const words = name.replaceAll(/[-_]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
