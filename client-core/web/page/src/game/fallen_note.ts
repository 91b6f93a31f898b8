/** In the middle of the picture: the own avatar has fallen, and for a moment: it is back. */

import type { Frame } from "../ambit/ambit.js";
import { Fall } from "../core/fall.js";
import { el, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

export class FallenNote {
  readonly #title = el("strong");
  readonly #line = el("span");
  readonly element = el(
    "div",
    { class: "fallen-note", role: "status", hidden: true },
    this.#title,
    this.#line,
  );
  readonly #fall = new Fall();

  /** The game has said something about the own avatar. */
  note(text: string, isDeath: boolean): void {
    this.#fall.note(performance.now(), text, isDeath);
  }

  get isDown(): boolean {
    return this.#fall.state === "down";
  }

  /** Whether the avatar has come back in this frame. Without `isShown`, something else tells it. */
  update(frame: Frame, isShown: boolean): boolean {
    const [now, { avatar }] = [performance.now(), frame];
    const isKnown = isShown && avatar >= 0;
    this.#fall.update(now, isKnown ? frame.bar(avatar) : undefined);
    const { state } = this.#fall;
    setHidden(this.element, state === "up" || !isShown);
    if (state === "up" || !isKnown) return false;
    const isDown = state === "down";
    this.element.classList.toggle("back", !isDown);
    setText(this.#title, isDown ? texts.out : texts.is_back);
    setText(this.#line, isDown ? this.#fall.lineFor(frame.label(avatar) ?? "") : "");
    return this.#fall.isBackAt(now);
  }
}
