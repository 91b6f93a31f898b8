/** Which names are shown, so that none is written over another: the first ones that fit. */

const MAX_LABELS = 64;

export class LabelLayout {
  readonly #across = new Float32Array(MAX_LABELS);
  readonly #down = new Float32Array(MAX_LABELS);
  #count = 0;

  begin(): void {
    this.#count = 0;
  }

  /** Whether there is room for a name of this size around a place on the screen; takes it. */
  takes(across: number, down: number, width: number, height: number): boolean {
    for (let other = 0; other < this.#count; other += 1) {
      const besides = Math.abs((this.#across[other] as number) - across) >= width;
      const above = Math.abs((this.#down[other] as number) - down) >= height;
      if (!besides && !above) return false;
    }
    if (this.#count < MAX_LABELS) {
      this.#across[this.#count] = across;
      this.#down[this.#count] = down;
      this.#count += 1;
    }
    return true;
  }
}
