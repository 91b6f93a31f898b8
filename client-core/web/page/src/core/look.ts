/** How an object of a kind is drawn: from the look that its game declares, and nothing else. */

import type { Kind } from "../ambit/ambit.js";
import { outfitOf } from "./roles.js";
import { forPlayers, labelOf } from "./words.js";

export interface MeshDescription {
  /** What walks and points is a figure, what flies and points a ship. */
  form: "creature" | "cube" | "figure" | "ship" | "ball";
  /** Extents in metres, along the axes of the object. */
  scale: readonly [x: number, y: number, z: number];
  /** From the object's position to the middle of its mesh, upwards. */
  lift: number;
  /** From the object's position to the top of its mesh: bars and names are above. */
  top: number;
  material: Kind["look"]["material"];
  /** 0xRRGGBB. */
  colour: number;
  /** Whether it has the same size on the screen at any distance. */
  keepsScreenSize: boolean;
  /** Whether its place is a path: it stands on the ground. Otherwise a pose moves it freely. */
  walks: boolean;
}

/**
 * Widths in declared sizes: those are what the rules collide, and from the camera's distance a
 * figure of that width would be small. Ships are seen from farthest away. Boxes are as large as
 * they are.
 */
const CREATURE_WIDTH = 1.35;
const FIGURE_WIDTH = 1.85;
const SHIP_WIDTH = 2.4;
/** Heights in widths. */
const CREATURE_HEIGHT = 0.95;
const FIGURE_HEIGHT = 1.25;
const SHIP_HEIGHT = 0.4;

export function describeMesh(kind: Kind): MeshDescription {
  const { size, shape } = kind.look;
  const walks = kind.components[0]?.type !== "pose";
  const { material } = kind.look;
  const common = { colour: parseColour(kind.look.colour), material, keepsScreenSize: false, walks };
  // A position on a path is on the ground, that of a pose in the middle of the body.
  const standing = (height: number) => ({
    lift: walks ? height / 2 : 0,
    top: walks ? height : height / 2,
  });
  switch (shape) {
    case "box":
      return { ...common, form: "cube", scale: [size, size, size], ...standing(size) };
    case "arrow": {
      const form = walks ? "figure" : "ship";
      const width = size * (walks ? FIGURE_WIDTH : SHIP_WIDTH);
      const height = width * (walks ? FIGURE_HEIGHT : SHIP_HEIGHT);
      return { ...common, form, scale: [width, width, height], ...standing(height) };
    }
    case "point": {
      const scale = [size, size, size] as const;
      // What is small on any screen glows.
      const shines = { material: "glow", keepsScreenSize: true } as const;
      return { ...common, ...shines, form: "ball", scale, ...standing(size) };
    }
    default: {
      // A creature of light would be seen as a ball anyway, and what has a text and nothing that can
      // be hurt is no creature: a place, a heap, a sign.
      const isThing = kind.look.label !== null && kind.look.bar === null;
      if (material === "glow" || isThing) {
        return { ...common, form: "ball", scale: [size, size, size], ...standing(size) };
      }
      const width = size * CREATURE_WIDTH;
      const height = width * CREATURE_HEIGHT;
      return { ...common, form: "creature", scale: [width, width, height], ...standing(height) };
    }
  }
}

/** Which flags of a kind say that others do not see the object that has them. */
export function hidingFlagsOf({ components }: Pick<Kind, "components">): number[] {
  return components.flatMap(({ type, sign }, index) =>
    type === "flag" && sign === "hide" ? [index] : [],
  );
}

/** As it is written above an object: of a creature the game has given it, in lower case. */
export function labelText(kind: Kind, label: string): string {
  return describeMesh(kind).form === "creature" ? forPlayers(label) : label;
}

/**
 * What is written above an object that has no name of its own: what it is, if it is a person, such
 * as a merchant.
 */
export function nameOfKind(kind: Kind): string | undefined {
  const isNamed = kind.look.label !== null;
  const { figure } = kind.look;
  const isSomebody = figure === "trap" || outfitOf(figure) !== "plain";
  return !isNamed && isSomebody ? labelOf(kind) : undefined;
}

/** `#rrggbb`; grey if it is something else. */
export function parseColour(text: string): number {
  return /^#[0-9a-f]{6}$/i.test(text) ? parseInt(text.slice(1), 16) : 0xa0a0a0;
}
