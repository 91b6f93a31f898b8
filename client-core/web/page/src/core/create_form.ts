/**
 * The form of a new room, from what a game says about its parameters: which fields, in which order,
 * and whether an input is allowed.
 */

import type { ParameterListing } from "../ambit/ambit.js";
import { labelOf } from "./words.js";

/** Its default is empty if the server chooses. */
export type FormField = ParameterListing & {
  /** What stands in the form at first: the default, or what the game suggests. */
  value: string;
};

/** Why an input is not allowed. */
export type InputProblem =
  | { problem: "not_whole" | "not_a_number" | "not_a_size" }
  | { problem: "out_of_range"; min: number; max: number };

/** Parameters of any room, which most players leave as they are: `docs/playing.md`. */
const ROOM_KEYS = new Set(
  "seed tick delay cell inner outer margin grace budget quorum hold copies map-seats coding".split(" "),
);

/** `suggested` are values of the game, by their keys. */
export function layOut(
  parameters: readonly ParameterListing[],
  suggested: Readonly<Record<string, string>> = {},
) {
  const form = {
    /** The game's own, and the size of the map: shown at once. */
    first: [] as FormField[],
    /** Those of any room. */
    more: [] as FormField[],
  };
  for (const parameter of parameters) {
    const list = ROOM_KEYS.has(parameter.key) ? form.more : form.first;
    // Players read a label instead of the key.
    const label = labelOf({ name: parameter.key, label: parameter.label });
    const value = suggested[parameter.key] ?? parameter.default;
    list.push({ ...parameter, label, value });
  }
  // What a game adds says more about it than how large its map is.
  form.first.sort((a, b) => Number(a.key === "size") - Number(b.key === "size"));
  return form;
}

/** The field that a refusal is about: a server begins with its key, as `KEY=VALUE` or alone. */
export function fieldNamed(message: string, fields: readonly FormField[]): FormField | undefined {
  return fields.find(({ key }) => message.startsWith(`${key}=`) || message.startsWith(`${key} `));
}

/** A refusal that is about a field: its label where the server has the key. */
export function refusalForPlayers(message: string, { key, label }: FormField): string {
  const rest = message.slice(key.length);
  const begun = label + (rest.startsWith("=") ? `: ${rest.slice(1)}` : rest);
  return begun.replace(`ask for ${key} `, () => `ask for ${label} `);
}

/** The parameters to send: those that differ from what the server would choose. */
export function changedParameters(
  fields: readonly FormField[],
  inputOf: (key: string) => string,
): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const field of fields) {
    const input = inputOf(field.key).trim();
    if (input !== "" && input !== field.default) changed[field.key] = input;
  }
  return changed;
}

/** Checks an input; an empty one stands for the default. */
export function findProblem(field: FormField, input: string): InputProblem | undefined {
  const text = input.trim();
  if (text === "") return undefined;
  switch (field.kind) {
    case "whole":
      return /^\d+$/.test(text) ? checkRange(field, text) : { problem: "not_whole" };
    case "decimal":
      return /^\d+(\.\d+)?$/.test(text) ? checkRange(field, text) : { problem: "not_a_number" };
    case "size": {
      const size = parseSize(text);
      if (!size) return { problem: "not_a_size" };
      return checkRange(field, size[0]) ?? checkRange(field, size[1]);
    }
    case "word": // A list offers only what is allowed.
    case "unknown": // The server decides.
      return undefined;
  }
}

/** Width and height of a size, in metres. */
export function parseSize(text: string | undefined): [number, number] | undefined {
  const [, width, height] = /^(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)$/.exec(text ?? "") ?? [];
  return width && height ? [Number(width), Number(height)] : undefined;
}

type Bounds = Pick<FormField & { kind: "whole" }, "min" | "max">;

function checkRange({ min, max }: Bounds, input: string | number): InputProblem | undefined {
  const value = Number(input);
  return value < min || value > max ? { problem: "out_of_range", min, max } : undefined;
}
