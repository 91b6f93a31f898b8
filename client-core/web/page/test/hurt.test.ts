/** From where the own avatar is hurt. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Attackers } from "../src/core/edge.js";
import { HurtWatch } from "../src/core/hurt.js";
import { shotWidths } from "../src/core/trails.js";

test("a loss of health is told with the side from which a shot came", () => {
  const watch = new HurtWatch();
  assert.equal(watch.update(0, 1, undefined), undefined);
  watch.noteShot(0, 7, 12, 5);
  watch.noteShot(100, 7, 1, 0.5);
  assert.deepEqual(watch.update(120, 0.8, undefined), { dx: 12, dy: 5 });
  // Nothing more is lost; then too little.
  assert.equal(watch.update(140, 0.8, undefined), undefined);
  assert.equal(watch.update(160, 0.79, undefined), undefined);
});

test("whoever is named counts more than a shot", () => {
  const watch = new HurtWatch();
  watch.update(0, 1, undefined);
  watch.noteShot(0, 7, 12, 5);
  watch.noteShot(100, 7, 1, 0);
  assert.deepEqual(watch.update(120, 0.5, { dx: -3, dy: 0 }), { dx: -3, dy: 0 });
});

test("without a shot nearby nothing is said about the side", () => {
  const watch = new HurtWatch();
  watch.update(0, 1, undefined);
  // The avatar's own, one far away, and one that was long ago.
  watch.noteShot(0, 1, 0.5, 0);
  watch.noteShot(0, 2, 20, 0);
  watch.noteShot(0, 3, 9, 0);
  watch.noteShot(10, 3, 1, 0);
  watch.noteShot(900, 1, 2, 0);
  watch.noteShot(900, 2, 8, 0);
  // It is waited for what is shown later.
  assert.equal(watch.update(900, 0.7, undefined), undefined);
  assert.deepEqual(watch.update(1_200, 0.7, undefined), { dx: 0, dy: 0 });
  // Gone and back: a new life is no loss.
  watch.update(1_300, undefined, undefined);
  assert.equal(watch.update(1_400, 0.5, undefined), undefined);
  assert.equal(watch.update(1_800, 0.5, undefined), undefined);
});

test("a shot that is shown after the loss of health tells the side, too", () => {
  const watch = new HurtWatch();
  watch.update(0, 1, undefined);
  watch.noteShot(80, 7, 6, 0);
  assert.equal(watch.update(100, 0.7, undefined), undefined);
  watch.noteShot(150, 7, 2, 0);
  assert.deepEqual(watch.update(150, 0.7, undefined), { dx: 6, dy: 0 });
  assert.equal(watch.update(200, 0.7, undefined), undefined);
});

test("who has hit last is known for a moment", () => {
  const attackers = new Attackers();
  assert.equal(attackers.newest(0), -1);
  attackers.note(0, 4);
  attackers.note(10, 5);
  assert.equal(attackers.newest(20), 5);
  assert.equal(attackers.newest(5_000), -1);
});

test("a small shot is seen from far away", () => {
  const [near, far] = [shotWidths(0.3, 5), shotWidths(0.3, 60)];
  assert.ok(far.trail > 2 * near.trail && far.glow > 2 * near.glow);
  assert.deepEqual(near, { trail: 0.42 * 0.3, glow: 1.7 * 0.3 });
});
