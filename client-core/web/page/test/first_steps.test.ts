import assert from "node:assert/strict";
import { test } from "node:test";

import type { Control } from "../src/ambit/ambit.js";
import { isForSteering } from "../src/core/controls.js";
import { FirstSteps, type Step } from "../src/core/first_steps.js";

const STEPS: readonly Step[] = [
  { deed: "move", text: "walk" },
  { deed: "act", text: "cast" },
  { deed: "hear", text: "listen" },
];

test("steps tick themselves off by what the player does, in any order, once a game", () => {
  const storage = kept();
  const visit = (game = "tag") => new FirstSteps(storage, game, STEPS);
  const first = visit();
  const done = () => first.steps.map((step) => first.isDone(step));
  assert.deepEqual([first.isOver, done()], [false, [false, false, false]]);
  assert.deepEqual([first.did("act"), first.did("act"), first.did("look")], [true, false, false]);
  assert.deepEqual(done(), [false, true, false]);
  // A player who leaves before the end sees them again.
  assert.equal(visit().steps.length, 3);
  first.did("hear");
  assert.equal(first.isOver, false);
  assert.ok(first.did("move") && first.isOver);
  assert.deepEqual([visit().steps, visit("chess").steps], [[], STEPS]);
});

test("a player who wants no hints sees them in no game", () => {
  const storage = kept();
  const first = new FirstSteps(storage, "tag", STEPS);
  first.refuse();
  assert.ok(first.isOver);
  assert.deepEqual(new FirstSteps(storage, "chess", STEPS).steps, []);
});

test("what is no direction and no axis is an act", () => {
  const control = (extra: Partial<Control>): Control => ({
    name: "", label: "", help: "", keys: [], tapped: false, direction: null, axis: null, ...extra,
  });
  const [left, right] = [control({ keys: ["arrowleft", "a"] }), control({ keys: ["arrowright"] })];
  const [fire, north] = [control({ keys: ["space"] }), control({ direction: "north" })];
  const all = [left, right, fire, north, control({ axis: "linear" })];
  assert.deepEqual(all.map((one) => isForSteering(one, all)), [true, true, false, true, true]);
});

function kept() {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
}
