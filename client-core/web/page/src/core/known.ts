/** What decides about what a player can do: words and lists of a frame. */

import type { Cost, Frame, Kind } from "../ambit/ambit.js";

export interface Known {
  /** The texts of the avatar and of the game's state, and the names of the avatar's set flags. */
  words: readonly string[];
  /** The texts of the avatar, of the player's own rows and of the game's state, by their names. */
  lists: ReadonlyMap<string, string>;
  /** Those of the avatar alone. */
  own: ReadonlyMap<string, string>;
  /** The numbers of the avatar and of the player's own rows, by their names. */
  numbers: ReadonlyMap<string, number>;
  /** What the avatar's gauges have, by their names. */
  gauges: ReadonlyMap<string, number>;
  /** How many in the tables have a text, by the text and its name. */
  counts: ReadonlyMap<string, number>;
}

/** `states` are the room-wide kinds; one with a single object without an owner is the state. */
export function knownOf(frame: Frame, states: readonly Kind[]): Known {
  const words: string[] = [];
  const [lists, own] = [new Map<string, string>(), new Map<string, string>()];
  const [numbers, counts] = [new Map<string, number>(), new Map<string, number>()];
  const gauges = new Map<string, number>();
  const read = (object: number, kind: Kind, isWord: boolean) =>
    kind.components.forEach(({ name, type }, index) => {
      const value = frame.component(object, index);
      if (type === "flag" && isWord && value === true) words.push(name);
      if (type === "number" && typeof value === "number") numbers.set(name, value);
      if (type !== "text") return;
      lists.set(name, String(value ?? ""));
      if (isWord) words.push(String(value ?? ""));
    });
  for (const kind of states) {
    const rows = frame.rows(kind.name);
    for (const row of rows) {
      const isOwn = frame.isOwn(row);
      if (isOwn || rows.length === 1) read(row, kind, !isOwn);
      kind.components.forEach(({ name, type }, index) => {
        if (type !== "text") return;
        const key = countKey(name, String(frame.component(row, index) ?? ""));
        counts.set(key, (counts.get(key) ?? 0) + 1);
      });
    }
  }
  if (frame.avatar < 0) return { words, lists, own, numbers, gauges, counts };
  const kind = frame.kind(frame.avatar);
  read(frame.avatar, kind, true);
  kind.components.forEach(({ name, type }, index) => {
    if (type === "text") own.set(name, lists.get(name) ?? "");
    const value = type === "gauge" ? frame.component(frame.avatar, index) : undefined;
    if (typeof value === "number") gauges.set(name, value);
  });
  return { words, lists, own, numbers, gauges, counts };
}

/** Of those whose text `name` is `value`. */
export function countKey(name: string, value: string): string {
  return `${name} ${value}`;
}

/** What the player has of that in which the costs are; undefined if nothing costs anything. */
export function purseOf(
  costs: readonly (Cost | null)[],
  numbers: ReadonlyMap<string, number>,
): Cost | undefined {
  const of = costs.find((cost) => cost && numbers.has(cost.of))?.of;
  return of === undefined ? undefined : { of, amount: numbers.get(of) ?? 0 };
}
