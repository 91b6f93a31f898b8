import assert from "node:assert/strict";
import { test } from "node:test";
import { BadLine, GOOD_LINE, type Parcel } from "../../ts/bad_line.js";

test("a good line lets everything out at once", () => {
  const line = new BadLine(1);
  line.handleStream(0, Uint8Array.of(1));
  line.handleDatagram(0, Uint8Array.of(2));
  line.handleStream(0, Uint8Array.of(3));
  assert.deepEqual(drain(line, 0), [1, 3, 2]);
  assert.equal(line.nextDeadline(), Infinity);
});

test("nothing comes before its delay, and the deadline says when", () => {
  const line = new BadLine(1, { delayMs: 50, jitterMs: 0, lossPercent: 0 });
  line.handleDatagram(100, Uint8Array.of(1));
  assert.equal(line.poll(149), undefined);
  assert.equal(line.nextDeadline(), 150);
  assert.equal(line.poll(150)?.bytes[0], 1);
});

test("the stream is complete and in order whatever is lost", () => {
  const all = Array.from({ length: 200 }, (_, index) => index);
  for (let seed = 0; seed < 20; seed += 1) {
    const line = new BadLine(seed, { delayMs: 40, jitterMs: 200, lossPercent: 60 });
    for (const sent of all) line.handleStream(sent * 5, Uint8Array.of(sent));
    assert.deepEqual(drain(line, 1e9), all, `seed ${seed}`);
  }
});

test("about as many datagrams are lost as asked for", () => {
  const line = new BadLine(7, { delayMs: 0, jitterMs: 0, lossPercent: 25 });
  for (let sent = 0; sent < 2_000; sent += 1) line.handleDatagram(0, Uint8Array.of(0));
  const arrived = drain(line, 0).length;
  assert.ok(arrived > 1_400 && arrived < 1_600, `${arrived} arrived`);
});

test("jitter lets datagrams overtake, within its bound, and none comes twice", () => {
  const line = new BadLine(3, { delayMs: 20, jitterMs: 100, lossPercent: 0 });
  for (let sent = 0; sent < 100; sent += 1) line.handleDatagram(sent, Uint8Array.of(sent));
  const got: number[] = [];
  for (let now = 0; now <= 300; now += 1) {
    for (const sent of drain(line, now)) {
      assert.ok(now >= sent + 20 && now <= sent + 121, `${sent} came at ${now}`);
      got.push(sent);
    }
  }
  assert.equal(new Set(got).size, 100);
  assert.ok(got.filter((sent, index) => sent < (got[index - 1] ?? -1)).length > 10);
});

test("a line that stops lets all out together when it goes on", () => {
  const line = new BadLine(4, { ...GOOD_LINE, throttleMs: 500 });
  const waits: number[] = [];
  let together = 0;
  for (let now = 0; now < 60_000; now += 10) {
    line.handleDatagram(now, Uint8Array.of(1));
    const arrived = drain(line, now).length;
    together = Math.max(together, arrived);
    waits.push(line.nextDeadline() - now);
  }
  const stopped = waits.filter((wait) => wait < Infinity);
  assert.ok(stopped.every((wait) => wait <= 500));
  // Half a second of some two and a half, and 50 datagrams wait then.
  assert.ok(stopped.length > 600 && stopped.length < 2_400, `${stopped.length} waited`);
  assert.ok(together >= 49 && together <= 52, `${together} together`);
});

test("the same seed gives the same arrivals, and another seed others", () => {
  const arrivals = (seed: number) => {
    const line = new BadLine(seed, { delayMs: 20, jitterMs: 50, lossPercent: 30 });
    for (let sent = 0; sent < 100; sent += 1) line.handleDatagram(sent, Uint8Array.of(sent));
    return drain(line, 1_000);
  };
  assert.deepEqual(arrivals(5), arrivals(5));
  assert.notDeepEqual(arrivals(5), arrivals(6));
});

test("what is under way is bounded", () => {
  const line = new BadLine(1, { delayMs: 1_000, jitterMs: 0, lossPercent: 0 });
  for (let sent = 0; sent < 5_000; sent += 1) line.handleDatagram(0, Uint8Array.of(0));
  assert.equal(drain(line, 1_000).length, 2_048);
});

/** The first byte of all that has arrived. */
function drain(line: BadLine, now: number): number[] {
  const parcels: Parcel[] = [];
  for (let next = line.poll(now); next; next = line.poll(now)) parcels.push(next);
  return parcels.map((parcel) => parcel.bytes[0] as number);
}
