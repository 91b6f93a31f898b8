/** The worker: a client for each port that a page sends. */

import init, { type InitOutput, WebClient } from "./ambit-glue.js";
import { Directory } from "./directory.js";
import { signWith } from "./device_account.js";
import { type ClientDriver, Driver } from "./driver.js";
import { codeOf, coreError, messageOf } from "./errors.js";
import {
  type Envelope,
  type FromWorker,
  type GameState,
  type ModuleSource,
  NOBODY,
  type ReplaySetup,
  type Setup,
  type ToWorker,
} from "./messages.js";
import { useClientMemory } from "./physics.js";
import { PictureCopier } from "./picture.js";
import type { ReplayDriver } from "./replay_driver.js";

// For the client's module, whose glue imports them from here.
export { createWorld, execute, removeWorld } from "./physics.js";

/** Further ahead the core does not draw. */
const MAX_AHEAD_MS = 50;
/** A picture for a later time is drawn again so long before. */
const LEAD_MS = 8;
/** Buffers that wait for pictures: one is shown, one under way. */
const MAX_SPARES = 3;

type DrawMessage = Extract<ToWorker, { do: "draw" }>;

class ServedClient {
  #driver: ClientDriver | undefined;
  /** Of a replay. */
  #replay: ReplayDriver | undefined;
  #copier: PictureCopier | undefined;
  #spares: ArrayBuffer[] = [];
  #redraw: ReturnType<typeof setTimeout> | undefined;
  #state = NOBODY;

  constructor(private readonly port: MessagePort) {
    port.onmessage = ({ data }: MessageEvent<ToWorker>) => this.#handle(data);
  }

  #handle(message: ToWorker): void {
    switch (message.do) {
      case "connect":
        void this.#answer(message.call, () => this.#connect(message.setup));
        break;
      case "replay":
        void this.#answer(message.call, () => this.#openReplay(message.setup));
        break;
      case "clock":
        this.#replay?.setClock(message.clock);
        break;
      case "call":
        this.#call(message);
        break;
      case "stats":
        void this.#answer(message.call, async () => this.#driver?.stats());
        break;
      case "quit":
        void this.#answer(message.call, async () => {
          await this.#driver?.quit();
          this.#endReplay();
        });
        break;
      case "draw":
        this.#draw(message);
        break;
      case "line":
        this.#driver?.setLine(message.conditions);
        break;
      case "leave":
        this.#driver?.leave(message.quits);
        this.#endReplay();
        break;
    }
  }

  async #connect(setup: Setup): Promise<void> {
    const module = await load(setup.wasm);
    const directory = new Directory(setup.servers);
    const addresses = await directory.read();
    const [seed = 0n] = crypto.getRandomValues(new BigUint64Array(1));
    const { settings, token, account } = setup;
    const core = new WebClient(settings, token, account?.public ?? new Uint8Array(0), seed);
    this.#copier = new PictureCopier(core, module.memory);
    const report = (events: Envelope[]) => this.#report(events);
    const driver = new Driver(core, directory, report, setup.line, setup.physics, {
      // Only a client with an account is asked.
      sign: (statement) => signWith(account?.private as CryptoKey, statement),
    });
    this.#driver = driver;
    driver.run((_, now) => {
      core.set_servers(addresses);
      core.connect(now);
    });
  }

  async #openReplay({ settings, messages, clock, wasm }: ReplaySetup): Promise<void> {
    const module = await load(wasm);
    const core = new WebClient(settings, new Uint8Array(0), new Uint8Array(0), 0n);
    this.#copier = new PictureCopier(core, module.memory);
    // A module of its own: players who play do not load it.
    const { ReplayDriver } = await import("./ambit-replay.js");
    const replay = new ReplayDriver(core, messages, clock, (events) => this.#report(events));
    this.#driver = this.#replay = replay;
    replay.advance();
  }

  /** The core of a replay is gone once it is left: nothing draws it any more. */
  #endReplay(): void {
    if (!this.#replay) return;
    clearTimeout(this.#redraw);
    this.#driver = this.#replay = this.#copier = undefined;
  }

  #call({ call, name, values }: Extract<ToWorker, { do: "call" }>): void {
    try {
      this.#driver?.run((core, now) => {
        const called = core[name] as (this: WebClient, now: number, ...rest: unknown[]) => unknown;
        const value = called.call(core, now, ...values);
        if (call !== 0) this.#post({ say: "returned", call, value });
      });
    } catch (thrown) {
      this.#fail(call, thrown);
    }
  }

  async #answer(call: number, work: () => Promise<unknown>): Promise<void> {
    try {
      const value = await work();
      this.#post({ say: "returned", call, value });
    } catch (thrown) {
      this.#fail(call, coreError(thrown));
    }
  }

  #fail(call: number, thrown: unknown): void {
    const code = codeOf(thrown) ?? "client_failed";
    this.#post({ say: "failed", call, code, message: messageOf(thrown) });
  }

  /**
   * Draws at once, since the page may come for it at any time. For a later time it draws again
   * shortly before, with what has come meanwhile.
   */
  #draw({ at, buffers }: DrawMessage): void {
    this.#spares.push(...buffers);
    this.#spares.length = Math.min(this.#spares.length, MAX_SPARES);
    clearTimeout(this.#redraw);
    if (!this.#driver || !this.#copier) return;
    const now = performance.timeOrigin + performance.now();
    const drawnFor = Math.min(at, now + MAX_AHEAD_MS);
    const time = this.#driver.draw(drawnFor - performance.timeOrigin);
    const picture = this.#copier.copy(drawnFor, time, this.#spares.pop());
    if (this.#replay) picture.speed = this.#replay.speed;
    this.#post({ say: "picture", picture }, [picture.buffer]);
    const pause = at - now - LEAD_MS;
    if (pause < 2 * LEAD_MS) return;
    this.#redraw = setTimeout(() => this.#draw({ do: "draw", at, buffers: [] }), pause);
  }

  #report(events: Envelope[]): void {
    const driver = this.#driver;
    if (!driver) return;
    this.#state = driver.read(
      (core) => ({
        player: core.player() ?? 0,
        name: core.name(),
        room: core.room(),
        isConnected: core.is_connected(),
        token: core.resume_token(),
      }),
      { ...this.#state, isConnected: false },
    );
    const isOfMap = ({ event }: Envelope) => event.ev === "started" || event.ev === "map";
    const game = events.some(isOfMap) ? this.#game(driver) : undefined;
    this.#post({ say: "news", state: this.#state, game, events });
  }

  #game(driver: ClientDriver): GameState | undefined {
    return driver.read((core) => {
      const [schema, rules] = [core.schema(), core.rules()];
      if (schema === undefined || rules === undefined) return undefined;
      const obstacles = core.map_obstacles();
      return { schema: JSON.parse(schema), rules: JSON.parse(rules), obstacles };
    }, undefined);
  }

  #post(message: FromWorker, transfer: Transferable[] = []): void {
    this.port.postMessage(message, transfer);
  }
}

let loading: Promise<InitOutput> | undefined;

/** One module is enough for all clients of a page. */
function load(source: ModuleSource): Promise<InitOutput> {
  const module_or_path = source === true ? new URL("./ambit.wasm", import.meta.url) : source;
  loading ??= init({ module_or_path }).then(
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

addEventListener("message", ({ ports: [port] }) => {
  if (port) new ServedClient(port);
});
