/**
 * What stands where in the picture of a game, for the lobby.
 *
 * In goes what the game declares: kinds with their looks, effects, scenery. A scene comes out. Each
 * kind of ground has one composition: players at the left, what they meet at the right. Boxes that
 * move freely are a heap, and the own avatar leaps into it. The names of the game and the room
 * decide the details: the same names always give the same scene.
 */

import type { Kind, Scenery, Schema, Variant } from "../ambit/ambit.js";
import type { Diorama, DioramaView, Member, Missile, Place } from "./diorama_stage.js";
import { Stage } from "./diorama_stage.js";
import type { EffectForm } from "./effects.js";
import { LOOKS } from "./elements.js";
import { describeMesh } from "./look.js";
import { hashOf } from "./roles.js";
import { seededUnits } from "./seeded.js";

/** A place on the ground; for players their angles in radians, of which walkers have no `lean`. */
type Spot = readonly [x: number, y: number, way?: number, lean?: number];

/** Lengths are in metres for an avatar of this width: a scene is as large as its avatars. */
interface Composition extends Omit<DioramaView, "target" | "turn"> {
  width: number;
  /** The height of ships and shots. */
  height: number;
  /** The first one is the own avatar. */
  players: readonly [Spot, ...Spot[]];
  /** What players meet, the nearest first: a boss is at {@link BOSS_AT}, things are at the end. */
  others: readonly Spot[];
  build(stage: Stage, own: () => number): void;
}

const BOSS_AT = 3;
/** Players who meet nothing else meet as many others. */
const RIVALS = 3;
/** The heap: its width, how many places of others it covers, where and from how high one leaps. */
const HEAP_M = 3.2;
const HEAP_SPOTS = 3;
const AT_HEAP: Spot = [-0.2, 0.1];
const LEAP_M = 2;
const FLYING = [
  [0.5, 0.3, 2.9], [1.5, -0.6, 3.6], [2.7, 0.9, 4.3], [0.2, 1.9, 3.9], [-0.2, -1.4, 1.5],
  [4.2, 1.8, 3.2], [-0.6, 2.8, 2.6],
] as const;
/** Effects that are seen: the first ones that the game declares. */
const MOST_EFFECTS = 4;
const EFFECTS: readonly EffectForm[] = [
  "hit", "blast", "heal", "cast", "ring", "death", "beam", "arrival", "warning",
];
const OF_PLAYERS: readonly EffectForm[] = ["heal", "cast", "arrival"];
const ON_GROUND: readonly EffectForm[] = [...OF_PLAYERS, "ring", "warning"];
/** From which player to which target, and the share of the way that is behind it. */
const SHOTS = [[0, 0, 0.8], [1, 1, 0.6], [2, 0, 0.5]] as const;
const STONES = [
  [-19, 5], [-24, 12], [-15, 16], [17, 17], [22, 7], [-21, -5], [28, 20], [-30, 3], [2, 24],
] as const;
const WALLS = [
  [-6.2, 8.4, 4.6, 0.6], [6.6, 8.8, 3.4, 0.6], [-10.6, 2, 0.6, 2.6], [11, 3.4, 0.6, 2.8],
  [-3, 16, 5.2, 0.6], [-17, 9, 3.4, 0.6], [17, 11, 3.4, 0.6], [-16, -5, 3.4, 0.6],
  [16, -6, 3.4, 0.6], [8, 19, 3.4, 0.6], [-24, 3, 3.4, 0.6],
] as const;
const ROCKS = [
  [-11, 9, 3.4], [14.5, 11.5, 4.6], [-15, -6, 2.2], [3, 17, 2], [-28, 16, 5], [29, -2, 3],
  [-34, -4, 3], [34, 24, 6],
] as const;

/**
 * Land and a court end in sight, a floor beyond it. The planet is at a place of the map in space:
 * of one so large it is above what happens.
 */
