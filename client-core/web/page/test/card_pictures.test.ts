/** Pictures, prices and the purse on cards. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Cost } from "../src/ambit/ambit.js";
import { type Action, helpOf, isTooDear } from "../src/core/actions.js";
import { cardPictureOf, emblemOf, thingOf } from "../src/core/card_pictures.js";
import { purseOf } from "../src/core/known.js";

const shapes = (...names: string[]) => names.map((name) => thingOf(name).shape);

test("the words of a thing's name say what it looks like", () => {
  assert.deepEqual(
    shapes("whetstone", "iron-ring", "red-stone", "light-boots", "heavy_boots", "longbow"),
    ["whetstone", "ring", "gem", "winged_boots", "boots", "bow"],
  );
  assert.deepEqual(
    shapes("chain mail", "steel-helm", "Potion of might", "crown of ash", "spring-shield"),
    ["armour", "helm", "potion", "crown", "shield"],
  );
});

test("a thing has the colour of its name, or the usual one of its shape", () => {
  const tints = ["red-stone", "blue-stone", "iron-ring", "golden-ring", "ring"].map(
    (name) => thingOf(name).tint,
  );
  assert.deepEqual(tints, ["#e23b3b", "#3d7cf0", "#7f8c99", "#f0b840", "#f0b840"]);
});

test("a name without a known word has a neutral picture, the same one each time", () => {
  assert.deepEqual(thingOf("quux"), thingOf("quux"));
  for (const name of ["quux", "zorb", "blarg", "mumble"]) {
    assert.ok(["pouch", "relic", "box"].includes(thingOf(name).shape));
    assert.match(thingOf(name).tint, /^hsl/);
  }
});

test("an emblem shows what is raised, or the spell of which something is raised", () => {
  const signs = (name: string, help: string) => {
    const { sign, raises } = emblemOf(name, help);
    return [sign, raises];
  };
  assert.deepEqual(signs("deep-well", "Mana +15 %."), ["drop", undefined]);
  assert.deepEqual(signs("kindling", "Damage +8 %."), ["sword", undefined]);
  assert.deepEqual(signs("ward", "Armour +12 %."), ["shield", undefined]);
  assert.deepEqual(signs("long-winter", "Frost: duration +40 %."), ["frost", "hourglass"]);
  assert.deepEqual(signs("steel", "Whirl: haste +30 %. Needs long reach."), ["whirl", "clock"]);
  // What comes first is not what it is.
  assert.deepEqual(signs("giant", "Health +20 %. Needs armour."), ["renew", undefined]);
  assert.deepEqual(signs("quux", "Something else."), [undefined, undefined]);
  assert.equal(emblemOf("quux", "").letters, "Qu");
});

test("what is bought, or called an item, is a thing", () => {
  const gold = { of: "gold", amount: 25 };
  const action = (cost: Cost | null, field: string, choice: string | null) => {
    const command = { fields: [{ name: field }] };
    return { command, cost, preset: { [field]: choice }, help: "" } as unknown as Action;
  };
  const what = (...of: [Cost | null, string, string | null]) => cardPictureOf(action(...of)).what;
  assert.equal(what(null, "talent", "ward"), "emblem");
  assert.equal(what(gold, "talent", "ward"), "thing");
  assert.equal(what(null, "item", "ward"), "thing");
  assert.deepEqual(cardPictureOf(action(null, "item", null)), {
    what: "thing",
    shape: "nothing",
    tint: "#8b95a0",
  });
});

test("who has less than a cost cannot pay it, of numbers and gauges", () => {
  const known = { numbers: new Map([["gold", 25]]), gauges: new Map([["mana", 9.9]]) };
  const isDear = (of: string, amount: number) => isTooDear({ cost: { of, amount } }, known);
  assert.deepEqual([isDear("gold", 25), isDear("gold", 26)], [false, true]);
  assert.deepEqual([isDear("mana", 9), isDear("mana", 10)], [false, true]);
  // What is sold can be given always, and what is not known decides the game.
  assert.deepEqual([isDear("gold", -90), isDear("wood", 3)], [false, false]);
  assert.equal(isTooDear({ cost: null }, known), false);
  const told = (of: string, amount: number) => helpOf({ cost: { of, amount }, help: "Burns." });
  assert.deepEqual([told("mana", 10), told("gold", -12)], ["10 mana. Burns.", "+12 gold. Burns."]);
});

test("the purse has what costs are in", () => {
  const numbers = new Map([["gold", 105], ["level", 2]]);
  const purse = purseOf([null, { of: "gold", amount: 25 }], numbers);
  assert.deepEqual(purse, { amount: 105, of: "gold" });
  assert.equal(purseOf([null, { of: "mana", amount: 5 }], numbers), undefined);
});
