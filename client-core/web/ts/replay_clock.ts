/**
 * How the time of a recorded room passes in a replay: it stands, runs slower or faster, and ends.
 *
 * Times of the room and of the clock (`Date.now()`) in milliseconds.
 */

export interface ReplayClock {
  /** The room time at `since`. */
  readonly at: number;
  /** A time since the Unix epoch, the same for a page and its worker. */
  readonly since: number;
  /** Room time for each unit of time; 0 stands still. */
  readonly speed: number;
  /** The room time at which it ends. */
  readonly end: number;
}

/** The room time at `now`. */
export function positionOf({ at, since, speed, end }: ReplayClock, now: number): number {
  return Math.min(at + Math.max(now - since, 0) * speed, end);
}

/** The same, at another speed from now on. */
export function withSpeed(clock: ReplayClock, now: number, speed: number): ReplayClock {
  return { ...clock, at: positionOf(clock, now), since: now, speed };
}

/** The same, at another room time from now on. */
export function movedTo(clock: ReplayClock, now: number, at: number): ReplayClock {
  return { ...clock, at: Math.min(at, clock.end), since: now };
}
