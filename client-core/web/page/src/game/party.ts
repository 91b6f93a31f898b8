/**
 * The members of the avatar's party in sight, with bar and name, in games that have a party. Those
 * who need help come first.
 */

import type { Frame, Scenery } from "../ambit/ambit.js";
import { type PartyMember, PartyOrder } from "../core/party_order.js";
import { button, el, setHidden, setText, span } from "../dom.js";
import { texts } from "../texts.js";

const MAX_MEMBERS = 8;
const INTERVAL_MS = 150;
/** Below this share a bar warns. */
const LOW = 0.35;

export class Party {
  readonly element = el("ul", { class: "party", "aria-label": texts.party, hidden: true });
  readonly #isThere: boolean;
  readonly #members: readonly Member[];
  readonly #order = new PartyOrder();
  #next = 0;

  /** `pick` is called with the id of a member that the player points at. */
  constructor({ party }: Scenery, pick: (id: number) => void) {
    this.#isThere = party;
    this.#members = Array.from({ length: MAX_MEMBERS }, () => memberOf(pick));
    this.element.append(...this.#members.map(({ element }) => el("li", {}, element)));
  }

  update(time: number, frame: Frame): void {
    const { avatar } = frame;
    if (!this.#isThere || avatar < 0 || time < this.#next) return;
    this.#next = time + INTERVAL_MS;
    const all: PartyMember[] = [];
    for (let index = 0; index < frame.count; index += 1) {
      if (index === avatar || frame.kindIndex(index) !== frame.kindIndex(avatar)) continue;
      if (frame.label(index) === undefined) continue;
      all.push({ id: frame.id(index), share: frame.bar(index) ?? 1 });
    }
    this.#order.sort(all);
    for (const [at, member] of this.#members.entries()) {
      const shown = all[at];
      setHidden(member.element, shown === undefined);
      if (!shown) continue;
      member.id = shown.id;
      const name = frame.label(frame.indexOf(shown.id)) ?? "";
      setText(member.name, name);
      if (member.element.title !== name) member.element.title = name;
      // Writing the same value would still make the browser draw.
      const share = Math.round(shown.share * 100) / 100;
      if (member.share !== share) showShare(member, share);
    }
    setHidden(this.element, all.length === 0);
  }
}

type Member = ReturnType<typeof memberOf>;

function memberOf(pick: (id: number) => void) {
  const [name, fill] = [span("name"), span("fill")];
  const element = button(fill, () => pick(member.id), { hidden: true }, name);
  const member = { element, name, fill, share: NaN, id: -1 };
  return member;
}

function showShare(member: Member, share: number): void {
  member.share = share;
  member.fill.style.transform = `scaleX(${share})`;
  member.element.classList.toggle("down", share === 0);
  member.element.classList.toggle("low", share < LOW);
}
