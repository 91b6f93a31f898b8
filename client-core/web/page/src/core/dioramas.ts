/**
 * What stands where in the picture of a game: a small scene that the renderer of games draws.
 *
 * The lobby does not know what a room looks like: a game tells its scenery and the looks of its
 * objects to those who join. So the games that are shipped have a scene here, with the looks that
 * they declare, and any other game has one that is made from its name. The name of the room moves
 * what lies about, so that rooms of a game can be told apart. The same names always give the same
 * scene. Lengths are in metres, the middle of the scene is at 0, and the viewer is in the south.
 */

import type { Kind, Schema, StaticObstacle } from "../ambit/ambit.js";
import type { Colour, Effect } from "./effects.js";
import { colourOf } from "./effects.js";
import type { Extent } from "./map_view.js";
import { hashOf } from "./roles.js";
import { placeOf } from "./scenery.js";
import { seededUnits } from "./seeded.js";

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
  place: ReturnType<typeof placeOf>;
  /** The map: what is around it belongs to the picture, too. */
  extent: Extent;
}

/** Numbers from 0 to below 1. */
type Units = () => number;

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

/** The scene of a game; `room` is the name of the room. */
export function dioramaOf(game: string, room: string): Diorama {
  const random = seededUnits(hashOf(`${game}/${room}`) & 0xffff);
  switch (game) {
    case "field":
      return field(random);
    case "cubes":
      return cubes(random);
    case "shooter":
      return shooter(random);
    case "deus":
      return cellar(random);
    default:
      return unknown(game, random);
  }
}

/** On a meadow: a bolt on its way, somebody who heals, and wanderers about. */
function field(random: Units): Diorama {
  const kinds = [
    kindOf("avatar", "path", { shape: "arrow", colour: "#3080ff", size: 1 }),
    kindOf("npc", "path", { shape: "disc", colour: "#c06030", size: 1 }),
  ];
  const stage = new Stage(random, null, kinds);
  stage.see({ distance: 14.5, pitch: 0.19, fog: [20, 95] });
  stage.wall(-5.5, 9, 3.2, 0.9, 1.5, 0.15);
  stage.wall(5.5, 11.5, 1.4, 1.4, 1.5, 0.5);
  stage.wall(9.5, 3.5, 0.9, 2.2, 1.5, -0.2);
  stage.wall(-13, 2.5, 1.2, 1.2, 1.5, 0.3);
  for (const [x, y] of SURROUNDINGS) stage.boulder(x, y);
  stage.walker(0, -2.2, -0.9, 0.35, { isOwn: true });
  stage.walker(0, -5.4, 1.6, 0.2, { label: "bea" });
  stage.walker(0, 1.2, 5.2, -1.2, { label: "cuno" });
  for (const [x, y] of [[3.1, 1], [4.9, -1.5], [4.6, 4.4], [-7, -3], [-1.6, 8.2], [7.2, 0.8],
    [-9.4, 5], [13, 8]] as const) {
    stage.walker(1, x, y, Math.atan2(-0.4 - y, -2.6 - x), {});
  }
  stage.bolt([-1.6, -0.7, 1.4], [2.6, 0.9, 1], "#ffd020", 0.34);
  stage.happen("hit", "#ffd020", 1.6, [3.1, 1, 0.9], 140);
  stage.happen("heal", "#60e090", 1.7, [-5.4, 1.6, 0.4], 380);
  stage.happen("cast", "#60b0ff", 1.8, [1.2, 5.2, 0.4], 240);
  return stage.diorama();
}

