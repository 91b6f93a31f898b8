import { PLAIN_COMPONENT } from "./declared.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Component, Control, Direction, Kind, RowValue } from "../src/ambit/ambit.js";
import { colourByAge } from "../src/core/age_colour.js";
import {
  angleOfWay,
  bitsOf,
  bitsTowards,
  controlOfKey,
  hasDirections,
  leverOfKeys,
  stepOf,
  turnDirection,
} from "../src/core/controls.js";
import { ViewCamera } from "../src/core/camera.js";
import { Attackers, edgePlace } from "../src/core/edge.js";
import { leftOf } from "../src/core/figures.js";
import { ViewerCell } from "../src/core/interest.js";
import { MapView } from "../src/core/map_view.js";
import { type LineCounters, LineMeter, RateMeter } from "../src/core/meter.js";
import { PendingCommands, remainingShare } from "../src/core/pending_commands.js";
import { PlannedPaths } from "../src/core/planned_paths.js";
import { isRoomWide, scoreTablesOf, shortened } from "../src/core/score_tables.js";
import { SlotTable } from "../src/core/slot_table.js";
import { composeMatrix, layOnSide } from "../src/core/transforms.js";
import { chosenTexts, fitted } from "../src/core/words.js";

const NO_STATS: LineCounters = {
  datagrams_down: 0,
  datagrams_lost: 0,
  bytes_down: 0,
  bytes_up: 0,
  events: 0,
  late_events: 0,
  updates: 0,
  late_updates: 0,
};
const control = (name: string, keys: string[], direction: Direction | null = null): Control => ({
  name,
  label: "",
  help: "",
  keys,
  tapped: false,
  direction,
  axis: null,
});
const LEFT = control("left", ["a", "arrowleft"], "west");
const RIGHT = control("right", ["d"], "east");
const UP = control("up", ["w"], "north");
const DOWN = control("down", ["s"], "south");
const JUMP = control("jump", ["space"]);
const CONTROLS = [LEFT, RIGHT, UP, DOWN, JUMP];

const PLAIN = {
  clock: "", phase: "", outcome: null,
};

test("what is room-wide is a table of each kind, the first in points on top", () => {
  const look = { glyph: "o", shape: "disc" as const, colour: "#808080", size: 1, material: "matte" as const };
  const kind = (name: string, components: Component[]): Kind => ({
    name,
    label: name === "score" ? "The best" : "",
    components,
    look: { ...look, bar: null, label: null, figure: null, by: null },
    variants: [],
    simulated: false,
    effect: null,
  });
  const part = (name: string, more: Partial<Component>) =>
    ({ ...PLAIN_COMPONENT, name, ...more }) as Component;
  const score = kind("score", [
    part("round", { type: "half" }),
    part("team", { type: "text", max_bytes: 9 }),
    part("points", { type: "number", min: -50, max: 50, label: "Points won" }),
    part("name", { type: "text", max_bytes: 9, role: "player" }),
    part("bag", { type: "counts", max: 9, names: ["ring"] }),
    part("slots", { type: "list", max: 9, fields: [] }),
    part("seal", { type: "bytes", max_bytes: 9 }),
    part("secret", { type: "flag" }),
    part("ping", { type: "number", min: 0, max: 999, unit: "ms" }),
  ]);
  const match = kind("match", [
    part("time_left", { type: "gauge", max: 3600, unit: "s" }),
    part("from", { type: "angle" }),
    part("winner", { type: "text", max_bytes: 9 }),
  ]);
  const kinds = [score, match, kind("walker", [part("path", { type: "path" })])];
  assert.deepEqual(kinds.map(isRoomWide), [true, true, false]);
  const values = [
    [0.0999755859375, "", 7, "<b>ann</b>", undefined, undefined, "00ff", undefined, 30],
    [2, "", 12, "bob", undefined, undefined, "", undefined, 0],
    [591.2, -Math.PI / 2, ""],
  ];
  const frame = {
    rows: (name?: string) => (name === "score" ? [0, 1] : [2]),
    isOwn: (index: number) => index === 1,
    id: (index: number) => 10 + index,
    component: (index: number, component: number) => values[index]?.[component],
    list: (index: number) =>
      index === 1
        ? [
            new Map<string, RowValue>([["ware", "iron-ring"], ["count", 2]]),
            new Map<string, RowValue>([["ware", "rope"], ["at", [5.2, 6, 0]]]),
          ]
        : [],
  };
  assert.deepEqual(scoreTablesOf(frame, kinds.filter(isRoomWide)), [
    {
      title: "The best",
      columns: ["Name", "Points won", "Round", "Slots", "Ping"],
      rows: [
        { cells: ["bob", "12", "2", "iron ring 2; rope 5, 6, 0", "0 ms"], own: true, id: 11 },
        { cells: ["<b>ann</b>", "7", "0.099976", "", "30 ms"], own: false, id: 10 },
      ],
      isState: false,
      ...PLAIN,
      roles: ["player", null, null, null, null],
    },
    {
      title: "Match",
      columns: ["Time left", "From"],
      rows: [{ cells: ["9:52", "-90°"], own: false, id: 12 }],
      isState: true,
      ...PLAIN,
      roles: [null, null],
      clock: "9:52",
    },
  ]);
});

