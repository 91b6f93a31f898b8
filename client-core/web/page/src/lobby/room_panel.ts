/** The room that the player is in, before and during its game: members, ready, start, remove. */

import type { PlayerListing, RoomListing } from "../ambit/ambit.js";
import { Changed } from "../core/changed.js";
import { forPlayers } from "../core/words.js";
import { button, div, el, setHidden, setText, span } from "../dom.js";
import { texts } from "../texts.js";
import { gamePicture } from "./game_picture.js";

export interface RoomHooks {
  ready(isReady: boolean): void;
  start(): void;
  play(): void;
  leave(): void;
  kick(player: number): void;
}

export class RoomPanel {
  readonly element: HTMLElement;
  readonly #title = el("h2");
  readonly #about = el("p", { class: "details" });
  readonly #members = el("ul", { class: "members" });
  readonly #picture = div("art");
  readonly #shownPicture = new Changed();
  readonly #ready: HTMLButtonElement;
  readonly #start: HTMLButtonElement;
  readonly #play: HTMLButtonElement;
  #isReady = false;
  readonly #shown = new Changed();

  constructor(private readonly hooks: RoomHooks) {
    this.#ready = button(texts.be_ready, () => hooks.ready(!this.#isReady));
    this.#start = button(texts.start, () => hooks.start(), { class: "main" });
    this.#play = button(texts.play, () => hooks.play(), { class: "main" });
    const leave = button(texts.leave, () => hooks.leave());
    this.element = el(
      "section",
      { class: "panel room", "aria-label": texts.members },
      this.#picture,
      this.#title,
      this.#about,
      el("h3", {}, texts.members),
      this.#members,
      div("buttons", this.#start, this.#play, this.#ready, leave),
    );
  }

  /** `isOut`: the player's game is neither shown nor on the way. */
  update(
    room: RoomListing | undefined,
    members: readonly PlayerListing[],
    own: number,
    isOut: boolean,
  ): void {
    const self = members.find(({ id }) => id === own);
    const isHost = self?.host ?? false;
    this.#isReady = self?.ready ?? false;
    setText(this.#title, room?.name ?? "");
    const state = room?.running ? texts.running : texts.waiting;
    setText(this.#about, room ? `${forPlayers(room.game)} · ${state}` : "");
    this.#showPicture(room);
    // Who cannot start the game says that it may begin: the one thing to do then.
    this.#ready.classList.toggle("main", !this.#isReady);
    setText(this.#ready, this.#isReady ? texts.be_not_ready : texts.be_ready);
    this.#ready.setAttribute("aria-pressed", String(this.#isReady));
    setHidden(this.#start, !isHost || (room?.running ?? false));
    // The host says it by starting the game.
    setHidden(this.#ready, isHost || (room?.running ?? false));
    setHidden(this.#play, !isOut || !room?.running);
    if (!this.#shown.by(members, isHost)) return;
    this.#members.replaceChildren(...members.map((member) => this.#row(member, own, isHost)));
  }

  #showPicture(room: RoomListing | undefined): void {
    if (!this.#shownPicture.by(room?.game, room?.name)) return;
    this.#picture.replaceChildren(...(room ? [gamePicture(room.game, room.name, "alone")] : []));
  }

  #row(member: PlayerListing, own: number, isHost: boolean): HTMLElement {
    const remarks = [
      member.id === own ? texts.you : "",
      member.host ? texts.host : "",
      member.connected ? (member.ready ? texts.ready : "") : texts.away,
    ];
    const remark = remarks.filter(Boolean).join(", ");
    const kick =
      isHost && member.id !== own
        ? button(texts.kick, () => this.hooks.kick(member.id), {
            "aria-label": texts.kick_player(member.name),
          })
        : undefined;
    const details = remark ? span("details", remark) : undefined;
    return el("li", {}, el("div", {}, el("strong", {}, member.name), details), kick);
  }
}
