/** A game that the player is in: commands, frames, events. */

import type { CorePort } from "./core_port.js";
import { AmbitError } from "./errors.js";
import type { GameEvent, Value } from "./events.js";
import { Frame } from "./frame.js";
import type { GameQueue } from "./inbox.js";
import type { GameRules } from "./rules.js";
import type { Schema } from "./schema.js";

/** An obstacle, which stands upright. In metres. */
export interface StaticObstacle {
  shape: "box" | "cylinder";
  centre: [x: number, y: number, z: number];
  /** Half of its extents along its own axes; of a cylinder, x and y are its radius. */
  half: [x: number, y: number, z: number];
  /** How far it is turned, in radians from x towards y: 0 to π; 0 for a cylinder. */
  yaw: number;
  /** The place of its look in {@link Scenery.obstacles}; null for the viewer's own. */
  look: number | null;
}

/** Numbers of an obstacle in `map_obstacles` of the core. */
const OBSTACLE_FLOATS = 9;

/**
 * A game that the player is in. Failovers, broken connections and gates to other maps change
 * nothing about it; they are reported as events.
 */
export class Game {
  /** The room that runs it. */
  readonly room: number;
  readonly #port: CorePort;
  readonly #queue: GameQueue;
  readonly #frame: Frame;

  /** @internal */
  constructor(port: CorePort, room: number, queue: GameQueue) {
    this.#port = port;
    this.room = room;
    this.#queue = queue;
    this.#frame = new Frame(port);
  }

  /**
   * Everything in sight as it is at `time` of `performance.now()`'s clock, such as the argument of
   * a callback of `requestAnimationFrame`. It is the same object each time. It is empty until the
   * first picture has come, some milliseconds after the first call, and once the game is over.
   */
  frame(time: number = performance.now()): Frame {
    if (this.isOver) this.#frame.clear();
    else this.#frame.update(time);
    return this.#frame;
  }

  /**
   * Gives a command by its name, with the values of its fields in order, or with one object that
   * has them by name:
   *
   * ```ts
   * game.send("walk-to", [120, 90]);
   * game.send("cast", "bolt", [120, 90], enemy);
   * game.send("cast", { spell: "bolt", target: enemy });
   * ```
   *
   * Resolves to a number as soon as it is sent; if the game refuses the command, the event `refused`
   * has the same one. An error says what the game expects.
   */
  async send(name: string, ...values: readonly Value[]): Promise<number> {
    if (this.isOver) throw new AmbitError("not_playing", "not in a game");
    return (await this.#port.call("send", name, JSON.stringify(values))) as number;
  }

  /**
   * Holds these controls and releases all others: bits, or their names (`Schema.controls`).
   */
  hold(keys: number | readonly string[]): void {
    if (this.isOver) return;
    const bits = typeof keys === "number" ? keys : this.#bits(keys);
    this.#port.tell("hold", bits >>> 0);
  }

  /**
   * Moves an axis, by its name (`axis` in `Schema.controls`): from -1 to 1, or for an angle radians
   * counter-clockwise from the east. It stays there. The value is rounded to 8 bits and leaves with
   * the next datagram, so this may be called for each move of a pointer.
   */
  setAxis(name: string, value: number): void {
    if (this.isOver) return;
    const controls = this.schema?.controls ?? [];
    const control = controls.findIndex((other) => other.axis !== null && other.name === name);
    if (control < 0) {
      const axes = controls.filter(({ axis }) => axis !== null);
      const known = axes.map((axis) => axis.name).join(", ") || "none";
      throw new AmbitError("bad_option", `unknown axis '${name}'; there are ${known}`);
    }
    this.#port.tell("set_axis", control, value);
  }

  /** The events that have come so far. At most 8,192 wait; see the event `missed`. */
  events(): GameEvent[] {
    return this.#queue.take();
  }

  /** The next event, as soon as there is one; undefined after `ended`. */
  nextEvent(): Promise<GameEvent | undefined> {
    return this.#queue.next();
  }

  /** What the game declares: kinds of objects, events, commands. */
  get schema(): Schema | undefined {
    return this.isOver ? undefined : this.#port.game?.schema;
  }

  /** The rules of the room; a gate leads to a map with others (event `started`). */
  get rules(): GameRules | undefined {
    return this.isOver ? undefined : this.#port.game?.rules;
  }

  /** Reads the obstacles: the static map, once it has arrived, and those that objects in sight
   * have (event `map`). A gate leads to another map. */
  map(): StaticObstacle[] | undefined {
    const floats = this.isOver ? undefined : this.#port.game?.obstacles;
    if (!floats) return undefined;
    return Array.from({ length: floats.length / OBSTACLE_FLOATS }, (_, index): StaticObstacle => {
      const from = OBSTACLE_FLOATS * index;
      const [x = 0, y = 0, z = 0, a = 0, b = 0, c = 0] = floats.subarray(from, from + 6);
      const [yaw = 0, round = 0, look = -1] = floats.subarray(from + 6, from + OBSTACLE_FLOATS);
      return {
        shape: round === 1 ? "cylinder" : "box",
        centre: [x, y, z],
        half: [a, b, c],
        yaw,
        look: look < 0 ? null : look,
      };
    });
  }

  /** Whether it is over for this player; the event `ended` has the reason. */
  get isOver(): boolean {
    return this.#queue.isClosed;
  }

  /** Leaves the game and its room. */
  async leave(): Promise<void> {
    if (this.isOver || this.#port.state.room !== this.room) {
      throw new AmbitError("not_in_room", "the player is not in this room any more");
    }
    await this.#port.ask("leave_room");
  }

  #bits(names: readonly string[]): number {
    const controls = this.schema?.controls ?? [];
    return names.reduce((bits, name) => {
      const bit = controls.findIndex(({ axis, name: other }) => axis === null && other === name);
      if (bit < 0) {
        const held = controls.filter(({ axis }) => axis === null);
        const known = held.map((control) => control.name).join(", ") || "none";
        throw new AmbitError("bad_option", `unknown control '${name}'; there are ${known}`);
      }
      return bits | (1 << bit);
    }, 0);
  }
}
