/**
 * Choices that hang on each other, drawn as a tree: a coin for each, lines from what it needs, and
 * below them what the one that is pointed at does. Who can point reads before a click; a finger
 * reads with its first tap, and chooses with the second one.
 */

import {
  type Action, cardName, choiceOf, isListed, isMarked, isTooDear, markedIn,
} from "../core/actions.js";
import { aboutOf } from "../core/action_tile.js";
import { cardPictureOf } from "../core/card_pictures.js";
import { type ChoiceTree, type TreeLine, type TreeNode, treeOf } from "../core/choice_tree.js";
import type { Known } from "../core/known.js";
import { labelOf } from "../core/words.js";
import { button, div, el, setHidden, setText, span, svg } from "../dom.js";
import { texts } from "../texts.js";
import { cardPicture } from "./card_pictures.js";
import { icon } from "./icons.js";

type Paid = Pick<Known, "numbers" | "gauges" | "counts">;

/** What a player has, can have now, and cannot have yet. */
type NodeState = "marked" | "open" | "locked";

/** Where the middle of a coin is in its place, in places. */
const COIN = 0.34;

export class ChoiceTreeView {
  readonly element = el("div", { class: "choice-tree", hidden: true });
  readonly #places = div("places");
  readonly #name = el("strong");
  readonly #state = span("state");
  readonly #about = span("about");
  readonly #details = div("details", div("words", this.#name, this.#state), this.#about);
  /** Rows of the tree are columns where the picture is upright and narrow. */
  readonly #upright = matchMedia("(max-width: 50rem) and (orientation: portrait)");
  #actions: readonly Action[] = [];
  #tree: ChoiceTree = { nodes: [], lines: [], columns: 0, rows: 0 };
  #buttons = new Map<TreeNode, HTMLElement>();
  #lines = new Map<TreeLine, Element>();
  #known: Paid = { numbers: new Map(), gauges: new Map(), counts: new Map() };
  /** Whose words are shown. */
  #shown: TreeNode | undefined;
  #isUpright = false;

  /** `labels` are those of components, by their names. */
  constructor(
    private readonly labels: ReadonlyMap<string, string>,
    private readonly begin: (action: Action) => void,
  ) {
    this.element.append(this.#places, this.#details);
  }

  /** Empty for none. */
  show(actions: readonly Action[], known: Paid): void {
    this.#known = known;
    setHidden(this.element, actions.length === 0);
    const isSame = actions.length === this.#actions.length &&
      actions.every((action, at) => action === this.#actions[at]);
    if (!isSame || this.#isUpright !== this.#upright.matches) this.#make(actions);
    for (const [node, element] of this.#buttons) {
      const state = this.#stateOf(node.action);
      element.dataset["state"] = state;
      element.ariaDisabled = String(state !== "open");
      element.ariaDescription = [this.#wordOf(node, state), node.action.help].join(". ");
    }
    for (const [{ from, to }, line] of this.#lines) {
      const [first, last] = [this.#stateOf(from.action), this.#stateOf(to.action)];
      const isDone = first === "marked" && last === "marked";
      line.setAttribute("data-state", isDone ? "marked" : first === "marked" ? "open" : "locked");
    }
    this.#tell(this.#shown ?? this.#firstOpen());
  }

  #make(actions: readonly Action[]): void {
    this.#actions = actions;
    this.#isUpright = this.#upright.matches;
    this.#tree = treeOf(actions);
    this.#shown = undefined;
    const { nodes, lines } = this.#tree;
    this.#buttons = new Map(nodes.map((node) => [node, this.#button(node)]));
    this.#lines = new Map(lines.map((line) => [line, svg("path", { d: this.#pathOf(line) })]));
    const [columns, rows] = this.#turned(this.#tree.columns, this.#tree.rows);
    const drawing = svg(
      "svg",
      { viewBox: `0 0 ${columns} ${rows}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      ...this.#lines.values(),
    );
    this.#places.style.setProperty("--columns", String(columns));
    this.#places.style.setProperty("--rows", String(rows));
    this.#places.replaceChildren(drawing, ...this.#buttons.values());
  }

  #turned(column: number, row: number): readonly [number, number] {
    return this.#isUpright ? [row, column] : [column, row];
  }

  #button(node: TreeNode): HTMLElement {
    const { action } = node;
    const name = nameOf(action);
    let isRead = true;
    const element = button(
      cardPicture(cardPictureOf(action)),
      () => {
        this.#tell(node);
        if (isRead && this.#stateOf(action) === "open") this.begin(action);
        isRead = true;
      },
      { class: "node", "aria-label": name, "data-card": cardName(action) },
      span("name", name),
      span("done", icon("ready")),
      el("kbd"),
    );
    const [column, row] = this.#turned(node.column, node.row);
    element.style.setProperty("--column", String(column));
    element.style.setProperty("--row", String(row));
    element.addEventListener("pointerdown", ({ pointerType }) => {
      isRead = pointerType === "mouse" || this.#shown === node;
    });
    element.addEventListener("pointerenter", ({ pointerType }) => {
      if (pointerType === "mouse") this.#tell(node);
    });
    // After the press of a finger, which has to find what was shown before.
    element.addEventListener("focus", () => this.#tell(node));
    return element;
  }

  /** Between coins straight on, then bent towards the next one. */
  #pathOf({ points }: TreeLine): string {
    const places = points.map(([column, row]) => {
      const [x, y] = this.#turned(column, row);
      return [x + 0.5, y + COIN] as const;
    });
    const [first, ...rest] = places;
    let [x, y] = first ?? [0, 0];
    let path = `M${x} ${y}`;
    for (const [toX, toY] of rest) {
      const [midX, midY] = [(x + toX) / 2, (y + toY) / 2];
      path += this.#isUpright
        ? `C${midX} ${y} ${midX} ${toY} ${toX} ${toY}`
        : `C${x} ${midY} ${toX} ${midY} ${toX} ${toY}`;
      [x, y] = [toX, toY];
    }
    return path;
  }

  #stateOf(action: Action): NodeState {
    if (isMarked(action, this.#known)) return "marked";
    const isOpen = isListed(action, this.#known) && !isTooDear(action, this.#known);
    return isOpen ? "open" : "locked";
  }

  #wordOf({ action, needs }: TreeNode, state: NodeState): string {
    if (state === "marked") return this.labels.get(markedIn(action.command)) || texts.yours;
    if (state === "open") return texts.available;
    const missing = needs.filter((need) => !isMarked(need.action, this.#known));
    const names = missing.map((need) => nameOf(need.action)).join(", ");
    return names ? texts.needs(names) : texts.not_now;
  }

  #firstOpen(): TreeNode | undefined {
    const { nodes } = this.#tree;
    return nodes.find(({ action }) => this.#stateOf(action) === "open") ?? nodes[0];
  }

  #tell(node: TreeNode | undefined): void {
    this.#shown = node;
    setHidden(this.#details, node === undefined);
    for (const [other, element] of this.#buttons) {
      element.classList.toggle("shown", other === node);
    }
    if (!node) return;
    const state = this.#stateOf(node.action);
    this.#details.dataset["state"] = state;
    setText(this.#name, nameOf(node.action));
    setText(this.#state, this.#wordOf(node, state));
    setText(this.#about, node.action.help.replaceAll(" %", "\u00a0%"));
  }
}

/** The choice without its command. */
function nameOf(action: Action): string {
  return labelOf({ name: choiceOf(action), label: aboutOf(action)?.label ?? "" });
}
