/**
 * What the picture on a card shows, as the game declares it: a thing such as a ring in its colour,
 * or the emblem of what a skill raises. A choice without either gets a neutral picture, the same
 * one each time.
 */

import type { Choice } from "../ambit/ambit.js";
import { aboutOf, type TileSign } from "./action_tile.js";
import { type Action, choiceOf } from "./actions.js";
import { LOOKS } from "./elements.js";
import { hashOf } from "./roles.js";
import { asWords } from "./words.js";

export type ThingShape = NonNullable<Choice["thing"]> | "nothing";

export interface ThingPicture {
  what: "thing";
  shape: ThingShape;
  /** As in CSS. */
  tint: string;
}

export interface EmblemPicture {
  what: "emblem";
  /** Undefined if none is declared: then letters are shown. */
  sign: TileSign | undefined;
  letters: string;
  colour: string;
  /** Beside the sign of a spell: what of it is raised. */
  raises: TileSign | undefined;
}

export type CardPicture = ThingPicture | EmblemPicture;

/** The colour of a thing for which its game declares none. */
const TINTS: Readonly<Partial<Record<ThingShape, string>>> = {
  whetstone: "#9aa7b0",
  amulet: "#4fc0a0",
  ring: "#f0b840",
  crown: "#f0b840",
  helm: "#aab6c2",
  gloves: "#9c6b42",
  belt: "#8a5a36",
  cloak: "#7a3f8f",
  shield: "#6f8fb8",
  armour: "#9aa7b4",
  winged_boots: "#a8794a",
  boots: "#8d5c38",
  dagger: "#c4ced8",
  axe: "#b8c4cf",
  hammer: "#a8b2bc",
  spear: "#c4ced8",
  staff: "#6fb7ff",
  bow: "#a06a38",
  sword: "#c9d3dc",
  potion: "#e0485a",
  scroll: "#b5793f",
  book: "#8c3b3b",
  orb: "#7a6cf0",
  coin: "#f0b840",
  leaf: "#5fae4c",
  fang: "#e6dcc0",
  charm: "#ffcf5a",
};
/** Of what no picture is declared for. */
const NEUTRAL: readonly ThingShape[] = ["pouch", "relic", "box"];

/** The colour of what is raised, where nothing else gives one. */
const RAISED: Readonly<Partial<Record<TileSign, string>>> = {
  heal: "#4fcf77",
  renew: "#e2465a",
  drop: "#3f86f0",
  shield: "#8ea4ba",
  clock: "#b98cf0",
  hourglass: "#e0b45c",
  burst: "#f29a3c",
  dash: "#5fc98f",
  sword: "#f0763c",
};

export function cardPictureOf(action: Action): CardPicture {
  const choice = choiceOf(action);
  if (choice === "") return { what: "thing", shape: "nothing", tint: "#8b95a0" };
  const about = aboutOf(action);
  // What raises something is a skill, also if it costs a point.
  const isThing = about?.thing || (action.cost !== null && !about?.raises);
  return isThing ? thingOf(choice, about) : emblemOf(choice, about);
}

export function thingOf(name: string, about: Partial<Choice> | undefined): ThingPicture {
  const hash = hashOf(asWords(name).toLowerCase());
  const shape = about?.thing ?? (NEUTRAL[hash % NEUTRAL.length] as ThingShape);
  return { what: "thing", shape, tint: about?.tint ?? TINTS[shape] ?? hueOf(hash) };
}

export function emblemOf(name: string, about: Partial<Choice> | undefined): EmblemPicture {
  const { sign, raises, made_of: element } = about ?? {};
  const letters = asWords(name).slice(0, 2);
  const isOfSpell = sign !== null && sign !== undefined;
  const colour = (isOfSpell && element && LOOKS[element].colour) || (raises && RAISED[raises]);
  return {
    what: "emblem",
    sign: sign ?? raises ?? undefined,
    letters: letters.charAt(0).toUpperCase() + letters.slice(1),
    colour: colour || hueOf(hashOf(asWords(name).toLowerCase())),
    raises: isOfSpell && raises !== sign ? (raises ?? undefined) : undefined,
  };
}

function hueOf(hash: number): string {
  return `hsl(${hash % 360} 48% 56%)`;
}
