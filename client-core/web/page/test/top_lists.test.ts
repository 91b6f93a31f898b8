/** The lists of the best results: what is asked, what comes of an answer, and how it reads. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type TopResult, TopLists, topRow } from "../src/core/top_lists.js";

// Dates are those of the player's own place.
process.env["TZ"] = "UTC";
const NOW = 1_795_986_000;
const ANN = { place: 1, player: "ann", score: 30, added_at: NOW - 90 };

/** A server that answers in turn, with a status where the answer is a number. */
function serverOf(...answers: unknown[]) {
  const asked: string[] = [];
  const lists = new TopLists(async (address) => {
    asked.push(address);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    const status = typeof answer === "number" ? answer : 200;
    return { ok: status === 200, status, json: async () => answer };
  });
  return { asked, lists };
}

function rowOf(result: Partial<TopResult>, language = "en", own = "") {
  const plain = { place: 1, player: "ann", score: 30, addedAt: NOW };
  return topRow({ ...plain, ...result }, own, NOW, language);
}

test("a list is asked for by game, board and period, whatever their names have", async () => {
  const list = { results: [ANN] };
  const { asked, lists } = serverOf(list, list);
  await lists.results("field", "winners", "week");
  await lists.results("a b", "x&period=all", "day");
  assert.deepEqual(asked, [
    "/results.json?game=field&board=winners&period=week&count=20",
    "/results.json?game=a+b&board=x%26period%3Dall&period=day&count=20",
  ]);
});

test("boards are asked for once in a session, also by two at a time", async () => {
  const { asked, lists } = serverOf({ boards: ["fastest", "winners"] }, { boards: ["kills"] });
  const both = await Promise.all([lists.boards("field"), lists.boards("field")]);
  assert.deepEqual(both, [["fastest", "winners"], ["fastest", "winners"]]);
  assert.deepEqual(await lists.boards("field"), ["fastest", "winners"]);
  assert.deepEqual(await lists.boards("deus"), ["kills"]);
  assert.deepEqual(asked, ["/results.json?game=field", "/results.json?game=deus"]);
});

test("a game without boards is asked about again, and so is one after a failure", async () => {
  const { lists } = serverOf({ boards: [] }, 503, new Error("offline"), { boards: ["winners"] });
  assert.deepEqual(await lists.boards("field"), []);
  await assert.rejects(lists.boards("field"), /503/);
  await assert.rejects(lists.boards("field"), /offline/);
  assert.deepEqual(await lists.boards("field"), ["winners"]);
});

test("an answer of another form is a failure, and a row of another form is left out", async () => {
  const rows = [
    null, "ann", { ...ANN, player: 7 }, { ...ANN, score: "30" }, { ...ANN, added_at: 1e300 },
    { player: "bob" }, { ...ANN, place: 2, player: "" },
  ];
  const { lists } = serverOf(null, [], { results: {} }, 400, { results: rows }, { boards: 1 });
  for (let wrong = 0; wrong < 4; wrong += 1) {
    await assert.rejects(lists.results("field", "winners", "all"));
  }
  const read = await lists.results("field", "winners", "all");
  assert.deepEqual(read, [{ place: 2, player: "", score: 30, addedAt: NOW - 90 }]);
  await assert.rejects(lists.boards("field"));
});

test("a list has at most as many rows as were asked for", async () => {
  const { lists } = serverOf({ results: Array.from({ length: 50 }, () => ANN) });
  assert.equal((await lists.results("field", "winners", "all")).length, 20);
});

test("a row reads in the language of the page, as long ago as it is", () => {
  const whenOf = (age: number, language?: string) => rowOf({ addedAt: NOW - age }, language).when;
  // A server's clock may be ahead.
  assert.deepEqual([-500, 0, 59].map((age) => whenOf(age)), ["now", "now", "now"]);
  assert.deepEqual([60, 3_599].map((age) => whenOf(age)), ["1 min. ago", "59 min. ago"]);
  assert.deepEqual([3_600, 86_399].map((age) => whenOf(age)), ["1 hr. ago", "23 hr. ago"]);
  assert.deepEqual([86_400, 604_799].map((age) => whenOf(age)), ["1 day ago", "6 days ago"]);
  assert.equal(whenOf(20 * 86_400), "Nov 9, 2026");
  assert.deepEqual([0, 7_200].map((age) => whenOf(age, "de")), ["jetzt", "vor 2 Std."]);
  assert.equal(whenOf(20 * 86_400, "de"), "09.11.2026");
  assert.match(rowOf({}).exact, /November 29, 2026/);
  assert.deepEqual([rowOf({ score: 12_345 }).score, rowOf({ score: -12_345 }, "de").score],
    ["12,345", "-12.345"]);
});

test("a row of the player's name is marked, and one of a deleted account never", () => {
  assert.ok(rowOf({}, "en", "ann").own);
  assert.ok(!rowOf({}, "en", "Ann").own && !rowOf({}, "en", "bob").own);
  assert.ok(!rowOf({ player: "" }, "en", "").own);
});
