/**
 * The order of a party: members who need help come first. Those are the hurt ones, by bands of
 * health, so that small changes move no member; then the unhurt, and last those who have fallen.
 */

/** A fuller bar looks full. */
const FULL = 0.995;
/** The number of bands of health: within one, a member who was seen first stays first. */
const BANDS = 5;
/** A member who gets better by less than this share of a band stays in it. */
const STICKY = 0.25;

export interface PartyMember {
  id: number;
  /** From 0 to 1. */
  share: number;
}

export class PartyOrder {
  readonly #bands = new Map<number, number>();
  /** In which order they came. */
  readonly #places = new Map<number, number>();
  #next = 0;

  /** Sorts in place. Forgets members that are no longer in the list. */
  sort(members: PartyMember[]): void {
    const ids = new Set(members.map(({ id }) => id));
    for (const id of this.#places.keys()) {
      if (ids.has(id)) continue;
      this.#places.delete(id);
      this.#bands.delete(id);
    }
    for (const { id, share } of members) {
      if (!this.#places.has(id)) this.#places.set(id, this.#next++);
      this.#bands.set(id, bandOf(share, this.#bands.get(id)));
    }
    const band = ({ id }: PartyMember) => this.#bands.get(id) ?? BANDS;
    const place = ({ id }: PartyMember) => this.#places.get(id) ?? 0;
    members.sort((a, b) => band(a) - band(b) || place(a) - place(b));
  }
}

/** The lower, the more urgent; the fallen are last. */
function bandOf(share: number, before: number | undefined): number {
  if (share <= 0) return BANDS + 1;
  if (share >= FULL) return BANDS;
  const exact = share * BANDS;
  const band = Math.min(Math.floor(exact), BANDS - 1);
  const isHardlyBetter = before === band - 1 && exact < band + STICKY;
  return isHardlyBetter ? before : band;
}
