/** The bar of whoever is the greatest in sight: a creature whose name says that it is a boss. */

import type { Frame, Kind, Schema } from "../ambit/ambit.js";
import { describeMesh } from "../core/look.js";
import { BOSS, growthOf } from "../core/roles.js";
import { forPlayers } from "../core/words.js";
import { el, setHidden, setText } from "../dom.js";

const INTERVAL_MS = 120;

export class BossBar {
  readonly #name = el("strong");
  readonly #fill = el("span", { class: "left-of-boss" });
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
    el("span", { class: "trough" }, this.#fill),
  );
  readonly #isCreature: readonly boolean[];
  #percent = -1;
  #next = 0;

  constructor({ kinds }: Schema) {
    const isCreature = (kind: Kind) =>
      describeMesh(kind).form === "creature" && kind.look.bar !== null && kind.look.label !== null;
    this.#isCreature = kinds.map(isCreature);
  }

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
      if (!this.#isCreature[frame.kinds[index] as number]) continue;
      const isUp = (frame.bar(index) ?? 0) > 0;
      if (isUp && growthOf(frame.label(index) ?? "") === BOSS) return index;
    }
    return -1;
  }
}
