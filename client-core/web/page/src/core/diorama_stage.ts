/**
 * A small scene that the renderer of games draws once, the camera for it, and how it is collected.
 *
 * Lengths are in metres, the middle of the scene is at 0, and the viewer is in the south.
 */

import type { Kind, Schema, StaticObstacle } from "../ambit/ambit.js";
import { type Colour, colourOf, type Effect } from "./effects.js";
import { describeMesh } from "./look.js";
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

/** Something that happens. */
export interface Happening {
  effect: Effect;
  at: Place;
  from: Place | undefined;
}

/** Light at a place with a trail behind it: a shot, or the flame of an engine. */
export interface Streak {
  at: Place;
  behind: Place;
  wide: number;
  glow: number;
  colour: Colour;
}

/** How a scene is seen: angles in radians, `turn` from the south towards the east. */
export interface DioramaView {
  target: Place;
  distance: number;
  pitch: number;
  turn: number;
  /** Where the air begins to be seen, and where it hides all, from the eye. */
  fog: readonly [near: number, far: number];
  /** The map: what is around it belongs to the picture, too. */
  extent: Extent;
}

export interface Diorama {
  schema: Schema;
  obstacles: StaticObstacle[];
  objects: DioramaObject[];
  happenings: Happening[];
  streaks: Streak[];
  view: DioramaView;
}

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

/** What an object is: the index of its kind, and the variant of it. */
export interface Member {
  kind: number;
  role?: string;
}

/** A shot, which may be an object; its size is in metres. */
export interface Missile {
  member: Member | undefined;
  look: { colour: string; size: number };
}

interface Traits {
  /** By which its colour is chosen, where its kind has names. */
  name?: string | undefined;
  isOwn?: boolean;
  /** How far it is turned about its own axis, if it does not walk. */
  lean?: number;
  leaps?: boolean;
}

/** Collects a scene, moves what is in it by chance, and may turn it to its mirror image. */
export class Stage {
  readonly #side: 1 | -1;
  readonly #obstacles: StaticObstacle[] = [];
  readonly #objects: DioramaObject[] = [];
  readonly #happenings: Happening[] = [];
  readonly #streaks: Streak[] = [];

  /** Lengths are multiplied by `scale`; sizes of kinds and effects are those that are declared. */
  constructor(
    private readonly random: () => number,
    private readonly schema: Schema,
    private readonly scale: number,
  ) {
    this.#side = random() < 0.5 ? 1 : -1;
  }

