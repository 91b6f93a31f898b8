// Events as they happen, newest first.

import { arrange, el, setText } from "./dom.js";
import { eventRow, eventText, kindOf } from "./event_rows.js";
import { icon } from "./icons.js";
import { words } from "./words.js";

/** Rows that are shown. */
const SHOWN = 300;

export const needs = ["events"];

export function make(store) {
  const texts = words.events;
  const rows = new Map();
  let kind = "all";
  /** While paused: the events as they were. */
  let held;
  // Guests are told of games alone.
  const isTold = ([key]) => !store.me.guest || !["refused", "operator", "chat"].includes(key);
  const kinds = Object.entries(texts.kinds).filter(isTold).map(([key, label]) => {
    const choose = { type: "button", "aria-pressed": key === kind, onclick: () => pick(key) };
    return { key, button: el("button", choose, label) };
  });
  const search = el("input", {
    type: "search",
    placeholder: texts.search,
    "aria-label": texts.search,
    oninput: () => update(),
  });
  const pause = el("button", { type: "button", onclick: () => hold() }, texts.pause);
  const note = el("span", { class: "count", role: "status" });
  const list = el("ul", { class: "events" });
  const nothing = el("p", { class: "empty" });
  const missed = el("p", { class: "soft missed", hidden: true });
  const root = el(
    "div",
    { class: "listing" },
    el("div", { class: "bar kinds" }, ...kinds.map(({ button }) => button)),
    el(
      "div",
      { class: "bar" },
      el("label", { class: "search" }, icon("search"), search),
      note,
      pause,
    ),
    el("div", { class: "panel" }, list, nothing, missed),
  );

  function pick(key) {
    kind = key;
    for (const it of kinds) it.button.setAttribute("aria-pressed", it.key === kind);
    update();
  }

  function hold() {
    held = held ? undefined : store.events;
    setText(pause, held ? texts.resume : texts.pause);
    update();
  }

  function rowOf(event) {
    const { row, text } = rows.get(event.number) ?? {
      row: eventRow(store, event),
      text: eventText(store, event).toLowerCase(),
    };
    rows.set(event.number, { row, text });
    return { row, text };
  }

  function update() {
    const wanted = search.value.trim().toLowerCase();
    const all = held ?? store.events;
    const found = [];
    for (const event of all) {
      if (found.length === SHOWN) break;
      if (kind !== "all" && kindOf(event) !== kind) continue;
      const { row, text } = rowOf(event);
      if (text.includes(wanted)) found.push(row);
    }
    arrange(list, found);
    const known = new Set(store.events.map(({ number }) => number));
    for (const number of rows.keys()) if (!known.has(number)) rows.delete(number);
    nothing.hidden = found.length > 0;
    const empty = all.length > 0 ? texts.nothing : texts.empty;
    setText(nothing, store.hasEvents ? empty : texts.unavailable);
    const newest = held?.[0]?.number ?? 0;
    const fresh = held ? store.events.filter(({ number }) => number > newest).length : 0;
    setText(note, held ? texts.paused(fresh) : "");
    missed.hidden = store.missedEvents === 0;
    setText(missed, texts.missed(store.missedEvents));
  }

  return { root, update };
}
