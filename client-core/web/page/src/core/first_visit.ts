/** The hints of a first visit: one after the other, and never again. */

/** What is used of a `Storage`. */
export type Kept = Pick<Storage, "getItem" | "setItem">;

const KEY = "ambit-hints-seen";

export class FirstVisit {
  readonly #kept: Kept;
  readonly #hints: readonly string[];
  #at = 0;

  constructor(kept: Kept, hints: readonly string[]) {
    this.#kept = kept;
    this.#hints = hints;
    if (kept.getItem(KEY) !== null) this.#at = hints.length;
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

  /** The player wants no hints. */
  end(): void {
    this.#at = this.#hints.length;
    this.#kept.setItem(KEY, "yes");
  }
}
