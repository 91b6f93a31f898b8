/**
 * A small scene that the renderer of games draws once, the camera for it, and how it is collected.
 *
 * Lengths are in metres, the middle of the scene is at 0, and the viewer is in the south.
 */

import type { Kind, Schema, StaticObstacle, Variant } from "../ambit/ambit.js";
import { type Colour, colourOf, type Effect } from "./effects.js";
import type { Extent } from "./map_view.js";

export type Place = readonly [x: number, y: number, z: number];

export interface DioramaObject {
  /** The index of its kind in the scene's schema. */
  kind: number;
  at: Place;
  /** A unit quaternion x, y, z, w. */
  turn: readonly [number, number, number, number];
  /** By which colours and sorts of creatures are chosen; it is not written. */
  label: string | undefined;
  role: string | undefined;
  isOwn: boolean;
}

/** Something that happens: so many milliseconds ago it began. */
export interface Happening {
  effect: Effect;
  at: Place;
  from: Place | undefined;
  agoMs: number;
}

/** Light at a place with a trail behind it: a shot, or the flame of an engine. */
export interface Streak {
  at: Place;
  behind: Place;
  wide: number;
  glow: number;
  colour: Colour;
}

/** From where a scene is seen: angles in radians, `turn` from the south towards the east. */
export interface DioramaView {
  target: Place;
  distance: number;
  pitch: number;
  turn: number;
}

export interface Diorama {
  schema: Schema;
  obstacles: StaticObstacle[];
  objects: DioramaObject[];
  happenings: Happening[];
  streaks: Streak[];
  view: DioramaView;
  /** Where the air begins to be seen, and where it hides all, from the eye. */
  fog: readonly [near: number, far: number];
  place: Schema["scenery"]["place"];
  /** The map: what is around it belongs to the picture, too. */
  extent: Extent;
}

/** Numbers from 0 to below 1. */
export type Units = () => number;

/** Angles of the pictures' camera from top to bottom: narrow, so that nothing looks bent. */
export const DIORAMA_FIELD_OF_VIEW = (30 * Math.PI) / 180;
/** The proportions for which the scenes are composed. */
const COMPOSED_ASPECT = 16 / 9;
/** How far left and right, and up, the middle of a scene is where words are beside or below it. */
const BESIDE_WORDS = { right: 0.18, up: 0.13 } as const;
/** A place that is wider than this has its words beside the scene. */
const WIDE = 1.35;

/** Whether the picture has the place for itself, or shares it with words. */
export type Framing = "alone" | "with_words";

/** Where the camera is: what it looks at, and its own place. */
export interface Shot {
  eye: Place;
  target: Place;
}

/** The camera for a place of these proportions. */
export function shotOf({ view }: Diorama, aspect: number, framing: Framing): Shot {
  const distance = view.distance * Math.max(1, COMPOSED_ASPECT / (1.6 * aspect));
  const high = 2 * distance * Math.tan(DIORAMA_FIELD_OF_VIEW / 2);
  const [sin, cos] = [Math.sin(view.turn), Math.cos(view.turn)];
  const isWide = aspect > WIDE;
  const right = framing === "with_words" && isWide ? BESIDE_WORDS.right * high * aspect : 0;
  const up = framing === "with_words" && !isWide ? BESIDE_WORDS.up * high : 0;
  // What is to be seen farther up is farther away than what the camera looks at.
  const near = up / Math.sin(view.pitch);
  const [x, y, z] = view.target;
  const target = [x - right * cos + near * sin, y - right * sin - near * cos, z] as const;
  const level = distance * Math.cos(view.pitch);
  const eye = [
    target[0] + level * sin,
    target[1] - level * cos,
    z + distance * Math.sin(view.pitch),
  ] as const;
  return { eye, target };
}

interface Traits {
  label?: string | undefined;
  role?: string | undefined;
  isOwn?: boolean;
}