test("a text is shown in its words, and says what the state is in", () => {
  const words = [
    { is: "share", label: "Sharing out the chest", outcome: null },
    { is: "to-arms", label: "", outcome: null },
    { is: "doom", label: "", outcome: "lost" },
  ];
  const part = (name: string, role: string | null, words: object[]) =>
    ({ name, label: "", unit: "", type: "text", max_bytes: 9, role, words });
  const course = {
    name: "course", label: "",
    components: [
      part("weather", null, []), part("phase", null, words), part("best", "winner", words),
    ],
  };
  const shown = (phase: string, kinds = [course] as unknown as Kind[]) => {
    const frame = {
      rows: () => [0],
      isOwn: () => false,
      list: () => [],
      id: () => 1,
      component: (_: number, component: number) => ["rain", phase, "share"][component],
    };
    const chosen = chosenTexts({ commands: [] });
    const { rows, phase: shown, outcome } = scoreTablesOf(frame, kinds, chosen)[0] ?? {};
    return [...(rows?.[0]?.cells.slice(1) ?? []), shown, outcome];
  };
  // A winner who is called so is no phase.
  const share = "Sharing out the chest";
  assert.deepEqual(shown("share"), [share, "share", share, null]);
  assert.deepEqual(shown("to-arms"), ["To arms", "share", "To arms", null]);
  assert.deepEqual(shown("doom"), ["Doom", "share", "Doom", "lost"]);
  // Also behind other words.
  const rain = part("weather", null, [{ is: "rain", label: "", outcome: null }]);
  const [, ...others] = course.components;
  const rainy = [{ ...course, components: [rain, ...others] }] as unknown as Kind[];
  assert.deepEqual(shown("doom", rainy), ["Doom", "share", "Rain", "lost"]);
});

test("a bar says how much is left of how much, or which share", () => {
  assert.deepEqual([leftOf({ unit: "" }, 57, 120), leftOf({ unit: "%" }, 57, 100)], ["57 / 120", "57 %"]);
});

test("a name that is too long ends with an ellipsis", () => {
  const widthOf = (text: string) => [...text].length;
  assert.equal(fitted("ann", 3, widthOf), "ann");
  assert.equal(fitted("ann the brave", 6, widthOf), "ann t\u2026");
  assert.equal(fitted("ann the brave", 5, widthOf), "ann\u2026");
  assert.equal(fitted("\u{1f600}\u{1f600}\u{1f600}", 2, widthOf), "\u{1f600}\u2026");
});

test("a long table shows the best rows, and the own one", () => {
  const rows = Array.from({ length: 9 }, (_, place) => ({ cells: [`${place}`], own: place === 7, id: place }));
  const table = { title: "", columns: ["Name"], rows, isState: false, ...PLAIN, roles: [] };
  assert.deepEqual(shortened(table).map(({ cells }) => cells[0]), ["0", "1", "2", "3", "7"]);
});

test("a pointer stands on the edge, towards what is outside the picture", () => {
  const camera = new ViewCamera("above");
  camera.aspect = 1.6;
  camera.follow(50, 50, 0, 1);
  camera.update();
  const [at, place] = [{ x: 0, y: 0, z: 0 }, { x: 0, y: 0, angle: 0 }];
  const point = (x: number, y: number) =>
    edgePlace(camera, x, y, 0, at, place) && [place.x, place.y, place.angle].map((n) => +n.toFixed(2));
  assert.equal(point(51, 52), false);
  assert.deepEqual(point(150, 50), [0.68, 0, 0]);
  assert.deepEqual(point(50, -50), [0, -0.34, -1.57]);
  camera.turn(-0.5, 0);
  camera.update();
  assert.deepEqual(point(50, 150), [0.68, 0, 0]);
});

