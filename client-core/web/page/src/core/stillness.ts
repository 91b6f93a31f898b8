/**
 * When the last picture stays instead of a new one: after a host's death, and on the way to another
 * map, all objects have left and come one after the other. And when the canvas takes another size,
 * which empties it: only together with the next picture.
 */

/** After this time the player sees what has arrived, even if it is little. */
export const STAYS_MS = 1_500;

export class Stillness {
  #hasShown = false;
  #mayBeGone = false;
  #since = NaN;

  /** All objects have left and enter again. */
  restart(): void {
    this.#mayBeGone = true;
  }

  /** Called at each frame, with what there is to draw: whether the last picture stays. */
  stays(now: number, objects: number, hasAvatar: boolean): boolean {
    const isGone = objects === 0 || (this.#mayBeGone && !hasAvatar);
    if (hasAvatar) this.#mayBeGone = false;
    if (!isGone || !this.#hasShown) {
      this.#hasShown ||= objects > 0;
      this.#since = NaN;
      return false;
    }
    if (Number.isNaN(this.#since)) this.#since = now;
    if (now < this.#since + STAYS_MS) return true;
    this.#mayBeGone = false;
    return false;
  }
}

export class CanvasSize {
  #isDue = false;

  /** The canvas, or how many of its pixels are drawn, has changed. */
  change(): void {
    this.#isDue = true;
  }

  /** Right before a picture is drawn: whether it is drawn in another size. */
  take(): boolean {
    const isDue = this.#isDue;
    this.#isDue = false;
    return isDue;
  }
}
