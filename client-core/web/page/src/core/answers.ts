/**
 * What answers a command in the frame after the key, before anything is heard of the host: the
 * command's button is down, and the own figure makes a short move. A refusal takes it back in sight.
 *
 * Bound: as many entries as commands with different labels.
 */

/** A command without any word of the host is up again after that. */
const UNANSWERED_MS = 2_000;
/** However fast the host is, the button is seen to go down. */
const LEAST_MS = 120;
/** How long a refusal is shown. */
const REFUSED_MS = 700;
/** How long the figure's move takes, and by which share of its height it rises. */
const MOVE_MS = 180;
const RISE = 0.16;

export type Answer = "given" | "refused";

interface Given {
  answer: Answer;
  since: number;
  until: number;
}

export class Answers {
  readonly #given = new Map<string, Given>();
  #movedAt = -Infinity;

  /** The player gives a command. */
  give(now: number, label: string): void {
    this.#given.set(label, { answer: "given", since: now, until: now + UNANSWERED_MS });
    this.#movedAt = now;
  }

  /** The host has taken it. */
  take(label: string): void {
    const given = this.#given.get(label);
    if (given?.answer === "given") given.until = given.since + LEAST_MS;
  }

  /** It is not done: the host or the client has refused it. */
  refuse(now: number, label: string): void {
    this.#given.set(label, { answer: "refused", since: now, until: now + REFUSED_MS });
    this.#movedAt = -Infinity;
  }

  /** How the button of a command looks. */
  of(now: number, label: string): Answer | undefined {
    const given = this.#given.get(label);
    return given && now < given.until ? given.answer : undefined;
  }

  /** How far the own figure is raised, in its heights. */
  rise(now: number): number {
    const share = (now - this.#movedAt) / MOVE_MS;
    return share > 0 && share < 1 ? RISE * Math.sin(Math.PI * share) : 0;
  }
}
