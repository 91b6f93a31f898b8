/**
 * Where a page keeps the token of its session: in the storage of its tab. When the page is left, the
 * token lies in the storage that all tabs have in common, too, and the next page without a session
 * takes it: whoever closes a tab and opens another is the same player.
 *
 * One page has a token: a tab that comes back with its own takes back what it has left. A page
 * without storage goes on without it.
 */

/** What is used of a `Storage`. */
export type Kept = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export class TokenStorage {
  readonly #key: string | undefined;

  /** Both storages are asked for when they are used: a browser may refuse that. */
  constructor(
    keep: boolean | string | undefined,
    private readonly tab: () => Kept = () => sessionStorage,
    private readonly common: () => Kept = () => localStorage,
  ) {
    if (keep) this.#key = keep === true ? "ambit-session" : `ambit-session-${keep}`;
  }

  /** The session that this page goes on with; empty for a new one. */
  read(): Uint8Array {
    const own = this.#get(this.tab);
    const left = this.#get(this.common);
    const text = own ?? left;
    if (text === left) this.#set(this.common, undefined);
    // A copy of the tab has it, as after a reload.
    if (text && !own) this.#set(this.tab, text);
    return bytesOf(text ?? "");
  }

  /** The session has another token; undefined if it is over. */
  write(token: Uint8Array | undefined): void {
    this.#set(this.tab, token && btoa(String.fromCharCode(...token)));
  }

  /** The page is left. */
  leave(): void {
    const own = this.#get(this.tab);
    if (own) this.#set(this.common, own);
  }

  /** The page is there again as it was left. */
  comeBack(): void {
    const own = this.#get(this.tab);
    if (own && own === this.#get(this.common)) this.#set(this.common, undefined);
  }

  #get(storage: () => Kept): string | undefined {
    if (!this.#key) return undefined;
    try {
      return storage().getItem(this.#key) ?? undefined;
    } catch {
      return undefined;
    }
  }

  #set(storage: () => Kept, text: string | undefined): void {
    if (!this.#key) return;
    try {
      if (text) storage().setItem(this.#key, text);
      else storage().removeItem(this.#key);
    } catch {
      // Private modes may refuse; a reload then begins a new session.
    }
  }
}

function bytesOf(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}
