/** The panel with the hints of a first visit. */

import { FirstVisit } from "../core/first_visit.js";
import { button, el, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

/** `done` is called after each hint, for the focus. */
export function firstHints(done: () => void): HTMLElement {
  const visit = new FirstVisit(localStorage, texts.hints);
  const text = el("p");
  const next = button(texts.next_hint, () => show(() => visit.next()), { class: "main" });
  const skip = button(texts.no_hints, () => show(() => visit.end()));
  const panel = el("aside", { class: "panel first-hints", role: "status" }, text, next, skip);
  const show = (act: () => void) => {
    act();
    setHidden(panel, visit.hint === undefined);
    setText(text, visit.hint ?? "");
    if (visit.isLast) setText(next, texts.last_hint);
    setHidden(skip, visit.isLast);
    done();
  };
  show(() => {});
  return panel;
}
