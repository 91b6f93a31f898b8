/**
 * What a player reads when the own avatar falls and comes back, in games that bring it back by
 * themselves: whether it is down, the game's line about that, and for a moment that it is back.
 */

import type { Kind } from "../ambit/ambit.js";

/** A line that came at most this time before the bar was empty is about that. */
const JUST_THEN_MS = 1_500;
/** How long "You are back" is shown. */
export const BACK_MS = 1_500;

export type FallState = "up" | "down" | "back";

interface Line {
  text: string;
  isDeath: boolean;
  at: number;
}

/** The gauge of an avatar that says in how many seconds it comes back; undefined without one. */
export function countdownOf({ components }: Pick<Kind, "components">): string | undefined {
  return components.find(({ type, unit }) => type === "gauge" && unit === "s")?.name;
}

export class Fall {
  #state: FallState = "up";
  #wasUp = false;
  #fellAt = 0;
  #backAt = -Infinity;
  #line: Line | undefined;

  /**
   * `bar` is undefined for an avatar without a bar, or without an avatar: a player on the way to
   * another map has not fallen.
   */
  update(now: number, bar: number | undefined): void {
    if (bar === undefined) return;
    if (bar > 0) {
      if (this.#state === "down") [this.#state, this.#backAt] = ["back", now];
      if (this.#state === "back" && now >= this.#backAt + BACK_MS) this.#state = "up";
      this.#wasUp = true;
      return;
    }
    // Before its life has begun, a bar may be empty, too.
    if (!this.#wasUp || this.#state === "down") return;
    [this.#state, this.#fellAt] = ["down", now];
  }

  /** The game has said something about the own avatar, perhaps how it died. */
  note(now: number, text: string, isDeath: boolean): void {
    const isNew = !this.#line || now > this.#line.at + JUST_THEN_MS;
    if (isNew || isDeath || !this.#line?.isDeath) this.#line = { text, isDeath, at: now };
  }

  get state(): FallState {
    return this.#state;
  }

  /** Whether it is back since this moment. */
  isBackAt(now: number): boolean {
    return this.#state === "back" && this.#backAt === now;
  }

  /** What the game has said of the fall; empty if it has said nothing. */
  get line(): string {
    const line = this.#line;
    return !line || line.at < this.#fellAt - JUST_THEN_MS ? "" : line.text;
  }
}