const COMPOSITIONS: Readonly<Record<Scenery["place"], Composition>> = {
  open: {
    width: 1.85, height: 1.2, distance: 14.5, pitch: 0.19, fog: [20, 95],
    extent: { west: -60, south: -45, width: 120, height: 70 },
    players: [[-2.2, -0.9, 0.35], [-5.4, 1.6, 0.2], [1.2, 5.2, -1.2], [-8.2, -1.6, 0.1]],
    others: [
      [3.1, 1], [4.9, -1.5], [4.6, 4.4], [7.2, 0.8], [-1.6, 8.2], [-9.4, 5], [-3.6, 4.6],
      [6.4, 2.9], [-0.8, 2.6],
    ],
    build(stage, own) {
      const isRound = own() < 0.5;
      for (const [x, y] of WALLS) {
        if (isRound) stage.pillar(x, y, 0.9, 1 + own());
        else stage.wall(x, y, [1 + 2 * own(), 0.9, 1.5], own());
      }
      for (const [x, y] of STONES) stage.boulder(x, y);
    },
  },
  court: {
    width: 1.9, height: 1.2, distance: 16, pitch: 0.24, fog: [30, 240],
    extent: { west: -34, south: -40, width: 68, height: 57 },
    players: [[-1.9, -0.5, 0.2, 0.5], [-5.4, 3.2, 0.3], [6, 5.6, -2.2], [3.9, -3.4, 2.2]],
    others: [
      [3, 1.4], [1.4, 3.4], [5.4, 0.6], [4.4, 3.6], [8.4, 2.4], [-8, 0], [0.6, 8], [8.6, -1],
      [-3, 6],
    ],
    build() {},
  },
  halls: {
    width: 1.85, height: 1.2, distance: 18.2, pitch: 0.42, fog: [22, 58],
    extent: { west: -100, south: -100, width: 200, height: 200 },
    players: [[-4.3, -1.2, 0.35], [-1.6, 0.4, 0.25], [-5.2, 2.5, 0], [-7.2, 0.2, 0.1]],
    others: [
      [1.2, 0.9], [3.2, -1.4], [0.5, 2.8], [4.7, 2.4], [7.2, 0.6], [5.9, 4.9], [8.6, 5.4],
      [2.4, 6.6], [-7.8, 5], [-2.4, 6.4],
    ],
    build(stage, own) {
      for (const [x, y, halfX, halfY] of WALLS) {
        stage.wall(x, y, [halfX, halfY, 1.5], Math.abs(x) > 12 ? 0.5 * own() : 0);
      }
    },
  },
  space: {
    width: 7.2, height: 0.6, distance: 33, pitch: 0.56, fog: [70, 260],
    extent: { west: -1_870, south: -1_520, width: 3_000, height: 3_000 },
    players: [
      [-4.4, -3, 0.5, 0.3], [8, 4.4, 0.75, -0.45], [-10.5, 1.4, 0.1], [11.5, -6, 2.5, 0.35],
    ],
    others: [[4, 10], [17, 6], [-6, 11], [13, 0.5], [2, -8], [20, -4], [-14, 8]],
    build(stage) {
      for (const [x, y, radius] of ROCKS) stage.rock(x, y, radius);
    },
  },
};

/**
 * The parts that kinds have in a scene, by what they look like. Things are what nothing can hurt,
 * such as a chest, a merchant or a sign; boxes that move freely are a heap.
 */
type Cast = Record<"players" | "others" | "bosses" | "things" | "heap" | "shots", Member[]>;

/** The scene of a game; `room` is the name of the room. */
export function dioramaOf(schema: Schema, room: string): Diorama {
  const { game, kinds, scenery } = schema;
  const composition = COMPOSITIONS[scenery.place];
  const cast = castOf(schema);
  const avatar = kinds[cast.players[0]?.kind ?? -1];
  const width = avatar ? describeMesh(avatar).scale[0] : composition.width;
  // Within the limits of the camera.
  const scale = Math.min(10, Math.max(0.1, width / composition.width));
  const random = seededUnits(hashOf(`${game}/${room}`) & 0xffff);
  const stage = new Stage(random, schema, scale);
  composition.build(stage, seededUnits(hashOf(game) & 0xffff));
  if (cast.heap.length > 0) heapUp(stage, cast.heap, random);
  populate(stage, composition, cast);
  act(stage, composition, cast, schema);
  return stage.diorama(composition);
}

function castOf({ kinds, avatar }: Schema): Cast {
  const cast: Cast = { players: [], others: [], bosses: [], things: [], heap: [], shots: [] };
  const isPlaced = (kind: Kind | undefined) =>
    ["path", "pose"].includes(kind?.components[0]?.type ?? "");
  const own = isPlaced(kinds[avatar ?? -1]) ? avatar : kinds.findIndex(isPlaced);
  for (const [index, kind] of kinds.entries()) {
    if (!isPlaced(kind)) continue;
    const part = index === own ? "players" : partOf(kind);
    const member = ({ of }: Variant): Member => ({ kind: index, role: of });
    const regular = kind.variants.filter(({ boss }) => !boss);
    // One of each figure.
    const sorts = [...new Map(regular.map((one) => [one.figure, one] as const)).values()];
    cast[part].push(...(sorts.length > 0 ? sorts.map(member) : [{ kind: index }]));
    cast.bosses.push(...kind.variants.filter(({ boss }) => boss).map(member));
  }
  return cast;
}

function partOf(kind: Kind): keyof Cast {
  const { form, walks } = describeMesh(kind);
  const { bar, label } = kind.look;
  if (form === "cube") return walks ? "things" : "heap";
  if (form === "ball") return bar === null && label === null ? "shots" : "things";
  return form === "figure" && bar === null ? "things" : "others";
}

