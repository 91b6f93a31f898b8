/**
 * Controls that a player holds: from keys of the keyboard, buttons on the screen, or a pointer that
 * shows where to go.
 *
 * Directions are those of the screen. The game's are those of the map, so they turn with the
 * camera, by quarters.
 */

/** The names of `Schema.controls` that the keyboard has keys for. */
const KEYS = new Map([
  ["arrowleft", "left"],
  ["a", "left"],
  ["arrowright", "right"],
  ["d", "right"],
  ["arrowup", "up"],
  ["w", "up"],
  ["arrowdown", "down"],
  ["s", "down"],
  [" ", "jump"],
  ["q", "attract"],
  ["e", "repel"],
  ["f", "fire"],
  ["r", "use"],
  ["b", "brake"],
]);

/** Counter-clockwise. */
const DIRECTIONS = ["right", "up", "left", "down"] as const;
/** Closer than that, a pointer that shows where to go is on the avatar. */
const ARRIVED_M = 0.6;
/** The sine of 22.5 degrees: beyond that, two directions are held. */
const DIAGONAL = 0.3827;

/** The control of a key (`KeyboardEvent.key` in lower case), if the game has it. */
export function controlOfKey(key: string, controls: readonly string[]): string | undefined {
  const name = KEYS.get(key);
  return name !== undefined && controls.includes(name) ? name : undefined;
}

/** The control that a direction on the screen is on the map, for a camera of this yaw. */
export function turnDirection(name: string, yaw: number): string {
  const index = (DIRECTIONS as readonly string[]).indexOf(name);
  if (index < 0) return name;
  const quarters = Math.round(yaw / (Math.PI / 2));
  return DIRECTIONS[(((index + quarters) % 4) + 4) % 4] as string;
}

/** The bits of held controls; directions are turned with the camera. */
export function bitsOf(held: Iterable<string>, controls: readonly string[], yaw: number): number {
  let bits = 0;
  for (const name of held) {
    const index = controls.indexOf(turnDirection(name, yaw));
    if (index >= 0) bits |= 1 << index;
  }
  return bits >>> 0;
}

/** The bits that lead an avatar along a way on the map, in metres. */
export function bitsTowards(dx: number, dy: number, controls: readonly string[]): number {
  const distance = Math.hypot(dx, dy);
  if (distance < ARRIVED_M) return 0;
  let bits = 0;
  const hold = (name: string, share: number) => {
    const index = controls.indexOf(name);
    if (index >= 0 && share / distance > DIAGONAL) bits |= 1 << index;
  };
  hold("right", dx);
  hold("left", -dx);
  hold("up", dy);
  hold("down", -dy);
  return bits >>> 0;
}
