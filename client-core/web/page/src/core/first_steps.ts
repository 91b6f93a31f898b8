/**
 * The first steps in a game: a few lines that tick themselves off by what the player does, for each
 * game once.
 */

/** What is used of a `Storage`. */
export type Kept = Pick<Storage, "getItem" | "setItem">;

/** What a player does: moves, acts, hears the game, looks closer. */
export type Deed = "move" | "act" | "hear" | "look";

export interface Step {
  readonly deed: Deed;
  readonly text: string;
}

const KEY = "ambit-hints-seen";
/** Of a player who wants no hints, in no game. */
const NONE = "none";
const GAME_KEY = "ambit-played";
const MAX_GAMES = 50;

export class FirstSteps {
  /** Empty in a game that is known. */
  readonly steps: readonly Step[];
  readonly #done = new Set<Deed>();

  constructor(private readonly kept: Kept, private readonly game: string, steps: readonly Step[]) {
    const isKnown = kept.getItem(KEY) === NONE || playedBefore(kept).includes(game);
    this.steps = isKnown ? [] : steps;
  }

  isDone({ deed }: Step): boolean {
    return this.#done.has(deed);
  }

  get isOver(): boolean {
    return this.steps.every((step) => this.isDone(step));
  }

  /** The player does something; true if a step is done by that. */
  did(deed: Deed): boolean {
    if (this.#done.has(deed) || !this.steps.some((step) => step.deed === deed)) return false;
    this.#done.add(deed);
    if (this.isOver) this.#remember();
    return true;
  }

  /** The player wants no hints, here and elsewhere. */
  refuse(): void {
    for (const { deed } of this.steps) this.#done.add(deed);
    this.#remember();
    this.kept.setItem(KEY, NONE);
  }

  #remember(): void {
    const played = playedBefore(this.kept);
    if (!played.includes(this.game)) played.push(this.game);
    this.kept.setItem(GAME_KEY, played.slice(-MAX_GAMES).join(" "));
  }
}

function playedBefore(kept: Kept): string[] {
  return (kept.getItem(GAME_KEY) ?? "").split(" ").filter(Boolean);
}
