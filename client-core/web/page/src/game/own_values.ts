/** The own avatar's values, those that only its player knows among them. From the schema alone. */

import type { Frame, Gauge, Kind } from "../ambit/ambit.js";
import { labelOf } from "../core/words.js";
import { el, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

const PAUSE_MS = 100;

/** A sign for a flag that its game has given a label: whoever is hidden has to know it. */
interface Sign {
  index: number;
  element: HTMLElement;
}

interface Row {
  component: string;
  element: HTMLElement;
  bar: HTMLProgressElement;
  text: HTMLElement;
}

export class OwnValues {
  readonly element = el("section", { class: "own-values", "aria-label": texts.own_values });
  readonly #gauge: Gauge = { value: 0, rate: 0, max: 0 };
  #rows: Row[] = [];
  #signs: Sign[] = [];
  #kind: Kind | undefined;
  #shownAt = -Infinity;

  update(now: number, frame: Frame): void {
    if (now < this.#shownAt + PAUSE_MS) return;
    this.#shownAt = now;
    setHidden(this.element, frame.avatar < 0);
    if (frame.avatar < 0) return;
    const kind = frame.kind(frame.avatar);
    if (kind !== this.#kind) this.#make(kind);
    for (const row of this.#rows) {
      const gauge = frame.gauge(frame.avatar, row.component, this.#gauge);
      setHidden(row.element, gauge === undefined);
      if (!gauge) continue;
      // A write of what is there already would still make the browser draw.
      const value = Math.round(gauge.value);
      if (row.bar.value !== value) row.bar.value = value;
      if (row.bar.max !== gauge.max) row.bar.max = gauge.max;
      setText(row.text, `${value} / ${Math.round(gauge.max)}`);
    }
    for (const { index, element } of this.#signs) {
      setHidden(element, frame.component(frame.avatar, index) !== true);
    }
  }

  #make(kind: Kind): void {
    this.#kind = kind;
    const bar = kind.look.bar === null ? undefined : kind.components[kind.look.bar];
    const gauges = kind.components.filter(({ type }) => type === "gauge");
    this.#rows = gauges.map((gauge) => {
      const { name } = gauge;
      const label = labelOf(gauge);
      const progress = el("progress", { "aria-label": label, value: "0" });
      const text = el("span");
      const look = gauge === bar ? { class: "shown-above" } : {};
      const element = el("div", look, el("span", {}, label), progress, text);
      return { component: name, element, bar: progress, text };
    });
    this.#signs = kind.components.flatMap(({ type, label }, index) => {
      if (type !== "flag" || label === "") return [];
      return [{ index, element: el("div", { class: "sign", hidden: true }, label) }];
    });
    this.element.replaceChildren(
      ...this.#signs.map(({ element }) => element),
      ...this.#rows.map(({ element }) => element),
    );
  }
}
