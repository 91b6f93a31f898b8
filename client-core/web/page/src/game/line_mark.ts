/** The mark that says how the line is: always in the picture, and short as long as it is good. */

import type { Client, Stats } from "../ambit/ambit.js";
import { LineState } from "../core/line_state.js";
import { LineMeter } from "../core/meter.js";
import { el, setText } from "../dom.js";
import { texts } from "../texts.js";

const PAUSE_MS = 500;

export class LineMark {
  readonly element = el("p", { class: "line-mark", role: "status" });
  readonly state = new LineState();
  /** The round trip, as it was measured last. */
  rttMs = 0;
  #meter = new LineMeter();
  #sampledAt = -Infinity;

  constructor(private readonly client: Client) {}

  /** Called at each frame. */
  update(now: number): void {
    if (now < this.#sampledAt + PAUSE_MS) return;
    this.#sampledAt = now;
    // A client that has ended has no figures.
    void this.client.stats().then((stats) => this.#show(now, stats), () => {});
  }

  #show(now: number, stats: Stats): void {
    this.rttMs = stats.rtt_ms ?? 0;
    const quality = this.state.quality(stats.rtt_ms, this.#meter.sample(now, stats));
    this.element.dataset["line"] = quality;
    this.element.title = texts.line_title[quality];
    setText(this.element, texts.line[quality](this.state.silentSeconds(now), stats.rtt_ms));
  }

  /** The host is heard again. What was lost in between says nothing about the line as it is now. */
  recover(): void {
    this.state.recover();
    this.#meter = new LineMeter();
  }

  /** Shows at once what has happened. */
  refresh(now: number): void {
    this.#sampledAt = -Infinity;
    this.update(now);
  }
}