test("who has hit is pointed at for a while", () => {
  const attackers = new Attackers();
  attackers.note(1_000, 7);
  assert.deepEqual([attackers.has(2_000, 7), attackers.has(2_000, 8), attackers.has(9_000, 7)], [true, false, false]);
});

test("ages go from green over yellow to red, unknown ones are grey", () => {
  const at = (ms: number) => {
    const colour = { r: 0, g: 0, b: 0 };
    colourByAge(ms, colour);
    return colour;
  };
  assert.ok(at(50).g > 0.7 && at(50).r < 0.2);
  assert.ok(at(500).g > 0.7 && at(500).r > 0.9);
  assert.ok(at(5_000).g < 0.2 && at(5_000).r > 0.8);
  assert.deepEqual(at(NaN), { r: 0.5, g: 0.5, b: 0.5 });
  for (let ms = 0; ms < 2_000; ms += 10) {
    const [now, next] = [at(ms), at(ms + 10)];
    assert.ok(Math.abs(now.r - next.r) < 0.05 && Math.abs(now.g - next.g) < 0.05);
  }
});

test("pacing along a border keeps the viewer's cell", () => {
  const cell = new ViewerCell();
  const settings = { cell: 10, inner: 1, outer: 2, marginM: 1 };
  assert.ok(cell.follow(35, 35, settings));
  assert.equal(cell.follow(40.9, 35, settings), false);
  assert.equal(cell.follow(39.5, 35, settings), false);
  assert.ok(cell.follow(41.1, 35, settings));
  assert.deepEqual([cell.x, cell.y], [4, 3]);
  const square = { west: 0, south: 0, edge: 0 };
  cell.zone(1, 10, square);
  assert.deepEqual(square, { west: 30, south: 20, edge: 30 });
});

test("a pending command counts down to its effect, then it is forgotten", () => {
  const pending = new PendingCommands();
  const given = pending.give(1_000, 7, "move", 150);
  assert.equal(remainingShare(given, 1_000), 1);
  assert.equal(remainingShare(given, 1_075), 0.5);
  assert.equal(remainingShare(given, 1_150), 0);
  assert.equal(pending.measuredLagMs, 0);
  pending.confirm(7, 1_150);
  assert.equal(pending.measuredLagMs, 150);
  pending.give(1_000, 8, "buy", 150);
  pending.confirm(8, 1_150);
  pending.refuse(1_160, 8);
  // An answer on a slow line may come after the refusal.
  pending.give(1_000, 9, "cast", 150);
  pending.refuse(1_160, 9);
  assert.equal(pending.confirm(9, 1_170), undefined);
  const done: string[] = [];
  pending.expire(1_200, ({ label }) => done.push(label));
  assert.equal(pending.list.length, 3);
  pending.expire(2_100, ({ label }) => done.push(label));
  // What the game has refused at its effect was not done.
  assert.deepEqual([pending.list, done], [[], ["move"]]);
});

test("a confirmation has the exact time; what has none waits for it", () => {
  const pending = new PendingCommands();
  const given = pending.give(1_000, 7, "move", 150);
  pending.expire(1_900);
  assert.equal(pending.list.length, 1);
  pending.confirm(7, 2_000);
  assert.deepEqual([given.state, given.effectAt], ["confirmed", 2_000]);
  pending.confirm(8, 2_000);
  pending.expire(2_400);
  assert.equal(pending.list.length, 0);
});

test("a refusal is shown, and the number of pending commands is bounded", () => {
  const pending = new PendingCommands();
  for (let number = 0; number < 100; number += 1) pending.give(0, number, "move", 150);
  assert.equal(pending.list.length, 32);
  pending.refuse(100, 99);
  pending.refuse(100, 1);
  assert.equal(pending.list.at(-1)?.state, "refused");
  pending.expire(2_200);
  assert.equal(pending.list.length, 0);
});

test("a destination counts until it is reached or the object leaves", () => {
  const paths = new PlannedPaths();
  const to = { x: 1, y: 2, z: 0, t: 500 };
  const path = { path: { to }, health: { value: 1 } };
  const enter = { ev: "enter", t: 0, id: 3, kind: "npc", own: false, x: 0, y: 0, z: 0 } as const;
  paths.handle({ ...enter, components: path });
  assert.equal(paths.destination(3, 100)?.x, 1);
  assert.equal(paths.destination(3, 500), undefined);
  const ahead = { x: 0, y: 0, z: 0 };
  assert.ok(paths.ahead(3, 100, false, ahead));
  assert.deepEqual(ahead, { x: 1, y: 2, z: 0 });
  paths.handle({ ev: "update", t: 5, id: 3, components: { path: { to: null } } });
  assert.equal(paths.destination(3, 100), undefined);
  paths.handle({ ev: "update", t: 6, id: 3, components: path });
  paths.handle({ ev: "leave", t: 7, id: 3 });
  assert.equal(paths.destination(3, 100), undefined);
});

