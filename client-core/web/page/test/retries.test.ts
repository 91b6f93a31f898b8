/** Connecting again by itself. */

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { comesBack, isLasting, problemOf } from "../src/core/problems.js";
import { Retries } from "../src/core/retries.js";

/** Promises that are under way go on. */
const settled = () => new Promise((done) => setImmediate(done));

test("a server that was drained is tried every 5 s until it is back", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let attempts = 0;
  const retries = new Retries(async () => (attempts += 1) < 3);
  retries.begin();
  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await settled();
    return attempts;
  };
  assert.deepEqual([await pass(4_999), await pass(1)], [0, 1]);
  assert.deepEqual([await pass(4_999), await pass(1), await pass(5_000)], [1, 2, 3]);
  assert.equal(await pass(60_000), 3, "it is back");
  // The player was faster.
  retries.begin();
  retries.end();
  assert.equal(await pass(60_000), 3);
  mock.timers.reset();
});

test("what passes by itself is tried again, and nothing else", () => {
  const tried = (code: string) => comesBack(problemOf(code));
  for (const code of ["draining", "no_server", "could_not_connect", "connection_lost"]) {
    assert.ok(tried(code), code);
  }
  for (const code of ["taken_over", "kicked", "version_mismatch", "no_web_transport", "idle"]) {
    assert.ok(!tried(code), code);
  }
});

test("why a player is out of the game stays until it is read", () => {
  const lasts = (code: string) => isLasting(problemOf(code));
  for (const code of ["session_expired", "no_webgl", "host_died", "idle", "connection_lost"]) {
    assert.ok(lasts(code), code);
  }
  for (const code of ["room_full", "wrong_password", "no_such_room"]) assert.ok(!lasts(code), code);
});
