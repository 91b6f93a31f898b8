/**
 * The module of `cubes` gives the same bits as the native physics, through the copying between two
 * memories; and what happens if a module cannot be used. `build --test` runs it with the module
 * and a transcript (`examples/transcript.rs`).
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";

import {
  createWorld,
  execute,
  PhysicsLoader,
  removeWorld,
  useClientMemory,
} from "../ts/physics.js";
import type { ModuleSource } from "../ts/messages.js";

const [modulePath = "", transcriptPath = ""] = process.argv.slice(2);
const code = new WebAssembly.Module(readFileSync(modulePath));
const memory = new WebAssembly.Memory({ initial: 64 });
useClientMemory(memory);

/** Where the client's orders and results are. */
const ORDERS = 1_024;
const RESULTS = 2_097_152;

/** Loads a game's physics; returns what the client got and heard. */
async function load(game: string, source?: ModuleSource) {
  const heard: string[] = [];
  const descriptions: Uint32Array[] = [];
  const sources: Record<string, ModuleSource> = source === undefined ? {} : { [game]: source };
  const loader = new PhysicsLoader(sources, {
    add: (_game, description) => void descriptions.push(description),
    remove: (name) => void heard.push(`removed ${name}`),
  });
  const missing = () => loader.handleMissing(game, (why) => void heard.push(why ?? "no reason"));
  await missing();
  return { descriptions, heard, missing };
}

test("a module answers what a native physics answers, bit for bit", async (context) => {
  const { heard } = await load("cubes", code);
  assert.deepEqual(heard, []);
  const file = readFileSync(transcriptPath);
  const words = new Uint32Array(file.buffer.slice(file.byteOffset, file.byteOffset + file.length));
  const [width = 0, height = 0] = new Float32Array(words.buffer, 0, 2);
  const world = createWorld("cubes", width, height);
  const client = new Uint32Array(memory.buffer);
  let [at, calls, ms] = [2, 0, 0];
  const next = () => {
    const count = words[at] as number;
    at += 1 + count;
    return words.subarray(at - count, at);
  };
  while (at < words.length) {
    const orders = next();
    const expected = next();
    client.set(orders, ORDERS >> 2);
    const began = performance.now();
    const written = execute(world, ORDERS, orders.length, RESULTS, expected.length);
    ms += performance.now() - began;
    assert.equal(written, expected.length, `call ${calls}`);
    const answer = client.subarray(RESULTS >> 2, (RESULTS >> 2) + written);
    assert.ok(
      answer.every((word, index) => word === expected[index]),
      `call ${calls} gives other bits`,
    );
    calls += 1;
  }
  removeWorld(world);
  context.diagnostic(`${calls} calls, ${((1_000 * ms) / calls).toFixed(1)} us each`);
});

test("a module is loaded once, and describes its game", async () => {
  const first = await load("twice", code);
  const second = await load("twice", "data:text/plain,never%20read");
  assert.deepEqual([first.heard, second.heard], [[], []]);
  assert.deepEqual(first.descriptions, second.descriptions);
  // The version, and the length of the name "cubes".
  assert.deepEqual([...(first.descriptions[0] ?? []).slice(0, 2)], [1, 5]);
});

test("a module that cannot be used is a notice with the reason", async () => {
  const { heard } = await load("unknown");
  assert.deepEqual(heard, ["no reason"]);
  const server = createServer((_, response) => response.writeHead(404).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const missing = await load("missing", `http://127.0.0.1:${port}/physics.wasm`);
  assert.match(missing.heard.join(), /404/);
  const text = await load("text", "data:text/plain,hello");
  assert.match(text.heard.join(), /WebAssembly/);
  const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  const other = await load("other", new WebAssembly.Module(empty));
  assert.deepEqual(other.heard, ["this is no physics module"]);
  // It is tried again in the next room.
  await missing.missing();
  assert.equal(missing.heard.length, 2);
  server.closeAllConnections();
  server.close();
});

test("without a list, the module of a game is beside the worker, by the game's name", async () => {
  const heard: string[] = [];
  const loader = new PhysicsLoader(true, { add: () => {}, remove: () => {} });
  const { fetch } = globalThis;
  globalThis.fetch = async (source) => {
    heard.push(String(source).split("/").at(-1) ?? "");
    return new Response(undefined, { status: 404 });
  };
  await loader.handleMissing("balls", (why) => void heard.push(why ?? "no reason"));
  globalThis.fetch = fetch;
  assert.deepEqual(heard, ["ambit-balls-physics.wasm", ": HTTP 404"]);
});

test("a module that traps answers nothing more, and the client hears of it later", async () => {
  const { heard, missing } = await load("trap", code);
  const world = createWorld("trap", 32, 32);
  const client = new Uint32Array(memory.buffer);
  client.set([999], ORDERS >> 2);
  assert.equal(execute(world, ORDERS, 1, RESULTS, 10), -1);
  assert.equal(execute(world, ORDERS, 0, RESULTS, 10), -1);
  assert.deepEqual(heard, [], "not within the call");
  removeWorld(world);
  assert.equal(execute(createWorld("trap", 32, 32), ORDERS, 0, RESULTS, 10), -1);
  await Promise.resolve();
  assert.deepEqual(heard, ["removed trap"]);
  await missing();
  assert.match(heard.join(), /the physics module failed: /);
});

test("worlds of a game that is not loaded answer nothing", () => {
  const world = createWorld("nothing", 32, 32);
  assert.equal(execute(world, ORDERS, 0, RESULTS, 10), -1);
  removeWorld(world);
});
