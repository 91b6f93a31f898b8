/** What a player reads when the avatar falls and comes back. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Action } from "../src/core/actions.js";
import { BACK_MS, countdownOf, Fall } from "../src/core/fall.js";
import { Watching } from "../src/core/watching.js";

test("whoever falls is told so until the avatar is up again, and for a moment after it", () => {
  const fall = new Fall();
  const at = (now: number, bar: number | undefined) => {
    fall.update(now, bar);
    return fall.state;
  };
  // Not chosen yet, or not there.
  assert.deepEqual([at(0, 0), at(10, undefined)], ["up", "up"]);
  assert.deepEqual([at(100, 1), at(200, 0), at(3_000, 0)], ["up", "down", "down"]);
  // On the way to another map nothing changes.
  assert.equal(at(3_100, undefined), "down");
  assert.equal(at(5_200, 1), "back");
  assert.deepEqual([fall.isBackAt(5_200), fall.isBackAt(5_216)], [true, false]);
  assert.deepEqual([at(5_200 + BACK_MS - 1, 1), at(5_200 + BACK_MS, 1)], ["back", "up"]);
  // Through a gate, without a fall.
  assert.deepEqual([at(9_000, undefined), at(9_100, 0.5)], ["up", "up"]);
});

test("the line of a fall is the game's about the own avatar, from just then", () => {
  const fall = new Fall();
  fall.update(0, 1);
  fall.note(500, "Wolf hits ann", false);
  fall.update(5_000, 0);
  assert.equal(fall.line, "");
  fall.note(5_010, "Wolf hits ann", false);
  assert.equal(fall.line, "Wolf hits ann");
  // How it died says more, whatever is said at the same time.
  fall.note(5_020, "Felled by Wolf.", true);
  fall.note(5_030, "Wolf hits ann", false);
  assert.equal(fall.line, "Felled by Wolf.");
  fall.update(9_000, 1);
  fall.update(20_000, 0);
  assert.equal(fall.line, "");
});

test("a gauge of seconds of the avatar says when it comes back", () => {
  const component = (name: string, type: string, unit: string) => ({ name, type, unit });
  const kind = (...components: object[]) => ({ components }) as Parameters<typeof countdownOf>[0];
  const health = component("health", "gauge", "");
  const other = component("seconds", "number", "s");
  assert.equal(countdownOf(kind(health, other, component("back_in", "gauge", "s"))), "back_in");
  assert.equal(countdownOf(kind(health, other)), undefined);
});

test("where the game's commands need a flag of the avatar, whoever is out watches", () => {
  const only = (of: string | null) =>
    ({ command: { only_for: of === null ? null : { of, is: "" } } }) as unknown as Action;
  const kind = (name: string, type = "flag") =>
    ({ components: [{ name, type }] }) as unknown as Parameters<Watching["isFor"]>[0];
  const watching = new Watching([only("alive"), only(null)]);
  assert.equal(watching.isFor(kind("alive")), true);
  assert.equal(watching.isFor(kind("alive", "text")), false);
  assert.equal(new Watching([only(null)]).isFor(kind("alive")), false);
});
