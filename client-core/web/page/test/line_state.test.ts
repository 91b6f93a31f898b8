import assert from "node:assert/strict";
import { test } from "node:test";

import { LineState } from "../src/core/line_state.js";

const NONE = { lossPercent: 0 };

test("a line is good, weak, silent or broken, and good again", () => {
  const line = new LineState();
  assert.equal(line.quality(null, { lossPercent: NaN }), "good");
  assert.equal(line.quality(40, NONE), "good");
  assert.equal(line.quality(300, NONE), "weak");
  assert.equal(line.quality(40, { lossPercent: 5 }), "weak");
  line.fallSilent(10_000, 1_500);
  assert.equal(line.quality(40, NONE), "silent");
  assert.deepEqual([line.isDead, line.silentSeconds(10_000), line.silentSeconds(11_600)], [true, 1, 3]);
  line.break(13_000);
  assert.equal(line.quality(40, NONE), "broken");
  // Since it was heard last, not since it broke.
  assert.equal(line.silentSeconds(14_600), 6);
  const next = new LineState();
  next.break(20_016);
  // The time of the frame in which it is shown.
  assert.equal(next.silentSeconds(20_000), 0);
  line.recover();
  assert.deepEqual([line.quality(40, NONE), line.isDead, line.silentSeconds(20_000)], ["good", false, 0]);
});
