import assert from "node:assert/strict";
import { test } from "node:test";
import { nextSpeed, timeText } from "../src/core/replay_time.js";
import { movedTo, positionOf, withSpeed } from "../../ts/replay_clock.js";
import { OF_DATAGRAMS, OF_GAME, RecordedMessages } from "../../ts/replay_messages.js";

test("a replay's time runs at its speed, stands, and ends", () => {
  const clock = { at: 1_000, since: 50_000, speed: 2, end: 9_000 };
  assert.equal(positionOf(clock, 50_000), 1_000);
  assert.equal(positionOf(clock, 51_500), 4_000);
  assert.equal(positionOf(clock, 40_000), 1_000);
  assert.equal(positionOf(clock, 99_000), 9_000);
  const paused = withSpeed(clock, 51_500, 0);
  assert.equal(positionOf(paused, 80_000), 4_000);
  const slow = withSpeed(paused, 80_000, 0.25);
  assert.equal(positionOf(slow, 84_000), 5_000);
  assert.equal(positionOf(movedTo(slow, 84_000, 7_000), 88_000), 8_000);
  assert.equal(positionOf(movedTo(slow, 84_000, 70_000), 84_000), 9_000);
});

test("recorded messages come in order, and what is cut off is not there", () => {
  const all = [
    { at: 1_500n, of: OF_GAME, text: "joined" },
    { at: 51_250n, of: OF_DATAGRAMS, text: "" },
    { at: 51_250n, of: OF_DATAGRAMS, text: "third" },
  ];
  const encoded = all.flatMap(({ at, of, text }) => {
    const bytes = new TextEncoder().encode(text);
    const header = new DataView(new ArrayBuffer(13));
    header.setBigUint64(0, at, true);
    header.setUint8(8, of);
    header.setUint32(9, bytes.length, true);
    return [...new Uint8Array(header.buffer), ...bytes];
  });
  const whole = new Uint8Array(encoded);
  for (let length = 0; length <= whole.length; length += 1) {
    const messages = new RecordedMessages(whole.slice(0, length).buffer);
    const read = [];
    for (let at = messages.nextAt; at !== Infinity; at = messages.nextAt) {
      const { of, bytes } = messages.take() ?? { of: -1, bytes: new Uint8Array(0) };
      read.push({ at: BigInt(Math.round(at * 1_000)), of, text: new TextDecoder().decode(bytes) });
    }
    assert.deepEqual(read, all.slice(0, read.length));
    assert.equal(messages.take(), undefined);
    assert.equal(read.length === 3, length === whole.length);
  }
});

test("speeds go by steps, and times are minutes", () => {
  assert.equal(nextSpeed(1, true), 2);
  assert.equal(nextSpeed(1, false), 0.5);
  assert.equal(nextSpeed(8, true), 8);
  assert.equal(nextSpeed(0.25, false), 0.25);
  assert.equal(timeText(0), "0:00.0");
  assert.equal(timeText(62_590), "1:02.5");
  assert.equal(timeText(600_000), "10:00.0");
});
