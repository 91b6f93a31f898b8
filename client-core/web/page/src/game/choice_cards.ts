/**
 * Choices as cards in the middle: a picture, a name and what it is good for. What a player has to
 * choose first is open by itself, and closes when the choice is made; others are behind a button.
 * The game goes on meanwhile.
 */

import type { CommandKind } from "../ambit/ambit.js";
import { type Action, choiceOf, countIn } from "../core/actions.js";
import { forPlayers, labelOf } from "../core/words.js";
import { button, el, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

export interface ChoiceCardsHooks {
  begin(action: Action): void;
  /** A picture of who makes the choice, once it is made; undefined if there is none. */
  pictureOf(choice: string): HTMLElement | undefined;
  /** Opened or closed by the player. */
  changed(isOpen: boolean): void;
}

export class ChoiceCards {
  readonly element = el("section", { class: "choice-cards", role: "dialog", hidden: true });
  /** A button for each choice that there is. */
  readonly openers = el("div", { class: "openers", hidden: true });
  readonly #hooks: ChoiceCardsHooks;
  readonly #cards = el("div", { class: "cards" });
  readonly #title = el("h2");
  readonly #buttons = new Map<CommandKind, HTMLElement>();
  #groups: ReadonlyMap<CommandKind, readonly Action[]> = new Map();
  #open: CommandKind | undefined;
  #shown: readonly Action[] = [];
  #lists: ReadonlyMap<string, string> = new Map();

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

  /** Whose cards are shown. */
  get opened(): CommandKind | undefined {
    return this.#open;
  }

  /**
   * What there is to choose now. `first` has to be chosen, and opens as soon as it is there.
   * `lists` say how many there are of what is listed.
   */
  offer(
    groups: ReadonlyMap<CommandKind, readonly Action[]>,
    first: CommandKind | undefined,
    lists: ReadonlyMap<string, string>,
  ): void {
    this.#lists = lists;
    const isNew = first !== undefined && !this.#groups.has(first);
    this.#groups = groups;
    for (const command of groups.keys()) {
      if (this.#buttons.has(command)) continue;
      const name = texts.choose(labelOf(command));
      const opener = button(name, () => this.#toggle(command), { title: command.help });
      this.#buttons.set(command, opener);
    }
    // In the order in which the game declares them, whatever came first.
    for (const command of groups.keys()) {
      const opener = this.#buttons.get(command);
      if (opener) this.openers.append(opener);
    }
    if (isNew) this.#open = first;
    else if (this.#open && !groups.has(this.#open)) this.#open = undefined;
    this.#show();
  }

  /** True if something was open. */
  close(): boolean {
    if (!this.#open) return false;
    this.#open = undefined;
    this.#show();
    this.#hooks.changed(false);
    return true;
  }

  #toggle(command: CommandKind): void {
    if (this.#open === command) return void this.close();
    this.#open = command;
    this.#show();
    this.#hooks.changed(true);
    this.#cards.querySelector("button")?.focus();
  }

  /** After keys were given to the actions. */
  showKeys(): void {
    this.#cards.querySelectorAll("kbd").forEach((shown, at) => {
      const key = this.#shown[at]?.key ?? "";
      setText(shown, key && texts.key(key));
      setHidden(shown, key === "");
    });
  }

  #show(): void {
    const actions = (this.#open && this.#groups.get(this.#open)) ?? [];
    const { length } = this.#shown;
    if (actions.length !== length || actions.some((action, at) => action !== this.#shown[at])) {
      this.#shown = actions;
      this.#cards.replaceChildren(...actions.map((action) => this.#card(action)));
    }
    const title = this.#open ? titleOf(this.#open) : "";
    setText(this.#title, title);
    this.element.ariaLabel = title;
    setHidden(this.element, !this.#open);
    this.#cards.querySelectorAll("strong").forEach((shown, at) => {
      const action = actions[at];
      if (action) setText(shown, this.#nameOf(action));
    });
    for (const [command, opener] of this.#buttons) {
      setHidden(opener, !this.#groups.has(command));
      opener.ariaExpanded = String(command === this.#open);
    }
    setHidden(this.openers, this.#groups.size === 0);
  }

  #card(action: Action): HTMLElement {
    const { label, command } = action;
    const choice = choiceOf(action);
    // A sign stays with its number.
    const help = choice === "" ? "" : action.help.replaceAll(" %", "\u00a0%");
    const element = button("", () => this.#hooks.begin(action), {
      class: "card",
      "aria-label": label,
      "aria-description": help,
      "data-card": `${command.name} ${choice}`,
    });
    element.append(
      this.#hooks.pictureOf(choice) ?? "",
      el("strong", {}, this.#nameOf(action)),
      el("span", { class: "about" }, help),
      el("kbd"),
    );
    return element;
  }

  #nameOf(action: Action): string {
    const choice = choiceOf(action);
    if (choice === "") return texts.nothing;
    const count = countIn(this.#lists.get(action.listedIn) ?? "", choice);
    return count > 1 ? texts.times(forPlayers(choice), count) : forPlayers(choice);
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

/** What the command does says what is to choose. */
function titleOf(command: CommandKind): string {
  return command.help.replace(/\.$/, "") || labelOf(command);
}
