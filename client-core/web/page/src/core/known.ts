/** What decides about what a player can do: words and lists of a frame. */

import type { Frame, Kind } from "../ambit/ambit.js";

export interface Known {
  /** The texts of the avatar and of the game's state, and the names of the avatar's set flags. */
  words: readonly string[];
  /** The texts of the avatar, of the player's own rows and of the game's state, by their names. */
  lists: ReadonlyMap<string, string>;
  /** Those of the avatar alone. */
  own: ReadonlyMap<string, string>;
}

/** `states` are the room-wide kinds: of one with a single object that is nobody's it is the state. */
export function knownOf(frame: Frame, states: readonly Kind[]): Known {
  const words: string[] = [];
  const [lists, own] = [new Map<string, string>(), new Map<string, string>()];
  const read = (object: number, kind: Kind, isWord: boolean) =>
    kind.components.forEach(({ name, type }, index) => {
      const value = frame.component(object, index);
      if (type === "flag" && isWord && value === true) words.push(name);
      if (type !== "text") return;
      lists.set(name, String(value ?? ""));
      if (isWord) words.push(String(value ?? ""));
    });
  for (const kind of states) {
    const rows = frame.rows(kind.name);
    for (const row of rows) {
      const isOwn = frame.isOwn(row);
      if (isOwn || rows.length === 1) read(row, kind, !isOwn);
    }
  }
  if (frame.avatar < 0) return { words, lists, own };
  const kind = frame.kind(frame.avatar);
  read(frame.avatar, kind, true);
  kind.components.forEach(({ name, type }) => {
    if (type === "text") own.set(name, lists.get(name) ?? "");
  });
  return { words, lists, own };
}
