import assert from "node:assert/strict";
import { test } from "node:test";
import { CorePort } from "../../ts/core_port.js";
import type { GameStarted } from "../../ts/events.js";
import { Frame, FLAG_MOVES } from "../../ts/frame.js";
import { Inbox } from "../../ts/inbox.js";
import type { FromWorker, GameState, ToWorker } from "../../ts/messages.js";
import { PictureCopier, OBJECT_NUMBERS, VALUE_FLOATS } from "../../ts/picture.js";

type Call = Extract<ToWorker, { do: "call" }>;

/** What the other end of a port has received, until `count` messages have come. */
function listen(port: MessagePort): (count: number) => Promise<ToWorker[]> {
  const got: ToWorker[] = [];
  let wake = () => {};
  port.onmessage = ({ data }) => {
    got.push(data as ToWorker);
    wake();
  };
  return async (count) => {
    while (got.length < count) await new Promise<void>((resolve) => (wake = resolve));
    return got.splice(0);
  };
}

function connected() {
  const { port1, port2 } = new MessageChannel();
  const tokens: (string | undefined)[] = [];
  const port = new CorePort(port1, (token) => tokens.push(token && String(token)));
  const said = listen(port2);
  const say = async (...messages: FromWorker[]) => {
    for (const message of messages) port2.postMessage(message);
    // Messages come in order: once a call is answered, those before it have come.
    const asked = port.call("send");
    const call = (await said(1)).at(-1) as Call;
    port2.postMessage({ say: "returned", call: call.call, value: undefined } as FromWorker);
    await asked;
  };
  return { port, said, say, tokens, close: () => port2.close(), other: port2 };
}

/** A core that has drawn one object, `x` metres east, of 2 m/s to the north, with one text. */
function drawn(x: number, text: string) {
  const memory = new WebAssembly.Memory({ initial: 1 });
  new Uint32Array(memory.buffer, 64, 6).set([1, 0, 0, 1, 256, 320]);
  new Float64Array(memory.buffer, 256, VALUE_FLOATS).set([1, NaN, NaN]);
  const floats = [x, 5, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 1];
  new Float32Array(memory.buffer, 320, OBJECT_NUMBERS).set([...floats, 12]);
  new Uint32Array(memory.buffer, 320 + 14 * 4, 4).set([7, 0, FLAG_MOVES, 0]);
  const core = {
    frame_layout: () => 64,
    texts_after: (number: number) => (number < 1 ? JSON.stringify([[1, text]]) : undefined),
    texts_dropped: () => 0,
  };
  return new PictureCopier(core, memory);
}

const GAME = {
  schema: {
    kinds: [{ name: "walker", components: [{ name: "name", type: "text" }], look: { label: 0 } }],
  },
  rules: {},
  obstacles: undefined,
} as unknown as GameState;
const STATE = { player: 1, name: "ann", room: 3, isConnected: true, token: Uint8Array.of(9) };

test("a schema that comes again keeps what the page has put into it", async () => {
  const { port, say, close } = connected();
  const news = (schema: object) =>
    say({ say: "news", state: STATE, game: { ...GAME, schema } as GameState, events: [] });
  await news({ game: "a", kinds: [{ label: "Walker" }] });
  Object.assign(port.game?.schema.kinds[0] ?? {}, { label: "Wanderin" });
  await news({ game: "a", kinds: [{ label: "Walker" }] });
  assert.equal(port.game?.schema.kinds[0]?.label, "Wanderin");
  await news({ game: "b", kinds: [{ label: "Walker" }] });
  assert.equal(port.game?.schema.kinds[0]?.label, "Walker");
  close();
});

test("a frame shows the newest picture, moved on to its time, and asks for the next", async () => {
  const { port, said, say, close } = connected();
  const frame = new Frame(port);
  frame.update(1_000);
  assert.equal(frame.count, 0);
  const [asked] = await said(1);
  assert.ok(asked?.do === "draw" && asked.at > 1_000 + performance.timeOrigin);

  const copier = drawn(1, "Zoë");
  const at = 1_016 + performance.timeOrigin;
  const older = copier.copy(at - 16, 40_000, undefined);
  const newer = copier.copy(at, 40_016, undefined);
  assert.ok(older.texts !== undefined && newer.texts === undefined, "a text is sent once");
  await say(
    { say: "news", state: STATE, game: GAME, events: [] },
    { say: "picture", picture: older },
    { say: "picture", picture: newer },
  );
  frame.update(1_116);
  const near = (value: number, wanted: number) =>
    assert.ok(Math.abs(value - wanted) < 1e-3, `${value}, not ${wanted}`);
  assert.equal(frame.count, 1);
  near(frame.time, 40_116);
  near(frame.age(0), 12);
  assert.deepEqual([frame.id(0), frame.kindIndex(0), frame.isOwn(0)], [7, 0, false]);
  near(frame.x(0), 1);
  near(frame.y(0), 5.2);
  near(frame.heading(0), 0.1);
  assert.equal(frame.label(0), "Zoë", "also of a picture that was not shown");
  // Twice from one picture.
  frame.update(1_066);
  near(frame.y(0), 5.1);
  near(frame.heading(0), 0.05);
  // The page is too slow for it to mean much.
  frame.update(5_000);
  near(frame.y(0), 5.5);
  close();
});

const WELCOME = {
  ev: "welcome" as const,
  player: 1,
  name: "ann",
  resumed: false,
  room: null,
  grace_ms: 0,
  account: null,
    login: null,
  games: [],
};

test("a welcome and a start are events only after a break", async () => {
  const inbox = new Inbox();
  const start = { ev: "started", room: 3, map: 1 } as GameStarted & { ev: "started" };
  const handle = () => {
    inbox.handle({ of: "lobby", request: 0, event: WELCOME });
    inbox.handle({ of: "game", request: 0, event: start });
  };
  handle();
  const game = await inbox.waitForGame(3, () => 3);
  assert.deepEqual([inbox.lobby.take(), game.take()], [[], []]);
  handle();
  assert.deepEqual([inbox.lobby.take(), game.take()], [[WELCOME], [start]]);
});

test("an answer finds its request, and an end its reason", async () => {
  const { port, said, tokens, other, close } = connected();
  const answer = port.ask({ list_rooms: { subscribe: true } });
  const [call] = (await said(1)) as unknown as [Call];
  assert.deepEqual([call.name, call.values], ["request", [`{"list_rooms":{"subscribe":true}}`]]);
  const rooms = { of: "lobby" as const, request: 5, event: { ev: "rooms" as const, rooms: [] } };
  const say = (message: FromWorker) => other.postMessage(message);
  say({ say: "returned", call: call.call, value: 5 });
  const events = [{ of: "lobby" as const, request: 0, event: WELCOME }, rooms];
  say({ say: "news", state: STATE, game: undefined, events });
  assert.equal((await answer).ev, "rooms");
  assert.deepEqual([port.state.name, port.state.room, tokens], ["ann", 3, ["9"]]);

  const refused = port.call("send", "jump", "[]");
  const [send] = (await said(1)) as unknown as [Call];
  say({ say: "failed", call: send.call, code: "malformed", message: "no such command" });
  await assert.rejects(refused, { code: "malformed", message: "no such command" });

  const waiting = port.call("send", "jump", "[]");
  port.fail("the worker failed");
  await assert.rejects(waiting, { code: "client_failed" });
  await assert.rejects(port.ask({ list_rooms: { subscribe: false } }), { code: "closed" });
  assert.equal(port.inbox.closed?.code, "client_failed");
  close();
});
