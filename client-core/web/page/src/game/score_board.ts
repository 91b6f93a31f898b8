/**
 * The room-wide objects, beside the picture: the state of the game as a line, and tables. Tables
 * are short until the player opens them: they would cover what happens.
 */

import type { Frame, Schema } from "../ambit/ambit.js";
import { Changed } from "../core/changed.js";
import { LastTables } from "../core/ending.js";
import {
  isRoomWide,
  placeOf,
  type ScoreTable,
  scoreTablesOf,
  SHORT_COLUMNS,
  shortened,
} from "../core/score_tables.js";
import { chosenTexts } from "../core/words.js";
import { button, div, el, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

const INTERVAL_MS = 250;

export class ScoreBoard {
  readonly element = el("aside", { class: "score", "aria-label": texts.score, hidden: true });
  readonly #states = div("states");
  readonly #tables = div("tables");
  readonly #more = button(texts.all_of_score, () => this.#toggle(), { "aria-expanded": "false" });
  /** Where there is little room: the own place and the time. */
  readonly #line = button("", () => this.#toggle(), { class: "in-short" });
  readonly #clock = el("b");
  readonly #place = el("span");
  readonly #kinds;
  /** Texts that are words of the game. */
  readonly #chosen: ReadonlySet<string>;
  readonly #isParty: boolean;
  #isWhole = false;
  /** All of what was shown last, for the end of the game. */
  readonly last = new LastTables();
  readonly #shown = new Changed();
  #next = 0;

  constructor(schema: Schema) {
    this.#kinds = schema.kinds.filter(isRoomWide);
    this.#isParty = schema.scenery.party;
    this.#chosen = chosenTexts(schema);
    this.#line.append(this.#clock, this.#place);
    this.element.append(this.#line, this.#states, this.#tables, this.#more);
  }

  update(time: number, frame: Frame): void {
    if (this.#kinds.length === 0 || time < this.#next) return;
    this.#next = time + INTERVAL_MS;
    const all = scoreTablesOf(frame, this.#kinds, this.#chosen);
    if (!this.#shown.by(all, this.#isWhole)) return;
    this.last.note(all);
    const tables = all.filter(({ isState }) => !isState);
    setHidden(this.element, all.length === 0);
    const states = all.filter(({ isState }) => isState);
    this.#states.replaceChildren(...states.map(stateOf));
    this.#tables.replaceChildren(...tables.map((table) => tableOf(table, this.#isWhole)));
    const isMore = tables.some((table) =>
      table.columns.length > SHORT_COLUMNS || shortened(table).length < table.rows.length);
    setHidden(this.#more, !isMore);
    this.#showLine(all);
  }

  #showLine(tables: readonly ScoreTable[]): void {
    const own = tables.map(placeOf).find((place) => place !== undefined);
    // Of a party it matters how far it is, not who is ahead.
    const [state] = this.#isParty ? tables.filter(({ isState }) => isState) : [];
    const words =
      state?.phase || (own && texts.own_place(own.place, own.of, own.points, own.column));
    this.#line.title = own ? texts.own_points(own.column, own.points) : texts.score;
    setText(this.#clock, tables.find(({ clock }) => clock !== "")?.clock ?? "");
    setText(this.#place, words ?? (this.#clock.textContent ? "" : texts.score));
  }

  #toggle(): void {
    this.#isWhole = !this.#isWhole;
    this.element.classList.toggle("whole", this.#isWhole);
    for (const opener of [this.#more, this.#line]) opener.ariaExpanded = String(this.#isWhole);
    setText(this.#more, this.#isWhole ? texts.less_of_score : texts.all_of_score);
    this.#next = 0;
  }
}

/** Such as: Round 1, Points to win 50, Time left 9:52. Players' names stay as they write them. */
function stateOf({ title, columns, rows, roles }: ScoreTable): HTMLElement {
  const cells = rows[0]?.cells ?? [];
  const pairs = columns.flatMap((column, index) => {
    const cell = cells[index] ?? "";
    if (cell === "") return [];
    const shown = el("dd", isName(roles[index]) ? { class: "player" } : {}, cell);
    return [el("div", {}, el("dt", {}, column), shown)];
  });
  return el("dl", { "aria-label": title }, ...pairs);
}

function isName(role: ScoreTable["roles"][number] | undefined): boolean {
  return role === "player" || role === "winner";
}

function tableOf(table: ScoreTable, isWhole: boolean): HTMLElement {
  const count = isWhole ? table.columns.length : SHORT_COLUMNS;
  const line = (tag: "td" | "th", cells: string[]) =>
    cells.slice(0, count).map((cell) => el(tag, { title: cell }, cell));
  const rows = isWhole ? table.rows : shortened(table);
  return el(
    "table",
    {},
    el("caption", {}, table.title),
    el("thead", {}, el("tr", {}, ...line("th", table.columns))),
    el(
      "tbody",
      {},
      ...rows.map(({ cells, own }) => el("tr", { class: own ? "own" : "" }, ...line("td", cells))),
    ),
  );
}
