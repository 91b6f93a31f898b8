/** What is known about each object, by its id, for as long as the object is in sight. */

export class InSight<T> {
  readonly #known = new Map<number, { value: T; seenIn: number }>();
  #frame = 0;

  /** A frame begins. */
  begin(): void {
    this.#frame += 1;
  }

  /** An object is in sight in this frame. Undefined for one that has just come: {@link add} it. */
  see(id: number): T | undefined {
    const known = this.#known.get(id);
    if (known) known.seenIn = this.#frame;
    return known?.value;
  }

  /** Returns the value. */
  add(id: number, value: T): T {
    this.#known.set(id, { value, seenIn: this.#frame });
    return value;
  }

  get(id: number): T | undefined {
    return this.#known.get(id)?.value;
  }

  /** A frame ends: forgets what is out of sight, and calls `each` for all others. */
  end(each?: (value: T) => void): void {
    for (const [id, { value, seenIn }] of this.#known) {
      if (seenIn === this.#frame) each?.(value);
      else this.#known.delete(id);
    }
  }

  clear(): void {
    this.#known.clear();
  }
}
