/** What decides about what a player can do: words and lists of a frame. */

import type { Frame, Kind } from "../ambit/ambit.js";

export interface Known {
  /** The texts of the avatar and of the game's state, and the names of the avatar's set flags. */
  words: readonly string[];
  /** The texts of the avatar, of the player's own rows and of the game's state, by their names. */
  lists: ReadonlyMap<string, string>;
  /** Those of the avatar alone. */
  own: ReadonlyMap<string, string>;
  /** The numbers of the avatar and of the player's own rows, by their names. */
  numbers: ReadonlyMap<string, number>;
  /** How many in the tables have a text, by the text and its name. */
  counts: ReadonlyMap<string, number>;
}

/** `states` are the room-wide kinds; one with a single object that is nobody's is the state. */
export function knownOf(frame: Frame, states: readonly Kind[]): Known {
  const words: string[] = [];
  const [lists, own] = [new Map<string, string>(), new Map<string, string>()];
  const [numbers, counts] = [new Map<string, number>(), new Map<string, number>()];
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
  if (frame.avatar < 0) return { words, lists, own, numbers, counts };
  const kind = frame.kind(frame.avatar);
  read(frame.avatar, kind, true);
  kind.components.forEach(({ name, type }) => {
    if (type === "text") own.set(name, lists.get(name) ?? "");
  });
  return { words, lists, own, numbers, counts };
}

/** Of those whose text `name` is `value`. */
export function countKey(name: string, value: string): string {
  return `${name} ${value}`;
}

/** What the player has of that in which the prices are; undefined if nothing has a price. */
export function purseOf(
  helps: readonly string[],
  numbers: ReadonlyMap<string, number>,
): { amount: number; name: string } | undefined {
  for (const help of helps) {
    const name = priceOf(help, numbers)?.name;
    if (name !== undefined) return { amount: numbers.get(name) ?? 0, name };
  }
  return undefined;
}

/**
 * What a help says that something costs, such as `25 gold.`: the last sentence, if it is an amount
 * of a number that the player has.
 */
export function priceOf(help: string, numbers: ReadonlyMap<string, number>): Price | undefined {
  const [, amount, name] = /(?:^|[.!] )(\d+) ([a-z]+)\.?$/i.exec(help) ?? [];
  const has = numbers.get(name ?? "");
  if (amount === undefined || name === undefined || has === undefined) return undefined;
  const text = `${amount} ${name}`;
  const about = help.slice(0, help.lastIndexOf(text)).trimEnd();
  return { text, name, about, isTooMuch: Number(amount) > has };
}

export interface Price {
  text: string;
  /** Of the number. */
  name: string;
  /** What else the help says. */
  about: string;
  isTooMuch: boolean;
}
