import assert from "node:assert/strict";
import { test } from "node:test";
import { Resolution, SMOOTH } from "../src/core/resolution.js";

/** The ratio after `frames` frames, each of which takes what a ratio costs. */
function after(resolution: Resolution, frames: number, costMs: (ratio: number) => number): number {
  for (let frame = 0; frame < frames; frame += 1) resolution.note(costMs(resolution.ratio));
  return resolution.ratio;
}

test("whoever draws in time keeps all pixels", () => {
  const resolution = new Resolution(2, 2, SMOOTH);
  assert.equal(after(resolution, 2_000, () => 16.7), 2);
});

test("a slow machine draws fewer pixels until it is in time, and does not swing", () => {
  const cost = (ratio: number) => Math.max(16.7, 20 * ratio);
  const resolution = new Resolution(2, 2, SMOOTH);
  const first = after(resolution, 1_000, cost);
  assert.ok(first < 1.25 && first >= 0.8, String(first));
  assert.equal(after(resolution, 10_000, cost), first);
  // However slow it is, there is a picture.
  assert.equal(after(new Resolution(1, 1, SMOOTH), 1_000, () => 300), 0.5);
});

test("a machine that has time draws more, up to what its screen has", () => {
  assert.equal(after(new Resolution(0.5, 1, SMOOTH), 2_000, () => 16), 1);
  assert.equal(after(new Resolution(0.5, 1.5, SMOOTH), 4_000, () => 16), 1.5);
});

test("a page that was hidden says nothing about its machine", () => {
  const resolution = new Resolution(1, 1, SMOOTH);
  for (let frame = 0; frame < 500; frame += 1) {
    assert.ok(!resolution.note(NaN) && !resolution.note(60_000) && !resolution.note(-1));
  }
  assert.equal(resolution.ratio, 1);
});
