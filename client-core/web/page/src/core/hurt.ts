/**
 * When the own avatar is hurt, and from where: from the object that an event names, else from where
 * a shot came that was just beside it. If neither is known, no direction is shown.
 */

/** Of a bar: less is the rounding of it, or something that gnaws. */
const LEAST_SHARE = 0.015;
/** A shot that was within this distance and time is taken for the one that hit. */
const NEAR_M = 3.5;
const LATELY_MS = 500;
/** A shot first seen within this distance is the avatar's own, or of unknown origin. */
const OWN_M = 2.5;
/** How long to wait for the attacker: others are shown a moment later than the avatar's values. */
const WAIT_MS = 250;
const MOST_SHOTS = 256;

interface Shot {
  fromX: number;
  fromY: number;
  seenAt: number;
}

/** Towards the attacker, in metres on the map; both 0 if that is not known. */
export interface Way {
  dx: number;
  dy: number;
}

export class HurtWatch {
  readonly #shots = new Map<number, Shot>();
  readonly #way: Way = { dx: 0, dy: 0 };
  #near: { shot: Shot; away: number; at: number } | undefined;
  #share: number | undefined;
  /** Since when it hurts, until that is shown. */
  #hurtAt: number | undefined;

  /** A shot is in sight, at a place from the avatar's. */
  noteShot(now: number, id: number, dx: number, dy: number): void {
    let shot = this.#shots.get(id);
    if (!shot) {
      if (this.#shots.size >= MOST_SHOTS) this.#forget(now);
      shot = { fromX: dx, fromY: dy, seenAt: now };
      this.#shots.set(id, shot);
    }
    shot.seenAt = now;
    const away = Math.hypot(dx, dy);
    if (away > NEAR_M || Math.hypot(shot.fromX, shot.fromY) < OWN_M) return;
    const isNearer = !this.#near || now > this.#near.at + LATELY_MS || away <= this.#near.away;
    if (isNearer) this.#near = { shot, away, at: now };
  }

  /**
   * `attacker` is the direction of an object that an event has just named. Returns undefined if
   * there is nothing to show.
   */
  update(now: number, share: number | undefined, attacker: Way | undefined): Way | undefined {
    const before = this.#share;
    this.#share = share;
    if (share === undefined || before === undefined) {
      this.#hurtAt = undefined;
      return undefined;
    }
    if (share <= before - LEAST_SHARE) this.#hurtAt ??= now;
    if (this.#hurtAt === undefined) return undefined;
    const near = this.#near && now <= this.#near.at + LATELY_MS ? this.#near.shot : undefined;
    const isKnown = attacker !== undefined || near !== undefined;
    if (!isKnown && now < this.#hurtAt + WAIT_MS) return undefined;
    this.#hurtAt = undefined;
    this.#way.dx = attacker?.dx ?? near?.fromX ?? 0;
    this.#way.dy = attacker?.dy ?? near?.fromY ?? 0;
    return this.#way;
  }

  #forget(now: number): void {
    for (const [id, { seenAt }] of this.#shots) {
      if (now > seenAt + LATELY_MS) this.#shots.delete(id);
    }
    if (this.#shots.size >= MOST_SHOTS) this.#shots.clear();
  }
}
