import { PLAIN_COMPONENT } from "./declared.js";
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Kind, Scenery, Schema } from "../src/ambit/ambit.js";
import { type Diorama, DIORAMA_FIELD_OF_VIEW, shotOf } from "../src/core/diorama_stage.js";
import { dioramaOf } from "../src/core/dioramas.js";
import { colourOf } from "../src/core/effects.js";

const ASPECTS = [390 / 520, 16 / 9, 3];
const ROOMS = ["", "den", "meadow", "arena"];
const GROUNDS = ["open", "court", "halls", "space"] as const;
const NO_EFFECT = { at: null, from: null, reach: null, due: null };

/** Drovers of two trades, who meet scorpions, and a coffer. */
const DROVER = kindOf("drover", "path", { shape: "arrow", colour: "#c03060", label: 2, by: 3 }, [
  { of: "smith", figure: "knight", size: 1, boss: false },
  { of: "seer", figure: "mage", size: 1, boss: false },
]);
const HORNED = { colour: "#208070", figure: "horned", bar: 1, by: 2 } as const;
const SCORPION = kindOf("scorpion", "path", HORNED, [
  { of: "dun", figure: "horned", size: 1, boss: false },
  { of: "empress", figure: "robed", size: 2, boss: true },
]);
const COFFER = kindOf("coffer", "path", { shape: "box", colour: "#8040c0", figure: "chest" });
const DART = kindOf("dart", "path", { shape: "point", colour: "#40ffe0", material: "glow" });
const SCORE = kindOf("score", undefined, {});
const KINDS = [SCORE, COFFER, DROVER, SCORPION, DART];
const CARAVAN = { ...gameOf("caravan", "open", KINDS, 2), events: [happens("blast", "#40ff40")] };
/** Boats that fly over a court, into buoys. */
const BOAT = kindOf("boat", "pose", { shape: "arrow", colour: "#40c060", size: 2, label: 2 });
const BUOY = kindOf("buoy", "pose", { shape: "box", colour: "#e04040", size: 0.9 });
const REGATTA = gameOf("regatta", "court", [BUOY, BOAT], 1);
/** All that a game has to declare. */
const STROLL = gameOf("stroll", "open", [kindOf("walker", "path", {})], 0);
const EMPTY = gameOf("", "halls", [], null);
const GAMES = [
  ...GROUNDS.flatMap((place) => [
    gameOf("caravan", place, KINDS, 2),
    gameOf("regatta", place, [BUOY, BOAT], 1),
    gameOf('"><script>', place, [kindOf("monk", "path", { size: 200 })], 0),
  ]),
  STROLL,
];

test("the same names give the same scene, another game or room another one", () => {
  const seen = new Set<string>();
  for (const game of GAMES) {
    for (const room of ROOMS) {
      const scene = JSON.stringify(dioramaOf(game, room));
      assert.equal(scene, JSON.stringify(dioramaOf(game, room)));
      assert.ok(!seen.has(scene), `${game.game} ${room}`);
      seen.add(scene);
    }
  }
});

test("a scene has one own avatar, objects of its kinds, and no number that is none", () => {
  for (const game of [...GAMES, EMPTY]) {
    const { objects, schema, obstacles, happenings, streaks } = dioramaOf(game, "den");
    const name = `${game.game} ${game.scenery.place}`;
    assert.equal(objects.filter(({ isOwn }) => isOwn).length, game === EMPTY ? 0 : 1, name);
    for (const { kind, turn } of objects) {
      assert.ok(schema.kinds[kind], `${name}: kind ${kind}`);
      assert.ok(Math.abs(Math.hypot(...turn) - 1) < 1e-9, `${name}: ${turn}`);
    }
    for (const { yaw } of obstacles) assert.ok(yaw >= 0 && yaw < Math.PI, `${name}: ${yaw}`);
    // A picture is drawn once, also where there is no graphics card.
    assert.ok(objects.length + obstacles.length < 120, name);
    const numbers = [
      ...objects.flatMap(({ at, turn }) => [...at, ...turn]),
      ...obstacles.flatMap(({ centre, half, yaw }) => [...centre, ...half, yaw]),
      ...happenings.flatMap(({ at, effect }) => [...at, effect.size]),
      ...streaks.flatMap(({ at, behind, wide, glow }) => [...at, ...behind, wide, glow]),
    ];
    assert.ok(numbers.every(Number.isFinite), name);
  }
});

test("the picture of an author's game is made from what that declares", () => {
  const { schema, objects, obstacles, happenings, streaks } = dioramaOf(CARAVAN, "den");
  const rolesOf = (kind: number) =>
    new Set(objects.filter((object) => object.kind === kind).map(({ role }) => role));
  assert.deepEqual(schema.kinds, KINDS);
  // What has no place on the map is not seen.
  assert.deepEqual(rolesOf(0), new Set());
  assert.deepEqual(rolesOf(1), new Set([undefined]));
  assert.equal(objects.find(({ isOwn }) => isOwn)?.kind, 2);
  assert.deepEqual(rolesOf(2), new Set(["smith", "seer"]));
  assert.deepEqual(rolesOf(3), new Set(["dun", "empress"]));
  assert.equal(objects.filter(({ role }) => role === "empress").length, 1);
  assert.deepEqual(rolesOf(4), new Set([undefined]));
  assert.ok(streaks.length > 0);
  for (const { colour } of streaks) assert.deepEqual(colour, colourOf("#40ffe0"));
  const effects = happenings.map(({ effect: { form, colour } }) => `${form} ${colour}`);
  assert.deepEqual(effects, ["blast #40ff40"]);
  assert.ok(obstacles.length > 0 && obstacles.every(({ look }) => look === 0));
});

