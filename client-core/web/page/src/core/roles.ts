/**
 * What a figure or a creature looks like beside others of its kind: its role, or the sort it is of.
 *
 * A role is a text of an object that has the name of the first field of a command, and is one of
 * its choices: what players choose to be. Outfits go by words that games often use, and by the
 * place among the choices where a game uses others. No game is known here.
 */

import type { Kind, Schema } from "../ambit/ambit.js";

export type Outfit = "plain" | "knight" | "mage" | "archer" | "healer" | "trader";
export type Sort = "round" | "horned" | "beast" | "robed";

/** What a box is, by the name of its kind. */
export type Thing = "block" | "toy" | "chest" | "trap";

const OUTFITS: readonly Outfit[] = ["knight", "mage", "archer", "healer"];
const OUTFIT_WORDS: readonly (readonly [Outfit, RegExp])[] = [
  ["knight", /warrior|knight|guard|fighter|paladin|soldier|tank|barbarian/],
  ["mage", /mage|wizard|witch|sorcer|warlock|magician/],
  ["archer", /archer|ranger|hunter|scout|rogue|thief|bow/],
  ["healer", /heal|priest|cleric|medic|monk|druid|doctor/],
];
const SORTS: readonly Sort[] = ["round", "horned", "beast", "robed"];
const SORT_WORDS: readonly (readonly [Sort, RegExp])[] = [
  ["round", /wander|\bnpc\b|villager|sheep|cattle/],
  ["beast", /rat|wolf|dog|hound|bear|boar|spider|cat|crawler|snake|spitter/],
  ["robed", /shaman|lich|witch|mage|priest|ghost|keeper|archer|bowman|necro|cult/],
  ["horned", /brute|lord|ogre|troll|demon|orc|giant|boss|goblin|imp/],
];

/** Where the roles of a kind are, and which there are. */
export interface RoleField {
  component: number;
  choices: readonly string[];
}

export function roleFieldOf(schema: Schema, kind: Kind): RoleField | undefined {
  for (const { fields } of schema.commands) {
    const [field] = fields;
    if (field?.type !== "choice") continue;
    const component = kind.components.findIndex(
      ({ name, type }) => type === "text" && name === field.name,
    );
    if (component >= 0) return { component, choices: field.choices };
  }
  return undefined;
}

/** Of a role among those that there are; whoever has none of them is plain. */
export function outfitOf(role: string, choices: readonly string[]): Outfit {
  const place = choices.indexOf(role);
  if (place < 0) return "plain";
  const [named] = OUTFIT_WORDS.find(([, words]) => words.test(role.toLowerCase())) ?? [];
  return named ?? (OUTFITS[place % OUTFITS.length] as Outfit);
}

/** What a kind of figures without roles is by its name. */
export function outfitOfKind(kind: Kind): Outfit {
  return /merchant|trader|shop|vendor|keeper/.test(kind.name) ? "trader" : "plain";
}

/** A box with a name is a player's: it has a face. */
export function thingOf({ name, look }: Kind): Thing {
  if (/chest|treasure|loot/.test(name)) return "chest";
  if (/trap|spike|snare/.test(name)) return "trap";
  return look.label === null ? "block" : "toy";
}

/** Of creatures without names of their own: by the words of their kind. */
export function sortOfKind({ name, label }: Pick<Kind, "label" | "name">): Sort {
  const words = `${name} ${label}`.toLowerCase();
  return SORT_WORDS.find(([, known]) => known.test(words))?.[0] ?? "round";
}

/** Of a creature by its name: all that are called the same look the same. */
export function sortOf(name: string): Sort {
  const [named] = SORT_WORDS.find(([, words]) => words.test(name.toLowerCase())) ?? [];
  return named ?? (SORTS[hashOf(name) % SORTS.length] as Sort);
}

/** How much larger a boss looks than others of its kind. */
export const BOSS = 1.75;
const GROWTHS: readonly (readonly [number, RegExp])[] = [
  [BOSS, /lord|king\b|queen|boss|lich|dragon|titan|giant|golem/],
  [1.3, /brute|ogre|troll|guardian|champion|elite/],
  [0.85, /\brat\b|imp\b|spiderling|whelp/],
];
const growths = new Map<string, number>();

/** How large a creature looks by its name, in the size of its kind. */
export function growthOf(name: string): number {
  const known = growths.get(name);
  if (known !== undefined) return known;
  if (growths.size >= MOST_NAMES) growths.clear();
  const growth = GROWTHS.find(([, words]) => words.test(name.toLowerCase()))?.[0] ?? 1;
  growths.set(name, growth);
  return growth;
}

const MOST_NAMES = 256;

/** A number for a text, the same everywhere. */
export function hashOf(text: string): number {
  let value = 7;
  for (let at = 0; at < text.length; at += 1) value = (value * 31 + text.charCodeAt(at)) & 0xffffff;
  return value;
}
