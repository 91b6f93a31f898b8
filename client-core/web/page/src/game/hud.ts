/** Buttons, hints and messages over the picture. All from the schema of the game. */

import type { Control, Field, Schema } from "../ambit/ambit.js";
import { type Action, type CommandDraft, countOf, helpOf } from "../core/actions.js";
import { tileOf } from "../core/action_tile.js";
import type { Answers } from "../core/answers.js";
import { isMet, type Known } from "../core/known.js";
import { hasDirections, padPlaceOf } from "../core/controls.js";
import { walksByLetters } from "../core/held_walk.js";
import { Notices } from "../core/notices.js";
import { labelOf } from "../core/words.js";
import { button, div, el, isTouch, note, panel, setHidden, setText, span } from "../dom.js";
import { askInDialog } from "../dialogs.js";
import { texts } from "../texts.js";
import { icon } from "./icons.js";

/** Chat and events over the picture; messages about what the player does. */
const MAX_LINES = 4;
const MAX_MESSAGES = 2;
const MAX_LOG = 200;
const MESSAGE_MS = 5_000;
const EVENT_MS = 5_000;
const CHAT_MS = 10_000;
/** How often it is looked at what is over. */
const EXPIRE_MS = 200;

export interface HudHooks {
  begin(action: Action): void;
  hold(control: Control, isHeld: boolean): void;
  moveLever(control: Control, value: number | undefined): void;
  /** To the room. */
  say(text: string): void;
  endChat(): void;
}

export class Hud {
  readonly commands = el("div", {
    class: "commands",
    role: "toolbar",
    "aria-label": texts.commands,
  });
  readonly controls = el("div", { class: "controls", role: "group", "aria-label": texts.controls });
  readonly hint = note("p", "hint");
  /** As long as the game's connection is broken. */
  readonly interruption = note("p", "hint problem", texts.interrupted);
  readonly messages = el("div", { class: "messages", role: "log" });
  /** The last lines of the chat. */
  readonly chat = el("div", { class: "chat-lines", role: "log", "aria-label": texts.chat });
  readonly #helpLines = el("ul");
  readonly help = panel("aside", "help", texts.help, this.#helpLines);
  readonly #logLines = el("ol");
  /** What has happened, in words; for games that have some. */
  readonly log = panel("aside", "log", texts.log, this.#logLines);
  readonly #lines = div("lines");
  readonly #events = div("lines events");
  /** What ends a cool-down, by the label of its command. */
  readonly #cooling = new Map<string, () => void>();
  readonly #said = new Notices(MAX_LINES, CHAT_MS);
  readonly #told = new Notices(MAX_LINES, EVENT_MS);
  readonly #problems = new Notices(MAX_MESSAGES, MESSAGE_MS);
  readonly #remarks = new Notices(MAX_MESSAGES, MESSAGE_MS);
  #expireAt = 0;
  readonly #line = el("input", {
    type: "text",
    maxlength: "500",
    autocomplete: "off",
    placeholder: texts.to_the_room,
    "aria-label": texts.to_the_room,
  });
  readonly #form = el("form", { hidden: true }, this.#line);
  readonly #buttons = new Map<Action, HTMLElement>();
  readonly #held = new Map<Control, HTMLElement>();
  #known: Pick<Known, "flags" | "texts"> = { flags: new Set(), texts: new Map() };

