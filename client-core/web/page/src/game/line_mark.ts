/** The mark that says how the line is: always in the picture. */

import type { Client } from "../ambit/ambit.js";
import { LineState } from "../core/line_state.js";
import { LineMeter } from "../core/meter.js";
import { el, setText } from "../dom.js";
import { texts } from "../texts.js";

const PAUSE_MS = 500;

export class LineMark {
  readonly element = el("p", { class: "line-mark", role: "status" });
  readonly state = new LineState();
  readonly #client: Client;
  readonly #meter = new LineMeter();
  #sampledAt = -Infinity;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Called at each frame. */
  update(now: number): void {
    if (now < this.#sampledAt + PAUSE_MS) return;
    this.#sampledAt = now;
    const { stats } = this.#client;
    const quality = this.state.quality(stats.rtt_ms, this.#meter.sample(now, stats));
    this.element.dataset["line"] = quality;
    setText(this.element, texts.line[quality](this.state.silentSeconds(now), stats.rtt_ms));
  }

  /** Shows at once what has happened. */
  refresh(now: number): void {
    this.#sampledAt = -Infinity;
    this.update(now);
  }
}
