/** The panel with the first steps in a game. */

import type { Control, Schema } from "../ambit/ambit.js";
import type { Action } from "../core/actions.js";
import { hasDirections, isForSteering } from "../core/controls.js";
import { type Deed, FirstSteps, type Step } from "../core/first_steps.js";
import { walksByLetters } from "../core/held_walk.js";
import { labelOf } from "../core/words.js";
import { button, el, isTouch, setHidden } from "../dom.js";
import { texts } from "../texts.js";

/** A step that is done is seen as done before all are gone. */
const DONE_MS = 1_500;

export type FirstHints = ReturnType<typeof firstHints>;

/** `asksForSound`: whether the player wants to hear the game was never asked. */
export function firstHints(
  schema: Schema,
  actions: readonly Action[],
  asksForSound: boolean,
  hooks: { hear(isWanted: boolean): void; done(): void },
) {
  const visit = new FirstSteps(localStorage, schema.game, stepsOf(schema, actions, asksForSound));
  const lines = visit.steps.map((step) => ({ step, line: lineOf(step, hooks) }));
  const refuse = () => {
    visit.refuse();
    if (asksForSound) hooks.hear(false);
    setHidden(element, true);
    hooks.done();
  };
  const element = el(
    "aside",
    { class: "panel first-hints", role: "status", hidden: visit.steps.length === 0 },
    el("ol", {}, ...lines.map(({ line }) => line)),
    button("\u00d7", refuse, { class: "close", "aria-label": texts.no_hints, title: texts.no_hints }),
  );
  /** The player has done something. */
  const did = (deed: Deed) => {
    if (!visit.did(deed)) return;
    for (const { step, line } of lines) line.classList.toggle("done", visit.isDone(step));
    if (visit.isOver) setTimeout(() => setHidden(element, true), DONE_MS);
  };
  return { element, did };
}

/** At most three, each of one line; Help has the rest. */
function stepsOf(schema: Schema, actions: readonly Action[], asksForSound: boolean): Step[] {
  const { controls } = schema;
  const act = howToAct(actions, controls);
  return [
    { deed: "move", text: howToMove(actions, controls) },
    ...(act ? [{ deed: "act", text: act } as const] : []),
    asksForSound
      ? { deed: "hear", text: isTouch() ? texts.step_hear_touch : texts.step_hear }
      : { deed: "look", text: isTouch() ? texts.step_look_touch : texts.step_look },
  ];
}

function lineOf({ deed, text }: Step, { hear, done }: { hear(on: boolean): void; done(): void }) {
  if (deed !== "hear") return el("li", {}, el("span", {}, text));
  const on = button(texts.step_sound_on, () => {
    hear(true);
    done();
  });
  return el("li", {}, el("span", {}, text), on);
}

function howToMove(actions: readonly Action[], controls: readonly Control[]): string {
  // A phone has no keys.
  if (isTouch()) {
    const steer = hasDirections(controls) ? texts.touch_directions : texts.touch_steer;
    return controls.length > 0 ? steer : texts.play_tap;
  }
  if (controls.length === 0) {
    return walksByLetters(actions, controls) ? texts.play_letters : texts.play_click;
  }
  return texts.play_keys(namesOf(controls.filter((one) => isForSteering(one, controls))));
}

/** Undefined if there is nothing to do but to move. */
function howToAct(actions: readonly Action[], controls: readonly Control[]): string | undefined {
  const others = controls.filter((one) => one.axis === null && !isForSteering(one, controls));
  const isCommanding = actions.some((action) => !action.isClick);
  if (isTouch()) return isCommanding ? texts.touch_commands : undefined;
  if (others.length > 0) return texts.play_keys(namesOf(others));
  const keys = actions.filter((action) => action.key && !action.isClick && isForAll(action));
  const does = ({ key, label }: Action) => texts.key_does(texts.key(key ?? ""), label);
  const named = keys.slice(0, 4).map(does);
  if (named.length > 0) return texts.play_commands(named.join(", "));
  const isAimed = actions.some(({ asks, isClick }) => !isClick && asks.length > 0);
  return isAimed ? texts.play_slots : undefined;
}

/** Commands that only some players have, or only at times, are explained by their buttons. */
function isForAll({ onlyFor, command }: Action): boolean {
  return onlyFor.length === 0 && command.only_for === null;
}

function namesOf(controls: readonly Control[]): string {
  const named = controls.flatMap((control) => {
    const keys = control.keys.slice(0, control.axis === "linear" ? 2 : 1);
    const shown = keys.map((key) => texts.key(key)).join(" / ");
    return shown ? [texts.key_does(shown, labelOf(control))] : [];
  });
  return named.join(", ");
}
