/** In the middle of the picture: the own avatar has fallen, and for a moment: it is back. */

import type { Frame, Gauge } from "../ambit/ambit.js";
import { countdownOf, Fall } from "../core/fall.js";
import { labelOf } from "../core/words.js";
import { wreckFlagsOf } from "../core/wrecks.js";
import { el, note, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

export class FallenNote {
  readonly #title = el("strong");
  readonly #line = el("span");
  /** It is not read out each second. */
  readonly #back = el("span", { class: "back-in", role: "timer" });
  readonly element = note("div", "fallen-note", this.#title, this.#line, this.#back);
  readonly #fall = new Fall();
  readonly #gauge: Gauge = { value: 0, rate: 0, max: 0 };

  /** The game has said something about the own avatar. */
  note(text: string, isDeath: boolean): void {
    this.#fall.note(performance.now(), text, isDeath);
  }

  get isDown(): boolean {
    return this.#fall.state === "down";
  }

  /**
   * Whether the avatar has come back in this frame; `life` is its share of life. Without `isShown`,
   * something else tells it.
   */
  update(frame: Frame, life: number | undefined, isShown: boolean): boolean {
    const [now, { avatar }] = [performance.now(), frame];
    const isKnown = isShown && avatar >= 0;
    this.#fall.update(now, isKnown ? life : undefined);
    const { state } = this.#fall;
    setHidden(this.element, state === "up" || !isShown);
    if (state === "up" || !isKnown) return false;
    const isDown = state === "down";
    this.element.classList.toggle("back", !isDown);
    setText(this.#title, isDown ? this.#wordsFor(frame) : texts.is_back);
    setText(this.#line, isDown ? this.#fall.line : "");
    const seconds = isDown ? this.#secondsLeft(frame) : 0;
    setText(this.#back, seconds > 0 ? texts.back_in(seconds) : "");
    return this.#fall.isBackAt(now);
  }

  /** What has happened, in the game's words if it has some. */
  #wordsFor(frame: Frame): string {
    const { components } = frame.kind(frame.avatar);
    const flags = wreckFlagsOf({ components });
    const flag = components[flags.find((at) => frame.component(frame.avatar, at) === true) ?? -1];
    return flag ? labelOf(flag) : texts.out;
  }

  /** Until the avatar comes back; 0 if its game does not say. */
  #secondsLeft(frame: Frame): number {
    const name = countdownOf(frame.kind(frame.avatar));
    const left = name === undefined ? undefined : frame.gauge(frame.avatar, name, this.#gauge);
    return left ? Math.ceil(left.value) : 0;
  }
}