test("of others' paths two seconds are shown, of the own one all", () => {
  const paths = new PlannedPaths();
  const components = { path: { to: { x: 100, y: 0, z: 0, t: 21_000 } } };
  paths.handle({ ev: "update", t: 0, id: 3, components });
  const end = { x: 0, y: 0, z: 0 };
  assert.ok(paths.ahead(3, 1_000, false, end));
  assert.equal(end.x, 10);
  assert.ok(paths.ahead(3, 1_000, true, end));
  assert.equal(end.x, 100);
});

test("keys hold controls, turned with the camera", () => {
  assert.equal(controlOfKey("arrowleft", CONTROLS), LEFT);
  assert.equal(controlOfKey(" ", CONTROLS), JUMP);
  assert.equal(controlOfKey("q", CONTROLS), undefined);
  assert.equal(turnDirection(UP, CONTROLS, 0), UP);
  assert.equal(turnDirection(UP, CONTROLS, Math.PI / 2), LEFT);
  assert.equal(turnDirection(UP, CONTROLS, -Math.PI / 2), RIGHT);
  assert.equal(turnDirection(JUMP, CONTROLS, 2), JUMP);
  assert.equal(bitsOf([UP, JUMP], CONTROLS, 0), 0b10100);
});

test("arrow keys that are no directions stay what they are", () => {
  const turnLeft = control("turn-left", ["arrowleft"]);
  const thrust = control("thrust", ["arrowup"]);
  assert.equal(bitsOf([turnLeft, thrust], [turnLeft, thrust], 2), 0b11);
  assert.equal(hasDirections([turnLeft, thrust]), false);
  assert.equal(hasDirections(CONTROLS), true);
});

test("keys move a linear axis, and a pointer gives an angle", () => {
  const throttle: Control = { ...control("throttle", ["w", "s", "space", "x"]), axis: "linear" };
  const aim: Control = { ...control("aim", []), axis: "angle" };
  assert.equal(controlOfKey("w", [throttle]), undefined);
  const lever = (...held: string[]) => leverOfKeys(held, throttle);
  assert.deepEqual([lever(), lever("w"), lever("x"), lever(" ", "q")], [0, 1, -1, 1]);
  assert.deepEqual([lever("w", "s"), lever("w", " ")], [0, 1]);
  assert.equal(angleOfWay(0, -3), -Math.PI / 2);
  assert.equal(angleOfWay(0.1, 0), undefined);
  assert.deepEqual([stepOf(0.5, throttle), stepOf(-7, throttle)], [64, -127]);
  assert.equal(stepOf(Math.PI, aim), stepOf(-Math.PI, aim));
  assert.equal(stepOf(-Math.PI / 2, aim), 192);
  // What is held has the bits of its own place, whatever axes there are before it.
  assert.equal(bitsOf([JUMP], [throttle, JUMP], 0), 0b10);
});

test("a pointer leads an avatar straight and diagonally, and stops on it", () => {
  assert.equal(bitsTowards(5, 0, CONTROLS), 0b0010);
  assert.equal(bitsTowards(-5, 5, CONTROLS), 0b0101);
  assert.equal(bitsTowards(5, 1, CONTROLS), 0b0010);
  assert.equal(bitsTowards(0.1, 0.1, CONTROLS), 0);
});

test("a matrix scales, turns and moves", () => {
  const half = Math.SQRT1_2;
  const transforms = Float32Array.of(9, 9, 1, 2, 3, 0, 0, half, half);
  const matrices = new Float32Array(16);
  composeMatrix(transforms, 2, [2, 4, 6], 1, 0.5, matrices, 0);
  // A quarter turn about z: the x axis becomes y.
  const expected = [0, 2, 0, 0, -4, 0, 0, 0, 0, 0, 6, 0, 1, 2, 3.5, 1];
  expected.forEach((value, index) => {
    assert.ok(Math.abs((matrices[index] as number) - value) < 1e-6, `at ${index}`);
  });
});

