/**
 * What developers find in the browser's console, as `ambit`: the client of this page, and the game
 * that it is in. The page keeps both current; the end-to-end tests use them.
 */

import { type Client, connect, type Game } from "./ambit.js";

export interface PageHandle {
  /** Undefined before the page is connected. */
  client: Client | undefined;
  /** Undefined in the lobby. */
  game: Game | undefined;
  /** Connects further clients. */
  readonly connect: typeof connect;
}

export const handle: PageHandle = { client: undefined, game: undefined, connect };

Object.assign(globalThis, { ambit: handle });
