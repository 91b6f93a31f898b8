/** Whoever is on the avatar's side and in sight, with bar and name: in games that have a party. */

import type { Frame, Scenery } from "../ambit/ambit.js";
import { el, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

const MAX_MEMBERS = 8;
const INTERVAL_MS = 150;
/** Below this share a bar warns. */
const LOW = 0.35;

interface Member {
  element: HTMLButtonElement;
  name: HTMLElement;
  fill: HTMLElement;
  share: number;
  id: number;
}

export class Party {
  readonly element = el("ul", { class: "party", "aria-label": texts.party, hidden: true });
  readonly #isThere: boolean;
  readonly #members: readonly Member[];
  #next = 0;

  /** `pick` is called with the id of a member that the player points at. */
  constructor({ party }: Scenery, pick: (id: number) => void) {
    this.#isThere = party;
    this.#members = Array.from({ length: MAX_MEMBERS }, () => {
      const [name, fill] = [el("span", { class: "name" }), el("span", { class: "fill" })];
      const element = el("button", { type: "button", hidden: true }, fill, name);
      const member = { element, name, fill, share: NaN, id: -1 };
      element.addEventListener("click", () => pick(member.id));
      this.element.append(el("li", {}, element));
      return member;
    });
  }

  update(time: number, frame: Frame): void {
    const { avatar } = frame;
    if (!this.#isThere || avatar < 0 || time < this.#next) return;
    this.#next = time + INTERVAL_MS;
    let count = 0;
    for (let index = 0; index < frame.count && count < MAX_MEMBERS; index += 1) {
      if (index === avatar || frame.kinds[index] !== frame.kinds[avatar]) continue;
      const label = frame.label(index);
      const member = this.#members[count];
      if (label === undefined || !member) continue;
      member.id = frame.id(index);
      setText(member.name, label);
      // A write of what is there already would still make the browser draw.
      const share = Math.round((frame.bar(index) ?? 1) * 100) / 100;
      if (member.share !== share) showShare(member, share);
      setHidden(member.element, false);
      count += 1;
    }
    for (const { element } of this.#members.slice(count)) setHidden(element, true);
    setHidden(this.element, count === 0);
  }
}

function showShare(member: Member, share: number): void {
  member.share = share;
  member.fill.style.transform = `scaleX(${share})`;
  member.element.classList.toggle("down", share === 0);
  member.element.classList.toggle("low", share < LOW);
}
