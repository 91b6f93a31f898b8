/**
 * Does what the core asks for: opens and closes sessions, sends, waits.
 *
 * All calls of the core go through {@link Driver.run}, or are followed by {@link Driver.settle}:
 * what the core asks for is done before anything else is handed in. So nothing of a session that
 * the core has given up reaches it.
 */

import type { WebClient } from "./ambit-glue.js";
import type { LineConditions } from "./bad_line.js";
import { Connection, type ConnectionHandler, type ServerAddress } from "./connection.js";
import { dialled, type Directory, hostOf } from "./directory.js";
import { AmbitError, coreError, messageOf } from "./errors.js";
import type { NoticeEvent } from "./events.js";
import { LineShaper } from "./line_shaper.js";
import type { Envelope, PhysicsSources } from "./messages.js";
import { PhysicsLoader } from "./physics.js";
import type { Stats, WorkerStats } from "./stats.js";

/** A browser sends no packets on its own; a server ends a session after 10 s of silence. */
const KEEP_ALIVE_MS = 2_500;
/** Longer than a handshake on a slow path, so that a server that lives is mostly the only one. */
const NEXT_SERVER_AFTER_MS = 500;
/** The server drops it. An empty one would do, too, but not every browser sends that. */
const PROBE = new Uint8Array(1);
/** Longer timers overflow. */
const MAX_TIMER_MS = 60_000;

/** The numbers of `client-core/boundary/src/output.rs`. */
const CONNECT_WORLD = 1;
const WORLD = 2;
const CLOSE_WORLD = 3;
const CONNECT_GAME = 4;
const GAME = 5;
const DATAGRAM = 6;
const CLOSE_GAME = 7;
const ABANDON_WORLD = 8;
const PROVE_ACCOUNT = 9;

/** What drives a core: connections, or a recording. */
export interface ClientDriver {
  /** Reads from the core. One that has panicked cannot be read: then `instead` counts. */
  read<R>(get: (core: WebClient) => R, instead: R): R;
  /** Calls the core, and does what it asks for. */
  run<R>(call: (core: WebClient, now: number) => R): R;
  quit(): Promise<void>;
  setLine(conditions: LineConditions): void;
  /** The page is left, and may come back; `quits` if it does not. */
  leave(quits: boolean): void;
  stats(): Stats;
  /** Fills the core's buffers with what is in sight; returns the room time. */
  draw(time: number): number;
}

/** The private key of the player's account. */
export interface Signer {
  sign(statement: Uint8Array): Promise<Uint8Array>;
}

interface Target {
  servers: ServerAddress[];
  configured: string[];
}

/** A session, from the dialling on. */
class Line {
  connection: Connection | undefined;
  isOpen = true;

  async close(): Promise<void> {
    this.isOpen = false;
    await this.connection?.close();
  }

  /** Ends it in such a way that the player may come back. */
  suspend(): void {
    this.isOpen = false;
    this.connection?.suspend();
  }
}

export class Driver implements ClientDriver {
  /** How bad the line is: shared with all shapers. */
  readonly #conditions: LineConditions;
  readonly #physics: PhysicsLoader;
  #world: Line | undefined;
  #game: Line | undefined;
  #lobbyHost = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Infinity;
  #probeAt = Infinity;
  #failed = false;
  /** Until the last session with a lobby is closed. */
  #closing: Promise<void> = Promise.resolve();
  #seed = 1;
  #counted = "{}";
  readonly #took: WorkerStats = { decoding_ms: 0, drawing_ms: 0 };

