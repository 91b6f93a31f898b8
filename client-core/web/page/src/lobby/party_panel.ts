/** Who joins rooms with the player: an invitation to accept, the members, and the way out. */

import type { PartyListing, PlayerListing } from "../ambit/ambit.js";
import { Changed } from "../core/changed.js";
import { button, div, el, setHidden, setText, span } from "../dom.js";
import { texts } from "../texts.js";

export interface PartyHooks {
  /** Asks a player into the party, by name. */
  askIntoParty(name: string): void;
  joinParty(party: number): void;
  declineParty(): void;
  /** Of another member, or of the player. */
  leaveParty(member?: number): void;
}

/** Which party asks for the player, and by whom. */
export interface Invitation {
  party: number;
  name: string;
}

export class PartyPanel {
  readonly element: HTMLElement;
  readonly #asked: HTMLElement;
  readonly #asks = el("p");
  readonly #members = el("ul", { class: "members" });
  readonly #leave: HTMLButtonElement;
  readonly #hint = el("small", {}, texts.party_hint);
  readonly #shown = new Changed();
  #invitation: Invitation | undefined;

  constructor(private readonly hooks: PartyHooks) {
    const join = () => this.#invitation && hooks.joinParty(this.#invitation.party);
    this.#asked = div(
      "asked",
      this.#asks,
      div(
        "buttons",
        button(texts.party_join, join, { class: "main" }),
        button(texts.party_decline, () => hooks.declineParty()),
      ),
    );
    this.#asked.setAttribute("role", "status");
    this.#leave = button(texts.party_leave, () => hooks.leaveParty());
    this.element = el(
      "section",
      { class: "panel fellows", "aria-label": texts.party },
      el("h2", {}, texts.party),
      this.#asked,
      this.#members,
      this.#hint,
      this.#leave,
    );
  }

  update(
    party: PartyListing | undefined,
    invitation: Invitation | undefined,
    own: number,
  ): void {
    this.#invitation = invitation;
    setHidden(this.element, !party && !invitation);
    setHidden(this.#asked, !invitation);
    setText(this.#asks, invitation ? texts.party_asks(invitation.name) : "");
    setHidden(this.#hint, !party);
    setHidden(this.#leave, !party);
    const members = party?.members ?? [];
    const leader = party?.leader;
    if (!this.#shown.by(members, leader)) return;
    this.#members.replaceChildren(...members.map((member) => this.#row(member, own, leader)));
  }

  #row({ id, name, connected }: PlayerListing, own: number, leader?: number): HTMLElement {
    const remarks = [
      id === own ? texts.you : "",
      id === leader ? texts.party_leader : "",
      connected ? "" : texts.away,
    ];
    const remark = remarks.filter(Boolean).join(", ");
    const out =
      leader === own && id !== own
        ? button(texts.kick, () => this.hooks.leaveParty(id), {
            "aria-label": texts.party_remove(name),
          })
        : undefined;
    const details = remark ? span("details", remark) : undefined;
    return el("li", {}, el("div", {}, el("strong", {}, name), details), out);
  }
}