/** Collects a scene, moves what is in it by chance, and may turn it to its mirror image. */
export class Stage {
  readonly #random: Units;
  readonly #schema: Schema;
  readonly #side: 1 | -1;
  readonly #place: Diorama["place"];
  readonly #obstacles: StaticObstacle[] = [];
  readonly #objects: DioramaObject[] = [];
  readonly #happenings: Happening[] = [];
  readonly #streaks: Streak[] = [];
  #view: DioramaView = { target: [0, 0, 0], distance: 20, pitch: 0.4, turn: 0 };
  #fog: readonly [number, number] = [40, 200];

  constructor(
    random: Units,
    place: Diorama["place"],
    ground: string | null,
    kinds: Kind[],
    looks: readonly string[] = [],
  ) {
    this.#random = random;
    this.#side = random() < 0.5 ? 1 : -1;
    this.#place = place;
    const obstacles = looks.map((colour) => ({ glyph: "#", colour }));
    this.#schema = { game: "", kinds, events: [], commands: [], refusals: [], controls: [],
      scenery: { camera: "around", place, ground, no_grid: true, party: false, obstacles } };
  }

  see({ distance, pitch, fog }: Pick<DioramaView, "distance" | "pitch"> & Pick<Diorama, "fog">) {
    const turn = 0.5 * (this.#random() - 0.5);
    this.#view = { target: [0, 0.8, 0.6], distance, pitch, turn };
    this.#fog = fog;
  }

  wall(x: number, y: number, halfX: number, halfY: number, halfZ: number, yaw: number): void {
    const turned = (this.#side * yaw + 2 * Math.PI) % Math.PI;
    this.#obstacles.push({ shape: "box", centre: [this.#side * x, y, halfZ],
      half: [halfX, halfY, halfZ], yaw: turned, look: null });
  }

  pillar(x: number, y: number, radius: number, halfZ: number): void {
    this.#obstacles.push({ shape: "cylinder", centre: [this.#side * x, y, halfZ],
      half: [radius, radius, halfZ], yaw: 0, look: null });
  }

  boulder(x: number, y: number): void {
    const [wide, high] = [0.8 + 1.4 * this.#random(), 0.8 + 0.7 * this.#random()];
    this.wall(x + 3 * this.#chance(), y + 3 * this.#chance(), wide, 1.1, high, this.#random());
  }

  rock(x: number, y: number, radius: number): void {
    const at: [number, number, number] = [
      this.#side * (x + this.#chance()), y + this.#chance(), 1.4 * this.#chance(),
    ];
    this.#obstacles.push({ shape: "cylinder", centre: at, half: [radius, radius, 4], yaw: 0,
      look: 0 });
  }

  /** Looks into the direction `way`, and a little to one side. */
  walker(kind: number, x: number, y: number, way: number, traits: Traits): void {
    const jitter = traits.isOwn ? 0 : 0.5;
    const at: Place = [x + jitter * this.#chance(), y + jitter * this.#chance(), 0];
    this.object(kind, at, heading(this.#mirrored(way + 0.3 * this.#chance())), traits);
  }

  /** Turned by chance, the more the nearer `loose` is to 1. */
  tumbler(kind: number, at: Place, loose: number, traits: Traits): void {
    const [a, b] = [loose * this.#chance(), loose * this.#chance()];
    const yaw = (0.2 + 3 * loose) * this.#chance();
    this.object(kind, at, unit(a, b, Math.sin(yaw / 2), Math.cos(yaw / 2)), traits);
  }

  /** With the flames of its engines. */
  ship(x: number, y: number, way: number, bank: number, traits: Traits): void {
    const z = 0.6;
    const [sin, cos] = [Math.sin(this.#mirrored(way) / 2), Math.cos(this.#mirrored(way) / 2)];
    const roll = this.#side * bank;
    // First about its own axis, then about the vertical.
    const [rollSin, rollCos] = [Math.sin(roll / 2), Math.cos(roll / 2)];
    const turn = unit(cos * rollSin, sin * rollSin, sin * rollCos, cos * rollCos);
    this.object(0, [x, y, z], turn, traits);
    const [dx, dy] = [Math.cos(way), Math.sin(way)];
    this.#streak([x - 2.5 * dx, y - 2.5 * dy, z], [-4.6 * dx, -4.6 * dy, 0], 0.9, 1.5, "#73bfff");
  }

  missile(x: number, y: number, way: number, z: number): void {
    this.object(1, [x, y, z], heading(this.#mirrored(way)), {});
    const [dx, dy] = [Math.cos(way), Math.sin(way)];
    this.#streak([x, y, z], [-5.5 * dx, -5.5 * dy, 0], 0.34, 1.3, "#ffc040");
  }

  /** A shot, most of its way gone. */
  bolt(from: Place, to: Place, colour: string, wide: number): void {
    const part = (share: number) =>
      from.map((start, axis) => start + share * ((to[axis] as number) - start));
    const [x, y, z] = part(0.8) as unknown as Place;
    const behind = part(0.1) as unknown as Place;
    const way: Place = [behind[0] - x, behind[1] - y, behind[2] - z];
    this.#streak([x, y, z], way, wide, 3.2 * wide, colour);
  }

  happen(form: Effect["form"], colour: string, size: number, at: Place, agoMs: number): void {
    const effect = { form, colour, size, at: null, from: null, reach: null, due: null };
    this.#happenings.push({ effect, at: this.#placed(at), from: undefined, agoMs });
  }

  object(kind: number, at: Place, turn: DioramaObject["turn"], traits: Traits): void {
    const { label, role, isOwn = false } = traits;
    this.#objects.push({ kind, at: this.#placed(at), turn, label, role, isOwn });
  }

  diorama(): Diorama {
    return { schema: this.#schema, obstacles: this.#obstacles, objects: this.#objects,
      happenings: this.#happenings, streaks: this.#streaks, view: this.#view, fog: this.#fog,
      place: this.#place, extent: EXTENTS[this.#place] };
  }

  #streak(at: Place, behind: Place, wide: number, glow: number, colour: string): void {
    this.#streaks.push({ at: this.#placed(at), behind: this.#placed(behind), wide, glow,
      colour: colourOf(colour) });
  }

  /** From -1 to 1. */
  #chance(): number {
    return 2 * this.#random() - 1;
  }

  #placed([x, y, z]: Place): Place {
    return [this.#side * x, y, z];
  }

  #mirrored(way: number): number {
    return this.#side === 1 ? way : Math.PI - way;
  }
}

/**
 * Land and a court end in sight, a floor beyond it. The planet is at a place of the map in space:
 * of one so large it is above what happens.
 */
const EXTENTS: Readonly<Record<Diorama["place"], Extent>> = {
  open: { west: -60, south: -45, width: 120, height: 70 },
  court: { west: -34, south: -40, width: 68, height: 57 },
  halls: { west: -100, south: -100, width: 200, height: 200 },
  space: { west: -1_870, south: -1_520, width: 3_000, height: 3_000 },
};

const ROLE = "role";
/** Where the role and the label of a kind are among its components. */
export const ROLE_AT = 1;

export function kindOf(
  name: string,
  position: "path" | "pose",
  look: Partial<Kind["look"]>,
  variants: readonly Variant[] = [],
): Kind {
  const rest = { label: "", unit: "", sign: null, effect: null };
  const place = { ...rest, name: "at" };
  const components: Kind["components"] = [
    position === "path" ? { ...place, type: "path" } : { ...place, type: "pose", turn: "free" },
  ];
  if (variants.length > 0) components.push({ ...rest, name: ROLE, type: "text", max_bytes: 32 });
  const plain: Kind["look"] = { glyph: "?", shape: "disc", colour: "#808080", material: "matte",
    size: 1, bar: null, label: null, figure: null, by: variants.length > 0 ? ROLE_AT : null };
  return { name, label: "", components, look: { ...plain, ...look }, variants: [...variants],
    simulated: false, effect: null };
}

export function heading(way: number): DioramaObject["turn"] {
  return [0, 0, Math.sin(way / 2), Math.cos(way / 2)];
}

function unit(x: number, y: number, z: number, w: number): DioramaObject["turn"] {
  const length = Math.hypot(x, y, z, w);
  return [x / length, y / length, z / length, w / length];
}
