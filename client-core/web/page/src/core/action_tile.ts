/**
 * The tile of a command: the sign that its game declares, else the beginning of the name, and a
 * colour. That is the one of what it is made of, else one that belongs to the name.
 */

import type { Choice } from "../ambit/ambit.js";
import type { Action } from "./actions.js";
import { LOOKS } from "./elements.js";

export type TileSign = NonNullable<Choice["sign"]>;

/** A sign, undefined if the game declares none; two letters; and a colour as in CSS. */
export function tileOf(action: Action) {
  const choice = aboutOf(action);
  const name = String(Object.values(action.preset)[0] ?? action.command.name).toLowerCase();
  const sign = choice ? choice.sign : action.command.sign;
  const element = choice?.made_of;
  // Blows have no element that tells them from each other.
  const colour = element && element !== "force" ? LOOKS[element].colour : `hsl(${hueOf(name)} 55% 50%)`;
  return { sign: sign ?? undefined, letters: action.label.slice(0, 2), colour };
}

/** What is declared about the choice of an action. */
export function aboutOf({ command, preset }: Pick<Action, "command" | "preset">): Choice | undefined {
  const [field] = command.fields;
  if (field?.type !== "choice") return undefined;
  return field.about[field.choices.indexOf(String(preset[field.name] ?? ""))];
}

/** Names that differ have hues that differ, as far as that goes. */
function hueOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.charCodeAt(0)) % 360;
  return sum;
}
