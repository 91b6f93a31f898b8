/**
 * Controls that a player holds or moves: from keys of the keyboard, buttons and levers on the
 * screen, or a pointer that shows where to go or to aim. Which there are, and with which keys, the
 * game declares.
 *
 * A player means directions as the screen shows them. The game's are those of the map, so they turn
 * with the camera, by quarters.
 */

import type { Control } from "../ambit/ambit.js";

/** Counter-clockwise. */
const DIRECTIONS = ["east", "north", "west", "south"] as const;
/** Closer than that, a pointer that shows where to go is on the avatar. */
const ARRIVED_M = 0.6;
/** The sine of 22.5 degrees: beyond that, two directions are held. */
const DIAGONAL = 0.3827;
/** Closer than that, a pointer on the avatar gives no direction. */
const MIN_AIM_M = 0.2;

/** The control that a key holds, in the form of `normaliseKey`, if the game has one for it. */
export function controlOfKey(key: string, controls: readonly Control[]): Control | undefined {
  const name = nameOf(key);
  return controls.find((control) => control.axis === null && control.keys.includes(name));
}

/** Where held keys move a linear axis: -1, 0 or 1. */
export function leverOfKeys(held: Iterable<string>, { keys }: Control): number {
  let [up, down] = [false, false];
  for (const key of held) {
    const index = keys.indexOf(nameOf(key));
    if (index >= 0 && index % 2 === 0) up = true;
    if (index % 2 === 1) down = true;
  }
  return Number(up) - Number(down);
}

/** The angle on the map of a way in metres; undefined for one that is too short. */
export function angleOfWay(dx: number, dy: number): number | undefined {
  return Math.hypot(dx, dy) < MIN_AIM_M ? undefined : Math.atan2(dy, dx);
}

/** The value of an axis in the steps that are sent: unless they change, nothing has to be sent. */
export function stepOf(value: number, { axis }: Control): number {
  if (axis === "linear") return Math.round(Math.min(Math.max(value, -1), 1) * 127);
  return Math.round((value / (2 * Math.PI)) * 256) & 255;
}

function nameOf(key: string): string {
  return key === " " ? "space" : key;
}

/** Whether the game has all four directions, so that a pointer can show where to go. */
export function hasDirections(controls: readonly Control[]): boolean {
  return DIRECTIONS.every((wanted) => controls.some(({ direction }) => direction === wanted));
}

/**
 * Where a control is on the cross under the left thumb: a direction, or to the left and to the
 * right if a pair of controls has those arrow keys, such as turning. All others are under the right
 * thumb.
 */
export function padPlaceOf(
  { direction, keys }: Control,
  controls: readonly Control[],
): Control["direction"] {
  if (direction) return direction;
  const has = (key: string) =>
    controls.some((other) => other.axis === null && other.keys.includes(key));
  if (!has("arrowleft") || !has("arrowright")) return null;
  if (keys.includes("arrowleft")) return "west";
  return keys.includes("arrowright") ? "east" : null;
}

/** The control that one is on the map, for a camera of this yaw. */
export function turnDirection(
  control: Control,
  controls: readonly Control[],
  yaw: number,
): Control {
  if (!control.direction) return control;
  const index = DIRECTIONS.indexOf(control.direction);
  const quarters = Math.round(yaw / (Math.PI / 2));
  const turned = DIRECTIONS[(((index + quarters) % 4) + 4) % 4];
  return controls.find(({ direction }) => direction === turned) ?? control;
}

/** The bits of held controls; directions are turned with the camera. */
export function bitsOf(held: Iterable<Control>, controls: readonly Control[], yaw: number): number {
  let bits = 0;
  for (const control of held) {
    const index = controls.indexOf(turnDirection(control, controls, yaw));
    if (index >= 0) bits |= 1 << index;
  }
  return bits >>> 0;
}

/** The bits that lead an avatar along a way on the map, in metres. */
export function bitsTowards(dx: number, dy: number, controls: readonly Control[]): number {
  const distance = Math.hypot(dx, dy);
  if (distance < ARRIVED_M) return 0;
  let bits = 0;
  const shares = { east: dx, north: dy, west: -dx, south: -dy };
  controls.forEach(({ direction }, index) => {
    if (direction && shares[direction] / distance > DIAGONAL) bits |= 1 << index;
  });
  return bits >>> 0;
}

/** Whether a control moves the avatar, and does nothing else. */
export function isForSteering(control: Control, controls: readonly Control[]): boolean {
  return control.axis !== null || padPlaceOf(control, controls) !== null;
}
