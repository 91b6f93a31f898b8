import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebClient } from "../../ts/ambit-glue.js";
import type { Envelope } from "../../ts/messages.js";
import { ReplayDriver } from "../../ts/replay_driver.js";
import { OF_DATAGRAMS, OF_GAME, OF_LOBBY } from "../../ts/replay_messages.js";

/** A core that notes what it is handed, and reports an event for each datagram. */
class FakeCore {
  readonly calls: string[] = [];
  deadline = Infinity;
  #outputs: number[] = [];
  #events: string[] = [];

  set_servers(): void {}

  connect(now: number): void {
    this.calls.push(`connect ${now}`);
  }

  handle_world_connected(now: number): void {
    this.calls.push(`lobby ${now}`);
    // A hello, which goes nowhere.
    this.#outputs.push(2);
  }

  handle_world_bytes(now: number, { length }: Uint8Array): void {
    this.calls.push(`welcome ${now} ${length}`);
    this.#report({ of: "lobby", request: 0, event: { ev: "done" } });
    this.#outputs.push(4);
  }

  handle_game_connected(now: number): void {
    this.calls.push(`game ${now}`);
    // Its first message, and a datagram, which go nowhere.
    this.#outputs.push(5, 6);
  }

  handle_game_bytes(now: number, { length }: Uint8Array): void {
    this.calls.push(`joined ${now} ${length}`);
    this.#report({ of: "game", request: 0, event: { ev: "map", t: now, obstacles: 0, bytes: 0 } });
  }

  handle_datagram(now: number, { length }: Uint8Array): void {
    this.calls.push(`datagram ${now} ${length}`);
    this.#report({ of: "game", request: 0, event: { ev: "leave", id: length, t: now } });
  }

  handle_timeout(now: number): void {
    this.calls.push(`timeout ${now}`);
    this.deadline = Infinity;
  }

  next_deadline(): number {
    return this.deadline;
  }

  poll_output(): number {
    return this.#outputs.shift() ?? 0;
  }

  has_events(): boolean {
    return this.#events.length > 0;
  }

  poll_event(): string | undefined {
    return this.#events.shift();
  }

  draw(now: number, at: number): number {
    this.calls.push(`draw ${now} ${at}`);
    return at;
  }

  free(): void {
    this.calls.push("free");
  }

  #report(envelope: Envelope): void {
    this.#events.push(JSON.stringify(envelope));
  }
}

/** Messages with their times in milliseconds; each is as long as its place in the list. */
function recorded(...messages: [at: number, of: number][]): ArrayBuffer {
  const bytes = messages.flatMap(([at, of], index) => {
    const header = new DataView(new ArrayBuffer(13));
    header.setBigUint64(0, BigInt(at * 1_000), true);
    header.setUint8(8, of);
    header.setUint32(9, index, true);
    return [...new Uint8Array(header.buffer), ...new Uint8Array(index)];
  });
  return new Uint8Array(bytes).buffer;
}

/** A clock that stands. */
function standing(at: number) {
  return { at, since: 0, speed: 0, end: 60_000 };
}

function started(...datagrams: number[]) {
  const core = new FakeCore();
  const events: string[] = [];
  const later = datagrams.map((at): [number, number] => [at, OF_DATAGRAMS]);
  const messages = recorded([50, OF_LOBBY], [50, OF_GAME], ...later);
  const driver = new ReplayDriver(core as unknown as WebClient, messages, standing(50), (come) =>
    events.push(...come.map(({ event }) => event.ev)),
  );
  driver.advance();
  return { core, driver, events, calls: () => core.calls.splice(0) };
}

test("a core is led into the game, and handed each message at its time", () => {
  const { core, driver, events, calls } = started(100, 150, 150, 200);
  assert.deepEqual(calls(), ["connect 50", "lobby 50", "welcome 50 0", "game 50", "joined 50 1"]);
  assert.deepEqual(events.splice(0), ["done", "map"]);
  driver.setClock(standing(150));
  assert.deepEqual(calls(), ["datagram 100 2", "datagram 150 3", "datagram 150 4"]);
  assert.deepEqual(events, ["leave", "leave", "leave"]);
  // What the core wants to do between two messages is done at its time.
  core.deadline = 170;
  driver.setClock(standing(199));
  assert.deepEqual(calls(), ["timeout 170"]);
  // Time that stands shows the same again.
  for (const time of [1, 2]) assert.equal(driver.draw(time), 199);
  assert.deepEqual(calls(), ["draw 199 199", "draw 199 199"]);
});

test("of what is passed over, events say only what there is", () => {
  const { driver, events, calls } = started(1_000, 5_000, 9_990, 10_000, 10_020);
  calls();
  events.splice(0);
  driver.setClock(standing(10_000));
  assert.equal(calls().length, 4);
  assert.deepEqual(events.splice(0), ["leave"], "the one at that time");
  driver.setClock(standing(10_020));
  assert.deepEqual(events, ["leave"]);
});

test("nothing can be done in a replay, and a closed one does nothing", () => {
  const { driver, calls } = started(100);
  calls();
  assert.throws(() => driver.run(), /this is a replay/);
  driver.leave();
  driver.setClock(standing(200));
  assert.ok(Number.isNaN(driver.draw(1)));
  assert.deepEqual(calls(), ["free"]);
});
