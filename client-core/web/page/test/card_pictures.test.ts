/** Pictures, prices and the purse on cards. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Choice, Cost } from "../src/ambit/ambit.js";
import { type Action, helpOf, isTooDear } from "../src/core/actions.js";
import { cardPictureOf, emblemOf, thingOf } from "../src/core/card_pictures.js";
import { purseOf } from "../src/core/known.js";

test("a thing has the picture and the colour that are declared, else the usual colour", () => {
  assert.deepEqual(thingOf("iron-ring", { thing: "ring", tint: "#7f8c99" }), {
    what: "thing", shape: "ring", tint: "#7f8c99",
  });
  assert.equal(thingOf("bilb", { thing: "winged_boots", tint: null }).tint, "#a8794a");
});

test("what no picture is declared for has a neutral one by its name, each time the same", () => {
  assert.deepEqual(thingOf("quux", {}), thingOf("quux", {}));
  for (const name of ["iron-ring", "zorb", "sword of fire"]) {
    assert.ok(["pouch", "relic", "box"].includes(thingOf(name, undefined).shape));
    assert.match(thingOf(name, undefined).tint, /^hsl/);
  }
});

test("an emblem shows what is raised, or the spell of which something is raised", () => {
  const signs = (about: Partial<Choice>) => {
    const { sign, raises } = emblemOf("deep-well", about);
    return [sign, raises];
  };
  assert.deepEqual(signs({ sign: null, raises: "drop" }), ["drop", undefined]);
  assert.deepEqual(signs({ sign: "frost", raises: "hourglass" }), ["frost", "hourglass"]);
  assert.deepEqual(signs({ sign: "whirl", raises: "whirl" }), ["whirl", undefined]);
  assert.deepEqual(signs({ sign: null, raises: null }), [undefined, undefined]);
  assert.equal(emblemOf("long-winter", { sign: "frost", made_of: "ice" }).colour, "#7fd4ff");
  assert.equal(emblemOf("quux", undefined).letters, "Qu");
});

test("what is bought, or declared as a thing, is a thing", () => {
  const gold = { of: "gold", amount: 25 };
  const action = (cost: Cost | null, choice: string | null, about: Partial<Choice> = {}) => {
    const field = { name: "what", type: "choice", choices: ["ward"], about: [about] };
    return { command: { fields: [field] }, cost, preset: { what: choice } } as unknown as Action;
  };
  assert.equal(cardPictureOf(action(null, "ward")).what, "emblem");
  assert.equal(cardPictureOf(action(gold, "ward")).what, "thing");
  assert.equal(cardPictureOf(action(null, "ward", { thing: "shield" })).what, "thing");
  assert.deepEqual(cardPictureOf(action(null, null)), {
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
