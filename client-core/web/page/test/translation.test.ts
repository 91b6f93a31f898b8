/** Texts of a file take the place of those of the page and of a game. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Schema } from "../src/ambit/ambit.js";
import { Translation, type TextsFile } from "../src/core/translation.js";
import { texts } from "../src/texts.js";

const SCHEMA = {
  game: "inn",
  kinds: [{ name: "guest", label: "", components: [{ name: "coins", label: "Coins", unit: "" }] }],
  events: [{ name: "paid", text: "{guest} pays", fields: [] }],
  commands: [{
    name: "order", label: "Order", help: "Order a meal.",
    fields: [{ name: "meal", label: "", choices: ["soup", "pie"],
      about: [{ label: "", help: "" }, { label: "Pie", help: "Hot." }] }],
  }],
  refusals: [{ name: "poor", text: "you cannot pay" }],
  controls: [],
} as unknown as Schema;

test("a text of the file is shown instead of that of the page", () => {
  const shown = {
    plain: "Rooms",
    deep: { words: ["One", "Two"], count: (seats: number, of: number) => `${seats} of ${of}` },
    pair: ([name, value]: readonly [string, string]) => `${name} ${value}`,
    kept: "Chat",
  };
  const translation = new Translation({
    "page.plain": "Räume", "page.deep.words.1": "Zwei", "page.deep.count": "{0} von {1}",
    "page.pair": "{1}. {0}",
  });
  translation.page(shown);
  assert.deepEqual([shown.plain, shown.kept, shown.deep.words], ["Räume", "Chat", ["One", "Zwei"]]);
  assert.equal(shown.deep.count(2, 4), "2 von 4");
  assert.equal(shown.pair(["Welle", "3"]), "3. Welle");
});

test("a text of the file is shown instead of that of a game", () => {
  const schema = structuredClone(SCHEMA);
  new Translation({
    "inn.kinds.guest.coins.label": "Münzen", "inn.events.paid.text": "{guest} zahlt",
    "inn.commands.order.label": "Bestellen", "inn.commands.order.meal.pie.help": "Heiß.",
    "inn.commands.order.meal.soup.label": "Suppe", "inn.refusals.poor.text": "zu arm",
    "other.commands.order.help": "nicht dies",
  }).schema(schema);
  const [order] = schema.commands;
  const [meal] = order?.fields ?? [];
  assert.equal(schema.kinds[0]?.components[0]?.label, "Münzen");
  assert.equal(schema.events[0]?.text, "{guest} zahlt");
  assert.deepEqual([order?.label, order?.help], ["Bestellen", "Order a meal."]);
  assert.ok(meal?.type === undefined && schema.refusals[0]?.text === "zu arm");
  const { about } = meal as unknown as { about: { label: string; help: string }[] };
  assert.deepEqual(about, [{ label: "Suppe", help: "" }, { label: "Pie", help: "Heiß." }]);
});

test("no key of a file reaches beyond the texts", () => {
  const schema = structuredClone(SCHEMA);
  new Translation({ "inn.refusals.poor.name": "rich", "page.__proto__.x": "y" }).schema(schema);
  assert.equal(schema.refusals[0]?.name, "poor");
  assert.equal(new Translation({}).of("toString", "kept"), "kept");
});

test("the German file has all texts of the page, and no others of it", () => {
  const file = JSON.parse(readFileSync("../texts/de.json", "utf8")) as TextsFile;
  const keys = new Translation().page(texts);
  const given = Object.keys(file).filter((key) => key.startsWith("page."));
  const missing = keys.filter((key) => !Object.hasOwn(file, key) && !UNTRANSLATED.has(key));
  assert.deepEqual(missing, []);
  assert.deepEqual(given.filter((key) => !keys.includes(key)), []);
});

test("keys of a file that the page does not have are found", () => {
  const file = { "page.rooms": "Räume", "page.romms": "Räume", "inn.description": "Ein Gasthaus" };
  const translation = new Translation(file);
  assert.deepEqual(translation.unknown("page", new Translation().page(texts)), ["page.romms"]);
});

/** Numbers with their units, and what is written by functions of its own. */
const UNTRANSLATED = new Set([
  "page.title", "page.problems.other", "page.ms", "page.fine_ms", "page.percent", "page.kbit",
  "page.a_second", "page.key", "page.https_flags", "page.own_place",
  "page.line.good", "page.line.weak", "page.countdown", "page.key_does",
]);
