/** What a server knows of the end of a session: the player quits, or may come back. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import type { WebClient } from "../../pkg/ambit_client_web.js";
import { connect } from "../../ts/connect.js";
import { Directory } from "../../ts/directory.js";
import { Driver } from "../../ts/driver.js";
import type { ToWorker } from "../../ts/messages.js";

/** As `PAGE_QUITS` of the crate ambit-transport. */
const QUIT = 2;
/** As in `driver.ts`. */
const [CONNECT_WORLD, WORLD, CLOSE_WORLD, ABANDON_WORLD] = [1, 2, 3, 8];

test("a player who quits says so by a code that no browser sends by itself", async () => {
  const { codes, ask } = await connected();
  ask(CLOSE_WORLD);
  await settled();
  assert.deepEqual(codes, [QUIT]);
});

test("whoever may come back says anything else", async () => {
  for (const end of [ABANDON_WORLD, CONNECT_WORLD]) {
    const { codes, ask } = await connected();
    ask(end);
    await settled();
    assert.deepEqual(codes, [1], String(end));
    ask(ABANDON_WORLD);
  }
  // Nothing is read any more: the session is given up, and the seat is not.
  const { codes, ask } = await connected(false);
  for (let chunk = 0; chunk < 200; chunk += 1) ask(WORLD);
  await settled();
  assert.deepEqual(codes, [1]);
});

test("a core that has failed keeps its seat for the page that is loaded anew", async () => {
  const { codes, driver } = await connected();
  const fail = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  assert.throws(() => driver.run(fail));
  await settled();
  assert.deepEqual(codes, [1]);
});

test("a page that is left quits unless it keeps its session, or is only set aside", async () => {
  for (const [keepSession, persisted, code] of [
    [true, false, 1],
    [true, true, 1],
    [false, true, 1],
    [false, false, QUIT],
  ] as const) {
    const { codes, driver } = await connected();
    for (const message of await leave(keepSession, persisted)) {
      if (message.do === "leave") driver.leave(message.quits);
    }
    await settled();
    assert.deepEqual(codes, [code], `${keepSession} ${persisted}`);
  }
});

const globals = globalThis as Record<string, unknown>;
const before = { ...globals };

afterEach(() => {
  for (const name of ["WebTransport", "Worker", "addEventListener", "location"]) {
    if (name in before) globals[name] = before[name];
    else delete globals[name];
  }
});

/** Promises that are under way get so much time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
}

/** A driver with a session to a lobby; `codes` are those with which it has ended it. */
async function connected(isRead = true) {
  const codes: (number | undefined)[] = [];
  globals["WebTransport"] = class {
    readonly ready = Promise.resolve();
    readonly closed: Promise<unknown>;
    readonly datagrams = { readable: new ReadableStream(), writable: new WritableStream() };
    #end: (info: unknown) => void = () => {};
    #isOver = false;

    constructor() {
      this.closed = new Promise((resolve) => (this.#end = resolve));
    }

    async createBidirectionalStream() {
      const write = () => (isRead ? Promise.resolve() : new Promise<void>(() => {}));
      return { readable: new ReadableStream(), writable: new WritableStream({ write }) };
    }

    close(info: { closeCode?: number } | undefined) {
      if (this.#isOver) throw new Error("it has ended");
      this.#isOver = true;
      codes.push(info?.closeCode);
      this.#end({ closeCode: info?.closeCode, reason: "" });
    }
  };
  const server = { address: "127.0.0.1:1", certificates_sha256: [] };
  const target = JSON.stringify({ servers: [server], configured: [] });
  const outputs: number[] = [];
  const core = {
    next_deadline: () => Infinity,
    has_events: () => false,
    poll_output: () => outputs.shift() ?? 0,
    output_target: () => target,
    output_bytes: () => new Uint8Array(1),
    handle_world_connected: () => {},
    handle_world_closed: () => {},
  } as unknown as WebClient;
  const signer = { sign: async (statement: Uint8Array) => statement };
  const line = { delayMs: 0, jitterMs: 0, lossPercent: 0 };
  const driver = new Driver(core, new Directory([server]), () => {}, line, {}, signer);
  const ask = (output: number) => {
    outputs.push(output);
    driver.settle();
  };
  ask(CONNECT_WORLD);
  await settled();
  return { codes, driver, ask };
}

/** What a page that is left says to its worker. */
async function leave(keepSession: boolean, persisted: boolean): Promise<ToWorker[]> {
  const said: ToWorker[] = [];
  let left = (_: unknown) => {};
  globals["addEventListener"] = (name: string, listener: typeof left) => {
    if (name === "pagehide") left = listener;
  };
  globals["location"] = { href: "http://localhost/", origin: "null" };
  globals["Worker"] = class {
    addEventListener() {}
    postMessage(_: undefined, [port]: [MessagePort]) {
      port.onmessage = ({ data }) => void said.push(data as ToWorker);
      ports.push(port);
    }
  };
  const ports: MessagePort[] = [];
  void connect({ keepSession, worker: `test:${keepSession}${persisted}` });
  left({ persisted });
  await settled();
  for (const port of ports) port.close();
  return said;
}
