/**
 * Says when the avatar's life ends: it is gone, or its bar has come to nothing. What the player was
 * about to do is then of no use.
 */

export class AvatarWatch {
  #isUp = false;
  #wasUp = false;

  /** `bar` is undefined for an avatar without one. */
  update(isThere: boolean, bar: number | undefined): void {
    this.#wasUp = this.#isUp;
    this.#isUp = isThere && (bar === undefined || bar > 0);
  }

  /** Whether it can act, as far as its bar says. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Whether it has just fallen. */
  get hasFallen(): boolean {
    return this.#wasUp && !this.#isUp;
  }
}
