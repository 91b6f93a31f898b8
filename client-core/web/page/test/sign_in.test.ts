/** What a server offers and what a browser remembers decide how a session begins. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beginsWithSignIn,
  isOpen,
  remembered,
  rememberedText,
  type SignedIn,
  signInWays,
  waysOf,
} from "../src/core/sign_in.js";

const ANN: SignedIn = { way: "password", login: "ann#48213" };

test("a server that names no ways has those of all servers, and unknown ones do not count", () => {
  for (const connect of [undefined, null, {}, { accounts: "password" }]) {
    assert.deepEqual([...waysOf(connect)], ["guest", "device"]);
  }
  const ways = waysOf({ accounts: ["token", "palm", "guest"] });
  assert.deepEqual([[...ways], signInWays(ways), isOpen(ways)], [["guest", "token"], ["token"], true]);
});

test("a player signs in where there is no other way, or as the last time", () => {
  const begins = (accounts: string[], last?: SignedIn) => beginsWithSignIn(waysOf({ accounts }), last);
  assert.equal(begins(["password"]), true);
  assert.equal(begins(["guest", "password"]), false);
  assert.equal(begins(["guest", "password"], ANN), true);
  // The operator has changed what is offered.
  assert.equal(begins(["guest", "token"], ANN), false);
  assert.equal(begins(["guest"], ANN), false);
  assert.equal(begins([]), false);
});

test("a sign-in is remembered without its secret", () => {
  assert.equal(rememberedText(ANN), "password ann#48213");
  assert.equal(rememberedText({ way: "token", login: "a.b.c" }), "token");
  for (const signedIn of [ANN, { way: "password", login: "a b#1" }, { way: "token", login: "" }]) {
    assert.deepEqual(remembered(rememberedText(signedIn as SignedIn)), signedIn);
  }
  for (const text of [null, "", "password", "password ", "off"]) {
    assert.equal(remembered(text), undefined);
  }
});
