import assert from "node:assert/strict";
import { test } from "node:test";
import { seededUnits } from "../src/core/seeded.js";

test("a seed gives the numbers of the server", () => {
  // The first ones of the crate's `SeededNumbers::new(1234)`, in steps of 2^-24.
  const unit = seededUnits(1234);
  assert.deepEqual([unit(), unit(), unit()].map((it) => it * 2 ** 24), [12258550, 9947041, 3391226]);
});
