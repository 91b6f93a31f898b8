/**
 * Held letters, a stick or a held press lead an avatar that walks to places: its command is given
 * for places ahead of it, again only where that changes something, and once more for a stop.
 *
 * Units: milliseconds, metres; directions are those of the map.
 */

import type { Control } from "../ambit/ambit.js";
import type { Action } from "./actions.js";
import type { Stick } from "./gamepad.js";

/** In the form of `normaliseKey`. Arrow keys move the aim. */
const LETTERS = ["w", "a", "s", "d"];
/** How far ahead the avatar is sent, and where a command acts that nothing aims. */
export const AHEAD_M = 6;
/** A server takes 64 commands a second. */
const PAUSE_MS = 150;
/** Resend the goal after this time: the command was refused, or something was in the way. */
const AGAIN_MS = 1_000;
/** The cosine of 8 degrees: a hand on a stick is never still. */
const SAME_WAY = 0.99;
/** Send the next goal when the avatar is closer than this, so that it does not stop there. */
const NEAR_M = 1.5;
/** A press that moves by less is where it was. */
const SAME_PLACE_M = 0.5;
/** Time window over which the speed is measured. */
const SPEED_MS = 80;
/** After this time the measured speed is that of a steady walk. */
const STEADY_MS = 3 * SPEED_MS;
/** The assumed speed of an avatar that has not walked yet: a guess that is too high stops ahead. */
const SUPPOSED_M_PER_S = 6;
/** An avatar that is slower stands, or is held up. */
const LEAST_M_PER_S = 0.5;
/**
 * The effects of two commands may be so much farther apart than the commands: a tick and more. Then
 * others see that the avatar goes back, also if it is drawn ahead for its player.
 */
const SLACK_MS = 75;

/** Whether W A S D walk: nothing is steered by keys, and the game has no other use for them. */
export function walksByLetters(actions: readonly Action[], controls: readonly Control[]): boolean {
  const isTaken = actions.some(({ key }) => LETTERS.includes(key ?? ""));
  return controls.length === 0 && !isTaken && actions.some(({ isClick }) => isClick);
}

/** Where the held letters lead on the screen, of length 1; of length 0 if nowhere. */
export function wayOfLetters(held: ReadonlySet<string>, into: Stick): void {
  const x = Number(held.has("d")) - Number(held.has("a"));
  const y = Number(held.has("w")) - Number(held.has("s"));
  const length = Math.hypot(x, y) || 1;
  [into.x, into.y] = [x / length, y / length];
}

/** Where a held press has sent the avatar, and when. */
export interface ToldPlace extends Stick {
  since: number;
}

/**
 * Whether an avatar, now at `at`, has to be sent to the place `to`, where a held press points now.
 * It has not, as long as it goes that way anyhow.
 */
export function pointsElsewhere(now: number, at: Stick, told: ToldPlace, to: Stick): boolean {
  if (!endsElsewhere(told, to)) return false;
  const [toldX, toldY, toX, toY] = [told.x - at.x, told.y - at.y, to.x - at.x, to.y - at.y];
  const [left, away] = [Math.hypot(toldX, toldY), Math.hypot(toX, toY)];
  const isNear = Math.min(left, away) < NEAR_M;
  const turns = toldX * toX + toldY * toY < SAME_WAY * left * away;
  return isNear || turns || now >= told.since + AGAIN_MS;
}

/** Whether it has to be sent there if the press ends there. */
export function endsElsewhere(told: ToldPlace, to: Stick): boolean {
  return Math.hypot(to.x - told.x, to.y - told.y) >= SAME_PLACE_M;
}

export class HeldWalk {
  #isWalking = false;
  readonly #way: Stick = { x: 0, y: 0 };
  readonly #from: Stick = { x: 0, y: 0 };
  #sentAt = -Infinity;
  readonly #at: Stick = { x: 0, y: 0 };
  #now = NaN;
  readonly #speed: Stick = { x: 0, y: 0 };
  /** How fast the avatar walks, as far as that was seen. */
  #pace = SUPPOSED_M_PER_S;
  /** The ways that were given and have not led for long, with when they begin to. */
  #given: (Stick & { effectAt: number })[] = [];

