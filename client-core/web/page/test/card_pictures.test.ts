/** Pictures, prices and the purse on cards. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Action } from "../src/core/actions.js";
import { cardPictureOf, emblemOf, thingOf } from "../src/core/card_pictures.js";
import { priceOf, purseOf } from "../src/core/known.js";

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
  const action = (field: string, choice: string | null) =>
    ({ command: { fields: [{ name: field }] }, preset: { [field]: choice }, help: "" });
  const what = (isPriced: boolean, ...of: [string, string | null]) =>
    cardPictureOf(action(...of) as unknown as Action, isPriced).what;
  assert.equal(what(false, "talent", "ward"), "emblem");
  assert.equal(what(true, "talent", "ward"), "thing");
  assert.equal(what(false, "item", "ward"), "thing");
  assert.deepEqual(cardPictureOf(action("item", null) as unknown as Action, false), {
    what: "thing",
    shape: "nothing",
    tint: "#8b95a0",
  });
});

test("the purse has what prices are in", () => {
  const numbers = new Map([["gold", 105], ["level", 2]]);
  assert.equal(priceOf("Raises mana by 25 %. 25 gold.", numbers)?.name, "gold");
  const purse = purseOf(["Raises speed.", "Raises mana. 25 gold."], numbers);
  assert.deepEqual(purse, { amount: 105, name: "gold" });
  assert.equal(purseOf(["Raises speed by 8 %."], numbers), undefined);
});