  wall(x: number, y: number, half: Place, yaw: number): void {
    const turned = (this.#side * yaw + 2 * Math.PI) % Math.PI;
    this.#stand("box", [x, y, half[2]], half, turned);
  }

  boulder(x: number, y: number): void {
    const half: Place = [0.8 + 1.4 * this.random(), 1.1, 0.8 + 0.7 * this.random()];
    this.wall(x + 3 * this.#chance(), y + 3 * this.#chance(), half, this.random());
  }

  /** Between `low` and `low + 2 * halfZ`. */
  pillar(x: number, y: number, radius: number, halfZ: number, low = 0): void {
    this.#stand("cylinder", [x, y, low + halfZ], [radius, radius, halfZ], 0);
  }

  rock(x: number, y: number, radius: number): void {
    const low = 1.4 * this.#chance() - radius;
    this.pillar(x + this.#chance(), y + this.#chance(), radius, radius, low);
  }

  /**
   * Looks into the direction `way`, and a little to one side. What walks is on the ground, what
   * leaps and ships are at the place, other bodies lie.
   */
  put(member: Member | undefined, [x, y, z]: Place, way: number, traits: Traits): void {
    const kind = this.#kindOf(member);
    if (!member || !kind) return;
    const { walks, form, scale } = describeMesh(kind);
    const { isOwn = false, leaps = false, lean = 0, name } = traits;
    const jitter = isOwn ? 0 : 0.4;
    const height = leaps || form === "ship" ? z : this.heightOf(member) / 2;
    const [atX, atY] = [x + jitter * this.#chance(), y + jitter * this.#chance()];
    const facing = way + 0.3 * this.#chance();
    const yaw = this.#mirrored(facing);
    const [sin, cos] = [Math.sin(yaw / 2), Math.cos(yaw / 2)];
    const roll = walks ? 0 : this.#side * lean;
    // First about its own axis, then about the vertical.
    const [rollSin, rollCos] = [Math.sin(roll / 2), Math.cos(roll / 2)];
    const turn = unit(cos * rollSin, sin * rollSin, sin * rollCos, cos * rollCos);
    this.#add(member, [atX, atY, walks ? 0 : height], turn, isOwn, name);
    if (form !== "ship") return;
    // The flames of its engines.
    const long = scale[0] / this.scale;
    const [dx, dy] = [long * Math.cos(facing), long * Math.sin(facing)];
    const back: Place = [atX - 0.35 * dx, atY - 0.35 * dy, height];
    this.#streak(back, [-0.64 * dx, -0.64 * dy, 0], 0.125 * long, kind.look.colour);
  }

  /** Turned by chance, the more the nearer `loose` is to 1. */
  tumbler(member: Member | undefined, at: Place, loose: number): void {
    const [a, b] = [loose * this.#chance(), loose * this.#chance()];
    const yaw = (0.2 + 3 * loose) * this.#chance();
    if (member) this.#add(member, at, unit(a, b, Math.sin(yaw / 2), Math.cos(yaw / 2)));
  }

  /** On its way: `share` of it is behind the shot. */
  bolt(from: Place, to: Place, share: number, { member, look }: Missile): void {
    const way = to.map((end, axis) => end - (from[axis] as number)) as unknown as Place;
    const at = from.map((start, axis) => start + share * (way[axis] as number)) as unknown as Place;
    const yaw = this.#mirrored(Math.atan2(way[1], way[0]));
    if (member) this.#add(member, at, unit(0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)));
    const behind = way.map((part) => -0.7 * part) as unknown as Place;
    this.#streak(at, behind, (0.4 * look.size) / this.scale, look.colour);
  }

  /** An effect that would hide all others is smaller. */
  happen(effect: Effect, most: number, at: Place, from: Place): void {
    const size = Math.min(effect.size, this.scale * most);
    this.#happenings.push({
      effect: { ...effect, size },
      at: this.#placed(at),
      from: effect.form === "beam" ? this.#placed(from) : undefined,
    });
  }

  /** In lengths of the scene. */
  heightOf(member: Member): number {
    const kind = this.#kindOf(member);
    return kind ? describeMesh(kind).scale[2] / this.scale : 0;
  }

  diorama({ distance, pitch, fog, extent }: Omit<DioramaView, "target" | "turn">): Diorama {
    const by = this.scale;
    const wide = Math.max(1, by);
    const turn = 0.5 * (this.random() - 0.5);
    const { scenery } = this.schema;
    return {
      schema: { ...this.schema, scenery: { ...scenery, camera: "around", no_grid: true } },
      obstacles: this.#obstacles,
      objects: this.#objects,
      happenings: this.#happenings,
      streaks: this.#streaks,
      view: {
        target: [0, by * 0.8, by * 0.6], distance: by * distance, pitch, turn,
        fog: [by * fog[0], by * fog[1]],
        extent: { west: wide * extent.west, south: wide * extent.south,
          width: wide * extent.width, height: wide * extent.height },
      },
    };
  }

  #kindOf(member: Member | undefined): Kind | undefined {
    return this.schema.kinds[member?.kind ?? -1];
  }

  #add({ kind, role }: Member, at: Place, turn: DioramaObject["turn"], isOwn = false, name = role) {
    const { label } = (this.schema.kinds[kind] as Kind).look;
    const shown = label === null ? undefined : (name ?? role);
    this.#objects.push({ kind, at: this.#placed(at), turn, label: shown, role, isOwn });
  }

  #streak(at: Place, behind: Place, wide: number, colour: string): void {
    const by = wide * this.scale;
    this.#streaks.push({ at: this.#placed(at), behind: this.#placed(behind), wide: by,
      glow: 3.2 * by, colour: colourOf(colour) });
  }

  /** With one of the looks that the game declares, if there are some. */
  #stand(shape: StaticObstacle["shape"], at: Place, half: Place, yaw: number): void {
    const [centre, halves] = [this.#placed(at), half.map((length) => this.scale * length)];
    const look = this.schema.scenery.obstacles.length > 0 ? 0 : null;
    this.#obstacles.push({ shape, centre: [...centre], half: halves as StaticObstacle["half"], yaw,
      look });
  }

  /** From -1 to 1. */
  #chance(): number {
    return 2 * this.random() - 1;
  }

  #placed([x, y, z]: Place): Place {
    return [this.#side * this.scale * x, this.scale * y, this.scale * z];
  }

  #mirrored(way: number): number {
    return this.#side === 1 ? way : Math.PI - way;
  }
}

function unit(x: number, y: number, z: number, w: number): DioramaObject["turn"] {
  const length = Math.hypot(x, y, z, w);
  return [x / length, y / length, z / length, w / length];
}
