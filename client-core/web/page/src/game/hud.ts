/** Buttons, hints and messages over the picture. All from the schema of the game. */

import type { Choice, Control, Field, Schema, Value } from "../ambit/ambit.js";
import type { Action, CommandDraft } from "../core/actions.js";
import { hasDirections } from "../core/controls.js";
import { labelOf } from "../core/words.js";
import { button, el, setHidden, setText } from "../dom.js";
import { askInDialog } from "../dialogs.js";
import { texts } from "../texts.js";

const MAX_MESSAGES = 5;
const MAX_LOG = 200;
const MESSAGE_MS = 5_000;
/** `style.css` lets it fade in that time. */
const CHAT_MS = 10_000;
const CONTROL_SYMBOLS = new Map([
  ["west", "←"],
  ["east", "→"],
  ["north", "↑"],
  ["south", "↓"],
]);

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
  readonly hint = el("p", { class: "hint", role: "status", hidden: true });
  /** As long as the game's connection is broken. */
  readonly interruption = el(
    "p",
    { class: "hint problem", role: "status", hidden: true },
    texts.interrupted,
  );
  readonly messages = el("div", { class: "messages", role: "log" });
  /** The last lines of the chat. */
  readonly chat = el("div", { class: "chat-lines", role: "log", "aria-label": texts.chat });
  readonly help: HTMLElement;
  /** What has happened, in words; for games that have some. */
  readonly log = el("aside", { class: "panel log", "aria-label": texts.log, hidden: true });
  readonly #logLines = el("ol");
  readonly #lines = el("div", { class: "lines" });
  readonly #line = el("input", {
    type: "text",
    maxlength: "500",
    autocomplete: "off",
    placeholder: texts.to_the_room,
    "aria-label": texts.to_the_room,
  });
  readonly #form = el("form", { hidden: true }, this.#line);
  readonly #buttons = new Map<Action, HTMLElement>();
  readonly #hooks: HudHooks;
  #ownTexts: readonly string[] = [];

  constructor(actions: readonly Action[], schema: Schema, hooks: HudHooks) {
    this.#hooks = hooks;
    for (const action of actions) {
      if (action.isClick) continue;
      const element = this.#commandButton(action);
      this.#buttons.set(action, element);
      this.commands.append(element);
    }
    this.commands.hidden = this.commands.childElementCount === 0;
    const { controls } = schema;
    for (const control of controls) {
      if (control.axis === null) this.controls.append(this.#control(control));
      if (control.axis === "linear") this.controls.append(this.#lever(control));
    }
    this.controls.hidden = this.controls.childElementCount === 0;
    this.help = helpOf(actions, controls);
    this.chat.append(this.#lines, this.#chatForm(hooks));
    this.log.append(el("h2", {}, texts.log), this.#logLines);
  }

  /** Shows the buttons of what the player can do now. */
  offer(
    actions: readonly Action[],
    ownTexts: readonly string[],
    cards: readonly Action[],
  ): void {
    this.#ownTexts = ownTexts;
    for (const [action, element] of this.#buttons) {
      setHidden(element, !actions.includes(action) || cards.includes(action));
      const [key, shown] = [action.key ?? "", element.querySelector("kbd")];
      if (shown) setText(shown, key && texts.key(key));
      element.setAttribute("aria-keyshortcuts", key);
    }
    setHidden(this.commands, ![...this.#buttons.values()].some((element) => !element.hidden));
  }

  /** The command with this label was taken: its button shows when it can be given again. */
  cool(label: string): void {
    for (const [action, element] of this.#buttons) {
      if (action.label !== label || action.cooldownMs === 0 || element.hidden) continue;
      const veil = el("span", { class: "cooldown", "aria-hidden": "true" });
      element.append(veil);
      const full = { transform: "scaleX(1)" };
      const over = { transform: "scaleX(0)" };
      veil.animate([full, over], action.cooldownMs).finished.then(
        () => veil.remove(),
        () => veil.remove(),
      );
    }
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
    setHidden(this.hint, !field);
    for (const element of this.commands.children) {
      const isChosen = element.getAttribute("data-name") === draft?.action.name;
      element.setAttribute("aria-pressed", String(isChosen));
    }
    if (!draft || !field) return;
    const choose = field.type === "object" ? texts.choose_object : texts.choose_place;
    setText(this.hint, `${choose(draft.action.label)} ${field.optional ? texts.again_without : ""}`);
  }

  say(text: string, isProblem = false): void {
    const message = el("p", { class: isProblem ? "problem" : "" }, text);
    this.messages.append(message);
    while (this.messages.childElementCount > MAX_MESSAGES) this.messages.firstChild?.remove();
    setTimeout(() => message.remove(), MESSAGE_MS);
  }

  /** Something has happened: for a moment in the picture, and for longer in the log. */
  tell(text: string): void {
    this.#logLines.append(el("li", {}, text));
    while (this.#logLines.childElementCount > MAX_LOG) this.#logLines.firstChild?.remove();
    if (!this.log.hidden) this.log.scrollTop = this.log.scrollHeight;
    this.#showLine(text, "event");
  }

  showChat(text: string): void {
    this.#showLine(text, "");
  }

  #showLine(text: string, what: string): void {
    const line = el("p", { class: what }, text);
    this.#lines.append(line);
    while (this.#lines.childElementCount > MAX_MESSAGES) this.#lines.firstChild?.remove();
    setTimeout(() => line.remove(), CHAT_MS);
  }

  /** The help says what each part of a gamepad does. */
  showGamepad(name: string, parts: readonly (readonly [part: string, does: string])[]): void {
    const lines = parts.map(([part, does]) => el("li", {}, texts.pad_part(part, does)));
    this.help.querySelector(".pad")?.remove();
    const title = el("h3", {}, texts.gamepad(name));
    this.help.append(el("section", { class: "pad" }, title, el("ul", {}, ...lines)));
    this.say(texts.gamepad(name));
  }

  async ask(label: string, field: Field): Promise<Value | undefined> {
    const input =
      field.type === "choice"
        ? el("select", {}, ...this.#optionsOf(field))
        : el("input", inputOf(field));
    if (input instanceof HTMLInputElement && input.type === "number") {
      if (field.type === "number") {
        input.min = String(field.min);
        input.max = String(field.max);
      }
      input.required = !field.optional;
    }
    const name = labelOf(field);
    const isOk = await askInDialog(label, [
      { label: field.type === "angle" ? `${name} (°)` : name, input },
    ]);
    if (!isOk || (input.value === "" && field.optional)) return undefined;
    return valueOf(field, input.value);
  }

  /** Those that are for the player now. */
  #optionsOf({ choices, about }: Field & { type: "choice" }): HTMLElement[] {
    return choices.flatMap((name, at) => {
      const onlyFor = about[at]?.only_for ?? "";
      const isFor = onlyFor === "" || this.#ownTexts.includes(onlyFor);
      return isFor ? [optionOf(name, about[at])] : [];
    });
  }

  #commandButton(action: Action): HTMLElement {
    const { label, help, name } = action;
    const element = button(label, () => this.#hooks.begin(action), {
      "data-name": name,
      "aria-pressed": "false",
      "aria-label": label,
      "aria-description": help,
      title: help,
    });
    // `offer` says which key.
    element.append(el("kbd"));
    return element;
  }

  /** A button that holds its control as long as it is pressed. */
  #control(control: Control): HTMLElement {
    const { direction, name } = control;
    const label = labelOf(control);
    const element = el("button", {
      type: "button",
      class: `control ${direction ?? ""}`,
      "data-name": name,
      "aria-label": label,
      title: helpOfControl(control),
    });
    setText(element, CONTROL_SYMBOLS.get(direction ?? "") ?? label);
    const [key] = control.keys;
    if (key && !direction) element.append(el("kbd", {}, texts.key(key)));
    const hold = (isHeld: boolean) => (event: Event) => {
      event.preventDefault();
      this.#hooks.hold(control, isHeld);
    };
    element.addEventListener("pointerdown", hold(true));
    for (const end of ["pointerup", "pointercancel", "pointerleave", "lostpointercapture"]) {
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
      this.#hooks.moveLever(control, element.valueAsNumber);
    });
    element.addEventListener("change", () => {
      element.value = "0";
      element.blur();
      this.#hooks.moveLever(control, undefined);
    });
    return element;
  }
}

function optionOf(name: string, about: Choice | undefined): HTMLElement {
  return el("option", { value: name }, labelOf({ name, label: about?.label ?? "" }));
}

function isForPlayers({ axis, keys, direction }: Control): boolean {
  return axis === "angle" || keys.length > 0 || direction !== null;
}

function helpOfControl(control: Control): string {
  const { axis, keys, help } = control;
  const keyNames =
    axis === "angle" ? texts.pointer : keys.map((key) => texts.key(key)).join(", ");
  return [keyNames, labelOf(control), help].filter(Boolean).join(" – ");
}

function helpOf(actions: readonly Action[], controls: readonly Control[]): HTMLElement {
  const lines = [
    // What the client itself sets is for nobody to read.
    ...controls.filter(isForPlayers).map(helpOfControl),
    ...(hasDirections(controls) ? texts.help_steer : []),
    ...(controls.length === 0 ? texts.help_click : []),
    ...texts.help_view,
    ...actions.map(({ key, label, help }) =>
      [key ? texts.key(key) : "", label, help].filter(Boolean).join(" – "),
    ),
  ];
  const items = lines.map((line) => el("li", {}, line));
  return el(
    "aside",
    { class: "panel help", "aria-label": texts.help, hidden: true },
    el("h2", {}, texts.help),
    el("ul", {}, ...items),
  );
}

/** The attributes of a field's input. */
function inputOf({ type }: Field): Record<string, string> {
  if (type === "number") return { type: "number", step: "1" };
  return type === "half" || type === "angle" ? { type: "number", step: "any" } : { type: "text" };
}

/** What the player has written; an angle is asked for in degrees. */
function valueOf({ type }: Field, written: string): Value {
  if (type === "angle") return (Number(written) * Math.PI) / 180;
  return type === "number" || type === "half" ? Number(written) : written;
}