  /** `report` gets the events of the core, in order. */
  constructor(
    private readonly core: WebClient,
    private readonly directory: Directory,
    private readonly report: (events: Envelope[]) => void,
    conditions: LineConditions,
    physics: PhysicsSources,
    private readonly signer: Signer,
  ) {
    this.#conditions = { ...conditions };
    this.#physics = new PhysicsLoader(physics, {
      add: (game, description) =>
        this.run((core, now) => core.add_physics(now, game, description)),
      remove: (game) => this.run((core, now) => core.remove_physics(now, game)),
    });
  }

  /** The line is as bad as this from now on. */
  setLine(conditions: LineConditions): void {
    Object.assign(this.#conditions, conditions);
  }

  /** Reads from the core. One that has panicked cannot be read: then `instead` counts. */
  read<R>(get: (core: WebClient) => R, instead: R): R {
    return this.#failed ? instead : get(this.core);
  }

  /** Calls the core, and does what it asks for. */
  run<R>(call: (core: WebClient, now: number) => R): R {
    if (this.#failed) throw new AmbitError("client_failed", "the client has failed");
    try {
      return call(this.core, performance.now());
    } catch (thrown) {
      if (thrown instanceof WebAssembly.RuntimeError) this.#fail(thrown);
      throw coreError(thrown);
    } finally {
      this.settle();
    }
  }

  /** Ends the session, and waits until the browser has told the server. */
  async quit(): Promise<void> {
    this.run((core, now) => core.quit(now));
    await this.#closing;
  }

  /** The page is left, and may come back; `quits` if it does not. */
  leave(quits: boolean): void {
    for (const line of [this.#world, this.#game]) line?.connection?.suspend(quits);
  }

  stats(): Stats {
    const core = this.core;
    // What a core that has panicked has counted is lost.
    const counted = this.read(() => core.stats(performance.now()), this.#counted);
    this.#counted = counted;
    return { ...(JSON.parse(counted) as Stats), worker: { ...this.#took } };
  }

  /** Fills the core's buffers with what is in sight; returns the room time. */
  draw(time: number): number {
    let shown = NaN;
    if (this.#failed) return shown;
    const begin = performance.now();
    try {
      shown = this.core.draw(begin, time);
      this.#took.drawing_ms += performance.now() - begin;
    } catch (thrown) {
      this.#fail(thrown);
    }
    this.settle();
    return shown;
  }

  /** Does what the core asks for. Makes no objects if that is nothing. */
  settle(): void {
    if (this.#failed) return;
    try {
      this.#settle(performance.now());
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #settle(now: number): void {
    const core = this.core;
    // Timers of pages in the background are late, and packets are not.
    if (core.next_deadline() <= now) core.handle_timeout(now);
    for (let number = core.poll_output(); number !== 0; number = core.poll_output()) {
      this.#execute(number);
    }
    const events: Envelope[] = [];
    while (core.has_events()) {
      const envelope = JSON.parse(core.poll_event() ?? "null") as Envelope;
      const { event } = envelope;
      if (event.ev === "closed") this.#end();
      if (event.ev === "notice" && event.code === "physics_missing") this.#loadPhysics(event);
      else events.push(envelope);
    }
    if (events.length > 0) this.report(events);
    if (now >= this.#probeAt) {
      this.#probeAt = now + KEEP_ALIVE_MS;
      this.#world?.connection?.sendDatagram(PROBE);
    }
    this.#setTimer(Math.min(core.next_deadline(), this.#probeAt), now);
  }

  /** The notice is passed on if that fails. */
  #loadPhysics(event: NoticeEvent): void {
    void this.#physics.handleMissing(event.game ?? "", (why) => {
      if (why !== undefined) event.message = `${event.message} (${why})`;
      this.report([{ of: "game", request: 0, event }]);
    });
  }

  /** A deadline that moves to a later time leaves the timer as it is. */
  #setTimer(due: number, now: number): void {
    if (due >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = due;
    const pause = Math.min(Math.max(due - now, 0), MAX_TIMER_MS);
    this.#timer = setTimeout(() => {
      this.#timerAt = Infinity;
      this.settle();
    }, pause);
  }

  #execute(number: number): void {
    const core = this.core;
    switch (number) {
      case CONNECT_WORLD:
        this.#abandonWorld();
        this.#world = new Line();
        void this.#dialWorld(this.#world, JSON.parse(core.output_target()) as Target);
        break;
      case WORLD:
        if (this.#world?.connection?.send(core.output_bytes()) === false) {
          this.#abandonWorld();
          core.handle_world_closed(performance.now(), undefined, "the server does not read");
        }
        break;
      case CLOSE_WORLD:
        return this.#closeWorld();
      case ABANDON_WORLD:
        return this.#abandonWorld();
      case CONNECT_GAME:
        this.#closeGame();
        this.#game = new Line();
        void this.#dialGame(this.#game, JSON.parse(core.output_target()) as Target);
        break;
      case GAME:
        if (this.#game?.connection?.send(core.output_bytes()) === false) {
          this.#closeGame();
          core.handle_game_closed(performance.now(), undefined, "the server does not read");
        }
        break;
      case DATAGRAM:
        this.#game?.connection?.sendDatagram(core.output_bytes());
        break;
      case CLOSE_GAME:
        return this.#closeGame();
      case PROVE_ACCOUNT:
        if (this.#world) void this.#proveAccount(this.#world, core.output_bytes());
        break;
    }
  }

  async #proveAccount(line: Line, statement: Uint8Array): Promise<void> {
    try {
      const signature = await this.signer.sign(statement);
      // It is for this connection alone.
      if (line.isOpen) this.run((core, now) => core.prove_account(now, signature));
    } catch (thrown) {
      if (!line.isOpen) return;
      this.#abandonWorld();
      const why = `the account could not be proven: ${messageOf(thrown)}`;
      this.run((core, now) => core.handle_world_closed(now, undefined, why));
    }
  }

  /** The player quits. */
  #closeWorld(): void {
    if (this.#world) this.#closing = this.#world.close();
    this.#world = undefined;
    this.#probeAt = Infinity;
  }

  /** The player may come back. */
  #abandonWorld(): void {
    this.#world?.suspend();
    this.#world = undefined;
    this.#probeAt = Infinity;
  }

  #closeGame(): void {
    void this.#game?.close();
    this.#game = undefined;
  }

  async #dialWorld(line: Line, target: Target): Promise<void> {
    const handler: ConnectionHandler = {
      bytes: (bytes) => this.run((core, now) => core.handle_world_bytes(now, bytes)),
      datagram: () => {},
      closed: (code, reason) => {
        this.#world = undefined;
        this.#probeAt = Infinity;
        this.run((core, now) => core.handle_world_closed(now, code, reason));
      },
    };
    try {
      const servers = await this.#servers(target);
      const connection = await dialFirst(servers, "/ambit-world/1", this.#shape);
      if (!line.isOpen) return void connection.close();
      line.connection = connection;
      const { address, certificates } = connection;
      this.#lobbyHost = hostOf(address);
      this.#probeAt = performance.now() + KEEP_ALIVE_MS;
      this.run((core, now) =>
        core.handle_world_connected(now, address, certificates, this.#lobbyHost),
      );
      connection.start(guard(line, handler));
    } catch (thrown) {
      if (line.isOpen) handler.closed(undefined, messageOf(thrown));
    }
  }

  async #dialGame(line: Line, target: Target): Promise<void> {
    const handler: ConnectionHandler = {
      bytes: (bytes) => this.run((core, now) => core.handle_game_bytes(now, bytes)),
      datagram: (bytes) =>
        this.run((core, now) => {
          core.handle_datagram(now, bytes);
          this.#took.decoding_ms += performance.now() - now;
        }),
      closed: (code, reason) => {
        this.#game = undefined;
        this.run((core, now) => core.handle_game_closed(now, code, reason));
      },
    };
    try {
      const servers = this.#reachable(target.servers);
      const connection = await dialFirst(servers, "/ambit-game/1", this.#shape);
      if (!line.isOpen) return void connection.close();
      line.connection = connection;
      this.run((core, now) => core.handle_game_connected(now));
      connection.start(guard(line, handler));
    } catch (thrown) {
      if (line.isOpen) handler.closed(undefined, messageOf(thrown));
    }
  }

  /** The servers to dial; configured ones as they describe themselves now. */
  async #servers({ servers, configured }: Target): Promise<ServerAddress[]> {
    if (servers.length > 0) return this.#reachable(servers);
    const before = this.directory.find(configured);
    const addresses = await this.directory.read();
    this.run((core) => core.set_servers(addresses));
    const present = this.directory.find(configured);
    // A server may have moved.
    return present.length === before.length ? present : this.directory.find(addresses);
  }

  /** A shaper for one connection; each takes two seeds, one for each direction. */
  readonly #shape = (): LineShaper => {
    this.#seed += 2;
    return new LineShaper(this.#seed, this.#conditions);
  };

  #reachable(servers: ServerAddress[]): ServerAddress[] {
    return servers.map((server) => dialled(server, this.#lobbyHost));
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timerAt = Infinity;
    this.#closeWorld();
    this.#closeGame();
  }

  /** The core has panicked: its state is of no use any more. */
  #fail(thrown: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    clearTimeout(this.#timer);
    // The page that is loaded anew has the seat.
    this.#abandonWorld();
    this.#closeGame();
    const message = `the client failed: ${messageOf(thrown)}`;
    const event = { ev: "closed", code: "client_failed", message } as const;
    this.report([{ of: "lobby", request: 0, event }]);
  }
}

/** What the core has given up reports nothing. */
function guard(line: Line, handler: ConnectionHandler): ConnectionHandler {
  return {
    bytes: (bytes) => line.isOpen && handler.bytes(bytes),
    datagram: (bytes) => line.isOpen && handler.datagram(bytes),
    closed: (code, reason) => {
      if (!line.isOpen) return;
      line.isOpen = false;
      handler.closed(code, reason);
    },
  };
}

/**
 * The first server that answers. The next one is dialled when the last one has failed, or has not
 * answered for a while; a slow one still counts then.
 */
function dialFirst(
  servers: ServerAddress[],
  path: string,
  shape: () => LineShaper,
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const failures: string[] = [];
    let started = 0;
    let isDone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const startNext = () => {
      clearTimeout(timer);
      const server = servers[started];
      if (isDone || !server) return;
      started += 1;
      timer = setTimeout(startNext, NEXT_SERVER_AFTER_MS);
      Connection.dial(server, path, shape()).then(
        (connection) => {
          if (isDone) return void connection.close();
          isDone = true;
          clearTimeout(timer);
          resolve(connection);
        },
        (thrown) => {
          failures.push(messageOf(thrown));
          if (failures.length === servers.length) reject(new Error(failures.join("; ")));
          else startNext();
        },
      );
    };
    if (servers.length === 0) reject(new Error("no address was given"));
    startNext();
  });
}
