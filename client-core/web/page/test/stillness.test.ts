import assert from "node:assert/strict";
import { test } from "node:test";

import { CanvasSize, STAYS_MS, Stillness } from "../src/core/stillness.js";

test("after a host's death the last picture stays until the avatar is there again", () => {
  const still = new Stillness();
  assert.equal(still.stays(0, 0, false), false, "there is no picture yet");
  assert.equal(still.stays(16, 40, true), false);
  // Before the page knows why, and while objects come.
  assert.equal(still.stays(32, 0, false), true);
  still.restart();
  assert.equal(still.stays(48, 3, false), true);
  assert.equal(still.stays(64, 9, true), false);
  assert.equal(still.stays(80, 9, false), false, "whoever has no avatar watches others");
});

test("it does not stay for ever", () => {
  const still = new Stillness();
  still.stays(0, 5, true);
  assert.equal(still.stays(100, 0, false), true);
  assert.equal(still.stays(100 + STAYS_MS - 1, 0, false), true);
  assert.equal(still.stays(100 + STAYS_MS, 0, false), false);
  still.restart();
  assert.equal(still.stays(5_000, 4, false), false, "it was given up before");
});

test("a canvas is emptied only together with the next picture", () => {
  const size = new CanvasSize();
  assert.equal(size.take(), false);
  size.change();
  size.change();
  assert.deepEqual([size.take(), size.take()], [true, false]);
});
