// A chart of the last hour: lines over time, with the value under the pointer or the arrow keys.

import { el, renew, setAttribute, setText, svg } from "./dom.js";
import { timeOfDay } from "./format.js";
import { words } from "./words.js";

const HOUR_S = 3_600;
/** Samples that are farther apart have a gap between them. */
const GAP_S = 25;
const HEIGHT = 96;
/** Below this width the label in the middle has no place. */
const NARROW = 220;
/** Around the lines, for the labels. */
const EDGE = { top: 8, right: 4, bottom: 18, left: 4 };

/** A round number at or above a value: 1, 2, 2.5 or 5 times a power of ten. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

export class Chart {
  /**
   * `name`; `lines`: the names of the history's lists, the main one first; `show(value)` writes a
   * value; `floor`: what the chart shows at least.
   */
  constructor({ name, lines, show, floor, unit }) {
    Object.assign(this, { name, lines, show, floor });
    this.value = el("strong");
    this.note = el("small");
    this.readout = el("small", { class: "readout", hidden: true });
    this.drawing = svg("g");
    this.marker = svg("g", { class: "marker" });
    this.picture = svg("svg", { role: "img", tabindex: 0 }, this.drawing, this.marker);
    this.empty = el("p", { class: "empty" }, words.overview.gathering);
    this.root = el(
      "section",
      { class: "panel chart" },
      el("h2", {}, name),
      el("p", { class: "value" }, this.value, unit ? el("span", {}, ` ${unit}`) : undefined),
      el("div", { class: "notes" }, this.note, this.readout),
      el("div", { class: "picture" }, this.picture, this.empty),
    );
    this.picture.addEventListener("pointermove", (event) => this.#pointAt(event.offsetX));
    this.picture.addEventListener("pointerleave", () => this.#point(undefined));
    this.picture.addEventListener("blur", () => this.#point(undefined));
    this.picture.addEventListener("keydown", (event) => this.#step(event));
    new ResizeObserver(() => this.#draw()).observe(this.picture);
  }

  /** The number of now, what stands below it, and the history, if it is known. */
  update(value, note, history) {
    setText(this.value, value);
    setText(this.note, note);
    if (!history || history === this.history) return;
    this.history = history;
    this.#draw();
  }

  #draw() {
    const { at } = this.history ?? { at: [] };
    this.empty.hidden = at.length > 1;
    this.width = this.picture.clientWidth;
    if (at.length < 2 || this.width === 0) return;
    setAttribute(this.picture, "viewBox", `0 0 ${this.width} ${HEIGHT}`);
    this.end = at.at(-1);
    const all = this.lines.flatMap((line) => this.history[line]);
    this.top = roundUp(Math.max(this.floor, ...all));
    const grid = [0, 0.5, 1].flatMap((share) => this.#gridLine(share));
    const [past, middle, newest] = words.overview.hour;
    const time = (text, x, anchor) =>
      svg("text", { x, y: HEIGHT - 4, "text-anchor": anchor }, text);
    const times = [
      time(past, EDGE.left, "start"),
      ...(this.width < NARROW ? [] : [time(middle, this.width / 2, "middle")]),
      time(newest, this.width - EDGE.right, "end"),
    ];
    const [main, ...others] = this.lines;
    const lines = others.map((line) => svg("path", { class: "other", d: this.#path(line) }));
    const area = svg("path", { class: "area", d: this.#path(main, true) });
    const path = svg("path", { class: "line", d: this.#path(main) });
    this.drawing.replaceChildren(...grid, ...times, area, ...lines, path);
    const values = this.history[main];
    const shown = [values.at(-1), Math.min(...values), Math.max(...values)].map(this.show);
    setAttribute(this.picture, "aria-label", words.overview.summary(this.name, ...shown));
    this.#point(this.pointed);
  }

  #gridLine(share) {
    const y = this.#y(share * this.top);
    const line = svg("line", { x1: EDGE.left, x2: this.width - EDGE.right, y1: y, y2: y });
    if (share !== 1) return [line];
    const label = { x: this.width - EDGE.right, y: y + 12, "text-anchor": "end", class: "top" };
    return [line, svg("text", label, this.show(this.top))];
  }

  #x(at) {
    const share = 1 - (this.end - at) / HOUR_S;
    return EDGE.left + share * (this.width - EDGE.left - EDGE.right);
  }

  #y(value) {
    const share = Math.min(value / this.top, 1);
    return HEIGHT - EDGE.bottom - share * (HEIGHT - EDGE.top - EDGE.bottom);
  }

  #path(line, isArea = false) {
    const { at } = this.history;
    const base = this.#y(0).toFixed(1);
    const pieces = [];
    let start = 0;
    for (let next = 1; next <= at.length; next += 1) {
      if (next < at.length && at[next] - at[next - 1] <= GAP_S) continue;
      const points = at.slice(start, next).map((time, index) => {
        const y = this.#y(this.history[line][start + index]);
        return `${this.#x(time).toFixed(1)} ${y.toFixed(1)}`;
      });
      const ends = [at[start], at[next - 1]].map((time) => this.#x(time).toFixed(1));
      const path = `M${points.join("L")}`;
      pieces.push(isArea ? `${path}L${ends[1]} ${base}L${ends[0]} ${base}Z` : path);
      start = next;
    }
    return pieces.join("");
  }

  #pointAt(x) {
    if (!this.history || this.history.at.length < 2) return;
    const { at } = this.history;
    const distance = (index) => Math.abs(this.#x(at[index]) - x);
    let nearest = 0;
    for (let index = 1; index < at.length; index += 1) {
      if (distance(index) < distance(nearest)) nearest = index;
    }
    this.#point(at[nearest]);
  }

  #step(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !this.history) return;
    event.preventDefault();
    const { at } = this.history;
    const from = this.pointed === undefined ? at.length : at.indexOf(this.pointed);
    this.#point(at[Math.min(Math.max(from + step, 0), at.length - 1)]);
  }

  /** Shows the values of a time instead of the note. */
  #point(time) {
    const index = time === undefined ? -1 : this.history.at.indexOf(time);
    this.pointed = index < 0 ? undefined : time;
    this.readout.hidden = index < 0;
    this.note.hidden = index >= 0;
    this.marker.toggleAttribute("hidden", index < 0);
    if (index < 0) return;
    const values = this.lines.map((line) => this.history[line][index]);
    const shown = values.map(this.show).join(" / ");
    setText(this.readout, `${shown} ${words.overview.at(timeOfDay(time))}`);
    const x = this.#x(time).toFixed(1);
    renew(this.marker, `${x} ${values} ${this.top}`, () => [
      svg("line", { x1: x, x2: x, y1: EDGE.top, y2: HEIGHT - EDGE.bottom }),
      svg("circle", { cx: x, cy: this.#y(values[0]), r: 4 }),
    ]);
  }
}
