/**
 * What an object looks like beside others of its kind: the figure of its kind, or that of its
 * variant, which the value of a text says. The game declares both.
 */

import type { Frame, Kind, Variant } from "../ambit/ambit.js";

export type Figure = NonNullable<Kind["look"]["figure"]>;
export type Outfit = "plain" | "knight" | "mage" | "archer" | "healer" | "trader";
export type Sort = "round" | "horned" | "beast" | "robed";
/** What a box is. */
export type Thing = "block" | "toy" | "chest" | "trap";

const OUTFITS: readonly string[] = ["knight", "mage", "archer", "healer", "trader"];
const SORTS: readonly string[] = ["round", "horned", "beast", "robed"];
const THINGS: readonly string[] = ["toy", "chest", "trap"];

/** The variant of a kind with this value; undefined if there is none. */
export function variantOf({ variants }: Pick<Kind, "variants">, value: unknown): Variant | undefined {
  return variants.find(({ of }) => of === String(value));
}

/** Which variant of its kind an object is now. */
export function variantAt(
  frame: Pick<Frame, "kind" | "component">,
  index: number,
): Variant | undefined {
  const kind = frame.kind(index);
  const { by } = kind.look;
  return by === null ? undefined : variantOf(kind, frame.component(index, by));
}

export function outfitOf(figure: Figure | null | undefined): Outfit {
  return OUTFITS.includes(figure ?? "") ? (figure as Outfit) : "plain";
}

export function sortOf(figure: Figure | null | undefined): Sort {
  return SORTS.includes(figure ?? "") ? (figure as Sort) : "round";
}

export function thingOf(figure: Figure | null | undefined): Thing {
  return THINGS.includes(figure ?? "") ? (figure as Thing) : "block";
}

/** A number for a text, the same everywhere. */
export function hashOf(text: string): number {
  let value = 7;
  for (let at = 0; at < text.length; at += 1) value = (value * 31 + text.charCodeAt(at)) & 0xffffff;
  return value;
}
