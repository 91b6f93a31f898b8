/** Values that are looked at again and again, of which a change matters. No clock, no page. */

export class Changed {
  #before = "";

  /** True if the values are not those of the call before. */
  by(...values: unknown[]): boolean {
    const now = JSON.stringify(values);
    const isOther = now !== this.#before;
    this.#before = now;
    return isOther;
  }
}
