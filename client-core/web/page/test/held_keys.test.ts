import assert from "node:assert/strict";
import { test } from "node:test";

import { HeldKeys } from "../src/core/held_keys.js";

test("a key that is tapped between two frames is held in the next one, and no longer", () => {
  const keys = new HeldKeys();
  const frame = () => {
    const held = [...keys.held];
    keys.endFrame();
    return held;
  };
  keys.press("d");
  keys.release("d");
  assert.deepEqual([frame(), frame()], [["d"], []]);
  keys.press("d");
  assert.deepEqual([frame(), frame()], [["d"], ["d"]]);
  keys.release("d");
  assert.deepEqual(frame(), []);
  // Down again before the frame.
  keys.press("a");
  keys.release("a");
  keys.press("a");
  assert.deepEqual([frame(), frame()], [["a"], ["a"]]);
  keys.clear();
  assert.deepEqual(frame(), []);
});