test("the small map shows a small map whole, a large one in part", () => {
  const view = new MapView();
  view.fit({ west: 0, south: 0, width: 200, height: 100 }, 200, 0, 0);
  assert.equal(view.scale, 1);
  assert.deepEqual([view.across(0), view.down(50)], [0, 100]);
  assert.deepEqual([view.x(20), view.y(100)], [20, 50]);
  view.fit({ west: 0, south: 0, width: 4_000, height: 4_000 }, 200, 2_000, 3_990);
  assert.equal(view.across(2_000), 100);
  assert.equal(view.down(4_000), 0);
});

test("rates and shares follow the last seconds", () => {
  const rate = new RateMeter();
  let last = 0;
  for (let now = 0; now <= 5_000; now += 250) last = rate.sample(now, now * 3);
  assert.equal(last, 3_000);
  const meter = new LineMeter();
  const figures = (now: number, arrived: number, lost: number) =>
    meter.sample(now, { ...NO_STATS, datagrams_down: arrived, datagrams_lost: lost });
  assert.ok(Number.isNaN(figures(0, 0, 0).lossPercent));
  assert.equal(figures(1_000, 15, 5).lossPercent, 25);
  // One of those that were lost has come late.
  assert.equal(figures(1_100, 16, 4).lossPercent, 20);
  for (let now = 2_000; now <= 9_000; now += 1_000) figures(now, now, 4);
  assert.equal(figures(10_000, 10_000, 4).lossPercent, 0);
});

test("after a pause, rates begin anew", () => {
  const meter = new RateMeter(2_000);
  meter.sample(0, 0);
  meter.sample(1_000, 100);
  assert.equal(meter.sample(60_000, 50_000), 0);
  assert.equal(meter.sample(61_000, 50_030), 30);
});

test("what was missed may have been any object's end: no path is kept", () => {
  const paths = new PlannedPaths();
  const to = { x: 5, y: 5, z: 0, t: 9_000 };
  paths.handle({ ev: "update", t: 0, id: 1, components: { path: { to } } });
  assert.ok(paths.destination(1, 0));
  paths.handle({ ev: "missed", count: 3 });
  assert.equal(paths.destination(1, 0), undefined);
});

test("within a frame no two names share a slot; slots are freed between frames", () => {
  let cleared = 0;
  const painted: string[] = [];
  const table = new SlotTable(2, (name) => painted.push(name), () => (cleared += 1));
  const frame = (...names: string[]) => {
    table.begin();
    return names.map((name) => table.slotOf(name));
  };
  assert.deepEqual(frame("ann", "bob", "cat", "ann"), [0, 1, -1, 0]);
  // All are still in sight: nothing would be won.
  assert.deepEqual(frame("ann", "bob", "cat"), [0, 1, -1]);
  assert.equal(cleared, 0);
  assert.deepEqual(frame("cat", "bob"), [-1, 1]);
  assert.deepEqual(frame("cat", "bob"), [0, 1]);
  assert.equal(cleared, 1);
  assert.deepEqual(painted, ["ann", "bob", "cat", "bob"]);
});

test("the share of late changes counts events and updates", () => {
  const meter = new LineMeter();
  meter.sample(0, NO_STATS);
  const late = { ...NO_STATS, events: 4, late_events: 2, updates: 6, late_updates: 3 };
  assert.equal(meter.sample(1_000, late).latePercent, 50);
});

test("a creature that has fallen lies on its side, on the ground, whichever way it looked", () => {
  for (const turn of [0, 1, -2.5]) {
    const [sin, cos] = [Math.sin(turn / 2), Math.cos(turn / 2)];
    const transforms = Float32Array.of(5, 6, 0, 0, 0, sin, cos, 0, 0, 0, 0, 0, 0);
    const matrices = new Float32Array(16);
    const [scale, factor] = [[2, 2, 1.9], 1.5] as const;
    composeMatrix(transforms, 0, scale, factor, factor * 0.95, matrices, 0);
    layOnSide(matrices, 0, scale, factor, factor * 0.95);
    const columns = [0, 4, 8].map((at) => [...matrices.subarray(at, at + 3)]);
    const [ahead, left, up] = columns as [number[], number[], number[]];
    const near = (got: number[], expected: number[]) =>
      got.forEach((value, at) => assert.ok(Math.abs(value - (expected[at] as number)) < 1e-5));
    // It still looks the same way; its left side is up, and its back at its right.
    near(ahead, [3 * Math.cos(turn), 3 * Math.sin(turn), 0]);
    near(left, [0, 0, 3]);
    near(up, [2.85 * Math.sin(turn), -2.85 * Math.cos(turn), 0]);
    const height = matrices[14] as number;
    assert.ok(height > 0.3 * 3 && height < 0.5 * 3, `${height}`);
  }
});
