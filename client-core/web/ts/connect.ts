/** Connecting to a server. */

import init, { type InitOutput, WebClient } from "../pkg/ambit_client_web.js";
import { Client } from "./client.js";
import type { LineShaper, ServerAddress } from "./connection.js";
import { Directory } from "./directory.js";
import { Driver } from "./driver.js";
import { AmbitError, coreError } from "./errors.js";
import { type PhysicsSource, useClientMemory } from "./physics.js";

export type { ServerAddress } from "./connection.js";

export interface ConnectOptions {
  /**
   * The server, or several of a cluster: URLs of `connect.json`, which each server has at its HTTP
   * address, or descriptions. `/connect.json` of the page's own server if absent.
   */
  server?: string | URL | ServerAddress | readonly (string | URL | ServerAddress)[];
  /** The wanted name, 1 to 24 characters; without one, the server chooses. */
  name?: string;
  /**
   * Keeps the session in the tab's `sessionStorage`: a page that is loaded anew is the same player,
   * in the same room, with the same avatar. A text distinguishes several games of one origin.
   */
  keepSession?: boolean | string;
  /** Resumes this session: {@link Client.resumeToken}. */
  resumeToken?: Uint8Array;
  /** How long a broken connection is tried to be restored, in milliseconds; a minute if absent. */
  reconnectForMs?: number;
  /** When objects with poses are shown: `room`, `adaptive`, or a delay (`100ms` if absent). */
  render?: string;
  /**
   * The physics of games by their names, to be loaded when a game asks for them: `{ cubes: true }`,
   * or the place of the module. Without it, such objects are drawn between the host's poses.
   */
  physics?: Readonly<Record<string, PhysicsSource>>;
  /** Predicts the player's own avatar from its inputs, in a game that is simulated. */
  predict?: boolean;
  /** How the host is asked to code poses: `auto` (default), `plain`, `shared`, `fine`. */
  coding?: string;
  /** How often held controls are sent, a second: 20 (default) or 60. */
  inputHz?: 20 | 60;
  /** Makes each connection bad: for trying things out. */
  shapeLine?: () => LineShaper;
  /** Where the WebAssembly module is, if it is not beside this script. */
  wasm?: string | URL | Response | WebAssembly.Module;
}

let loading: Promise<InitOutput> | undefined;

/**
 * Connects to a server. A server that was never reached is not dialled again: the error says why.
 * Later the client restores a broken connection by itself.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  checkBrowser();
  const module = await load(options.wasm);
  const { server = "/connect.json" } = options;
  const directory = new Directory(Array.isArray(server) ? server : [server]);
  const addresses = await directory.read();
  const storage = new TokenStorage(options.keepSession);
  const token = options.resumeToken ?? storage.read();
  const store = (newest: Uint8Array | undefined) => storage.write(newest);
  const { shapeLine, physics } = options;
  const driver = new Driver(core(options, token), module, directory, store, shapeLine, physics);
  // A browser ends the sessions of a page that is left as if the player had quit.
  if (options.keepSession) globalThis.addEventListener?.("pagehide", () => driver.suspend());
  driver.run((core, now) => {
    core.set_servers(addresses);
    core.connect(now);
  });
  await driver.inbox.waitForWelcome();
  return new Client(driver);
}

function core(options: ConnectOptions, token: Uint8Array): WebClient {
  const settings = {
    name: options.name,
    reconnect_for_ms: options.reconnectForMs,
    render: options.render,
    predict: options.predict,
    coding: options.coding,
    input_hz: options.inputHz,
  };
  const [seed = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  try {
    return new WebClient(JSON.stringify(settings), token, seed);
  } catch (thrown) {
    throw coreError(thrown);
  }
}

function checkBrowser(): void {
  if (typeof WebTransport === "function") return;
  if (!globalThis.isSecureContext) {
    const why = "a browser has WebTransport only for pages from https:// or from localhost";
    throw new AmbitError("insecure_page", why);
  }
  const why = "this browser has no WebTransport: use a current Chromium, Chrome, Edge or Firefox";
  throw new AmbitError("no_web_transport", why);
}

function load(wasm: ConnectOptions["wasm"]): Promise<InitOutput> {
  // One module is enough for all clients of a page.
  loading ??= init({ module_or_path: wasm ?? new URL("./ambit.wasm", import.meta.url) }).then(
    (module) => {
      useClientMemory(module.memory);
      return module;
    },
    (thrown) => {
      loading = undefined;
      throw thrown;
    },
  );
  return loading;
}

/** The session's token in the tab's storage. A page without storage goes on without it. */
class TokenStorage {
  readonly #key: string | undefined;

  constructor(keep: boolean | string | undefined) {
    if (keep) this.#key = keep === true ? "ambit-session" : `ambit-session-${keep}`;
  }

  read(): Uint8Array {
    const none = new Uint8Array(0);
    if (!this.#key) return none;
    try {
      const text = sessionStorage.getItem(this.#key);
      return text ? Uint8Array.from(atob(text), (char) => char.charCodeAt(0)) : none;
    } catch {
      return none;
    }
  }

  write(token: Uint8Array | undefined): void {
    if (!this.#key) return;
    try {
      if (token) sessionStorage.setItem(this.#key, btoa(String.fromCharCode(...token)));
      else sessionStorage.removeItem(this.#key);
    } catch {
      // Private modes may refuse; a reload then begins a new session.
    }
  }
}
