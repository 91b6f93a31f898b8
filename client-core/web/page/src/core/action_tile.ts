/**
 * The tile of a command: a sign and a colour. The sign comes from words that games often use, else
 * it is the beginning of the name. The colour is that of what it is made of, else that of an effect
 * that the game has declared for something of this name, else one that belongs to the name.
 */

import type { Schema } from "../ambit/ambit.js";
import type { Action } from "./actions.js";
import { elementOf, lookOf } from "./elements.js";

export type TileSign =
  | "fire"
  | "burst"
  | "frost"
  | "heal"
  | "renew"
  | "shield"
  | "hide"
  | "dash"
  | "sword"
  | "arrow"
  | "bolt"
  | "call"
  | "trap"
  | "roar"
  | "light"
  | "ready"
  | "share"
  | "drop"
  | "whirl"
  | "push";

export interface Tile {
  /** Undefined if no word is known. */
  sign: TileSign | undefined;
  /** Two letters. */
  letters: string;
  /** As in CSS. */
  colour: string;
}

/** The first sign with a word in the name. */
const WORDS: readonly (readonly [TileSign, RegExp])[] = [
  ["ready", /ready|done|start/],
  ["share", /need|want|share|trade/],
  ["renew", /renew|regen|regrow|restore|refresh/],
  ["heal", /heal|mend|cure|potion/],
  ["whirl", /whirl|spin|cyclone|sweep|tornado/],
  ["push", /repel|push|knock|banish|throw/],
  ["light", /bless|holy|light|sun|radian|prayer|sanct/],
  ["fire", /fire|flame|burn|ignite/],
  ["call", /ember|summon|call|wolf|spirit|companion|pet/],
  ["frost", /frost|ice|cold|freez|snow|chill/],
  ["burst", /blast|burst|nova|explo|bomb|storm|meteor/],
  ["bolt", /bolt|spark|zap|thunder|shock|smite|missile/],
  ["shield", /shield|guard|ward|block|armou?r|protect|wall|aegis/],
  ["hide", /veil|hide|hidden|stealth|vanish|shadow|invis|cloak|camouflage/],
  ["dash", /blink|dash|charge|leap|jump|teleport|sprint|roll|step|pierc/],
  ["arrow", /arrow|shot|shoot|aim|volley|hawk/],
  ["sword", /strike|slash|cleave|sword|blow|hit|attack|stab|cut|bash/],
  ["trap", /trap|snare|root|net|web/],
  ["roar", /shout|roar|taunt|cry|rally|scream|howl/],
  ["drop", /venom|poison|blood|acid|rain/],
];
/** Shorter names of effects would be found in any word. */
const LEAST_LETTERS = 4;

export function tileOf(action: Action, schema: Schema): Tile {
  const [choice] = Object.values(action.preset);
  const name = String(choice ?? action.command.name).toLowerCase();
  const words = `${name} ${action.label.toLowerCase()}`;
  const sign = signOf(words);
  const element = choice === undefined ? undefined : elementOf(name);
  // Blows have no element that tells them from each other.
  const isMade = element !== undefined && element !== "force";
  const colour = isMade ? lookOf(element).colour : colourOf(name, schema);
  return { sign, letters: action.label.slice(0, 2), colour };
}

/** By words in lower case. */
export function signOf(words: string): TileSign | undefined {
  return WORDS.find(([, word]) => word.test(words))?.[0];
}

function colourOf(name: string, { events, kinds }: Schema): string {
  const isMeant = (other: { name: string }) =>
    other.name.length >= LEAST_LETTERS && name.includes(other.name);
  const effect = events.find((event) => event.effect && isMeant(event))?.effect;
  return effect?.colour ?? kinds.find(isMeant)?.look.colour ?? `hsl(${hueOf(name)} 55% 50%)`;
}

/** Names that differ have hues that differ, as far as that goes. */
function hueOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.charCodeAt(0)) % 360;
  return sum;
}