/** A leap into a tower of small cubes, which fly in all directions, on a court in the sea. */
function cubes(random: Units): Diorama {
  const kinds = [
    kindOf("player", "pose", { shape: "box", colour: "#3080ff", size: 1.9 }),
    kindOf("cube", "pose", { shape: "box", colour: "#d09040", size: 0.8 }),
  ];
  const stage = new Stage(random, "#dce6ee", kinds);
  stage.see({ distance: 16, pitch: 0.24, fog: [30, 240] });
  stage.tumbler(0, [-1.9, -0.5, 2], 0.5, { isOwn: true });
  stage.tumbler(0, [-5.4, 3.2, 1.05], 0.18, { label: "bea" });
  stage.tumbler(0, [6, 5.6, 1.1], 0.3, { label: "bot-2" });
  stage.tumbler(0, [3.9, -3.4, 1.05], 0.12, { label: "dan" });
  for (let level = 0; level < 4; level += 1) {
    for (let row = 0; row < 4 - level; row += 1) {
      for (let column = 0; column < 4 - level; column += 1) {
        // Those at the side of the leap are already on their way.
        if (level > 1 && column === 0) continue;
        const from = 0.42 * level;
        const at = [1.2 + 0.84 * column + from, 0.4 + 0.84 * row + from, 0.4 + 0.81 * level];
        stage.tumbler(1, at as unknown as Place, level > 1 ? 0.14 : 0.02, {});
      }
    }
  }
  for (const at of [[0.5, 0.3, 2.9], [1.5, -0.6, 3.6], [2.7, 0.9, 4.3], [0.2, 1.9, 3.9],
    [-0.2, -1.4, 1.5], [4.2, 1.8, 3.2], [-0.6, 2.8, 2.6]] as const) {
    stage.tumbler(1, at, 1, {});
  }
  for (let at = 0; at < 34; at += 1) {
    const [x, y] = [44 * (random() - 0.5), 18 * random() - 3];
    // Not before the tower.
    if (Math.abs(x) > 4 || y > 4) stage.tumbler(1, [x, y, 0.42], 0.05, {});
  }
  stage.happen("hit", "#ffb050", 1.9, [0.4, 0.4, 1.8], 120);
  stage.happen("ring", "#ffa040", 2.6, [0.2, 0.3, 0], 260);
  return stage.diorama();
}

/** A chase between rocks, over a planet. */
function shooter(random: Units): Diorama {
  const kinds = [
    kindOf("ship", "pose", { shape: "arrow", colour: "#60c0ff", size: 3, material: "metal" }),
    kindOf("missile", "pose", { shape: "disc", colour: "#ffc040", size: 0.7, material: "glow" }),
  ];
  const looks = ["#907860"];
  const stage = new Stage(random, "#181c26", kinds, looks);
  stage.see({ distance: 33, pitch: 0.56, fog: [70, 260] });
  stage.rock(-11, 9, 3.4);
  stage.rock(14.5, 11.5, 4.6);
  stage.rock(-15, -6, 2.2);
  stage.rock(3, 17, 2);
  for (const [x, y, radius] of [[-28, 16, 5], [29, -2, 3], [-34, -4, 3], [34, 24, 6]] as const) {
    stage.rock(x, y, radius);
  }
  stage.ship(-4.4, -3, 0.5, 0.3, { isOwn: true });
  stage.ship(8, 4.4, 0.75, -0.45, { label: "bot-2" });
  stage.ship(-10.5, 1.4, 0.1, 0.1, { label: "bea" });
  stage.ship(11.5, -6, 2.5, 0.35, { label: "eve" });
  stage.missile(-0.2, -0.7, 0.52, 1);
  stage.missile(4.2, 1.8, 0.52, 1);
  stage.missile(6, -1.6, 2.5, 1);
  stage.happen("blast", "#ff9030", 3.4, [9.4, 5.3, 0.6], 170);
  stage.happen("hit", "#ffd080", 2.4, [8.2, 4.2, 0.8], 150);
  stage.happen("blast", "#60a0ff", 2.6, [-9.4, 8, 3], 230);
  return stage.diorama();
}

