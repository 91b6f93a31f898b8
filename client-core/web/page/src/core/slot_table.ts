/**
 * Which name has which slot of a texture.
 *
 * Slots are freed only between two frames, all at once: within a frame, what has been handed out
 * is drawn later. A name that finds no slot is not drawn in this frame.
 */

export class SlotTable {
  readonly #slots = new Map<string, number>();
  /** The frame in which each slot was used last. */
  readonly #usedIn: Uint32Array;
  #frame = 1;
  #used = 0;
  #isShort = false;

  /** `clear` is called when all slots are freed, `paint` when a name gets one. */
  constructor(
    size: number,
    private readonly paint: (name: string, slot: number) => void,
    private readonly clear: () => void,
  ) {
    this.#usedIn = new Uint32Array(size);
  }

  /** Begins a frame. */
  begin(): void {
    // While all slots are in use, freeing them would only paint all names again in each frame.
    if (this.#isShort && this.#used < this.#usedIn.length) {
      this.#slots.clear();
      this.clear();
    }
    this.#isShort = false;
    this.#used = 0;
    this.#frame += 1;
  }

  /** The slot of a name; -1 if there is none left. */
  slotOf(name: string): number {
    let slot = this.#slots.get(name);
    if (slot === undefined) {
      slot = this.#slots.size;
      if (slot >= this.#usedIn.length) {
        this.#isShort = true;
        return -1;
      }
      this.#slots.set(name, slot);
      this.paint(name, slot);
    }
    if (this.#usedIn[slot] !== this.#frame) {
      this.#usedIn[slot] = this.#frame;
      this.#used += 1;
    }
    return slot;
  }
}
