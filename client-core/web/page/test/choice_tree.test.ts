/** Choices that hang on each other: where they stand, and between what the lines go. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Action } from "../src/core/actions.js";
import { choiceOf } from "../src/core/actions.js";
import { treeOf } from "../src/core/choice_tree.js";
import { PLAIN_CHOICE } from "./declared.js";

type Needs = Readonly<Record<string, readonly string[]>>;

function actionsOf(all: Needs): Action[] {
  const choices = Object.keys(all);
  const about = Object.values(all).map((needs) => ({ ...PLAIN_CHOICE, needs }));
  const command = { name: "learn", fields: [{ name: "talent", type: "choice", choices, about }] };
  return choices.map((talent) => ({ command, preset: { talent } }) as unknown as Action);
}

/** Where each choice stands. */
function placesOf(all: Needs): Record<string, readonly [number, number]> {
  const places = treeOf(actionsOf(all)).nodes.map(({ action, column, row }) =>
    [choiceOf(action), [column, row]] as const);
  return Object.fromEntries(places);
}

/** Two lines of which one begins left of the other and ends right of it, or the other way round. */
function crossings(all: Needs): number {
  const segments = treeOf(actionsOf(all)).lines.flatMap(({ points }) =>
    points.slice(1).map(([toX, toRow], at) => [points[at]?.[0] ?? 0, toX, toRow] as const));
  let count = 0;
  for (const [at, [fromA, toA, rowA]] of segments.entries()) {
    for (const [fromB, toB, rowB] of segments.slice(at + 1)) {
      if (rowA === rowB && (fromA - fromB) * (toA - toB) < 0) count += 1;
    }
  }
  return count;
}

const STORM: Needs = {
  edge: [], hand: ["edge"], reach: [], storm: ["reach", "hand"], skin: [], stride: [],
  avalanche: ["stride"],
};

test("each choice stands below all that it needs, and what stands alone comes last", () => {
  assert.deepEqual(placesOf({ a: [], b: ["a"] }), { a: [0, 0], b: [0, 1] });
  const places = placesOf(STORM);
  const rows = Object.fromEntries(Object.entries(places).map(([name, [, row]]) => [name, row]));
  assert.deepEqual(rows, {
    edge: 0, reach: 0, stride: 0, skin: 0, hand: 1, avalanche: 1, storm: 2,
  });
  assert.deepEqual(places["stride"], [2, 0]);
  assert.deepEqual(places["avalanche"], [2, 1]);
  assert.deepEqual(places["skin"], [3, 0]);
  // Also what comes before in the list.
  assert.deepEqual(placesOf({ b: ["a"], a: [] }), { a: [0, 0], b: [0, 1] });
});

test("a line over several rows passes beside what stands there", () => {
  const { lines } = treeOf(actionsOf(STORM));
  const long = lines.find(({ from, to }) => to.row - from.row === 2);
  assert.equal(long?.points.length, 3);
  const hand = placesOf(STORM)["hand"]?.[0] ?? 0;
  assert.ok(Math.abs((long?.points[1]?.[0] ?? 0) - hand) >= 1);
});

test("what could stand beside each other without a crossing does", () => {
  const mage: Needs = {
    kindling: [], inferno: ["kindling"], wide: ["kindling"], quick: ["wide"], well: [],
    sea: ["well"], mind: ["well"], archmage: ["inferno", "sea"],
  };
  assert.equal(crossings(mage), 0);
  assert.equal(crossings(STORM), 0);
  assert.equal(crossings({ a: [], b: [], x: ["b"], y: ["a"] }), 0);
});

test("no two choices are in one place, for any needs", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 200; round += 1) {
    const names = Array.from({ length: 1 + random(64) }, (_, at) => `t${at}`);
    const all: Needs = Object.fromEntries(names.map((name, at) => [
      name,
      Array.from({ length: at === 0 ? 0 : random(3) }, () => `t${random(at)}`),
    ]));
    const { nodes, columns, rows, lines } = treeOf(actionsOf(all));
    assert.equal(nodes.length, names.length);
    for (const [at, { column, row }] of nodes.entries()) {
      assert.ok(column >= 0 && column <= columns - 1 + 1e-9 && row < rows, `round ${round}`);
      const near = nodes.slice(at + 1).filter((other) =>
        other.row === row && Math.abs(other.column - column) < 1 - 1e-9);
      assert.deepEqual(near, [], `round ${round}`);
    }
    assert.ok(lines.every(({ from, to, points }) => points.length === to.row - from.row + 1));
  }
});

test("what needs itself, or what is not there, is shown nevertheless", () => {
  assert.deepEqual(placesOf({ a: ["a"], b: ["c"], c: ["b"], d: ["none"] })["a"]?.[1], 0);
  assert.equal(Object.keys(placesOf({ a: ["b"], b: ["c"], c: ["a"] })).length, 3);
  assert.deepEqual(treeOf([]), { nodes: [], lines: [], columns: 0, rows: 0 });
});