  get isWalking(): boolean {
    return this.#isWalking;
  }

  /**
   * Whether the avatar, now at `at`, has to be sent to the place in `to`. `way` has length 0 if
   * nothing is held; the avatar is seen to follow a command after `lagMs`: 0 if it is drawn ahead.
   */
  next(now: number, way: Stick, at: Stick, lagMs: number, to: Stick): boolean {
    this.#measure(now, at);
    if (way.x === 0 && way.y === 0) {
      if (!this.#isWalking) return false;
      this.#isWalking = false;
      this.#putStop(now, at, lagMs, to);
      return true;
    }
    const length = Math.hypot(way.x, way.y);
    const [x, y] = [way.x / length, way.y / length];
    if (now < this.#sentAt + PAUSE_MS || !this.#isDue(now, x, y, at)) return false;
    if (!this.#isWalking) this.#given = [];
    this.#isWalking = true;
    this.#sentAt = now;
    this.#given.push({ x, y, effectAt: now + lagMs });
    [this.#way.x, this.#way.y] = [x, y];
    [this.#from.x, this.#from.y] = [at.x, at.y];
    [to.x, to.y] = [at.x + AHEAD_M * x, at.y + AHEAD_M * y];
    return true;
  }

  /** Something else leads the avatar now: it is not to be stopped. */
  forget(): void {
    this.#isWalking = false;
  }

  /**
   * Until the stop takes effect the avatar walks on, and perhaps only sets out: to come back from
   * there would look like a slip.
   */
  #putStop(now: number, at: Stick, lagMs: number, to: Stick): void {
    const end = now + lagMs;
    const recent = this.#given.filter(({ effectAt }) => effectAt > now - STEADY_MS);
    this.#given = [];
    [to.x, to.y] = [at.x, at.y];
    const first = recent[0]?.effectAt ?? end;
    const measuredS = Math.max(Math.min(first, end) - now, 0) / 1_000;
    to.x += this.#speed.x * measuredS;
    to.y += this.#speed.y * measuredS;
    recent.forEach(({ x, y, effectAt }, index) => {
      const next = recent[index + 1]?.effectAt;
      const until = next ?? end + SLACK_MS;
      const walked = (this.#pace * Math.max(until - Math.max(effectAt, now), 0)) / 1_000;
      to.x += x * walked;
      to.y += y * walked;
    });
  }

  #isDue(now: number, x: number, y: number, at: Stick): boolean {
    if (!this.#isWalking || x * this.#way.x + y * this.#way.y < SAME_WAY) return true;
    const gone = Math.hypot(at.x - this.#from.x, at.y - this.#from.y);
    return gone >= AHEAD_M / 2 || now >= this.#sentAt + AGAIN_MS;
  }

  #measure(now: number, at: Stick): void {
    const ms = now - this.#now;
    const way = Math.hypot(at.x - this.#at.x, at.y - this.#at.y);
    // The first place, or a jump: a new life, another map.
    const isAnew = !(ms > 0 && ms < AGAIN_MS) || way > AHEAD_M;
    const share = isAnew ? 0 : 1 - Math.exp(-ms / SPEED_MS);
    for (const axis of ["x", "y"] as const) {
      const speed = isAnew ? 0 : ((at[axis] - this.#at[axis]) / ms) * 1_000;
      this.#speed[axis] = isAnew ? 0 : this.#speed[axis] + (speed - this.#speed[axis]) * share;
      this.#at[axis] = at[axis];
    }
    const speed = Math.hypot(this.#speed.x, this.#speed.y);
    // Only of a walk that has lasted: an avatar that sets out or is held up seems too slow.
    const newest = this.#given.at(-1);
    const isSteady = newest !== undefined && now > newest.effectAt + STEADY_MS;
    const hasWalked = Math.hypot(at.x - this.#from.x, at.y - this.#from.y) > NEAR_M;
    if (this.#isWalking && isSteady && hasWalked && speed > LEAST_M_PER_S) this.#pace = speed;
    this.#now = now;
  }
}
