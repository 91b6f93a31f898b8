/** Attempts that are repeated by themselves until one succeeds, while the cause may pass. */

/** A server that was drained is back within seconds: the page retries by itself. */
export const RETRY_MS = 5_000;

export class Retries {
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `attempt` says whether it is to be repeated. */
  constructor(private readonly attempt: () => Promise<boolean>) {}

  /** The next attempt is made after a pause, and so on. */
  begin(): void {
    this.end();
    this.#timer = setTimeout(() => void this.#next(), RETRY_MS);
  }

  /** The player does it, or there is nothing to wait for. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #next(): Promise<void> {
    const timer = this.#timer;
    const isAgain = await this.attempt();
    // The player was faster.
    if (isAgain && timer === this.#timer) this.begin();
  }
}
