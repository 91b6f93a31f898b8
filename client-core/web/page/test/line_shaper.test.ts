import assert from "node:assert/strict";
import { test } from "node:test";
import { LineShaper } from "../../ts/line_shaper.js";

const BYTES = Uint8Array.of(1);
/** Timers and the clock round differently. */
const ROUNDING_MS = 1.5;

test("the page's line is bad in both directions", async () => {
  const shaper = new LineShaper(1, { delayMs: 30, jitterMs: 0, lossPercent: 0 });
  for (const direction of ["up", "down"] as const) {
    for (const lane of ["stream", "datagram"] as const) {
      const sentAt = performance.now();
      const got = await new Promise<Uint8Array>((deliver) => {
        shaper.send(direction, lane, BYTES, deliver);
      });
      assert.equal(got, BYTES);
      assert.ok(performance.now() - sentAt > 30 - ROUNDING_MS, `${direction} ${lane}`);
    }
  }
});

test("a change of the line counts at once", () => {
  const conditions = { delayMs: 0, jitterMs: 0, lossPercent: 100 };
  const shaper = new LineShaper(1, conditions);
  let delivered = 0;
  const send = () => shaper.send("up", "datagram", BYTES, () => (delivered += 1));
  send();
  assert.equal(delivered, 0);
  conditions.lossPercent = 0;
  send();
  assert.equal(delivered, 1);
});
