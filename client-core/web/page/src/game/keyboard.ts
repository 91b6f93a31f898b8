/**
 * Keys in a game: held ones, and those that act at once. Nothing of it counts while a text is
 * written, a panel has the focus, or a button that has it wants the key.
 */

import { normaliseKey } from "../core/actions.js";
import { HeldKeys } from "../core/held_keys.js";

export class Keyboard {
  readonly keys = new HeldKeys();

  /** `act` is called once for each press; true if the key was used. Until the signal. */
  constructor(act: (key: string) => boolean, signal: AbortSignal) {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isForElement(event)) return;
      const key = normaliseKey(event.key);
      if (!event.repeat) this.keys.press(key);
      const isUsed = event.repeat ? isScrolling(key) : act(key) || isScrolling(key);
      if (isUsed) event.preventDefault();
    };
    addEventListener("keydown", press, { signal });
    addEventListener("keyup", ({ key }) => this.keys.release(normaliseKey(key)), { signal });
  }}

function isForElement({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("input, select, textarea, dialog, .lobby")) return key !== "F2";
  // Arrow keys scroll the panels.
  if (target.closest(".overlay, .help, .log, .score")) return key !== "F2" && key !== "Escape";
  return target.closest("button, summary, a") !== null && (key === " " || key === "Enter");
}

function isScrolling(key: string): boolean {
  return key === " " || key.startsWith("arrow");
}
