import assert from "node:assert/strict";
import { test } from "node:test";
import { PartyOrder } from "../src/core/party_order.js";

/** Each by an id and a share of health. */
function sorted(order: PartyOrder, shares: Record<number, number>): number[] {
  const members = Object.entries(shares).map(([id, share]) => ({ id: Number(id), share }));
  order.sort(members);
  return members.map(({ id }) => id);
}

test("the hurt come first, the fallen last", () => {
  assert.deepEqual(
    sorted(new PartyOrder(), { 1: 1, 2: 0, 3: 0.5, 4: 1, 5: 0.1 }),
    [5, 3, 1, 4, 2],
  );
});

test("those about as healthy keep their places", () => {
  const order = new PartyOrder();
  assert.deepEqual(sorted(order, { 1: 0.55, 2: 0.5, 3: 1 }), [1, 2, 3]);
  assert.deepEqual(sorted(order, { 1: 0.58, 2: 0.42, 3: 1 }), [1, 2, 3]);
  // Into a lower band.
  assert.deepEqual(sorted(order, { 1: 0.58, 2: 0.39, 3: 1 }), [2, 1, 3]);
  // Hardly better: no flicker at the edge of a band.
  assert.deepEqual(sorted(order, { 1: 0.58, 2: 0.42, 3: 1 }), [2, 1, 3]);
  assert.deepEqual(sorted(order, { 1: 0.58, 2: 0.5, 3: 1 }), [1, 2, 3]);
});

test("whoever comes back is at the end of the unhurt", () => {
  const order = new PartyOrder();
  assert.deepEqual(sorted(order, { 1: 1, 2: 1 }), [1, 2]);
  assert.deepEqual(sorted(order, { 2: 1 }), [2]);
  assert.deepEqual(sorted(order, { 1: 1, 2: 1 }), [2, 1]);
});
