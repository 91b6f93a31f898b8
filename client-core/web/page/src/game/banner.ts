/** What is announced to all: large and for a moment, above the middle of the picture. */

import type { Announcement } from "../core/announcements.js";
import { el, note, setHidden, setText, span } from "../dom.js";

const SHOWN_MS = 3_600;

export class Banner {
  readonly #lead = span("lead");
  readonly #title = el("strong");
  readonly #advice = span("advice");
  readonly element = note("div", "banner", this.#lead, this.#title, this.#advice);
  #until = Infinity;

  show(now: number, { lead, title, advice, outcome }: Announcement): void {
    setText(this.#lead, lead);
    setText(this.#title, title);
    setText(this.#advice, advice);
    this.element.dataset["outcome"] = outcome ?? "";
    // Hiding the element restarts its animation.
    setHidden(this.element, true);
    void this.element.offsetWidth;
    setHidden(this.element, false);
    this.#until = now + SHOWN_MS;
  }

  update(now: number): void {
    if (now < this.#until) return;
    this.#until = Infinity;
    setHidden(this.element, true);
  }
}
