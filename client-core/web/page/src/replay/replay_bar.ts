/** The bar of a replay: play and pause, the time, the speed, and whose view it is. */

import { SPEEDS, timeText } from "../core/replay_time.js";
import { button, div, el, setText, span } from "../dom.js";
import { texts } from "../texts.js";

/** A client of the recorded room. */
export interface RecordedClient {
  id: number;
  name: string;
  /** From its join to its last message, in milliseconds of room time. */
  from_ms: number;
  to_ms: number;
}

export interface BarHooks {
  toggle(): void;
  seek(ms: number): void;
  setSpeed(speed: number): void;
  choose(client: RecordedClient): void;
}

export class ReplayBar {
  readonly element: HTMLElement;
  readonly #play: HTMLButtonElement;
  readonly #slider = el("input", { type: "range", step: "50", "aria-label": texts.replay_time });
  readonly #time = span("time");
  readonly #speed: HTMLSelectElement;
  readonly #client: HTMLSelectElement;
  /** The player has hold of it. */
  #isHeld = false;

  constructor(title: string, clients: readonly RecordedClient[], hooks: BarHooks) {
    this.#play = button(texts.replay_play, () => hooks.toggle(), { class: "play" });
    const speeds = SPEEDS.map((speed) => el("option", { value: String(speed) }, `${speed}×`));
    this.#speed = el("select", { "aria-label": texts.replay_speed }, ...speeds);
    const named = clients.map(({ id, name, from_ms, to_ms }) => {
      const times = `${timeText(from_ms)}–${timeText(to_ms)}`;
      return el("option", { value: String(id) }, `${name} (${times})`);
    });
    this.#client = el("select", { "aria-label": texts.replay_view }, ...named);
    const slider = this.#slider;
    slider.addEventListener("input", () => {
      this.#isHeld = true;
      setText(this.#time, timeText(slider.valueAsNumber));
    });
    slider.addEventListener("change", () => {
      this.#isHeld = false;
      hooks.seek(slider.valueAsNumber);
    });
    this.#speed.addEventListener("change", () => hooks.setSpeed(Number(this.#speed.value)));
    this.#client.addEventListener("change", () => {
      const client = clients.find(({ id }) => String(id) === this.#client.value);
      if (client) hooks.choose(client);
    });
    const parts = [span("title", title), this.#play, slider, this.#time];
    this.element = div("replay-bar", ...parts, this.#speed, this.#client);
  }

  /** The client whose view is shown. */
  show({ id, from_ms, to_ms }: RecordedClient): void {
    this.#client.value = String(id);
    this.#slider.min = String(from_ms);
    this.#slider.max = String(to_ms);
  }

  update(at: number, isPlaying: boolean, speed: number): void {
    setText(this.#play, isPlaying ? texts.replay_pause : texts.replay_play);
    this.element.dataset["at"] = String(Math.round(at));
    if (this.#speed.value !== String(speed)) this.#speed.value = String(speed);
    if (this.#isHeld) return;
    this.#slider.value = String(at);
    setText(this.#time, `${timeText(at)} / ${timeText(Number(this.#slider.max))}`);
  }
}
