/**
 * What a spell or a shot is made of, as its game declares it for choices: a colour, and how it
 * flies. A game declares one look for all its shots; what a player has chosen tells more.
 */

import type { Choice, Schema } from "../ambit/ambit.js";
import type { Outfit } from "./roles.js";

export type Element = NonNullable<Choice["made_of"]>;

/** How a shot on its way looks. */
export type Flight = "ball" | "flame" | "shard" | "drop" | "halo" | "arrow";

export interface ElementLook {
  colour: string;
  flight: Flight;
  /** In sizes that the game has declared. */
  size: number;
}

export const LOOKS: Readonly<Record<Element, ElementLook>> = {
  fire: { colour: "#ff8020", flight: "flame", size: 1 },
  ice: { colour: "#7fd4ff", flight: "shard", size: 0.95 },
  venom: { colour: "#7be03a", flight: "drop", size: 0.8 },
  life: { colour: "#63dc7f", flight: "halo", size: 0.9 },
  light: { colour: "#ffe27a", flight: "halo", size: 0.9 },
  arrow: { colour: "#f3ead2", flight: "arrow", size: 0.55 },
  storm: { colour: "#b9a2ff", flight: "shard", size: 1 },
  shadow: { colour: "#a066e0", flight: "ball", size: 0.9 },
  force: { colour: "#ffd9a0", flight: "ball", size: 0.9 },
};
/** What a figure throws if only its outfit is known. */
export const OF_OUTFIT: Readonly<Partial<Record<Outfit, Element>>> = {
  mage: "fire",
  archer: "arrow",
  healer: "light",
};

/** What choices of commands are made of, by their names and their labels. */
export function elementsOf({ commands }: Pick<Schema, "commands">): ReadonlyMap<string, Element> {
  const fields = commands.flatMap((command) => command.fields);
  return new Map(
    fields.flatMap((field) => {
      if (field.type !== "choice") return [];
      return field.choices.flatMap((name, at) => {
        const element = field.about[at]?.made_of;
        const label = field.about[at]?.label || name;
        return element ? [[name, element] as const, [label, element] as const] : [];
      });
    }),
  );
}

/** How long the named element of an object's deed counts: a spell takes time. */
const NAMED_MS = 2_500;
/** Of as many objects at once. */
const MOST_NAMED = 128;

/** What objects have lately begun to do. */
export class NamedDeeds {
  readonly #deeds = new Map<number, { element: Element; at: number }>();

  note(now: number, object: number, element: Element | undefined): void {
    if (!element) return void this.#deeds.delete(object);
    if (this.#deeds.size >= MOST_NAMED) this.#deeds.clear();
    this.#deeds.set(object, { element, at: now });
  }

  /** Returns and forgets the deed of an object, when it takes effect. */
  take(now: number, object: number): Element | undefined {
    const deed = this.#deeds.get(object);
    if (!deed) return undefined;
    this.#deeds.delete(object);
    return now < deed.at + NAMED_MS ? deed.element : undefined;
  }
}
