/** The page shows a kill to the player who made it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { EventKind, GameEvent } from "../src/ambit/ambit.js";
import { felledBy } from "../src/core/felled.js";

const object = (name: string) => ({ name, type: "object" });
const kindOf = (form: string) =>
  ({ fields: [object("target"), object("by")], effect: { form } }) as unknown as EventKind;
const eventOf = (target: number, by: number | null) =>
  ({ ev: "event", target, by }) as unknown as GameEvent;

test("whom the own avatar has felled is told, and no other fall", () => {
  assert.equal(felledBy(kindOf("death"), eventOf(7, 3), 3), 7);
  // A hit is none, nor the fall of the own avatar, nor what others have done.
  assert.equal(felledBy(kindOf("hit"), eventOf(7, 3), 3), undefined);
  assert.equal(felledBy(kindOf("death"), eventOf(3, 7), 3), undefined);
  assert.equal(felledBy(kindOf("death"), eventOf(3, 3), 3), undefined);
  assert.equal(felledBy(kindOf("death"), eventOf(7, 4), 3), undefined);
  assert.equal(felledBy(kindOf("death"), eventOf(7, null), 3), undefined);
});
