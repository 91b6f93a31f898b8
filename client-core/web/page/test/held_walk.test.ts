/** Letters and sticks that lead an avatar which walks to places. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Control } from "../src/ambit/ambit.js";
import type { Action } from "../src/core/actions.js";
import {
  endsElsewhere,
  HeldWalk,
  pointsElsewhere,
  walksByLetters,
  wayOfLetters,
} from "../src/core/held_walk.js";

const NORTH = { x: 0, y: 1 };
const EAST = { x: 1, y: 0 };
const NOWHERE = { x: 0, y: 0 };

test("W A S D are ways on the screen, and those against each other none", () => {
  const way = (...held: string[]) => {
    const into = { x: 9, y: 9 };
    wayOfLetters(new Set(held), into);
    return [into.x.toFixed(2), into.y.toFixed(2)].map(Number);
  };
  assert.deepEqual([way("w"), way("a"), way("s"), way("d")], [[0, 1], [-1, 0], [0, -1], [1, 0]]);
  assert.deepEqual(way("w", "d", "q"), [0.71, 0.71]);
  assert.deepEqual([way("a", "d"), way()], [[0, 0], [0, 0]]);
});

test("the letters walk only where a click does, and where the game has no use for them", () => {
  const action = (key: string | null, isClick = false) => ({ key, isClick }) as Action;
  const [click, bolt] = [action(null, true), action("1")];
  assert.equal(walksByLetters([click, bolt], []), true);
  assert.equal(walksByLetters([bolt], []), false);
  assert.equal(walksByLetters([click, action("d")], []), false);
  assert.equal(walksByLetters([click, bolt], [{} as Control]), false);
});

test("the command is given again after half of the way, and when the direction changes", () => {
  const { step, sent } = scene();
  step(0, NORTH, 0, 0);
  assert.deepEqual(sent, [[0, 6]]);
  for (let ms = 20; ms <= 580; ms += 20) step(ms, NORTH, 0, ms * 0.005);
  assert.equal(sent.length, 1);
  step(600, NORTH, 0, 3);
  assert.deepEqual(sent[1], [0, 9]);
  // Another direction, but not at once again.
  step(640, EAST, 0, 3);
  assert.equal(sent.length, 2);
  step(760, EAST, 0, 3.5);
  assert.deepEqual(sent[2], [6, 3.5]);
  // A hand that trembles changes nothing; an avatar that is stuck is sent again, now and then.
  for (let ms = 780; ms < 1_760; ms += 20) step(ms, { x: 1, y: 0.05 }, 0.2, 3.5);
  assert.equal(sent.length, 3);
  step(1_760, EAST, 0.2, 3.5);
  assert.equal(sent.length, 4);
});

test("let go, the avatar stops where it will be when the stop takes effect", () => {
  const { step, sent } = scene();
  for (let ms = 0; ms <= 500; ms += 10) step(ms, EAST, ms * 0.005, 0);
  step(510, NOWHERE, 2.55, 0);
  const [x, y] = sent.at(-1) ?? [];
  // 5 m/s for 200 ms.
  assert.ok(Math.abs((x ?? 0) - 3.55) < 0.02 && y === 0, `${x} ${y}`);
  step(520, NOWHERE, 2.6, 0);
  assert.equal(sent.length, 2);
});

test("after a tap the avatar stops ahead: never behind where it is when the stop takes effect", () => {
  for (const paceMperS of [1.5, 3, 4, 6]) {
    for (const tapMs of [10, 80, 150, 190, 250, 400]) {
      const back = walkTapped(paceMperS, tapMs, EAST);
      assert.ok(back >= 0 && back < 1.5, `${paceMperS} m/s for ${tapMs} ms: ${back} m`);
    }
  }
});

test("an avatar that is drawn ahead stops where it is let go, or ahead of that, for all", () => {
  for (const paceMperS of [1.5, 3, 4, 6]) {
    for (const tapMs of [10, 80, 150, 190]) {
      const { step, sent } = scene(0);
      const at = (ms: number) => (ms * paceMperS) / 1_000;
      for (let ms = 0; ms < tapMs; ms += 10) step(ms, EAST, at(ms), 0);
      step(tapMs, NOWHERE, at(tapMs), 0);
      assert.equal(sent.length, 2);
      const [x, y] = sent[1] as [number, number];
      // At the server the stop may take effect a tick later.
      const isAhead = x >= at(tapMs + 50) && x < at(tapMs) + 0.5;
      assert.ok(isAhead && y === 0, `${paceMperS} m/s for ${tapMs} ms: ${x} m`);
    }
  }
});

test("an avatar that is drawn ahead and has walked for long stops where it is let go", () => {
  const { step, sent } = scene(0);
  for (let ms = 0; ms <= 500; ms += 10) step(ms, EAST, ms * 0.005, 0);
  step(510, NOWHERE, 2.55, 0);
  assert.deepEqual(sent[1], [2.55, 0]);
});

test("an avatar that was held up is not taken for slow", () => {
  const { step, sent } = scene();
  for (let ms = 0; ms <= 900; ms += 100) step(ms, EAST, 0, 0);
  step(1_000, NOWHERE, 0, 0);
  for (let ms = 3_000; ms < 3_150; ms += 10) step(ms, EAST, 0, 0);
  step(3_150, NOWHERE, 0, 0);
  // 6 m/s are supposed.
  const x = sent.at(-1)?.[0] ?? 0;
  assert.ok(x >= 0.9 && x < 1.5, String(x));
});

test("what was seen of its pace counts for the next tap", () => {
  const { step, sent } = scene();
  let x = 0;
  // 8 m/s, from the effect on.
  for (let ms = 0; ms <= 1_500; ms += 10) step(ms, EAST, (x = Math.max(0, ms - 200) * 0.008), 0);
  step(1_510, NOWHERE, x, 0);
  for (let ms = 3_000; ms <= 3_100; ms += 10) step(ms, EAST, x, 0);
  step(3_110, NOWHERE, x, 0);
  const ahead = (sent.at(-1)?.[0] ?? 0) - x;
  // 110 ms, and a tick more.
  assert.ok(ahead >= 0.88 && ahead < 1.6, String(ahead));
});

test("whoever is led by something else is not stopped", () => {
  const { walk, step, sent } = scene();
  step(0, EAST, 0, 0);
  walk.forget();
  step(10, NOWHERE, 0, 0);
  assert.equal(sent.length, 1);
});

test("a held press sends the avatar again only elsewhere, not farther on the same way", () => {
  const told = { x: 8, y: 0, since: 0 };
  const points = (x: number, y: number, at = 1, now = 150) =>
    pointsElsewhere(now, { x: at, y: 0 }, told, { x, y });
  // The picture moves with the avatar, and so does the place under a pointer that stands still.
  assert.deepEqual([points(9, 0), points(13, 1), points(8.4, 0)], [false, false, false]);
  assert.deepEqual([points(8, 2), points(-4, 0), points(2, 0)], [true, true, true]);
  // Almost there; or it may have been refused.
  assert.deepEqual([points(13, 0, 6.6), points(9, 0, 1, 1_000)], [true, true]);
  assert.deepEqual([endsElsewhere(told, { x: 9, y: 0 }), endsElsewhere(told, told)], [true, false]);
});

/**
 * How far the place of the stop is ahead of the avatar when the stop takes effect, a tick late.
 * The avatar sets out when the first command takes effect: 200 ms after the key.
 */
function walkTapped(paceMperS: number, tapMs: number, way: typeof EAST): number {
  const { step, sent } = scene();
  const at = (ms: number) => (Math.max(0, ms - 200) * paceMperS) / 1_000;
  for (let ms = 0; ms < tapMs; ms += 10) step(ms, way, at(ms) * way.x, at(ms) * way.y);
  step(tapMs, NOWHERE, at(tapMs) * way.x, at(tapMs) * way.y);
  assert.equal(sent.length, 2);
  const [x, y] = sent[1] as [number, number];
  return x * way.x + y * way.y - at(tapMs + 200 + 50);
}

function scene(lagMs = 200) {
  const walk = new HeldWalk();
  const sent: [x: number, y: number][] = [];
  const to = { x: 0, y: 0 };
  const step = (now: number, way: typeof to, x: number, y: number) => {
    if (walk.next(now, way, { x, y }, lagMs, to)) sent.push([to.x, to.y]);
  };
  return { walk, step, sent };
}
