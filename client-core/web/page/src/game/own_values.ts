/**
 * The own avatar's values, those that only its player knows among them: bars for gauges, and small
 * signs for flags and numbers. From the schema alone.
 */

import type { Component, Frame, Gauge, Kind } from "../ambit/ambit.js";
import { countdownOf } from "../core/fall.js";
import { cellOf, leftOf } from "../core/figures.js";
import { isRoomWide } from "../core/score_tables.js";
import { labelOf } from "../core/words.js";
import { wreckFlagsOf } from "../core/wrecks.js";
import { div, el, setHidden, setText, span } from "../dom.js";
import { texts } from "../texts.js";

const PAUSE_MS = 100;
/** Below this share a bar warns. */
const LOW = 0.25;

type Row = ReturnType<typeof gaugeRow>;

type Figure = ReturnType<typeof figuresOf>[number];

export class OwnValues {
  readonly element = el("section", { class: "own-values", "aria-label": texts.own_values });
  readonly #gauge: Gauge = { value: 0, rate: 0, max: 0 };
  readonly #kinds: readonly Kind[];
  #rows: Row[] = [];
  /** Flags with a label, such as that the avatar is hidden: its player has to know them. */
  #signs: { index: number; element: HTMLElement }[] = [];
  #figures: Figure[] = [];
  #kind: Kind | undefined;
  #shownAt = -Infinity;

  constructor(kinds: readonly Kind[]) {
    this.#kinds = kinds.filter(isRoomWide);
  }

  update(now: number, frame: Frame): void {
    if (now < this.#shownAt + PAUSE_MS) return;
    this.#shownAt = now;
    setHidden(this.element, frame.avatar < 0);
    if (frame.avatar < 0) return;
    const kind = frame.kind(frame.avatar);
    if (kind !== this.#kind) this.#make(kind);
    for (const row of this.#rows) this.#showGauge(frame, row);
    for (const { index, element } of this.#signs) {
      setHidden(element, frame.component(frame.avatar, index) !== true);
    }
    for (const figure of this.#figures) this.#showFigure(frame, figure);
  }

  #showGauge(frame: Frame, row: Row): void {
    const gauge = frame.gauge(frame.avatar, row.component, this.#gauge);
    setHidden(row.element, gauge === undefined);
    if (!gauge) return;
    const [value, max] = [Math.round(gauge.value), Math.round(gauge.max)];
    // Writing the same value would still make the browser draw.
    if (row.value === value && row.max === max) return;
    [row.value, row.max] = [value, max];
    const share = max > 0 ? Math.min(1, value / max) : 0;
    row.fill.style.transform = `scaleX(${share.toFixed(3)})`;
    row.element.classList.toggle("low", share > 0 && share < LOW);
    row.element.ariaValueNow = String(value);
    row.element.ariaValueMax = String(max);
    setText(row.text, leftOf(row, value, max));
  }

  /** Nothing of something says nothing. */
  #showFigure(frame: Frame, figure: Figure): void {
    const { row, index, component, element, text, isCompared } = figure;
    const own = row === undefined ? frame.avatar : frame.rows(row).find((at) => frame.isOwn(at));
    const value = own === undefined ? undefined : frame.component(own, index);
    setHidden(element, typeof value !== "number" || (value === 0 && !isCompared));
    if (typeof value === "number") setText(text, cellOf(component, value));
  }

  #make(kind: Kind): void {
    this.#kind = kind;
    const bar = kind.look.bar === null ? undefined : kind.components[kind.look.bar];
    // What counts seconds is shown where it matters, such as how long one is down.
    const countdown = countdownOf(kind);
    const gauges = kind.components.filter(
      ({ type, name }) => type === "gauge" && name !== countdown,
    );
    this.#rows = gauges.map((gauge) => gaugeRow(gauge, gauge === bar));
    const wrecks = wreckFlagsOf(kind);
    this.#signs = kind.components.flatMap(({ type, label }, index) => {
      // The middle of the picture shows what has happened to a wreck.
      if (type !== "flag" || label === "" || wrecks.includes(index)) return [];
      return [{ index, element: el("div", { class: "chip sign", hidden: true }, label) }];
    });
    this.#figures = [
      ...figuresOf(kind, undefined, this.#kinds),
      // What the tables rank by is in them.
      ...this.#kinds.flatMap((other) => figuresOf(other, other.name, []).slice(1)),
    ];
    const chips = [...this.#signs, ...this.#figures].map(({ element }) => element);
    this.element.replaceChildren(
      div("chips", ...chips),
      div("gauges", ...this.#rows.map(({ element }) => element)),
    );
  }
}

/** The bar above the avatar looks like that one. */
function gaugeRow(gauge: Component, isAbove: boolean) {
  const label = labelOf(gauge);
  const [fill, text] = [span("fill"), span("value")];
  const element = el(
    "div",
    {
      class: `gauge ${isAbove ? "shown-above" : ""}`,
      role: "meter",
      "aria-label": label,
      "aria-valuemin": "0",
    },
    fill,
    span("name", label),
    text,
  );
  return { component: gauge.name, unit: gauge.unit, element, fill, text, value: NaN, max: NaN };
}

/** Numbers of the avatar, or of the player's row in a table: `row` is that room-wide kind. */
function figuresOf({ components }: Kind, row: string | undefined, tables: readonly Kind[]) {
  return components.flatMap((component, index) => {
    // Milliseconds are about the line.
    if (component.type !== "number" || component.unit === "ms") return [];
    const text = el("b");
    const label = el("span", {}, labelOf(component));
    const element = div("chip", label, " ", text);
    // All are compared by it: then nothing of it says something, too.
    const isCompared = tables.some((table) =>
      table.components.some(({ name, type }) => type === "number" && name === component.name),
    );
    return [{ row, index, component, element, text, isCompared }];
  });
}