  constructor(
    actions: readonly Action[],
    private readonly schema: Schema,
    private readonly hooks: HudHooks,
  ) {
    for (const action of actions) {
      if (action.isClick) continue;
      const element = this.#commandButton(action);
      this.#buttons.set(action, element);
      this.commands.append(element);
    }
    this.commands.hidden = this.commands.childElementCount === 0;
    const { controls } = schema;
    for (const control of controls) {
      if (control.axis === null) {
        const element = this.#control(control, controls);
        this.#held.set(control, element);
        this.controls.append(element);
      }
      if (control.axis === "linear") this.controls.append(this.#lever(control));
    }
    // Two controls that turn need no cross.
    const hasCross = this.controls.querySelector(".pad.north, .pad.south") !== null;
    this.controls.classList.toggle("with-cross", hasCross);
    this.controls.hidden = this.controls.childElementCount === 0;
    this.#showHelp(actions);
    this.chat.append(this.#events, this.#lines, this.#chatForm(hooks));
  }

  /** Shows the buttons of what the player can do now. */
  offer(
    actions: readonly Action[],
    known: Pick<Known, "flags" | "texts" | "counts">,
    cards: readonly Action[],
  ): void {
    this.#known = known;
    for (const [action, element] of this.#buttons) {
      setHidden(element, !actions.includes(action) || cards.includes(action));
      const [count, caption] = [countOf(action, known), element.querySelector(".caption")];
      const { label } = action;
      if (caption) setText(caption, count > 1 ? texts.times(label, count) : label);
      const [key, shown] = [action.key ?? "", element.querySelector("kbd")];
      if (shown) setText(shown, key && texts.key(key));
      element.setAttribute("aria-keyshortcuts", key);
    }
    setHidden(this.commands, ![...this.#buttons.values()].some((element) => !element.hidden));
    // Without actions now, the help keeps those of before.
    if (actions.length > 0) this.#showHelp(actions);
  }

  /** What the player cannot pay is dim; its button still says why. */
  showDear(isTooDear: (action: Action) => boolean): void {
    for (const [action, element] of this.#buttons) {
      element.classList.toggle("too-dear", isTooDear(action));
    }
  }

  #showHelp(actions: readonly Action[]): void {
    const lines = helpLines(actions, this.schema.controls);
    const [old, list] = [this.#helpLines.children, this.#helpLines];
    const isShown = lines.every((line, at) => old[at]?.textContent === line);
    if (isShown && lines.length === old.length) return;
    list.replaceChildren(...lines.map((line) => el("li", {}, line)));
  }

  /** Keys hold controls: their buttons are down, too. */
  showHeld(isHeld: (control: Control) => boolean): void {
    for (const [control, element] of this.#held) element.classList.toggle("held", isHeld(control));
  }

  /** The command with this label was taken: its button shows when it can be given again. */
  cool(label: string): void {
    this.warm(label);
    for (const [action, element] of this.#buttons) {
      if (action.label !== label || action.cooldownMs === 0 || element.hidden) continue;
      const tile = element.querySelector(".tile") ?? element;
      this.#cooling.set(label, this.#sweep(tile, action.cooldownMs));
    }
  }

  /** It was refused after all: it can be given again now. */
  warm(label: string): void {
    this.#cooling.get(label)?.();
    this.#cooling.delete(label);
  }

  /** A shadow that a hand takes away, and the seconds that are left. Returns what ends it. */
  #sweep(tile: Element, cooldownMs: number): () => void {
    const seconds = el("span");
    const veil = el("span", { class: "cooldown", "aria-hidden": "true" }, seconds);
    tile.append(veil);
    veil.animate([{ "--swept": "0deg" }, { "--swept": "360deg" }], cooldownMs);
    const ends = performance.now() + cooldownMs;
    const show = () => {
      const leftMs = ends - performance.now();
      if (leftMs > 0) setText(seconds, secondsOf(leftMs));
      else end();
    };
    const ticks = setInterval(show, EXPIRE_MS / 2);
    const end = () => {
      veil.remove();
      clearInterval(ticks);
    };
    show();
    return end;
  }

  /** Called at each frame: buttons of commands that were just given, or refused, look so. */
  showAnswers(now: number, answers: Pick<Answers, "of">): void {
    for (const [action, element] of this.#buttons) {
      const answer = answers.of(now, action.label) ?? "";
      if ((element.dataset["answer"] ?? "") !== answer) element.dataset["answer"] = answer;
    }
  }

  /** Called at each frame: what was shown long enough goes. */
  update(now: number): void {
    if (now < this.#expireAt) return;
    this.#expireAt = now + EXPIRE_MS;
    for (const notices of [this.#said, this.#told, this.#problems, this.#remarks]) {
      notices.expire(now);
    }
    this.#showNotices();
  }

  /** A line to the room is written in the picture: the game goes on beside it. */
  beginChat(): void {
    setHidden(this.#form, false);
    this.#line.focus();
  }

  #chatForm({ say, endChat }: HudHooks): HTMLElement {
    const end = () => {
      this.#line.value = "";
      setHidden(this.#form, true);
      endChat();
    };
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.#line.value.trim();
      if (text) say(text);
      end();
    });
    this.#line.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") end();
    });
    this.#line.addEventListener("blur", () => setHidden(this.#form, this.#line.value === ""));
    return this.#form;
  }

  showDraft(draft: CommandDraft | undefined): void {
    const field = draft?.next;
    const isAimed = field?.type === "position" || field?.type === "object";
    setHidden(this.hint, !isAimed);
    for (const element of this.commands.children) {
      const isChosen = element.getAttribute("data-name") === draft?.action.name;
      element.setAttribute("aria-pressed", String(isChosen));
    }
    // Of any other field, such as a number, a dialog asks.
    if (!draft || !isAimed) return;
    setText(this.hint, hintOf(draft.action.label, field));
  }

  say(text: string, isProblem = false): void {
    (isProblem ? this.#problems : this.#remarks).add(performance.now(), text);
    this.#showNotices();
  }

  /**
   * Something has happened, perhaps to the own avatar: for a moment in the picture, and for longer
   * in the log.
   */
  tell(text: string, isOwn: boolean): void {
    this.#logLines.append(el("li", isOwn ? { class: "own" } : {}, text));
    while (this.#logLines.childElementCount > MAX_LOG) this.#logLines.firstChild?.remove();
    if (!this.log.hidden) this.log.scrollTop = this.log.scrollHeight;
    this.#told.add(performance.now(), text, isOwn);
    this.#showNotices();
  }

  showChat(text: string): void {
    this.#said.add(performance.now(), text);
    this.#showNotices();
  }

  #showNotices(): void {
    showIn(this.#lines, [this.#said.list, ""]);
    showIn(this.#events, [this.#told.list, "event"]);
    showIn(this.messages, [this.#problems.list, "problem"], [this.#remarks.list, ""]);
  }

  /** The help says what each part of a gamepad does. */
  showGamepad(name: string, parts: readonly (readonly [part: string, does: string])[]): void {
    const lines = parts.map(([part, does]) => el("li", {}, texts.pad_part(part, does)));
    this.help.querySelector(".pad")?.remove();
    const title = el("h3", {}, texts.gamepad(name));
    this.help.append(el("section", { class: "pad" }, title, el("ul", {}, ...lines)));
    this.say(texts.gamepad(name));
  }

  /** What the player writes into a form; undefined for none. */
  async ask(label: string, field: Field): Promise<string | undefined> {
    const input =
      field.type === "choice"
        ? el("select", {}, ...this.#optionsOf(field))
        : el("input", inputOf(field));
    const name = labelOf(field);
    const isOk = await askInDialog(label, field.type === "angle" ? `${name} (°)` : name, input);
    if (!isOk || (input.value === "" && field.optional)) return undefined;
    return field.type === "angle" ? `${input.value}°` : input.value;
  }

  /** Those that are for the player now. */
  #optionsOf({ choices, about }: Field & { type: "choice" }): HTMLElement[] {
    return choices.flatMap((name, at) => {
      const { only_for = null, label = "" } = about[at] ?? {};
      const option = el("option", { value: name }, labelOf({ name, label }));
      return isMet(only_for, this.#known) ? [option] : [];
    });
  }

  /** A slot: its tile has a sign and the key; the name is below. */
  #commandButton(action: Action): HTMLElement {
    const { label, name } = action;
    const help = helpOf(action);
    const { sign, letters, colour } = tileOf(action);
    // `offer` says which key.
    const tile = span("tile", sign ? icon(sign) : span("letters", letters), el("kbd"));
    tile.style.setProperty("--tile", colour);
    const attributes = {
      class: "slot",
      "data-name": name,
      "aria-pressed": "false",
      "aria-label": label,
      "aria-description": help,
      title: help,
    };
    return button(tile, () => this.hooks.begin(action), attributes, span("caption", label));
  }

  /** A button that holds its control as long as it is pressed, or a finger is on it. */
  #control(control: Control, controls: readonly Control[]): HTMLElement {
    const { direction, name, keys } = control;
    const label = labelOf(control);
    const place = padPlaceOf(control, controls);
    const [key] = keys;
    const isMain = key === "space" ? "main-control" : "";
    const element = el("button", {
      type: "button",
      class: `control ${place ? `pad ${place}` : isMain}`,
      "data-name": name,
      "aria-label": label,
      title: helpOfControl(control),
    });
    const turns = place === "west" ? "turn_west" : "turn_east";
    if (place) element.append(icon(direction ?? turns));
    if (key && !direction) element.append(el("kbd", {}, texts.key(key)));
    element.append(span("caption", label));
    const hold = (isHeld: boolean) => (event: Event) => {
      event.preventDefault();
      this.hooks.hold(control, isHeld);
      element.classList.toggle("held", isHeld);
    };
    const begin = hold(true);
    element.addEventListener("pointerdown", (event) => {
      begin(event);
      // A finger slides from button to button.
      if (element.hasPointerCapture(event.pointerId)) {
        element.releasePointerCapture(event.pointerId);
      }
    });
    element.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "touch" && event.buttons > 0) begin(event);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      element.addEventListener(end, hold(false));
    }
    element.addEventListener("contextmenu", (event) => event.preventDefault());
    return element;
  }

  /** A lever that goes back to the middle when it is let go, as keys do. */
  #lever(control: Control): HTMLElement {
    const element = el("input", {
      type: "range",
      class: "lever",
      min: "-1",
      max: "1",
      step: "any",
      value: "0",
      "aria-label": labelOf(control),
      title: helpOfControl(control),
    });
    element.addEventListener("input", () => {
      this.hooks.moveLever(control, element.valueAsNumber);
    });
    element.addEventListener("change", () => {
      element.value = "0";
      element.blur();
      this.hooks.moveLever(control, undefined);
    });
    return element;
  }
}

/** Writes only what has changed. */
function showIn(
  element: HTMLElement,
  ...groups: readonly (readonly [list: Notices["list"], what: string])[]
): void {
  let at = 0;
  for (const [list, what] of groups) {
    for (const { text, times, isOwn } of list) {
      const line = element.children[at] ?? element.appendChild(el("p"));
      at += 1;
      setText(line, times > 1 ? texts.times(text, times) : text);
      const name = isOwn ? `${what} own` : what;
      if (line.className !== name) line.className = name;
    }
  }
  while (element.childElementCount > at) element.lastElementChild?.remove();
}

/** What the player has to show next. */
function hintOf(label: string, { type, optional }: Field): string {
  const isObject = type === "object";
  if (isTouch()) {
    const tap = isObject ? texts.tap_object : texts.tap_place;
    return `${tap(label)}${optional ? texts.tap_again : ""}.`;
  }
  const choose = isObject ? texts.choose_object : texts.choose_place;
  return `${choose(label)} ${optional ? texts.again_without : ""}`;
}

/** Tenths in the last second. */
function secondsOf(ms: number): string {
  return ms < 1_000 ? (ms / 1_000).toFixed(1) : String(Math.ceil(ms / 1_000));
}

function isForPlayers({ axis, keys, direction }: Control): boolean {
  return axis === "angle" || keys.length > 0 || direction !== null;
}

function helpOfControl(control: Control): string {
  const { axis, keys, help } = control;
  const named = isTouch() ? "" : keys.map((key) => texts.key(key)).join(", ");
  const keyNames = axis === "angle" ? texts.pointer : named;
  return [keyNames, labelOf(control), help].filter(Boolean).join(" – ");
}

/** What the player can do now, and how to look about. */
function helpLines(actions: readonly Action[], controls: readonly Control[]): string[] {
  return [
    // Controls that the client itself sets are not shown.
    ...controls.filter(isForPlayers).map(helpOfControl),
    ...(hasDirections(controls) ? texts.help_steer : []),
    ...(controls.length > 0 ? [] : isTouch() ? [texts.play_tap] : texts.help_click),
    ...(walksByLetters(actions, controls) && !isTouch() ? [texts.help_letters] : []),
    ...(isTouch() ? texts.help_view_touch : texts.help_view),
    ...actions.map((action) => {
      const key = action.key && !isTouch() ? texts.key(action.key) : "";
      return [key, action.label, helpOf(action)].filter(Boolean).join(" – ");
    }),
  ];
}

/** The attributes of a field's input. */
function inputOf(field: Field): Record<string, string | boolean> {
  const number = { type: "number", required: !field.optional };
  if (field.type === "number") {
    return { ...number, step: "1", min: String(field.min), max: String(field.max) };
  }
  const isNumber = field.type === "half" || field.type === "angle";
  return isNumber ? { ...number, step: "any" } : { type: "text" };
}
