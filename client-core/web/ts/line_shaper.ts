/**
 * Makes a connection bad, for trying things out: carries {@link BadLine} with timers. It gets all
 * bytes of a connection, both ways; each connection has a shaper of its own.
 */

import { BadLine, type LineConditions } from "./bad_line.js";

interface Way {
  line: BadLine;
  stream: (bytes: Uint8Array) => void;
  datagram: (bytes: Uint8Array) => void;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class LineShaper {
  readonly #ways: Record<"up" | "down", Way>;

  /** `conditions` is shared: a change counts at once. */
  constructor(seed: number, conditions: LineConditions) {
    const way = (salt: number): Way => ({
      line: new BadLine(seed + salt, conditions),
      stream: () => {},
      datagram: () => {},
      timer: undefined,
    });
    this.#ways = { up: way(0), down: way(1) };
  }

  send(
    direction: "up" | "down",
    lane: "stream" | "datagram",
    bytes: Uint8Array,
    deliver: (bytes: Uint8Array) => void,
  ): void {
    const way = this.#ways[direction];
    way[lane] = deliver;
    if (lane === "stream") way.line.handleStream(performance.now(), bytes);
    else way.line.handleDatagram(performance.now(), bytes);
    this.#pass(way);
  }

  #pass(way: Way): void {
    const now = performance.now();
    for (let parcel = way.line.poll(now); parcel; parcel = way.line.poll(now)) {
      way[parcel.lane](parcel.bytes);
    }
    clearTimeout(way.timer);
    const due = way.line.nextDeadline();
    if (due < Infinity) way.timer = setTimeout(() => this.#pass(way), Math.max(due - now, 0));
  }
}
