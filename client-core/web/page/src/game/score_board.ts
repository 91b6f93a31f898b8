/** The tables of what everybody in the room has, beside the picture. */

import type { Frame, Schema } from "../ambit/ambit.js";
import { isRoomWide, type ScoreTable, scoreTablesOf } from "../core/score_tables.js";
import { el, setHidden } from "../dom.js";
import { texts } from "../texts.js";

const INTERVAL_MS = 250;

export class ScoreBoard {
  readonly element = el("aside", { class: "score", "aria-label": texts.score, hidden: true });
  readonly #kinds;
  #shown = "";
  #next = 0;

  constructor(schema: Schema) {
    this.#kinds = schema.kinds.filter(isRoomWide);
  }

  update(time: number, frame: Frame): void {
    if (this.#kinds.length === 0 || time < this.#next) return;
    this.#next = time + INTERVAL_MS;
    const tables = scoreTablesOf(frame, this.#kinds);
    const shown = JSON.stringify(tables);
    if (shown === this.#shown) return;
    this.#shown = shown;
    setHidden(this.element, tables.length === 0);
    this.element.replaceChildren(...tables.map(elementOf));
  }
}

function elementOf({ title, columns, rows }: ScoreTable): HTMLElement {
  const line = (tag: "td" | "th", cells: string[]) => cells.map((cell) => el(tag, {}, cell));
  return el(
    "table",
    {},
    el("caption", {}, title),
    el("thead", {}, el("tr", {}, ...line("th", columns))),
    el(
      "tbody",
      {},
      ...rows.map(({ cells, own }) => el("tr", { class: own ? "own" : "" }, ...line("td", cells))),
    ),
  );
}
