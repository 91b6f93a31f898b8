/** Whom the player has felled: a word in the middle of the picture, for a moment. */

import { el, setText } from "../dom.js";
import { texts } from "../texts.js";

const SHOWN_MS = 1_100;

export class FelledNote {
  /** The log has the same, for screen readers. */
  readonly element = el("div", { class: "felled-note", "aria-hidden": "true" });

  show(name: string): void {
    setText(this.element, texts.felled(name));
    this.element.animate(
      [
        { opacity: 0, scale: 1.7 },
        { opacity: 1, scale: 1, offset: 0.14 },
        { opacity: 1, scale: 1, offset: 0.7 },
        { opacity: 0, scale: 0.96 },
      ],
      { duration: SHOWN_MS, easing: "ease-out" },
    );
  }
}
