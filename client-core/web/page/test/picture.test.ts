import assert from "node:assert/strict";
import { test } from "node:test";

import { GaugeChanges, SHOWN_MS } from "../src/core/gauge_changes.js";
import { LabelLayout, scaleToFit, SharedNames } from "../src/core/label_layout.js";
import { forPlayers, labelOf } from "../src/core/words.js";
import { TRAIL_PLACES, Trails } from "../src/core/trails.js";

function trailsOf(trails: Trails): number[][] {
  const all: number[][] = [];
  trails.end((places, oldest, kind) => {
    assert.equal(kind, 2);
    all.push([...places.subarray(0, 3), ...places.subarray(oldest, oldest + 3)]);
  });
  return all;
}

test("a trail is behind an object, as long as that is in sight, and not over a jump", () => {
  const trails = new Trails();
  const fly = (x: number) => {
    trails.begin();
    trails.note(7, 2, x, 1, 0);
    return trailsOf(trails);
  };
  // What has just come is one place.
  assert.deepEqual(fly(0), [[0, 1, 0, 0, 1, 0]]);
  assert.deepEqual(fly(2), [[2, 1, 0, 0, 1, 0]]);
  for (let x = 3; x < 20; x += 1) fly(x);
  assert.deepEqual(fly(20), [[20, 1, 0, 20 - (TRAIL_PLACES - 1), 1, 0]]);
  assert.deepEqual(fly(60), [[60, 1, 0, 60, 1, 0]]);
  assert.equal(fly(61).length, 1);
  trails.begin();
  assert.deepEqual(trailsOf(trails), []);
  // It comes again without its past.
  assert.deepEqual(fly(62), [[62, 1, 0, 62, 1, 0]]);
});

test("a number rises where a bar changes at once, and not while it fills", () => {
  const changes = new GaugeChanges();
  const show = (now: number, value: number) => {
    changes.begin(now);
    changes.note(now, 3, value, 5, 6, 2);
    changes.end();
    return changes.numbers.map(({ text }) => text);
  };
  assert.deepEqual(show(0, 80), []);
  assert.deepEqual(show(16, 80.4), []);
  assert.deepEqual(show(33, 55.4), ["−25"]);
  assert.deepEqual([changes.isRecent(50, 3), changes.isRecent(50, 4), changes.isRecent(9_000, 3)], [
    true,
    false,
    false,
  ]);
  assert.deepEqual(show(50, 95.4), ["−25", "+40"]);
  assert.deepEqual(show(34 + SHOWN_MS, 95.4), ["+40"]);
  assert.deepEqual(show(51 + SHOWN_MS, 95.4), []);
  // Out of sight; then it is another one.
  changes.begin(2_000);
  changes.end();
  assert.deepEqual(show(2_016, 10), []);
});

test("changes of an object in a moment are one number", () => {
  const changes = new GaugeChanges();
  const show = (now: number, value: number) => {
    changes.begin(now);
    changes.note(now, 3, value, 5, 6, 2);
    changes.note(now, 4, 2 * value, 5, 6, 2);
    changes.end();
    return changes.numbers.map(({ text }) => text);
  };
  show(0, 40);
  assert.deepEqual(show(100, 36), ["−4", "−8"]);
  assert.deepEqual(show(200, 30), ["−10", "−20"]);
  assert.deepEqual(show(600, 27), ["−10", "−20", "−3", "−6"]);
});

test("a name that others in sight have, too, is a shared one", () => {
  const shared = new SharedNames();
  const count = (now: number, names: (string | undefined)[]) =>
    shared.count(now, { count: names.length, label: (index) => names[index] });
  count(0, ["rat", "ann", undefined, "rat", undefined]);
  assert.deepEqual(["rat", "ann", "bob"].map((name) => shared.has(name)), [true, false, false]);
  // Only a few times a second.
  count(100, ["rat"]);
  assert.equal(shared.has("rat"), true);
  count(1_000, ["rat"]);
  assert.equal(shared.has("rat"), false);
});

test("of names that would overlap the first one is shown", () => {
  const labels = new LabelLayout();
  labels.begin();
  assert.equal(labels.takes(0, 0, 80, 20), true);
  assert.equal(labels.takes(50, 10, 80, 20), false);
  assert.equal(labels.takes(50, 20, 80, 20), true);
  assert.equal(labels.takes(-80, 0, 80, 20), true);
  labels.begin();
  assert.equal(labels.takes(50, 10, 80, 20), true);
  // A bar takes room in any case, and as much as it needs.
  labels.reserve(60, 12, 40, 6);
  assert.equal(labels.takes(60, 36, 40, 20), true);
  assert.equal(labels.takes(60, -12, 40, 20), true);
  assert.equal(labels.takes(110, 12, 40, 20), true);
});

test("a name is no wider than what it belongs to, or is left out if it were unreadable", () => {
  assert.equal(scaleToFit(40, 60), 1);
  assert.equal(scaleToFit(60, 48), 0.8);
  assert.equal(scaleToFit(60, 30), 0);
});

test("a name without room at its place is one line higher, or left out", () => {
  const labels = new LabelLayout();
  labels.begin();
  assert.deepEqual([0, 5, 10].map((across) => labels.lineFor(across, 0, 80, 20)), [0, 1, -1]);
});

test("names of the schema are words for players", () => {
  assert.deepEqual(["turn-left", "cast bolt", "time_left", "", "x"].map(forPlayers), [
    "Turn left",
    "Cast bolt",
    "Time left",
    "",
    "X",
  ]);
  assert.equal(labelOf({ name: "turn-left", label: "" }), "Turn left");
  assert.equal(labelOf({ name: "turn-left", label: "Nach links" }), "Nach links");
});
