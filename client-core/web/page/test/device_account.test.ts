/** Accounts: the same in all clients, made once, and never without the browser's cryptography. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { WebClient } from "../../pkg/ambit_client_web.js";
import {
  type AccountStore,
  DeviceAccount,
  importInto,
  openIn,
  signWith,
} from "../../ts/device_account.js";
import { Directory } from "../../ts/directory.js";
import { Driver } from "../../ts/driver.js";

/** The secret of the tests of `proto/transport/src/account_proof.rs`. */
const TEXT = `ambit-account-${"01".repeat(32)}`;
const ID = "a4d71641aa213e347fad50e2d45090c3";
const CONNECT_WORLD = 1;
const ABANDON_WORLD = 8;
const PROVE_ACCOUNT = 9;

test("a text of another client is the same account here, and back", async () => {
  for (const text of [TEXT, `${TEXT.toUpperCase().replace("AMBIT-ACCOUNT", "ambit-account")}\n`]) {
    const account = await DeviceAccount.fromText(text);
    assert.deepEqual([account.id, account.exportText()], [ID, TEXT]);
  }
});

test("what the account signs is checked by its public key", async () => {
  const { keys } = await DeviceAccount.fromText(TEXT);
  const statement = Uint8Array.of(1, 2, 3);
  const signature = await signWith(keys.private, statement);
  const key = await crypto.subtle.importKey("raw", new Uint8Array(keys.public), "Ed25519", true, [
    "verify",
  ]);
  const check = (said: Uint8Array<ArrayBuffer>) =>
    crypto.subtle.verify("Ed25519", key, new Uint8Array(signature), said);
  assert.deepEqual([signature.length, await check(statement)], [64, true]);
  assert.equal(await check(Uint8Array.of(1, 2, 4)), false);
});

test("what is no account is refused and left as it is", async () => {
  const store = new Kept();
  const near = [`${TEXT}0`, TEXT.slice(1), TEXT.slice(0, -1), `${TEXT}\n${TEXT}`];
  for (const text of ["", "secret", ...near]) {
    await assert.rejects(DeviceAccount.fromText(text), { code: "bad_option" });
    await assert.rejects(importInto(store, text), { code: "bad_option" });
  }
  assert.equal(store.text, undefined);
  store.text = "something else";
  await assert.rejects(openIn(store), { code: "bad_option" });
  assert.equal(store.text, "something else");
});

test("an account is made once, and kept until another one is imported", async () => {
  const store = new Kept();
  const [first, second] = await Promise.all([openIn(store), openIn(store)]);
  assert.equal(first.id, second.id);
  assert.notEqual(first.id, (await openIn(new Kept())).id);
  assert.equal((await openIn(store)).exportText(), first.exportText());
  assert.equal((await importInto(store, TEXT)).id, ID);
  assert.equal((await openIn(store)).id, ID);
});

const before = Object.getOwnPropertyDescriptor(globalThis, "crypto") as PropertyDescriptor;

afterEach(() => {
  Object.defineProperty(globalThis, "crypto", before);
  delete (globalThis as Record<string, unknown>)["WebTransport"];
});

test("without the browser's cryptography there is no account, and the reason is told", async () => {
  const { getRandomValues } = crypto;
  const without = (subtle: unknown) =>
    Object.defineProperty(globalThis, "crypto", {
      value: { subtle, getRandomValues: getRandomValues.bind(before.get?.call(globalThis)) },
      configurable: true,
    });
  const store = new Kept();
  without(undefined);
  await assert.rejects(openIn(store), { code: "no_account", message: /https:/ });
  without({ importKey: () => Promise.reject(new Error("unknown algorithm")) });
  await assert.rejects(openIn(store), { code: "no_account", message: /unknown algorithm/ });
  assert.equal(store.text, undefined);
});

test("a browser names the certificates that it pins, and the host", async () => {
  for (const count of [0, 2]) {
    const hashes = Array.from({ length: count }, (_, at) => `0${at + 1}`.repeat(32));
    const { connected, ask } = await asked({ address: "[::1]:1", certificates_sha256: hashes });
    ask(ABANDON_WORLD);
    const pinned = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)].slice(0, count);
    const expected = pinned.flatMap((sha256) => [...sha256]);
    assert.deepEqual(connected, ["[::1]:1", expected, "[::1]"]);
  }
});

test("what the client asks to sign is signed, for the connection that asked alone", async () => {
  const server = { address: "play.example.com:1", certificates_sha256: [] };
  const { proofs, ask, answer } = await asked(server);
  ask(PROVE_ACCOUNT);
  answer();
  await settled();
  assert.deepEqual(proofs, [[7, 7, 0]]);
  ask(PROVE_ACCOUNT);
  ask(ABANDON_WORLD);
  answer();
  await settled();
  assert.equal(proofs.length, 1);
});

/** A store whose steps come one after the other, as those of a browser do. */
class Kept implements AccountStore {
  text: string | undefined;

  async readOr(fresh: string): Promise<string> {
    return (this.text ??= fresh);
  }

  async write(text: string): Promise<void> {
    this.text = text;
  }
}

/** Promises that are under way get so much time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
}

/** A driver with a session to a lobby. A signature is what is signed and 0, once it is answered. */
async function asked(server: { address: string; certificates_sha256: string[] }) {
  (globalThis as Record<string, unknown>)["WebTransport"] = class {
    readonly ready = Promise.resolve();
    readonly closed = new Promise(() => {});
    readonly datagrams = { readable: new ReadableStream(), writable: new WritableStream() };

    async createBidirectionalStream() {
      return { readable: new ReadableStream(), writable: new WritableStream() };
    }

    close() {}
  };
  const outputs: number[] = [];
  const connected: unknown[] = [];
  const proofs: number[][] = [];
  const core = {
    next_deadline: () => Infinity,
    has_events: () => false,
    poll_output: () => outputs.shift() ?? 0,
    output_target: () => JSON.stringify({ servers: [], configured: [server.address] }),
    output_bytes: () => Uint8Array.of(7, 7),
    set_servers: () => {},
    handle_world_connected: (_: number, address: string, pinned: Uint8Array, name: string) =>
      void connected.push(address, [...pinned], name),
    prove_account: (_: number, signature: Uint8Array) => void proofs.push([...signature]),
  } as unknown as WebClient;
  const line = { delayMs: 0, jitterMs: 0, lossPercent: 0 };
  const waiting: (() => void)[] = [];
  const signer = {
    sign: (statement: Uint8Array) =>
      new Promise<Uint8Array>((resolve) =>
        waiting.push(() => resolve(Uint8Array.of(...statement, 0))),
      ),
  };
  const driver = new Driver(core, new Directory([server]), () => {}, line, {}, signer);
  const ask = (output: number) => {
    outputs.push(output);
    driver.settle();
  };
  ask(CONNECT_WORLD);
  await settled();
  return { connected, proofs, ask, answer: () => waiting.shift()?.() };
}