function populate(stage: Stage, { players, others, height }: Composition, cast: Cast): void {
  const hasHeap = cast.heap.length > 0;
  players.forEach(([x, y, way = 0, lean = 0], at) => {
    const leaps = at === 0 && hasHeap;
    const place: Place = [x, y, leaps ? LEAP_M : height];
    // Names give players their colours.
    const traits = { lean, leaps, isOwn: at === 0, name: `player-${at}` };
    stage.put(nth(cast.players, at), place, way, traits);
  });
  const [[ownX, ownY]] = players;
  const isAlone = !hasHeap && cast.others.length === 0;
  const met = isAlone ? cast.players : cast.others;
  others.slice(hasHeap ? HEAP_SPOTS : 0).forEach(([x, y], at, { length }) => {
    const boss = at === BOSS_AT ? cast.bosses[0] : undefined;
    const other = isAlone && at >= RIVALS ? undefined : nth(met, at);
    const member = boss ?? cast.things[length - 1 - at] ?? other;
    stage.put(member, [x, y, height], Math.atan2(ownY - y, ownX - x), {});
  });
}

/** A pyramid of which some boxes fly already, and boxes that lie about. */
function heapUp(stage: Stage, heap: readonly Member[], random: () => number): void {
  let count = 0;
  const edge = Math.max(...heap.map((member) => stage.heightOf(member)));
  const add = (x: number, y: number, z: number, loose: number) => {
    stage.tumbler(nth(heap, count), [x, y, z], loose);
    count += 1;
  };
  const levels = Math.min(4, Math.max(1, Math.round(HEAP_M / edge)));
  for (let level = 0; level < levels; level += 1) {
    for (let at = 0; at < (levels - level) ** 2; at += 1) {
      const [row, column] = [Math.floor(at / (levels - level)), at % (levels - level)];
      // Those at the side of the leap are already on their way.
      if (level > 1 && column === 0) continue;
      const by = (steps: number) => edge * (1.05 * steps + 0.52 * level);
      add(1.2 + by(column), 0.4 + by(row), edge * (0.5 + 1.01 * level), level > 1 ? 0.14 : 0.02);
    }
  }
  for (const [x, y, z] of FLYING) add(x, y, z, 1);
  for (let at = 0; at < 34; at += 1) {
    const [x, y] = [44 * (random() - 0.5), 18 * random() - 3];
    // Not before the heap.
    if (Math.abs(x) > 4 || y > 4) add(x, y, edge / 2, 0.05);
  }
}

/** Shots on their way, and effects. */
function act(stage: Stage, composition: Composition, cast: Cast, schema: Schema): void {
  const placesOf = (spots: readonly Spot[]) =>
    spots.map(([x, y]): Place => [x, y, composition.height]);
  const players = placesOf(composition.players);
  const targets = placesOf(cast.heap.length > 0 ? [AT_HEAP] : composition.others);
  const shots = shotsOf(schema, cast.shots);
  SHOTS.forEach(([by, to, share], at) => {
    const shot = nth(shots, at);
    if (shot) stage.bolt(nth(players, by) as Place, nth(targets, to) as Place, share, shot);
  });
  const { events, kinds } = schema;
  const declared = [...events, ...kinds, ...kinds.flatMap(({ components }) => components)]
    .flatMap(({ effect }) => effect ?? []);
  const seen = EFFECTS.flatMap((form) => declared.find((effect) => effect.form === form) ?? []);
  for (const [at, effect] of seen.slice(0, MOST_EFFECTS).entries()) {
    const isOfPlayer = OF_PLAYERS.includes(effect.form);
    const [x, y, z] = nth(isOfPlayer ? players : targets, at) as Place;
    const place: Place = [x, y, ON_GROUND.includes(effect.form) ? 0.2 : 0.8 * z];
    stage.happen(effect, 0.9 * composition.width, place, players[0] as Place);
  }
}

/** Kinds that fly; else what the choices with an aim are made of. */
function shotsOf({ kinds, commands }: Schema, shots: readonly Member[]): Missile[] {
  const fields = commands.flatMap((command) => command.fields);
  const choices = fields.flatMap((field) => (field.type === "choice" ? field.about : []));
  const elements = choices.flatMap(({ made_of, alone }) => (made_of && !alone ? [made_of] : []));
  const looks = [...new Set(elements)].map((element) => LOOKS[element]);
  const thrown = looks.map((look) => ({ member: undefined, look }));
  const flying = shots.map((member) => ({ member, look: (kinds[member.kind] as Kind).look }));
  return flying.length > 0 ? flying : thrown;
}

/** The list is repeated; undefined if it is empty. */
function nth<T>(list: readonly T[], at: number): T | undefined {
  return list[at % list.length];
}
