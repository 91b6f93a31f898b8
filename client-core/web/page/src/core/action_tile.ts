/**
 * The tile of a command: the sign that its game declares, else the beginning of the name, and a
 * colour. That is the one of what it is made of, else of an effect that the game has declared for
 * something of this name, else one that belongs to the name.
 */

import type { Choice, Schema } from "../ambit/ambit.js";
import type { Action } from "./actions.js";
import { lookOf } from "./elements.js";

export type TileSign = NonNullable<Choice["sign"]>;

export interface Tile {
  /** Undefined if the game declares none. */
  sign: TileSign | undefined;
  /** Two letters. */
  letters: string;
  /** As in CSS. */
  colour: string;
}

/** Shorter names of effects would be found in any word. */
const LEAST_LETTERS = 4;

export function tileOf(action: Action, schema: Schema): Tile {
  const choice = aboutOf(action);
  const name = String(Object.values(action.preset)[0] ?? action.command.name).toLowerCase();
  const sign = choice ? choice.sign : action.command.sign;
  const element = choice?.made_of;
  // Blows have no element that tells them from each other.
  const colour = element && element !== "force" ? lookOf(element).colour : colourOf(name, schema);
  return { sign: sign ?? undefined, letters: action.label.slice(0, 2), colour };
}

/** What is declared about the choice of an action. */
export function aboutOf({ command, preset }: Pick<Action, "command" | "preset">): Choice | undefined {
  const [field] = command.fields;
  if (field?.type !== "choice") return undefined;
  return field.about[field.choices.indexOf(String(preset[field.name] ?? ""))];
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
