/**
 * Keys that are held, as frames see them: one that went down and up between two frames is held in
 * the next one, or a tap on a slow machine would do nothing.
 */

export class HeldKeys {
  /** In the form of `normaliseKey`. */
  readonly held = new Set<string>();
  /** Those that no frame has seen yet. */
  readonly #unseen = new Set<string>();
  /** Of those, the ones that are up again. */
  readonly #released = new Set<string>();

  press(key: string): void {
    this.held.add(key);
    this.#unseen.add(key);
    this.#released.delete(key);
  }

  release(key: string): void {
    if (this.#unseen.has(key)) this.#released.add(key);
    else this.held.delete(key);
  }

  /** A frame has seen what is held. */
  endFrame(): void {
    for (const key of this.#released) this.held.delete(key);
    this.#released.clear();
    this.#unseen.clear();
  }

  /** Forgets what is held: keys that are released elsewhere are never reported. */
  clear(): void {
    this.held.clear();
    this.#unseen.clear();
    this.#released.clear();
  }
}
