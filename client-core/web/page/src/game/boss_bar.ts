/** The bar of the greatest in sight: a creature of a variant that its game calls a boss. */

import type { Frame } from "../ambit/ambit.js";
import { variantAt } from "../core/roles.js";
import { forPlayers } from "../core/words.js";
import { el, setHidden, setText, span } from "../dom.js";

const INTERVAL_MS = 120;

export class BossBar {
  readonly #name = el("strong");
  readonly #fill = span("left-of-boss");
  readonly element = el(
    "div",
    {
      class: "boss-bar",
      role: "meter",
      "aria-valuemin": "0",
      "aria-valuemax": "100",
      hidden: true,
    },
    this.#name,
    span("trough", this.#fill),
  );
  #percent = -1;
  #next = 0;

  update(time: number, frame: Frame): void {
    if (time < this.#next) return;
    this.#next = time + INTERVAL_MS;
    const index = this.#find(frame);
    setHidden(this.element, index < 0);
    if (index < 0) return;
    const name = forPlayers(frame.label(index) ?? "");
    setText(this.#name, name);
    const percent = Math.round(100 * (frame.bar(index) ?? 0));
    if (percent === this.#percent) return;
    this.#percent = percent;
    this.element.ariaLabel = name;
    this.element.ariaValueNow = String(percent);
    this.#fill.style.transform = `scaleX(${percent / 100})`;
  }

  #find(frame: Frame): number {
    for (let index = 0; index < frame.count; index += 1) {
      const isNamed = frame.kind(index).look.label !== null;
      const isBoss = isNamed && variantAt(frame, index)?.boss === true;
      if (isBoss && (frame.bar(index) ?? 0) > 0) return index;
    }
    return -1;
  }
}
