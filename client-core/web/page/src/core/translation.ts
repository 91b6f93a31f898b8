/**
 * The page and games in another language: a file of the server, `texts/de.json`, has texts by keys.
 * What it does not have stays as it is.
 *
 * A key of the page is `page.` and its place in `texts.ts`: `page.no_rooms`, `page.line.good`. Where
 * a text there is a function, `{0}` is its first argument: `"page.join_room": "{0} beitreten"`. A
 * key of a game is its name, the list, and the names of what it is about:
 * `GAME.commands.cast.spell.frost.help`, `GAME.kinds.hero.mana.label`, `GAME.events.death.text`.
 * Outside of the schema are `GAME.description` and `GAME.boards.BOARD.label`.
 */

import type { Schema } from "../ambit/ambit.js";

export type TextsFile = Readonly<Record<string, string>>;

/** What a game shows in words: the keys of a presentation with a text. */
const SHOWN = ["label", "help", "text", "unit", "lead"] as const;
const LISTS = ["kinds", "events", "commands", "refusals", "controls"] as const;
const PARTS = ["components", "fields"] as const;

type Item = Record<string, unknown>;

export class Translation {
  constructor(readonly file: TextsFile = {}) {}

  /** A text of a file, or the one that there is without it. */
  of(key: string, text: string): string {
    return Object.hasOwn(this.file, key) ? (this.file[key] ?? text) : text;
  }

  /** Keys of the file below `of`, such as `page`, that are none of the known ones. */
  unknown(of: string, known: readonly string[]): string[] {
    const keys = new Set(known);
    return Object.keys(this.file).filter((key) => key.startsWith(`${of}.`) && !keys.has(key));
  }

  /** Puts texts in the place of those of the page. Answers with the keys that the page has. */
  page(texts: object, path = "page"): string[] {
    const item = texts as Item;
    return Object.keys(item).flatMap((name) => {
      const [key, text] = [`${path}.${name}`, item[name]];
      if (typeof text === "string") item[name] = this.of(key, text);
      else if (typeof text === "function") this.#function(item, name, key);
      else if (typeof text === "object" && text !== null) return this.page(text, key);
      return [key];
    });
  }

  #function(item: Item, name: string, key: string): void {
    const template = this.of(key, "");
    if (template) item[name] = (...given: unknown[]) => fillIn(template, given.flat());
  }

  /** Puts texts in the place of those of a game. Answers with the keys that the game has. */
  schema(schema: Schema): string[] {
    return LISTS.flatMap((list) =>
      (schema[list] as unknown as Item[]).flatMap((item) => {
        return this.#item(item, `${schema.game}.${list}.${item["name"] as string}`);
      }));
  }

  #item(item: Item, path: string): string[] {
    const keys = SHOWN.filter((shown) => typeof item[shown] === "string").map((shown) => {
      item[shown] = this.of(`${path}.${shown}`, item[shown] as string);
      return `${path}.${shown}`;
    });
    const parts = PARTS.flatMap((part) => (item[part] ?? []) as Item[]);
    const choices = (item["choices"] ?? []) as string[];
    const about = (item["about"] ?? []) as Item[];
    const words = (item["words"] ?? []) as Item[];
    return [
      ...keys,
      ...parts.flatMap((part) => this.#item(part, `${path}.${part["name"] as string}`)),
      ...words.flatMap((word) => this.#item(word, `${path}.${word["is"] as string}`)),
      ...about.flatMap((choice, at) => this.#item(choice, `${path}.${choices[at] ?? ""}`)),
    ];
  }
}

function fillIn(template: string, given: readonly unknown[]): string {
  return template.replaceAll(/\{(\d)\}/g, (_, at: string) => `${given[Number(at)] ?? ""}`);
}
