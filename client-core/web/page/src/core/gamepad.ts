/**
 * A gamepad of the standard layout: which of its parts stand for which controls and commands of a
 * game. The game declares no gamepad: the keys that it suggests say what is meant.
 *
 * The left stick and the cross are directions, arrow keys, the first linear axes or, in a game of
 * commands, where to go; the right stick is an angle, or where a command acts. All other controls
 * and then the commands have buttons, in their order.
 */

import type { Control } from "../ambit/ambit.js";
import type { Action } from "./actions.js";
import { bitsTowards, hasDirections } from "./controls.js";
import { labelOf } from "./words.js";

/** What is used of a `Gamepad`. */
export interface Pad {
  readonly axes: readonly number[];
  readonly buttons: readonly { readonly pressed: boolean }[];
}

export interface Stick {
  x: number;
  /** Upwards. */
  y: number;
}

/** Closer to its middle a stick is at rest. */
const DEAD = 0.22;
/** From this deflection on, a stick holds a key. */
const HOLDS = 0.45;
const CROSS = { up: 12, down: 13, left: 14, right: 15 } as const;
/** Buttons for controls and commands, the nearest to the thumb first. */
const BUTTONS = [
  [0, "A"],
  [1, "B"],
  [2, "X"],
  [3, "Y"],
  [5, "RB"],
  [4, "LB"],
  [7, "RT"],
  [6, "LT"],
] as const;
const SIDES = ["left", "right", "up", "down"] as const;

export interface PadPlan {
  /** Whether the left stick is a way on the screen, for the four directions of the game. */
  readonly hasDirections: boolean;
  /** What the left stick holds, as arrow keys do. */
  readonly arrows: readonly (readonly [side: (typeof SIDES)[number], control: Control])[];
  /** Linear axes: the stick's number, from left and sideways on. */
  readonly levers: readonly (readonly [axis: number, control: Control])[];
  readonly angle: Control | undefined;
  readonly buttons: readonly (readonly [button: number, does: Control | Action])[];
  /** The command that goes to a place, if nothing else is steered. */
  readonly walk: Action | undefined;
}

export function planOf(controls: readonly Control[], actions: readonly Action[]): PadPlan {
  const directed = hasDirections(controls);
  const held = controls.filter(({ axis, direction }) => axis === null && !(directed && direction));
  const arrows = directed
    ? []
    : SIDES.flatMap((side) => {
        const control = held.find(({ keys }) => keys.includes(`arrow${side}`));
        return control ? [[side, control] as const] : [];
      });
  const linear = controls.filter(({ axis }) => axis === "linear");
  // Forward is up; where the left stick is taken, the right one is left.
  const free = directed || arrows.length > 0 ? [3, 2] : [1, 0, 3, 2];
  const others = held.filter((control) => !arrows.some(([, taken]) => taken === control));
  const does = [...others, ...actions.filter(({ isClick }) => !isClick)];
  const steers = controls.length > 0;
  return {
    hasDirections: directed,
    arrows,
    levers: linear.slice(0, free.length).map((control, at) => [free[at] as number, control]),
    angle: controls.find(({ axis }) => axis === "angle"),
    buttons: does.slice(0, BUTTONS.length).map((one, at) => [(BUTTONS[at] ?? BUTTONS[0])[0], one]),
    walk: steers ? undefined : actions.find(({ isClick }) => isClick),
  };
}

/** One of the two sticks, or for the left one the cross; of length 0 at rest and 1 at most. */
export function stickOf({ axes, buttons }: Pad, isRight: boolean, into: Stick): void {
  let [x, y] = isRight ? [axes[2] ?? 0, -(axes[3] ?? 0)] : [axes[0] ?? 0, -(axes[1] ?? 0)];
  if (!isRight) {
    const isOn = (side: (typeof SIDES)[number]) => Number(buttons[CROSS[side]]?.pressed ?? false);
    x += isOn("right") - isOn("left");
    y += isOn("up") - isOn("down");
  }
  const length = Math.hypot(x, y);
  const share = length <= DEAD ? 0 : Math.min((length - DEAD) / (1 - DEAD), 1) / length;
  [into.x, into.y] = [x * share, y * share];
}

/** The value of a lever: outside the middle, and up is forward. */
export function leverOf({ axes }: Pad, axis: number): number {
  const value = axes[axis] ?? 0;
  if (Math.abs(value) <= DEAD) return 0;
  const out = (Math.abs(value) - DEAD) / (1 - DEAD);
  return Math.sign(axis % 2 === 1 ? -value : value) * Math.min(out, 1);
}

/** Adds the controls that the pad holds. */
export function addHeld(plan: PadPlan, pad: Pad, left: Stick, held: Set<Control>): void {
  const out = { left: -left.x, right: left.x, up: left.y, down: -left.y };
  for (const [side, control] of plan.arrows) if (out[side] > HOLDS) held.add(control);
  for (const [button, does] of plan.buttons) {
    if ("keys" in does && pad.buttons[button]?.pressed) held.add(does);
  }
}

/** A stick's way on the map, for a camera of this yaw. */
export function wayOf({ x, y }: Stick, yaw: number): Stick {
  const [sin, cos] = [Math.sin(yaw), Math.cos(yaw)];
  return { x: x * cos - y * sin, y: x * sin + y * cos };
}

/** The bits of the directions that the left stick holds. */
export function directionBits(
  plan: PadPlan,
  left: Stick,
  yaw: number,
  controls: readonly Control[],
): number {
  if (!plan.hasDirections || Math.hypot(left.x, left.y) < HOLDS) return 0;
  const way = wayOf(left, yaw);
  // Far enough for a pointer, whose way is in metres.
  return bitsTowards(10 * way.x, 10 * way.y, controls);
}

/** What each part does, for the help: the part, and names. */
export function partsOf(plan: PadPlan): (readonly [part: string, does: string])[] {
  const names = (...does: readonly { name: string; label: string }[]) =>
    does.map(labelOf).join(", ");
  const left = [
    ...(plan.walk ? [plan.walk] : []),
    ...plan.arrows.map(([, control]) => control),
    ...plan.levers.filter(([axis]) => axis < 2).map(([, control]) => control),
  ];
  const right = [
    ...(plan.angle ? [plan.angle] : []),
    ...plan.levers.filter(([axis]) => axis >= 2).map(([, control]) => control),
  ];
  const nameOf = (wanted: number) => BUTTONS.find(([button]) => button === wanted)?.[1] ?? "";
  return [
    ...(left.length > 0 ? [["←↑↓→ L", names(...left)] as const] : []),
    ...(plan.hasDirections ? [["L", "←↑↓→"] as const] : []),
    ...(right.length > 0 ? [["R", names(...right)] as const] : []),
    ...plan.buttons.map(([button, does]) => [nameOf(button), names(does)] as const),
  ];
}