test("boxes that move freely are a heap, into which the own avatar leaps", () => {
  const toy = kindOf("toy", "pose", { shape: "box", colour: "#3080ff", size: 1.9 });
  const { objects } = dioramaOf(gameOf("blocks", "court", [BUOY, toy], 1), "");
  const boxes = objects.filter(({ kind }) => kind === 0);
  assert.ok(boxes.length > 30);
  assert.ok(Math.max(...boxes.map(({ at }) => at[2])) > 3);
  const own = objects.find(({ isOwn }) => isOwn);
  assert.ok(own && own.at[2] > 1.9, String(own?.at));
});

test("games on the same ground have different pictures", () => {
  const objectsOf = (game: Schema) => JSON.stringify(dioramaOf(game, "").objects);
  const other = [kindOf("goat", "path", { figure: "beast", bar: 1 })];
  const games = [CARAVAN, STROLL, gameOf("goats", "open", other, 0), REGATTA];
  assert.equal(new Set(games.map(objectsOf)).size, games.length);
  // What is alike but for its name, too.
  assert.notEqual(objectsOf(STROLL), objectsOf({ ...STROLL, game: "saunter" }));
});

test("a scene is as large as its avatars", () => {
  const near = dioramaOf(gameOf("ants", "open", [kindOf("ant", "path", { size: 1 })], 0), "");
  const far = dioramaOf(gameOf("ants", "open", [kindOf("ant", "path", { size: 3 })], 0), "");
  assert.ok(Math.abs(far.view.distance / near.view.distance - 3) < 1e-9);
});

test("the own avatar is in the picture, beside or above the words", () => {
  for (const game of GAMES) {
    for (const room of ROOMS) {
      const scene = dioramaOf(game, room);
      const name = `${game.game}/${room} ${game.scenery.place}`;
      for (const aspect of ASPECTS) {
        const [x, y] = onScreen(scene, aspect, "with_words");
        assert.ok(Math.abs(x) < 1 && Math.abs(y) < 1, `${name} ${aspect}: ${x} ${y}`);
        if (aspect > 2) assert.ok(x > -0.2, `${name}: ${x}`);
        else if (aspect < 1) assert.ok(y > -0.2, `${name}: ${y}`);
      }
      const [x, y] = onScreen(scene, 16 / 9, "alone");
      assert.ok(Math.abs(x) < 0.8 && Math.abs(y) < 0.8, `${name}: ${x} ${y}`);
    }
  }
});

test("no source of the page names a shipped game", () => {
  const names = readdirSync("src", { recursive: true, encoding: "utf8" });
  const named = names.filter((name) => {
    if (!name.endsWith(".ts")) return false;
    const text = readFileSync(`src/${name}`, "utf8");
    return /\b(cubes|shooter|deus)\b|(?<!class: )"field"/i.test(text);
  });
  assert.deepEqual(named, []);
});

function kindOf(
  name: string,
  place: "path" | "pose" | undefined,
  look: Partial<Kind["look"]>,
  variants: Kind["variants"] = [],
): Kind {
  const plain = PLAIN_COMPONENT;
  const at = { ...plain, name: "at" };
  const components: Kind["components"] = [
    ...(place === "path" ? [{ ...at, type: place } as const] : []),
    ...(place === "pose" ? [{ ...at, type: place, turn: "free" } as const] : []),
    { ...plain, name: "health", type: "gauge", max: 100 },
    { ...plain, name: "name", type: "text", max_bytes: 24 },
    { ...plain, name: "trade", type: "text", max_bytes: 24 },
  ];
  const usual: Kind["look"] = { glyph: "o", shape: "disc", colour: "#a0a0a0", material: "matte",
    size: 1, bar: null, label: null, figure: null, by: null };
  return { name, label: "", look: { ...usual, ...look }, variants, components, simulated: false,
    effect: null };
}

function gameOf(
  game: string,
  place: Scenery["place"],
  kinds: Kind[],
  avatar: number | null,
): Schema {
  const obstacles = [{ glyph: "#", colour: "#a05030" }];
  const scenery: Scenery = { camera: "above", place, ground: "#d8b878", no_grid: false,
    party: false, obstacles };
  return { game, kinds, avatar, scenery, events: [], commands: [], refusals: [], controls: [] };
}

function happens(form: "blast", colour: string): Schema["events"][0] {
  const effect = { ...NO_EFFECT, form, colour, size: 1.5 };
  return { name: form, text: "", lead: "", effect, fields: [] };
}

/** Where the own avatar is, from -1 to 1 each way. */
function onScreen(scene: Diorama, aspect: number, framing: "alone" | "with_words") {
  const { eye, target } = shotOf(scene, aspect, framing);
  const own = scene.objects.find(({ isOwn }) => isOwn);
  assert.ok(own);
  const minus = (a: readonly number[], b: readonly number[]) =>
    a.map((part, axis) => part - (b[axis] as number)) as [number, number, number];
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, part, axis) => sum + part * (b[axis] as number), 0);
  const way = minus(target, eye);
  const level = Math.hypot(way[0], way[1]);
  const length = Math.hypot(level, way[2]);
  const forward = way.map((part) => part / length);
  const right = [way[1] / level, -way[0] / level, 0];
  const up = [
    (-way[0] * way[2]) / level / length, (-way[1] * way[2]) / level / length, level / length,
  ];
  const at = minus(own.at, eye);
  const reach = dot(at, forward) * Math.tan(DIORAMA_FIELD_OF_VIEW / 2);
  return [dot(at, right) / reach / aspect, dot(at, up) / reach] as const;
}
