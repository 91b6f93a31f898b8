/** Which session a page goes on with. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { type Kept, TokenStorage } from "../../ts/token_storage.js";

test("a tab that is closed leaves its session to the next one, once", () => {
  const browser = storage();
  const ann = tab(browser);
  assert.deepEqual(ann.read(), []);
  ann.token(1);
  ann.token(2);
  assert.deepEqual(tab(browser).read(), [], "as long as it is open, the session is its own");
  ann.kept.leave();
  assert.deepEqual(tab(browser).read(), [2]);
  assert.deepEqual(tab(browser).read(), [], "another one is another player");
});

test("a page that is loaded anew has its own session, and so has a copy of the tab", () => {
  const [browser, own] = [storage(), storage()];
  const ann = tab(browser, own);
  ann.token(1);
  ann.kept.leave();
  assert.deepEqual(tab(browser, own).read(), [1]);
  assert.deepEqual(tab(browser, own).read(), [1]);
  assert.deepEqual(tab(browser).read(), [], "and left it to no one else");
  // Left and shown again without being loaded.
  ann.kept.leave();
  ann.kept.comeBack();
  assert.deepEqual(tab(browser).read(), []);
  // What another tab has left is not for one with a session.
  const bob = tab(browser);
  bob.token(9);
  bob.kept.leave();
  assert.deepEqual(tab(browser, own).read(), [1]);
  assert.deepEqual(tab(browser).read(), [9]);
});

test("a session that is over is left to no one, and a browser that refuses is borne", () => {
  const browser = storage();
  const ann = tab(browser);
  ann.token(1);
  ann.kept.write(undefined);
  ann.kept.leave();
  assert.deepEqual(tab(browser).read(), []);
  const refused = () => {
    throw new Error("denied");
  };
  const without = new TokenStorage(true, refused, refused);
  without.write(Uint8Array.of(1));
  without.leave();
  without.comeBack();
  assert.equal(without.read().length, 0);
  assert.equal(new TokenStorage(false, storage, storage).read().length, 0);
});

function tab(browser: Kept, own: Kept = storage()) {
  const kept = new TokenStorage(true, () => own, () => browser);
  const token = (value: number) => kept.write(Uint8Array.of(value));
  return { kept, token, read: () => [...kept.read()] };
}

function storage(): Kept {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, text) => void items.set(key, text),
    removeItem: (key) => void items.delete(key),
  };
}
