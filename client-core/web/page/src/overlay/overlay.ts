/** What the network does: numbers, pending commands, and sliders that make the line bad. */

import type { Client, Frame, LineConditions, Stats } from "../ambit/ambit.js";
import { lineConditions } from "../ambit/session.js";
import { LineMeter, RateMeter } from "../core/meter.js";
import type { PendingCommands } from "../core/pending_commands.js";
import type { RoomSettings } from "../core/room_settings.js";
import { div, el, labelled, panel, setText } from "../dom.js";
import { texts } from "../texts.js";

const PAUSE_MS = 250;

type Row = keyof typeof texts.stats;

interface Slider {
  key: keyof LineConditions;
  label: string;
  max: number;
  unit: string;
}

const SLIDERS: readonly Slider[] = [
  { key: "delayMs", label: texts.delay, max: 500, unit: "ms" },
  { key: "jitterMs", label: texts.line_jitter, max: 300, unit: "ms" },
  { key: "lossPercent", label: texts.line_loss, max: 70, unit: "%" },
  { key: "throttleMs", label: texts.line_throttle, max: 1_000, unit: "ms" },
];

export class Overlay {
  readonly element: HTMLElement;
  readonly #values = new Map<Row, HTMLElement>();
  readonly #pending = el("p", { class: "pending" });
  readonly #ages = el("input", { type: "checkbox" });
  readonly #meter = new LineMeter();
  readonly #frames = new RateMeter();
  #frameCount = 0;
  #shownAt = -Infinity;

  constructor(private readonly client: Client) {
    this.#ages.checked = true;
    const list = el("dl");
    for (const [row, label] of Object.entries(texts.stats)) {
      const value = el("dd", {}, texts.unknown);
      this.#values.set(row as Row, value);
      list.append(el("dt", {}, label), value);
    }
    this.element = panel(
      "aside",
      "overlay",
      texts.network,
      list,
      el("h3", {}, texts.pending),
      this.#pending,
      el("h3", {}, texts.bad_line),
      ...SLIDERS.map((one) => this.#slider(one)),
      div("field row", labelled(texts.ages, this.#ages)),
      el("small", {}, texts.legend),
    );
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  get showsAges(): boolean {
    return this.isOpen && this.#ages.checked;
  }

  toggle(): void {
    this.element.hidden = !this.element.hidden;
  }

  /** Called at each frame; writes a few times a second, and only what has changed. */
  update(
    now: number,
    frame: Frame,
    pending: PendingCommands,
    settings: RoomSettings | undefined,
  ): void {
    this.#frameCount += 1;
    if (!this.isOpen) return;
    setText(this.#pending, describePending(now, pending));
    if (now < this.#shownAt + PAUSE_MS) return;
    this.#shownAt = now;
    const frames = this.#frames.sample(now, this.#frameCount);
    this.#show("budget", settings?.budgetBytes, texts.kbit);
    this.#show("objects", frame.count, String);
    this.#show("frames", frames, texts.a_second);
    const show = (stats: Stats) => this.#showLine(now, stats);
    // A client that has ended has no figures.
    void this.client.stats().then(show, () => {});
  }

  #showLine(now: number, stats: Stats): void {
    const line = this.#meter.sample(now, stats);
    this.#show("rtt", stats.rtt_ms, texts.ms);
    this.#show("jitter", stats.jitter_ms, texts.fine_ms);
    this.#show("loss", line.lossPercent, texts.percent);
    this.#show("down", line.downBytes, texts.kbit);
    this.#show("up", line.upBytes, texts.kbit);
    this.#show("datagrams", line.datagrams, texts.a_second);
    this.#show("late", line.latePercent, texts.percent);
    this.#show("buffer", stats.buffer_ms, texts.ms);
    this.#show("behind", stats.shown_behind_ms, texts.ms);
    this.#show("commands", 0, () => texts.commands_of(stats.confirmed, stats.refused));
  }

  #slider({ key, label, max, unit }: Slider): HTMLElement {
    const value = String(lineConditions[key] ?? 0);
    const input = el("input", { type: "range", min: "0", max: String(max), step: "1", value });
    const shown = el("output", {}, `${value} ${unit}`);
    input.addEventListener("input", () => {
      lineConditions[key] = Number(input.value);
      this.client.setLine(lineConditions);
      setText(shown, `${input.value} ${unit}`);
    });
    return div("slider", labelled(label, input), shown);
  }

  #show(row: Row, value: number | null | undefined, format: (value: number) => string): void {
    const element = this.#values.get(row);
    const isKnown = typeof value === "number" && !Number.isNaN(value);
    if (element) setText(element, isKnown ? format(value) : texts.unknown);
  }
}

function describePending(now: number, { list }: PendingCommands): string {
  if (list.length === 0) return texts.none;
  const line = ({ label, effectAt, state }: (typeof list)[number]) =>
    texts.countdown(label, effectAt - now, texts.command_states[state]);
  return list.map(line).join("\n");
}
