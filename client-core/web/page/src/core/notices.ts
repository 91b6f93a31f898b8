/**
 * Short messages over the picture: a few at a time, and each only once. What is said again is the
 * old message with its time renewed and the number of times. One about the player stays until its
 * time is over, as long as there are others that can make room.
 */

interface Notice {
  text: string;
  times: number;
  until: number;
  isOwn: boolean;
}

export class Notices {
  readonly #list: Notice[] = [];

  /** At most `most` at a time, each for `shownMs`. */
  constructor(private readonly most: number, private readonly shownMs: number) {}

  /** The newest one last; the oldest one makes room for it. `isOwn`: it is about the player. */
  add(now: number, text: string, isOwn = false): void {
    this.expire(now);
    const known = this.#list.find((notice) => notice.text === text);
    const until = now + this.shownMs;
    if (known) {
      known.times += 1;
      known.until = until;
      return;
    }
    this.#list.push({ text, times: 1, until, isOwn });
    if (this.#list.length <= this.most) return;
    const others = this.#list.findIndex((notice) => !notice.isOwn);
    this.#list.splice(Math.max(others, 0), 1);
  }

  /** Those that are over go. */
  expire(now: number): void {
    for (let index = this.#list.length - 1; index >= 0; index -= 1) {
      if ((this.#list[index] as Notice).until <= now) this.#list.splice(index, 1);
    }
  }

  get list(): readonly Readonly<Notice>[] {
    return this.#list;
  }
}
