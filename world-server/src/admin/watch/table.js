// A table that is sorted and searched, and renewed in place. On a phone each row is a card.

import { arrange, el, renew, setAttribute, setText, svg } from "./dom.js";
import { icon } from "./icons.js";
import { absolute, relative } from "./format.js";
import { words } from "./words.js";

/** Rows that are shown at once; more at a request. */
const PAGE = 200;
/** From this share on, what is measured needs attention. */
const NEARLY_FULL = 0.85;

/**
 * What is in a cell: texts, and objects with a `text` and a `href`, a `badge` with a `tone`, a time
 * `at` in seconds since 1970, a `meter` from 0 to 1,
 * or a `button` with `run`.
 */
export function parts(items) {
  return items.filter((item) => item !== undefined).map(part);
}

function part(item) {
  if (typeof item === "string") return item;
  if (item.href) return el("a", { href: item.href }, item.text);
  if (item.badge) return el("span", { class: "badge", "data-tone": item.tone }, item.badge);
  if (item.at !== undefined) return time(item.at);
  if (item.meter !== undefined) {
    const bar = (share) =>
      svg("rect", { width: `${(100 * Math.min(1, share)).toFixed(1)}%`, height: 6, rx: 3 });
    const tone = item.meter >= NEARLY_FULL && "warning";
    return svg(
      "svg",
      { class: "meter", "aria-hidden": "true", "data-tone": tone },
      bar(1),
      bar(item.meter),
    );
  }
  if (item.button) {
    return el("button", { type: "button", class: "small", onclick: item.run }, item.button);
  }
  return el("span", { class: "soft" }, item.soft);
}

/** How long ago or ahead a time is, with the time itself in its title. */
export function time(unix) {
  const iso = new Date(unix * 1_000).toISOString();
  return el("time", { datetime: iso, title: absolute(unix) }, relative(unix));
}

/** `bot-2` comes before `bot-10`. */
const { compare: inOrder } = new Intl.Collator(words.language, { numeric: true });

/** For comparing: what changes with what is shown. */
export function stamp(items) {
  const shown = (item) => (item?.at === undefined ? item : relative(item.at));
  return JSON.stringify(items.map(shown));
}

