/**
 * The commands that were given and have not taken effect: what the countdowns show.
 *
 * A command takes effect, for all clients at once, the local lag after the server has it. Until the
 * host confirms it, the page counts the way there as half a round trip; the confirmation has the
 * exact time. A refusal is shown for a moment, too.
 *
 * Bound: {@link MAX_PENDING}; the oldest one is forgotten.
 */

export interface PendingCommand {
  number: number;
  label: string;
  givenAt: number;
  /** Estimated until it is confirmed. */
  effectAt: number;
  state: "sent" | "confirmed" | "refused";
  /** Where on the map, or NaN. */
  x: number;
  y: number;
  z: number;
}

const MAX_PENDING = 32;
/** How long a command is shown after its effect. */
const AFTERGLOW_MS = 350;
const REFUSED_MS = 900;
/** One without an answer is waited for; the client gives up a move after a second. */
const UNANSWERED_MS = 2_000;

/** The number of lags that are compared; a longer lag says nothing about the next. */
const LAGS = 6;
const MAX_LAG_MS = 1_000;

export class PendingCommands {
  /** In the order in which they were given. */
  readonly list: PendingCommand[] = [];
  /** From the key to the effect, of those that were confirmed last. */
  readonly #lags: number[] = [];

  /** The longest of the last ones; 0 before the first. */
  get measuredLagMs(): number {
    return Math.max(0, ...this.#lags);
  }

  give(now: number, number: number, label: string, lagMs: number): PendingCommand {
    if (this.list.length >= MAX_PENDING) this.list.shift();
    const pending: PendingCommand = {
      number,
      label,
      givenAt: now,
      effectAt: now + lagMs,
      state: "sent",
      x: NaN,
      y: NaN,
      z: NaN,
    };
    this.list.push(pending);
    return pending;
  }

  /**
   * Returns the command, if it is still known. The game may have refused it before the host's
   * confirmation came.
   */
  confirm(number: number, effectAt: number): PendingCommand | undefined {
    const pending = this.#find(number);
    if (pending?.state === "refused") return undefined;
    if (!pending) return undefined;
    Object.assign(pending, { state: "confirmed", effectAt });
    this.#lags.push(Math.min(effectAt - pending.givenAt, MAX_LAG_MS));
    if (this.#lags.length > LAGS) this.#lags.shift();
    return pending;
  }

  /** Returns the command, if it is still known. */
  refuse(now: number, number: number): PendingCommand | undefined {
    const effectAt = now + REFUSED_MS - AFTERGLOW_MS;
    const pending = this.#find(number);
    if (pending) Object.assign(pending, { state: "refused", effectAt });
    return pending;
  }

  /**
   * Forgets what need not be shown any more. `done` is called with each that has taken effect: a
   * game may refuse until then what was confirmed.
   */
  expire(now: number, done?: (command: PendingCommand) => void): void {
    for (let index = this.list.length - 1; index >= 0; index -= 1) {
      const command = this.list[index] as PendingCommand;
      const { effectAt, state } = command;
      const shownFor = state === "sent" ? UNANSWERED_MS : AFTERGLOW_MS;
      if (now <= effectAt + shownFor) continue;
      this.list.splice(index, 1);
      if (state === "confirmed") done?.(command);
    }
  }

  #find(number: number): PendingCommand | undefined {
    return this.list.find((other) => other.number === number);
  }
}

/** From 1 when it was given to 0 at its effect. */
export function remainingShare(pending: PendingCommand, now: number): number {
  const total = pending.effectAt - pending.givenAt;
  return total > 0 ? Math.min(Math.max((pending.effectAt - now) / total, 0), 1) : 0;
}
