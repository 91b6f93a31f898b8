/** The panel with the hints of a first visit. */

import type { Control, Schema } from "../ambit/ambit.js";
import type { Action } from "../core/actions.js";
import { hasDirections } from "../core/controls.js";
import { FirstVisit } from "../core/first_visit.js";
import { walksByLetters } from "../core/held_walk.js";
import { labelOf } from "../core/words.js";
import { button, el, isTouch, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

/** `about` says what the game is; `done` is called after each hint, for the focus. */
export function firstHints(
  schema: Schema,
  actions: readonly Action[],
  about: string,
  done: () => void,
): HTMLElement {
  // On a phone there is little room, and whoever has chosen the game has read what it is.
  const first = isTouch() ? "" : about;
  const play = [first, howToPlay(actions, schema.controls)].filter(Boolean).join(" ");
  const visit = new FirstVisit(localStorage, schema.game, play, texts.hints);
  const text = el("p");
  const next = button(texts.next_hint, () => show(() => visit.next()), { class: "main" });
  const skip = button(texts.no_hints, () => show(() => visit.refuse()));
  const panel = el("aside", { class: "panel first-hints", role: "status" }, text, next, skip);
  const show = (act: () => void) => {
    act();
    setHidden(panel, visit.hint === undefined);
    setText(text, visit.hint ?? "");
    if (visit.isLast) setText(next, texts.last_hint);
    setHidden(skip, visit.isLast);
    done();
  };
  show(() => {});
  return panel;
}

/** In one or two sentences; Help has the rest. */
function howToPlay(actions: readonly Action[], controls: readonly Control[]): string {
  // A phone has no keys.
  if (isTouch()) {
    const steer = hasDirections(controls) ? texts.touch_directions : texts.touch_steer;
    const isCommanding = actions.some((action) => !action.isClick);
    return [controls.length > 0 ? steer : texts.play_tap, isCommanding ? texts.touch_commands : ""]
      .filter(Boolean)
      .join(" ");
  }
  const byClick = walksByLetters(actions, controls) ? texts.play_letters : texts.play_click;
  const sentences = controls.length > 0 ? [bySteering(controls)] : [byClick];
  const keys = actions.filter((action) => action.key && !action.isClick && isForAll(action));
  const does = ({ key, label }: Action) => texts.key_does(texts.key(key ?? ""), label);
  const named = keys.slice(0, 4).map(does);
  if (named.length > 0) sentences.push(texts.play_commands(named.join(", ")));
  else if (actions.some(({ asks, isClick }) => !isClick && asks.length > 0)) {
    sentences.push(texts.play_slots);
  }
  return sentences.join(" ");
}

/** What only some have, or only at times, is told by its button. */
function isForAll({ onlyFor, command }: Action): boolean {
  return onlyFor.length === 0 && command.only_for === "";
}

function bySteering(controls: readonly Control[]): string {
  const named = controls.flatMap((control) => {
    const keys = control.keys.slice(0, control.axis === "linear" ? 2 : 1);
    const shown = keys.map((key) => texts.key(key)).join(" / ");
    return shown ? [texts.key_does(shown, labelOf(control))] : [];
  });
  const steer = texts.play_keys(named.join(", "));
  return hasDirections(controls) ? `${steer} ${texts.help_steer.join(" ")}` : steer;
}
