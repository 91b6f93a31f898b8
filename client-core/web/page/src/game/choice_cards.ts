/**
 * Choices as cards in the middle: a picture, a name and what it is good for; those that hang on
 * each other as a tree. What a player has to choose first, or is asked, is open by itself, and
 * closes when the choice is made; others are behind a button.
 * The game goes on meanwhile.
 */

import type { CommandKind, Cost, Schema } from "../ambit/ambit.js";
import {
  type Action,
  cardName,
  choiceOf,
  costText,
  countOf,
  helpOf,
  isListed,
  isMarked,
  isOfTree,
  isTooDear,
  markedIn,
} from "../core/actions.js";
import { aboutOf } from "../core/action_tile.js";
import { cardPictureOf } from "../core/card_pictures.js";
import { countKey, type Known, purseOf } from "../core/known.js";
import { componentLabels, forPlayers, labelOf } from "../core/words.js";
import { button, div, el, setHidden, setText, span } from "../dom.js";
import { texts } from "../texts.js";
import { cardPicture } from "./card_pictures.js";
import { ChoiceTreeView } from "./choice_tree.js";

/** What was opened so short a time ago belongs to what is announced. */
const NEW_MS = 1_500;

/** What there is, what one can pay with, and what others have chosen. */
type Paid = Pick<Known, "numbers" | "gauges" | "counts" | "shares">;

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
  readonly #cards = div("cards");
  readonly #tree: ChoiceTreeView;
  /** Those of components, by their names. */
  readonly #labels: ReadonlyMap<string, string>;
  readonly #title = el("h2");
  /** What one has to pay with. */
  readonly #purse = span("purse");
  readonly #close = button("\u00d7", () => this.close(), { class: "close" });
  readonly #buttons = new Map<CommandKind, HTMLElement>();
  #groups: ReadonlyMap<CommandKind, readonly Action[]> = new Map();
  #open: CommandKind | undefined;
  #first: CommandKind | undefined;
  #openedAt = 0;
  #shown: readonly Action[] = [];
  #known: Paid = { numbers: new Map(), gauges: new Map(), counts: new Map(), shares: new Map() };

  constructor(schema: Pick<Schema, "kinds">, private readonly hooks: ChoiceCardsHooks) {
    this.#labels = componentLabels(schema);
    this.#tree = new ChoiceTreeView(this.#labels, (action) => this.hooks.begin(action));
    const words = div("words", this.#title, this.#purse);
    const header = el("header", {}, words, this.#close);
    this.element.append(header, this.#cards, this.#tree.element);
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Whose cards are shown. */
  get opened(): CommandKind | undefined {
    return this.#open;
  }

  /**
   * What there is to choose now. `first` has to be chosen, and opens as soon as it is offered.
   * `known` says how many there are of what is listed, what the player can pay, and how many others
   * have made the same choice.
   */
  offer(
    groups: ReadonlyMap<CommandKind, readonly Action[]>,
    first: CommandKind | undefined,
    known: Paid,
  ): void {
    this.#known = known;
    const isNew = first !== undefined && !this.#groups.has(first);
    const before = this.#groups;
    this.#groups = groups;
    this.#first = first;
    // In the order in which the game declares them, also if another one came first.
    for (const command of groups.keys()) {
      const opener = this.#buttons.get(command) ?? this.#openerOf(command);
      this.#buttons.set(command, opener);
      this.openers.append(opener);
    }
    const asked = [...groups.keys()].find((command) => isQuestion(command) && !before.has(command));
    if (isNew) this.#open = first;
    else if (asked && !this.#open) this.#open = asked;
    else if (this.#open && !groups.has(this.#open)) this.#open = undefined;
    this.#show();
  }

  /** True if something was open. */
  close(): boolean {
    if (!this.#open) return false;
    this.#open = undefined;
    this.#show();
    this.hooks.changed(false);
    return true;
  }

  /** Closes what is not to be chosen first; a question goes when it is asked no more. */
  rest(): void {
    const isNew = performance.now() < this.#openedAt + NEW_MS;
    if (!this.#open || this.#open === this.#first || isQuestion(this.#open) || isNew) return;
    this.close();
  }

  /**
   * A command was taken: a question is then answered. Whether the player should read that;
   * undefined if it was none of these choices.
   */
  confirm(label: string): boolean | undefined {
    for (const [command, actions] of this.#groups) {
      const action = actions.find((one) => one.label === label);
      if (!action) continue;
      const opener = this.#buttons.get(command);
      if (isQuestion(command) && opener) {
        setText(opener, texts.chosen(labelOf(command), this.#nameOf(action)));
        if (this.#open === command) this.close();
      }
      // What a player has become is seen.
      return command !== this.#first;
    }
    return undefined;
  }

  #openerOf(command: CommandKind): HTMLElement {
    const name = texts.choose(labelOf(command));
    return button(name, () => this.#toggle(command), { title: command.help });
  }

  #toggle(command: CommandKind): void {
    if (this.#open === command) return void this.close();
    this.#open = command;
    this.#show();
    this.hooks.changed(true);
    const cards = this.#buttonsShown();
    (cards.find((card) => card.dataset["state"] === "open") ?? cards[0])?.focus();
  }

  /** After keys were given to the actions. */
  showKeys(): void {
    const byName = new Map(this.#shown.map((action) => [cardName(action), action]));
    this.#buttonsShown().forEach((card) => {
      const shown = card.querySelector("kbd");
      const key = byName.get(card.dataset["card"] ?? "")?.key ?? "";
      if (!shown) return;
      setText(shown, key && texts.key(key));
      setHidden(shown, key === "");
    });
  }

  /** The cards, or what is in the tree. */
  #buttonsShown(): HTMLElement[] {
    const { element } = this.#tree;
    return [...(element.hidden ? this.#cards : element).querySelectorAll("button")];
  }

  #show(): void {
    const actions = (this.#open && this.#groups.get(this.#open)) ?? [];
    const isTree = this.#open !== undefined && isOfTree(this.#open);
    const { length } = this.#shown;
    if (actions.length !== length || actions.some((action, at) => action !== this.#shown[at])) {
      this.#shown = actions;
      const cards = isTree ? [] : actions;
      this.#cards.replaceChildren(...cards.map((action) => this.#card(action)));
    }
    this.#tree.show(isTree ? actions : [], this.#known);
    setHidden(this.#cards, isTree);
    const title = this.#open ? titleOf(this.#open) : "";
    setText(this.#title, title);
    this.element.ariaLabel = title;
    const isFirst = this.#open !== undefined && this.#open === this.#first;
    this.#close.ariaLabel = this.#close.title = isFirst ? texts.choose_later : texts.close;
    const purse = this.#open && !isQuestion(this.#open)
      ? purseOf(actions.map(({ cost }) => cost), this.#known.numbers)
      : undefined;
    setText(this.#purse, purse ? this.#purseText(purse) : "");
    if (this.element.hidden && this.#open) this.#openedAt = performance.now();
    setHidden(this.element, !this.#open);
    for (const [at, card] of [...this.#cards.children].entries()) {
      const action = actions[at];
      if (action) this.#refresh(card, action);
    }
    for (const [command, opener] of this.#buttons) {
      if (!this.#groups.has(command)) setText(opener, texts.choose(labelOf(command)));
      setHidden(opener, !this.#groups.has(command));
      opener.ariaExpanded = String(command === this.#open);
      const inTree = isOfTree(command) ? (this.#groups.get(command) ?? []) : [];
      const isOpen = (action: Action) =>
        isListed(action, this.#known) && !isTooDear(action, this.#known);
      opener.classList.toggle("has-open", inTree.some(isOpen));
    }
    setHidden(this.openers, this.#groups.size === 0);
  }

  #purseText({ of, amount }: Cost): string {
    return texts.you_have(amount, this.#labels.get(of) ?? forPlayers(of));
  }

  #card(action: Action): HTMLElement {
    const { label, command } = action;
    const choice = choiceOf(action);
    // A sign stays with its number.
    const help = choice === "" ? "" : action.help.replaceAll(" %", "\u00a0%");
    const rarity = aboutOf(action)?.rarity ?? undefined;
    const rare = rarity ? texts.rarity[rarity] : "";
    const attributes = {
      class: "card",
      "aria-label": label,
      "aria-description": [rare, helpOf(action)].filter(Boolean).join(". "),
      "data-card": cardName(action),
      "data-rarity": rarity,
    };
    return button(
      this.hooks.pictureOf(choice) ?? cardPicture(cardPictureOf(action)),
      () => this.hooks.begin(action),
      attributes,
      el("strong", {}, this.#nameOf(action)),
      ...(rare ? [span("rarity", rare)] : []),
      span("about", help),
      span("mark", this.#labels.get(markedIn(command)) || texts.yours),
      span("price", costText(action)),
      el("kbd"),
    );
  }

  /** What changes while the cards are open. */
  #refresh(card: Element, action: Action): void {
    const [name, price] = [card.querySelector("strong"), card.querySelector(".price")];
    if (name) setText(name, this.#nameOf(action));
    card.classList.toggle("too-dear", isTooDear(action, this.#known));
    card.classList.toggle("marked", isMarked(action, this.#known));
    const [field] = action.command.fields;
    const sets = field?.type === "choice" ? field.sets : "";
    const others = this.#known.shares.get(countKey(sets, choiceOf(action))) ?? 0;
    if (price && this.#open === this.#first && sets !== "") setText(price, chosenBy(others));
  }

  #nameOf(action: Action): string {
    const choice = choiceOf(action);
    if (choice === "") return texts.nothing;
    const count = countOf(action, this.#known);
    const name = labelOf({ name: choice, label: aboutOf(action)?.label ?? "" });
    return count > 1 ? texts.times(name, count) : name;
  }

  /** Arrow keys go from card to card. */
  #key(event: KeyboardEvent): void {
    if (event.key === "Escape" && this.close()) return event.stopPropagation();
    const step = ["ArrowRight", "ArrowDown"].includes(event.key)
      ? 1
      : ["ArrowLeft", "ArrowUp"].includes(event.key) ? -1 : 0;
    if (step === 0) return;
    const cards = this.#buttonsShown();
    const at = cards.findIndex((card) => card === document.activeElement);
    cards[(at + step + cards.length) % cards.length]?.focus();
    event.preventDefault();
    event.stopPropagation();
  }
}

/** A choice that may be left out is a question to all players: the game waits for it. */
function isQuestion({ fields: [field] }: CommandKind): boolean {
  return field?.type === "choice" && field.optional && field.listed_in !== "";
}

function chosenBy(players: number): string {
  const few = [texts.chosen_by_none, texts.chosen_by_one];
  return few[players] ?? texts.chosen_by(players);
}

/** What the command does says what is to choose. */
function titleOf(command: CommandKind): string {
  const { help } = command;
  return help.endsWith(".") ? help.slice(0, -1) : help || labelOf(command);
}
