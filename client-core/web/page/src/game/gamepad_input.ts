/** The first connected gamepad: what it holds, and which commands it gives. */

import type { Control } from "../ambit/ambit.js";
import type { Action } from "../core/actions.js";
import { addHeld, leverOf, type Pad, type PadPlan, type Stick, stickOf } from "../core/gamepad.js";

export class GamepadInput {
  readonly left: Stick = { x: 0, y: 0 };
  readonly right: Stick = { x: 0, y: 0 };
  readonly #pressed = new Set<Action>();
  #pad: Pad | undefined;

  /** `act` is called once for each press of a button that stands for a command. */
  constructor(public plan: PadPlan, private readonly act: (action: Action) => void) {}

  /** Called at each frame; `held` gets the controls that it holds. */
  update(held: Set<Control>): void {
    // Without any, browsers return an empty list: most players pay nothing more.
    const pads = navigator.getGamepads?.() ?? [];
    this.#pad = pads.find((pad) => pad?.mapping === "standard") ?? undefined;
    const pad = this.#pad;
    if (!pad) {
      this.left.x = this.left.y = this.right.x = this.right.y = 0;
      return;
    }
    stickOf(pad, false, this.left);
    stickOf(pad, true, this.right);
    addHeld(this.plan, pad, this.left, held);
    for (const [button, does] of this.plan.buttons) {
      if ("keys" in does) continue;
      const isPressed = pad.buttons[button]?.pressed ?? false;
      if (isPressed && !this.#pressed.has(does)) this.act(does);
      if (isPressed) this.#pressed.add(does);
      else this.#pressed.delete(does);
    }
  }

  /** Where it moves a linear axis; 0 if it does not. */
  lever(control: Control): number {
    const lever = this.plan.levers.find(([, other]) => other === control);
    return lever && this.#pad ? leverOf(this.#pad, lever[0]) : 0;
  }
}
