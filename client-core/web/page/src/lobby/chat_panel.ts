/** The chat: the lobby's, the room's, and whispers. */

import type { PlayerListing } from "../ambit/ambit.js";
import { Changed } from "../core/changed.js";
import { el, labelled, panel } from "../dom.js";
import { texts } from "../texts.js";
import { type Addressee, addresseeOf, addresseesOf, ROOM } from "./addressees.js";
import type { ChatLine } from "./lobby_model.js";

export class ChatPanel {
  readonly element: HTMLElement;
  readonly #lines = el("div", { class: "lines", role: "log", tabindex: "0",
    "data-empty": texts.no_chat });
  readonly #to = el("select");
  readonly #text = el("input", { type: "text", maxlength: "500", autocomplete: "off" });
  readonly #shown = new Map<ChatLine, HTMLElement>();
  readonly #offered = new Changed();
  #isInRoom = false;

  constructor(say: (to: Addressee, text: string) => Promise<boolean>) {
    this.#lines.setAttribute("aria-label", texts.chat);
    const form = el(
      "form",
      { class: "say" },
      labelled(texts.to_whom, this.#to),
      labelled(texts.message, this.#text),
      el("button", { type: "submit" }, texts.send),
    );
    this.#to.addEventListener("change", () => this.#checkAddressee());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.#text.value.trim();
      if (text === "") return;
      void say(addresseeOf(this.#to.value), text).then((isSaid) => {
        if (isSaid) this.#text.value = "";
      });
    });
    this.element = panel("section", "chat", texts.chat, this.#lines, form);
  }

  focus(): void {
    this.#text.focus();
  }

  update(
    lines: readonly ChatLine[],
    others: readonly PlayerListing[],
    present: { isInRoom: boolean; isInParty: boolean },
  ): void {
    const { isInRoom } = present;
    this.#offer(others, present);
    // Who plays with others speaks to them.
    if (isInRoom && !this.#isInRoom) this.#to.value = ROOM;
    this.#isInRoom = isInRoom;
    const isShown = new Set(lines);
    for (const [line, element] of this.#shown) {
      if (isShown.has(line)) continue;
      element.remove();
      this.#shown.delete(line);
    }
    for (const line of lines) {
      if (this.#shown.has(line)) continue;
      const element = el("p", { "data-channel": line.channel }, format(line));
      this.#shown.set(line, element);
      this.#lines.append(element);
      this.#lines.scrollTop = this.#lines.scrollHeight;
    }
  }

  /** The addressees. The list is replaced only when it has changed. */
  #offer(
    others: readonly PlayerListing[],
    present: { isInRoom: boolean; isInParty: boolean },
  ): void {
    const before = this.#to.value;
    const options = addresseesOf(others, present, before);
    if (!this.#offered.by(options)) return;
    const elements = options.map(({ value, label, isGone }) =>
      el("option", { value, disabled: isGone }, label),
    );
    this.#to.replaceChildren(...elements);
    if (options.some(({ value }) => value === before)) this.#to.value = before;
    this.#checkAddressee();
  }

  /** The browser refuses to send a form with an invalid field, and says why. */
  #checkAddressee(): void {
    const isGone = this.#to.selectedOptions[0]?.disabled ?? false;
    this.#to.setCustomValidity(isGone ? texts.addressee_gone : "");
  }
}

/** A line as it is shown. */
export function format({ channel, from, to, text }: ChatLine): string {
  if (channel === "notice") return text;
  return texts.said(from, to ? texts.whispered_to(to) : texts.channel[channel], text);
}