export class Table {
  /**
   * `columns`: each with `key`, `label`, `cell(row)` (what is in it), `value(row)` (to sort by),
   * and `isNumber`. `id(row)`, `href(row)` if a row opens, `text(row)` for the search, `empty`, and
   * `sort`: a key, with `-` before it for the largest first.
   */
  constructor({ columns, id, href, text, search, empty, sort, label }) {
    Object.assign(this, { columns, id, href, text, empty });
    this.isDescending = sort.startsWith("-");
    this.sort = sort.replace("-", "");
    this.rows = [];
    this.limit = PAGE;
    this.lines = new Map();
    this.search = el("input", {
      type: "search",
      placeholder: search ?? "",
      "aria-label": words.table.searchLabel,
      oninput: () => this.show(this.rows),
    });
    this.count = el("span", { class: "count", role: "status" });
    this.sorters = new Map(columns.map((column) => [column.key, this.#sorter(column)]));
    this.select = el(
      "select",
      { "aria-label": words.table.sort, onchange: () => this.#sortBy(this.select.value) },
      ...columns.filter((it) => it.value).map((it) => el("option", { value: it.key }, it.label)),
    );
    this.body = el("tbody");
    const heads = columns.map((column) => {
      const scope = { scope: "col", class: column.isNumber ? "number" : undefined };
      return el("th", scope, this.sorters.get(column.key));
    });
    this.table = el(
      "table",
      { "aria-label": label },
      el("thead", {}, el("tr", {}, ...heads)),
      this.body,
    );
    this.nothing = el("p", { class: "empty", hidden: true });
    const more = { type: "button", class: "more", hidden: true, onclick: () => this.#showMore() };
    this.more = el("button", more);
    const field = search && el("label", { class: "search" }, icon("search"), this.search);
    this.bar = el("div", { class: "bar" }, field, this.count, this.select);
    const scroll = el("div", { class: "panel scroll" }, this.table, this.nothing);
    this.root = el("div", { class: "listing" }, this.bar, scroll, this.more);
    this.#markSorted();
  }

  /** Shows these rows: those that match the search, in order. */
  show(rows) {
    this.rows = rows;
    const wanted = this.search.value.trim().toLowerCase();
    const found = wanted
      ? rows.filter((row) => this.text(row).toLowerCase().includes(wanted))
      : rows;
    const ordered = this.#ordered(found).slice(0, this.limit);
    const lines = ordered.map((row) => this.#line(row));
    arrange(this.body, lines);
    this.order = ordered.map((row) => this.id(row));
    const shown = new Set(this.order);
    for (const id of this.lines.keys()) if (!shown.has(id)) this.lines.delete(id);
    setText(this.count, words.table.shown(found.length, rows.length));
    this.nothing.hidden = found.length > 0;
    setText(this.nothing, rows.length > 0 ? words.table.nothingFound : this.empty);
    this.table.hidden = found.length === 0;
    const left = found.length - ordered.length;
    this.more.hidden = left === 0;
    setText(this.more, words.table.more(Math.min(left, PAGE)));
  }

  #ordered(rows) {
    const { value } = this.columns.find((column) => column.key === this.sort);
    const sign = this.isDescending ? -1 : 1;
    const compare = (a, b) => {
      const [one, other] = [value(a), value(b)];
      if (one === other) return this.id(a) < this.id(b) ? -1 : 1;
      // What is not known comes last.
      if (one === undefined || one === null) return 1;
      if (other === undefined || other === null) return -1;
      const order = typeof one === "string" ? inOrder(one, other) : one - other;
      return sign * order;
    };
    const sorted = rows.toSorted(compare);
    return this.order && this.#isTouched() ? this.#asBefore(sorted) : sorted;
  }

  /** Whether rows must not move: one is pointed at, or its text is selected. */
  #isTouched() {
    const selection = getSelection();
    const isSelected = !selection.isCollapsed && this.body.contains(selection.anchorNode);
    return isSelected || this.body.matches(":hover") || this.body.contains(document.activeElement);
  }

  /** Those that are shown stay where they are; new ones come last. */
  #asBefore(rows) {
    const places = new Map(this.order.map((id, place) => [id, place]));
    const place = (row) => places.get(this.id(row)) ?? Infinity;
    return rows.toSorted((a, b) => place(a) - place(b) || 0);
  }

  #line(row) {
    const id = this.id(row);
    let line = this.lines.get(id);
    if (!line) {
      line = el("tr");
      for (const { label, key, isNumber } of this.columns) {
        const name = isNumber ? "number" : undefined;
        line.append(el("td", { "data-label": label, "data-key": key, class: name }));
      }
      if (this.href) {
        line.className = "opens";
        line.addEventListener("click", (event) => {
          const isOwn = event.target.closest("a, button") || !getSelection().isCollapsed;
          if (!isOwn) location.hash = this.href(this.shownRow(id));
        });
      }
      this.lines.set(id, line);
    }
    this.columns.forEach((column, index) => {
      const items = column.cell(row);
      renew(line.children[index], stamp(items), () => parts(items));
    });
    return line;
  }

  shownRow(id) {
    return this.rows.find((row) => this.id(row) === id);
  }

  #sorter({ key, label, value }) {
    if (!value) return el("span", {}, label);
    return el("button", { type: "button", onclick: () => this.#sortBy(key) }, label);
  }

  #sortBy(key) {
    this.isDescending = this.sort === key && !this.isDescending;
    this.sort = key;
    this.#markSorted();
    this.order = undefined;
    this.show(this.rows);
  }

  #markSorted() {
    for (const [key, sorter] of this.sorters) {
      const direction = this.isDescending ? "descending" : "ascending";
      if (sorter.parentElement) {
        setAttribute(sorter.parentElement, "aria-sort", key === this.sort && direction);
      }
    }
    this.select.value = this.sort;
  }

  #showMore() {
    this.limit += PAGE;
    this.show(this.rows);
  }
}
