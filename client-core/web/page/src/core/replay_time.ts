/** The time and the speed of a replay, for people. */

/** Those that can be chosen, in room time for each unit of time. */
export const SPEEDS: readonly number[] = [0.25, 0.5, 1, 2, 4, 8];

/** The next faster one, or slower one; the same at the end. */
export function nextSpeed(speed: number, isFaster: boolean): number {
  const index = SPEEDS.indexOf(speed) + (isFaster ? 1 : -1);
  return SPEEDS[index] ?? speed;
}

/** Minutes, seconds and tenths: `1:02.5`. */
export function timeText(ms: number): string {
  const tenths = Math.floor(Math.max(ms, 0) / 100);
  const seconds = Math.floor(tenths / 10) % 60;
  return `${Math.floor(tenths / 600)}:${String(seconds).padStart(2, "0")}.${tenths % 10}`;
}

/** What a key asks for. */
export type ReplayKey = "toggle" | "back" | "ahead" | "faster" | "slower";

/** By the keys of `KeyboardEvent`. */
export const REPLAY_KEYS: ReadonlyMap<string, ReplayKey> = new Map([
  [" ", "toggle"],
  ["ArrowLeft", "back"],
  ["ArrowRight", "ahead"],
  ["ArrowUp", "faster"],
  ["ArrowDown", "slower"],
]);
