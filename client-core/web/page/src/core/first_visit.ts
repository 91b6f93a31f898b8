/**
 * The hints of a first visit, one after the other, and never again: how this game is played, for
 * each game once; then what Ambit is about, once.
 */

/** What is used of a `Storage`. */
export type Kept = Pick<Storage, "getItem" | "setItem">;

const KEY = "ambit-hints-seen";
/** Of whoever wants no hints, in no game. */
const NONE = "none";
const GAME_KEY = "ambit-played";

export class FirstVisit {
  readonly #kept: Kept;
  readonly #game: string;
  readonly #hints: readonly string[];
  #at = 0;

  /** `play` says how this game is played. */
  constructor(kept: Kept, game: string, play: string, hints: readonly string[]) {
    this.#kept = kept;
    this.#game = game;
    const isKnown = kept.getItem(KEY) !== null;
    const played = playedBefore(kept).includes(game) || kept.getItem(KEY) === NONE;
    this.#hints = [...(played || play === "" ? [] : [play]), ...(isKnown ? [] : hints)];
  }

  /** What is to be shown; undefined if there is nothing more. */
  get hint(): string | undefined {
    return this.#hints[this.#at];
  }

  get isLast(): boolean {
    return this.#at === this.#hints.length - 1;
  }

  /** The player has read the hint. */
  next(): void {
    this.#at += 1;
    if (this.hint === undefined) this.end();
  }

  /** The player wants no hints, here and elsewhere. */
  refuse(): void {
    this.end();
    this.#kept.setItem(KEY, NONE);
  }

  /** All of them were read. */
  end(): void {
    this.#at = this.#hints.length;
    if (this.#kept.getItem(KEY) === null) this.#kept.setItem(KEY, "yes");
    const played = playedBefore(this.#kept);
    if (!played.includes(this.#game)) played.push(this.#game);
    this.#kept.setItem(GAME_KEY, played.slice(-MAX_GAMES).join(" "));
  }
}

const MAX_GAMES = 50;

function playedBefore(kept: Kept): string[] {
  return (kept.getItem(GAME_KEY) ?? "").split(" ").filter(Boolean);
}
