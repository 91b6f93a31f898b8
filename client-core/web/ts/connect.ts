/** Connecting to a server. */

import { GOOD_LINE, type LineConditions } from "./bad_line.js";
import { Client } from "./client.js";
import { bytesOfHex, type ServerAddress } from "./connection.js";
import { CorePort } from "./core_port.js";
import { DeviceAccount } from "./device_account.js";
import { AmbitError } from "./errors.js";
import type { ModuleSource } from "./messages.js";
import { TokenStorage } from "./token_storage.js";

export type { ServerAddress } from "./connection.js";

/** A WebAssembly module, or where it is. */
export type WasmSource = string | URL | Response | WebAssembly.Module;

/** Where the physics of a game are; true for `ambit-GAME-physics.wasm` beside the worker. */
export type PhysicsSource = true | WasmSource;

/** Who signs in with a password. */
export interface PasswordSignIn {
  /**
   * {@link Client.login} of the session in which the account was made: `ann#48213`. For a new
   * account the part before the `#`.
   */
  login: string;
  /** 8 to 128 characters. */
  password: string;
  /** Makes an account. */
  isNew?: boolean;
}

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
   * in the same room, with the same avatar. After the tab was closed, the next one that opens the
   * page is (`localStorage`). A text distinguishes several games of one origin.
   */
  keepSession?: boolean | string;
  /** Resumes this session: {@link Client.resumeToken}. */
  resumeToken?: Uint8Array;
  /**
   * The player's account: true for that of this browser ({@link DeviceAccount.open}). Without it
   * the session has none. A session that is resumed keeps what it had.
   */
  account?: boolean | DeviceAccount;
  /** Signs in with a password instead, or makes an account with one. */
  password?: PasswordSignIn;
  /** Signs in with a token of the operator's own service instead. */
  token?: string;
  /** How long a broken connection is tried to be restored, in milliseconds; a minute if absent. */
  reconnectForMs?: number;
  /** When objects with poses are shown: `room`, `adaptive`, or a delay (`100ms` if absent). */
  render?: string;
  /**
   * The physics of games, to be loaded when a game asks for them: true for those beside the worker,
   * or by the names of games, such as `{ cubes: true }`, or the place of the module. Without it,
   * such objects are drawn between the host's poses.
   */
  physics?: true | Readonly<Record<string, PhysicsSource>>;
  /** Predicts the player's own avatar from its inputs, in a game that is simulated. */
  predict?: boolean;
  /** How the host is asked to code poses: `auto` (default), `plain`, `shared`, `fine`. */
  coding?: string;
  /** How often held controls are sent, a second: 20 (default) or 60. */
  inputHz?: 20 | 60;
  /** Makes the line bad, for trying things out; {@link Client.setLine} changes it. */
  line?: LineConditions;
  /** Where the WebAssembly module is, if it is not beside the worker's script. */
  wasm?: WasmSource;
  /** Where the worker's script is, if it is not beside this one: `ambit-worker.js`. */
  worker?: string | URL;
}

/**
 * Connects to a server. A server that was never reached is not dialled again: the error says why.
 * Later the client restores a broken connection by itself.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  checkBrowser();
  const storage = new TokenStorage(options.keepSession);
  const token = options.resumeToken ?? storage.read();
  const port = openPort(workerOf(options.worker), (newest) => storage.write(newest));
  // A page that keeps no session is another player when it is loaded anew.
  globalThis.addEventListener?.("pagehide", ({ persisted }) => {
    storage.leave();
    port.leave(!options.keepSession && !persisted);
  });
  globalThis.addEventListener?.("pageshow", () => storage.comeBack());
  const { server = "/connect.json", physics = {}, line = GOOD_LINE, wasm = true } = options;
  const servers = Array.isArray(server) ? server : [server];
  await port.connect({
    settings: settings(options),
    token,
    account: await keysOf(options.account),
    servers: servers.map(serverOf),
    physics: physics === true || (await modulesOf(physics)),
    line,
    wasm: await moduleSource(wasm),
  });
  await port.inbox.waitForWelcome();
  return new Client(port);
}

function settings(options: ConnectOptions): string {
  return JSON.stringify({
    name: options.name,
    password: options.password && {
      login: options.password.login,
      password: options.password.password,
      is_new: options.password.isNew ?? false,
    },
    token: options.token,
    reconnect_for_ms: options.reconnectForMs,
    render: options.render,
    predict: options.predict,
    coding: options.coding,
    input_hz: options.inputHz,
  });
}

async function keysOf(account: boolean | DeviceAccount = false) {
  return (account === true ? await DeviceAccount.open() : account || undefined)?.keys;
}

/** URLs are seen from the page, and not from the worker. */
function serverOf(server: string | URL | ServerAddress): string | ServerAddress {
  if (typeof server === "string" || server instanceof URL) return absolute(server);
  server.certificates_sha256.forEach(bytesOfHex);
  return server;
}

async function modulesOf(physics: Readonly<Record<string, PhysicsSource>>) {
  const modules = Object.entries(physics).map(
    async ([game, source]) => [game, await moduleSource(source)] as const,
  );
  return Object.fromEntries(await Promise.all(modules));
}

async function moduleSource(source: true | WasmSource): Promise<ModuleSource> {
  if (source === true || source instanceof WebAssembly.Module) return source;
  if (!(source instanceof Response)) return absolute(source);
  // What is wrong with it is found where it is needed.
  if (!source.ok) return source.url;
  return WebAssembly.compile(await source.arrayBuffer());
}

function absolute(url: string | URL): string {
  return new URL(url, globalThis.location?.href).href;
}

/** The workers by their scripts: one is enough for all clients of a page. */
const workers = new Map<string, Worker>();
/** Those of each worker. */
const ports = new WeakMap<Worker, Set<CorePort>>();

/** @internal */
export function workerOf(script: string | URL | undefined): Worker {
  const key = script === undefined ? "" : absolute(script);
  const known = workers.get(key);
  if (known) return known;
  const worker = startWorker(script);
  workers.set(key, worker);
  ports.set(worker, new Set());
  worker.addEventListener("error", (event) => {
    // The next client tries again.
    workers.delete(key);
    const where = script === undefined ? "ambit-worker.js beside ambit.js" : key;
    const why = event.message || "its script could not be loaded";
    for (const port of ports.get(worker) ?? []) {
      port.fail(`the client's worker failed: ${why}. It is expected at ${where}; see the option worker`);
    }
  });
  return worker;
}

function startWorker(script: string | URL | undefined): Worker {
  const url = new URL(script ?? "./ambit-worker.js", script ? location.href : import.meta.url);
  if (url.origin !== location.origin) {
    // A browser starts no worker from another origin, but imports from there.
    const source = new Blob([`import ${JSON.stringify(url.href)};`], { type: "text/javascript" });
    return new Worker(URL.createObjectURL(source), { type: "module" });
  }
  if (script !== undefined) return new Worker(url, { type: "module" });
  // In this form bundlers find it.
  return new Worker(new URL("./ambit-worker.js", import.meta.url), { type: "module" });
}

/** @internal */
export function openPort(
  worker: Worker,
  storeToken: (token: Uint8Array | undefined) => void,
): CorePort {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(undefined, [port2]);
  const port = new CorePort(port1, storeToken);
  ports.get(worker)?.add(port);
  return port;
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
