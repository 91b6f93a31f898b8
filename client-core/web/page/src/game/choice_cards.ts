/**
 * A choice that a player has to make first, as cards in the middle: a picture, a name and what it
 * is good for. It does not stop the game, closes when the choice is made, and can be opened again
 * as long as there is something to choose.
 */

import type { Action } from "../core/actions.js";
import { forPlayers, labelOf } from "../core/words.js";
import { button, el, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

export interface ChoiceCardsHooks {
  begin(action: Action): void;
  /** A picture of who makes the choice, once it is made; undefined if there is none. */
  pictureOf(choice: string): HTMLElement | undefined;
  closed(): void;
}

export class ChoiceCards {
  readonly element = el("section", { class: "choice-cards", role: "dialog", hidden: true });
  /** Opens the cards again. */
  readonly opener = button("", () => this.#open(), { class: "main", hidden: true });
  readonly #hooks: ChoiceCardsHooks;
  readonly #cards = el("div", { class: "cards" });
  readonly #title = el("h2");
  #actions: readonly Action[] = [];

  constructor(hooks: ChoiceCardsHooks) {
    this.#hooks = hooks;
    const close = button("\u00d7", () => this.close(), {
      class: "close",
      "aria-label": texts.choose_later,
      title: texts.choose_later,
    });
    this.element.append(el("header", {}, this.#title, close), this.#cards);
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /** What is to choose now; none closes the cards. */
  show(actions: readonly Action[]): void {
    const before = this.#actions;
    const isSame =
      actions.length === before.length && actions.every((action, at) => action === before[at]);
    if (!isSame) {
      this.#actions = actions;
      this.#cards.replaceChildren(...actions.map((action) => this.#card(action)));
      const [first] = actions;
      // What the command does says what is to choose.
      const { command } = first ?? {};
      const about = command?.help.replace(/\.$/, "");
      const title = command ? about || texts.choose(labelOf(command)) : "";
      setText(this.#title, title);
      this.element.ariaLabel = title;
      setText(this.opener, title);
      setHidden(this.element, actions.length === 0);
    }
    this.#cards.querySelectorAll("kbd").forEach((shown, at) => {
      const key = actions[at]?.key ?? "";
      setText(shown, key && texts.key(key));
    });
    setHidden(this.opener, actions.length === 0 || this.isOpen);
  }

  /** True if it was open. */
  close(): boolean {
    if (!this.isOpen) return false;
    setHidden(this.element, true);
    setHidden(this.opener, this.#actions.length === 0);
    this.#hooks.closed();
    return true;
  }

  #open(): void {
    setHidden(this.element, false);
    setHidden(this.opener, true);
    this.#cards.querySelector("button")?.focus();
  }

  #card(action: Action): HTMLElement {
    const { label, help, command, preset } = action;
    const [choice] = Object.values(preset);
    const name = forPlayers(String(choice));
    const element = button("", () => this.#hooks.begin(action), {
      class: "card",
      "aria-label": label,
      "aria-description": help,
      "data-card": `${command.name} ${String(choice)}`,
    });
    element.append(
      this.#hooks.pictureOf(String(choice)) ?? "",
      el("strong", {}, name),
      el("span", { class: "about" }, help),
      el("kbd"),
    );
    return element;
  }

  /** Arrow keys go from card to card. */
  #key(event: KeyboardEvent): void {
    if (event.key === "Escape" && this.close()) return event.stopPropagation();
    const step = ["ArrowRight", "ArrowDown"].includes(event.key)
      ? 1
      : ["ArrowLeft", "ArrowUp"].includes(event.key) ? -1 : 0;
    if (step === 0) return;
    const cards = [...this.#cards.querySelectorAll("button")];
    const at = cards.findIndex((card) => card === document.activeElement);
    cards[(at + step + cards.length) % cards.length]?.focus();
    event.preventDefault();
    event.stopPropagation();
  }
}
