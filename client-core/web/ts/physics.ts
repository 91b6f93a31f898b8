/**
 * Physics of games: WebAssembly modules of their own, loaded when a game asks for them.
 *
 * The client's module calls {@link createWorld}, {@link execute} and {@link removeWorld}; these
 * copy words between its memory and that of a physics module. What the words say, only the two
 * modules know (`client-core/web/physics`).
 *
 * A module that traps has failed for good: its worlds answer nothing, and the client goes on
 * without them. Invariant: a step makes no objects.
 */

import { AmbitError, messageOf } from "./errors.js";
import type { ModuleSource, PhysicsSources } from "./messages.js";

/** The functions of `client-core/web/physics/cubes/src/lib.rs`. */
interface PhysicsExports {
  memory: WebAssembly.Memory;
  describe(): number;
  create_world(width: number, height: number): number;
  remove_world(world: number): void;
  orders(words: number): number;
  execute(world: number, words: number): number;
  results(): number;
}

/** A memory as words. The view is made anew only after the memory has grown. */
class Words {
  #view: Uint32Array;

  constructor(private readonly memory: WebAssembly.Memory) {
    this.#view = new Uint32Array(memory.buffer);
  }

  get view(): Uint32Array {
    if (this.#view.buffer !== this.memory.buffer) {
      this.#view = new Uint32Array(this.memory.buffer);
    }
    return this.#view;
  }
}

class PhysicsModule {
  readonly words: Words;
  /** Called once, when it has failed. */
  readonly listeners = new Set<(why: string) => void>();
  hasFailed = false;

  constructor(readonly exports: PhysicsExports) {
    this.words = new Words(exports.memory);
  }

  /** What the module says about itself. */
  description(): Uint32Array {
    const count = this.exports.describe();
    const at = this.exports.results() >>> 2;
    return this.words.view.slice(at, at + count);
  }

  fail(thrown: unknown): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    const why = `the physics module failed: ${messageOf(thrown)}`;
    // The client's module waits for an answer: it must not be called before.
    for (const listener of this.listeners) queueMicrotask(() => listener(why));
  }
}

interface World {
  module: PhysicsModule;
  number: number;
}

/** Those of all clients of the page, by game. */
const modules = new Map<string, PhysicsModule>();
/** Those that are being loaded, or were. */
const loads = new Map<string, Promise<PhysicsModule>>();
/** By number. */
const worlds: (World | undefined)[] = [];
let clientWords: Words | undefined;

/** The memory of the client's module. */
export function useClientMemory(memory: WebAssembly.Memory): void {
  clientWords = new Words(memory);
}

/** Makes a world; the client's module calls it. */
export function createWorld(game: string, width: number, height: number): number {
  const module = modules.get(game);
  let number = worlds.indexOf(undefined);
  if (number < 0) number = worlds.length;
  worlds[number] = undefined;
  if (!module || module.hasFailed) return number;
  try {
    worlds[number] = { module, number: module.exports.create_world(width, height) };
  } catch (thrown) {
    module.fail(thrown);
  }
  return number;
}

/** Removes a world; the client's module calls it. */
export function removeWorld(world: number): void {
  const { module, number = 0 } = worlds[world] ?? {};
  worlds[world] = undefined;
  if (!module || module.hasFailed) return;
  try {
    module.exports.remove_world(number);
  } catch (thrown) {
    module.fail(thrown);
  }
}

/**
 * Executes `count` words of orders. Returns how many words of results there are, of which at most
 * `room` are written; -1 if the module has failed. The client's module calls it.
 */
export function execute(
  world: number,
  orders: number,
  count: number,
  results: number,
  room: number,
): number {
  const found = worlds[world];
  if (!found || !clientWords || found.module.hasFailed) return -1;
  const { exports, words } = found.module;
  try {
    copy(clientWords, orders, words, exports.orders(count), count);
    const written = exports.execute(found.number, count);
    copy(words, exports.results(), clientWords, results, Math.min(written, room));
    return written;
  } catch (thrown) {
    found.module.fail(thrown);
    return -1;
  }
}

/** Copies words between places in bytes. */
function copy(source: Words, from: number, target: Words, to: number, count: number): void {
  const { view } = target;
  const read = source.view;
  for (let i = 0; i < count; i += 1) view[(to >>> 2) + i] = read[(from >>> 2) + i] as number;
}

/** What the loader does with the client. */
export interface PhysicsUser {
  /** The module is there; throws if the client cannot use it. */
  add(game: string, description: Uint32Array): void;
  /** The module does not work any more. */
  remove(game: string): void;
}

/** Loads the physics that games ask for, for one client. */
export class PhysicsLoader {
  /** What the client got. */
  readonly #added = new Set<string>();
  readonly #problems = new Map<string, string>();

  constructor(
    private readonly sources: PhysicsSources,
    private readonly user: PhysicsUser,
  ) {}

  /**
   * The client has no physics for a game. Loads it; if that does not help, calls `missing` with
   * what is known about the reason.
   */
  async handleMissing(game: string, missing: (why: string | undefined) => void): Promise<void> {
    const source = this.sources === true || this.sources[game];
    if (source === undefined || this.#added.has(game)) return missing(this.#problems.get(game));
    this.#problems.delete(game);
    try {
      const module = await loadOnce(game, source);
      module.listeners.add((why) => {
        this.#problems.set(game, why);
        this.user.remove(game);
      });
      this.#added.add(game);
      this.user.add(game, module.description());
    } catch (thrown) {
      this.#added.delete(game);
      missing(messageOf(thrown));
    }
  }
}

function loadOnce(game: string, source: ModuleSource): Promise<PhysicsModule> {
  let load = loads.get(game);
  if (!load) {
    load = loadModule(game, source);
    loads.set(game, load);
    load.catch(() => loads.delete(game));
  }
  return load;
}

async function loadModule(game: string, source: ModuleSource): Promise<PhysicsModule> {
  const name = `./ambit-${encodeURIComponent(game)}-physics.wasm`;
  const code = await moduleOf(source === true ? new URL(name, import.meta.url) : source);
  const instance = await WebAssembly.instantiate(code, imports(code));
  const exports = instance.exports as unknown as PhysicsExports;
  if (typeof exports.describe !== "function") {
    throw new AmbitError("bad_option", "this is no physics module");
  }
  const module = new PhysicsModule(exports);
  modules.set(game, module);
  return module;
}

/** wasm-bindgen wants a table of objects prepared, of which a physics module has none. */
function imports(code: WebAssembly.Module): WebAssembly.Imports {
  const table = "__wbindgen_init_externref_table";
  const wanted = WebAssembly.Module.imports(code).filter(({ name }) => name === table);
  return Object.fromEntries(wanted.map(({ module }) => [module, { [table]: () => {} }]));
}

async function moduleOf(source: URL | string | WebAssembly.Module): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  const response = await fetch(source);
  if (!response.ok) throw new AmbitError("bad_option", `${response.url}: HTTP ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}
