import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParameterListing } from "../src/ambit/ambit.js";
import { changedParameters, fieldNamed, findProblem, layOut, parseSize, refusalForPlayers } from "../src/core/create_form.js";
import { parameterOf } from "../src/core/room_settings.js";
import { texts } from "../src/texts.js";
import { canRetry, codeOf, isOfConnection, problemOf } from "../src/core/problems.js";

const PARAMETERS: ParameterListing[] = [
  { key: "size", label: "", default: "200x200", about: "", kind: "size", min: 10, max: 10_000 },
  { key: "seed", label: "", default: "", about: "", kind: "whole", min: 0, max: 9e15 },
  { key: "cell", label: "", default: "10", about: "", kind: "decimal", min: 1, max: 1_000 },
  { key: "coding", label: "", default: "auto", about: "", kind: "word", words: ["auto", "plain"] },
  { key: "npcs", label: "Wanderers", default: "20", about: "", kind: "whole", min: 0, max: 20_000 },
];
const { first, more } = layOut(PARAMETERS);

test("parameters of the game come first, then the size, then the others", () => {
  assert.deepEqual(first.map(({ key }) => key), ["npcs", "size"]);
  assert.deepEqual(more.map(({ key }) => key), ["seed", "cell", "coding"]);
});

test("inputs are checked as their kind says", () => {
  const check = (key: string, input: string) => {
    const field = [...first, ...more].find((other) => other.key === key);
    assert.ok(field);
    return findProblem(field, input)?.problem;
  };
  assert.equal(check("npcs", "100"), undefined);
  assert.equal(check("npcs", ""), undefined);
  assert.equal(check("npcs", "1.5"), "not_whole");
  assert.equal(check("npcs", "-1"), "not_whole");
  assert.equal(check("npcs", "20001"), "out_of_range");
  assert.equal(check("cell", "2.5"), undefined);
  assert.equal(check("cell", "ten"), "not_a_number");
  assert.equal(check("size", "100x50"), undefined);
  assert.equal(check("size", "100"), "not_a_size");
  assert.equal(check("size", "100x5"), "out_of_range");
});

test("only changed parameters are sent", () => {
  const inputs: Record<string, string> = { npcs: " 5 ", size: "200x200", seed: "", coding: "auto" };
  const changed = changedParameters([...first, ...more], (key) => inputs[key] ?? "");
  assert.deepEqual(changed, { npcs: "5" });
});

test("a refusal is about the parameter that it names", () => {
  const about = (message: string) => fieldNamed(message, [...first, ...more])?.key;
  assert.equal(about("npcs=30000 is not possible: it must be from 0 to 20000"), "npcs");
  assert.equal(about("cell does not fit: the size is not a multiple of it"), "cell");
  assert.equal(about("there are too many rooms"), undefined);
});

test("players read labels, and words where there are none", () => {
  assert.deepEqual(first.map(({ label }) => label), ["Wanderers", "Size"]);
  const read = (message: string, key: string) => {
    const field = [...first, ...more].find((other) => other.key === key);
    assert.ok(field);
    return refusalForPlayers(message, field);
  };
  assert.equal(
    read("npcs=9 is too much for this server, which allows 5: ask for npcs up to 5", "npcs"),
    "Wanderers: 9 is too much for this server, which allows 5: ask for Wanderers up to 5",
  );
  assert.equal(
    read("size does not fit: the largest size is smaller", "size"),
    "Size does not fit: the largest size is smaller",
  );
});

test("a size is read", () => {
  assert.deepEqual(parseSize("100x50"), [100, 50]);
  assert.equal(parseSize("large"), undefined);
  assert.equal(parseSize(undefined), undefined);
});

test("codes have a meaning for players; unknown ones too", () => {
  assert.equal(problemOf("kicked"), "kicked");
  assert.equal(problemOf("something_new"), "other");
  assert.equal(problemOf("toString"), "other");
  for (const code of ["no_web_transport", "no_webgl", "no_server", "could_not_connect"] as const) {
    assert.equal(problemOf(code), code);
    assert.ok(texts.problems[code].length > 40);
  }
  assert.equal(problemOf("idle"), "idle");
  assert.ok(canRetry("idle") && texts.problems.idle !== texts.problems.room_closed);
  assert.ok(canRetry("no_server") && canRetry("could_not_connect"));
  assert.ok(canRetry("server_gone") && !canRetry("no_web_transport"));
  assert.equal(codeOf(Object.assign(new Error("x"), { code: "room_full" })), "room_full");
  assert.equal(codeOf("x"), "other");
  assert.ok(isOfConnection(problemOf("draining")) && !isOfConnection(problemOf("room_full")));
});

test("a parameter is the chosen one, or the default of the game", () => {
  const description = { game: "field", default_capacity: 8, max_capacity: 8, schema: null };
  const declared = { ...description, parameters: PARAMETERS };
  assert.equal(parameterOf({ cell: "5" }, declared, "cell"), 5);
  assert.equal(parameterOf({}, declared, "cell"), 10);
  assert.ok(Number.isNaN(parameterOf({}, declared, "seed")));
  assert.ok(Number.isNaN(parameterOf({}, undefined, "cell")));
});

test("a name that is too long is told in the same words before and after it is sent", () => {
  assert.equal(texts.problems[problemOf("bad_name")], texts.name_limit);
});

test("a place in a table is told with what is counted", () => {
  const places = [1, 2, 3, 4, 11, 12, 21, 112].map((place) =>
    texts.own_place(place, 200, "7", "Kills").replace(/ .*/, ""),
  );
  const ordinals = ["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "112th"];
  assert.deepEqual(places, ordinals);
  assert.equal(texts.own_place(1, 4, "0", "Kills"), "1st of 4 · 0 kills");
});

test("what the page suggests stands in the form, and is sent to the server", () => {
  const keys = PARAMETERS.map(({ key }) => key);
  const [key = ""] = keys;
  const { first, more } = layOut(PARAMETERS, { [key]: "7", nothing: "3" });
  const fields = [...first, ...more];
  assert.deepEqual(fields.map((field) => field.key).toSorted(), keys.toSorted());
  const valueOf = (of: string) => fields.find((field) => field.key === of)?.value ?? "";
  assert.equal(valueOf(key), "7");
  assert.deepEqual(changedParameters(fields, valueOf), { [key]: "7" });
  // What the player takes out is the server's again.
  assert.deepEqual(changedParameters(fields, () => ""), {});
});