/** Four heroes of different classes against what lives in a cellar, by the light of torches. */
function cellar(random: Units): Diorama {
  const choices = ["warrior", "mage", "archer", "healer"];
  const kinds = [
    kindOf("hero", "path", { shape: "arrow", colour: "#4090ff", size: 1 }, true),
    kindOf("monster", "path", { shape: "disc", colour: "#509040", size: 0.9 }),
    kindOf("chest", "path", { shape: "box", colour: "#d0a030", size: 1.2, material: "metal" }),
    kindOf("boss", "path", { shape: "disc", colour: "#509040", size: 1.7 }),
  ];
  const stage = new Stage(random, "#5a5046", kinds, [], choices);
  stage.see({ distance: 18.2, pitch: 0.42, fog: [22, 58] });
  stage.wall(-6.2, 8.4, 4.6, 0.6, 1.5, 0);
  stage.wall(6.6, 8.8, 3.4, 0.6, 1.5, 0);
  stage.wall(-10.6, 2, 0.6, 2.6, 1.5, 0);
  stage.wall(11, 3.4, 0.6, 2.8, 1.5, 0);
  stage.wall(-3, 16, 5.2, 0.6, 1.5, 0.1);
  for (const [x, y] of [[-17, 9], [17, 11], [-16, -5], [16, -6], [8, 19], [-24, 3]] as const) {
    stage.wall(x, y, 3.4, 0.6, 1.5, 0.5 * (random() - 0.5));
  }
  stage.walker(0, -1.6, 0.4, 0.25, { label: "bea", role: "warrior" });
  stage.walker(0, -4.3, -1.2, 0.35, { role: "mage", isOwn: true });
  stage.walker(0, -5.2, 2.5, 0, { label: "cuno", role: "archer" });
  stage.walker(0, -7.2, 0.2, 0.1, { label: "dora", role: "healer" });
  stage.walker(1, 1.2, 0.9, 3.3, { label: "goblin" });
  stage.walker(1, 0.5, 2.8, 3.9, { label: "rat" });
  stage.walker(3, 4.5, 2.4, 3.4, { label: "brute" });
  stage.walker(1, 3.2, -1.4, 2.7, { label: "goblin" });
  stage.walker(1, 7.2, 0.6, 3, { label: "shaman" });
  stage.walker(1, 5.9, 4.9, 3.6, { label: "rat" });
  stage.walker(1, 6, -2.4, 2.8, { label: "rat" });
  stage.object(2, [-2.4, 6.4, 0], heading(0.4), {});
  stage.bolt([-3.6, -0.9, 1.4], [2.7, -1.3, 0.9], "#ff9040", 0.42);
  stage.bolt([-4.5, 2.5, 1.2], [3.6, 2.4, 1.3], "#ffe0a0", 0.16);
  stage.happen("blast", "#ff7020", 1.5, [3.2, -1.4, 0.9], 420);
  stage.happen("hit", "#ffe080", 1.1, [0.4, 0.8, 1], 120);
  stage.happen("heal", "#70e090", 1.5, [-1.6, 0.4, 0.3], 420);
  stage.happen("cast", "#b070ff", 1.6, [7.2, 0.6, 0.3], 240);
  return stage.diorama();
}

/** What a game may be like of which only the name is known: players of all sorts on some land. */
function unknown(game: string, random: Units): Diorama {
  const own = seededUnits(hashOf(game) & 0xffff);
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(own() * choices.length)] as T;
  const ground = pick([null, "#c2a878", "#8fa6a0", "#5a5046", "#a8b38a", "#b59a8c"]);
  const colour = pick(["#3080ff", "#e0503c", "#9a5be0", "#20a890", "#e08a20"]);
  const choices = ["warrior", "mage", "archer", "healer"];
  const kinds = [
    kindOf("player", "path", { shape: "arrow", colour, size: 1 }, true),
    kindOf("thing", "path", { shape: "disc", colour: pick(["#509040", "#c06030"]), size: 1 }),
    kindOf("block", "pose", { shape: "box", colour: pick(["#d0a030", "#60c0a0"]), size: 1 }),
  ];
  const stage = new Stage(random, ground, kinds, [], choices);
  stage.see({ distance: 16.5, pitch: 0.22, fog: [20, 95] });
  const column = pick([true, false]);
  for (let at = 0; at < 7; at += 1) {
    const way = Math.PI * (0.05 + at / 6.6);
    const [x, y] = [11 * Math.cos(way), 2 + 9 * Math.sin(way)];
    if (column) stage.pillar(x, y, 0.9, 1 + own());
    else stage.wall(x, y, 1.3, 0.8, 0.8 + own(), way);
  }
  for (const [x, y] of SURROUNDINGS) stage.boulder(x, y);
  const roles = [pick(choices), pick(choices), pick(choices)];
  stage.walker(0, -2.2, -0.6, 0.4, { isOwn: true, role: roles[0] });
  stage.walker(0, -4.6, 2.8, 0, { label: "bea", role: roles[1] });
  stage.walker(0, 4.6, 3.4, -2.4, { label: "cuno", role: roles[2] });
  for (const [x, y] of [[2.6, -0.4], [1.8, 4.6], [6.6, 0.4]] as const) {
    stage.walker(1, x, y, Math.atan2(-y, -x), { label: game || "thing" });
  }
  for (const at of [[-7, -1, 0.5], [-7.4, 0.3, 0.5], [-7.2, -0.4, 1.5]] as const) {
    stage.tumbler(2, at, 0.03, {});
  }
  stage.happen("ring", colour, 1.6, [-2.2, -0.6, 0], 300);
  stage.bolt([-1.4, -0.5, 1.3], [2, -0.4, 1], "#ffe08a", 0.3);
  return stage.diorama();
}

/** Where stones lie that are only seen in wide pictures. */
const SURROUNDINGS = [
  [-19, 5], [-24, 12], [-15, 16], [17, 17], [22, 7], [-21, -5], [28, 20], [-30, 3], [2, 24],
] as const;

interface Traits {
  label?: string | undefined;
  role?: string | undefined;
  isOwn?: boolean;
}

/** Collects a scene, moves what is in it by chance, and may turn it to its mirror image. */
class Stage {
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
    ground: string | null,
    kinds: Kind[],
    looks: readonly string[] = [],
    roles: readonly string[] = [],
  ) {
    this.#random = random;
    this.#side = random() < 0.5 ? 1 : -1;
    this.#place = placeOf(ground);
    const obstacles = looks.map((colour) => ({ glyph: "#", colour }));
    // So the renderer finds out that the text of this name is a role.
    const field = { name: ROLE, label: "", optional: false, type: "choice" as const,
      choices: [...roles], about: [] };
    const choose = { name: "choose", label: "", usage: "", help: "", key: null,
      newest_only: false, fields: [field] };
    this.#schema = { game: "", kinds, events: [], commands: [choose], refusals: [], controls: [],
      scenery: { camera: "around", ground, grid: false, party: false, obstacles } };
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
  floor: { west: -100, south: -100, width: 200, height: 200 },
  space: { west: -1_870, south: -1_520, width: 3_000, height: 3_000 },
};

const ROLE = "role";
/** Where the role and the label of a kind are among its components. */
export const ROLE_AT = 1;

function kindOf(
  name: string,
  position: "path" | "pose",
  look: Partial<Kind["look"]>,
  hasRole = false,
): Kind {
  const rest = { label: "", unit: "", effect: null };
  const place = { ...rest, name: "at" };
  const components: Kind["components"] = [
    position === "path" ? { ...place, type: "path" } : { ...place, type: "pose", turn: "free" },
  ];
  if (hasRole) components.push({ ...rest, name: ROLE, type: "text", max_bytes: 32 });
  const plain: Kind["look"] = { glyph: "?", shape: "disc", colour: "#808080", material: "matte",
    size: 1, bar: null, label: null };
  return { name, label: "", components, look: { ...plain, ...look }, simulated: false,
    effect: null };
}

function heading(way: number): DioramaObject["turn"] {
  return [0, 0, Math.sin(way / 2), Math.cos(way / 2)];
}

function unit(x: number, y: number, z: number, w: number): DioramaObject["turn"] {
  const length = Math.hypot(x, y, z, w);
  return [x / length, y / length, z / length, w / length];
}
