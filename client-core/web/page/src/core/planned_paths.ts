/**
 * Where objects are going to: from the events of a game. A walk is one message, so its end is known
 * when it begins.
 *
 * Bounds: as many entries as objects in sight.
 */

import type { ComponentValues, GameEvent } from "../ambit/ambit.js";
import type { Point } from "./camera.js";

export interface Destination extends Point {
  /** Room time of the arrival, in milliseconds. */
  t: number;
}

/**
 * How far ahead a client receives the turns and the end of others' paths. What it has beyond that
 * is a straight continuation, which need not come true: `docs/replication.md`.
 */
const KNOWN_AHEAD_MS = 2_000;

export class PlannedPaths {
  readonly #destinations = new Map<number, Destination>();

  /** Other events than those of objects change nothing. */
  handle(event: GameEvent): void {
    switch (event.ev) {
      case "enter":
      case "update":
        return this.#read(event.id, event.components);
      case "leave":
        return void this.#destinations.delete(event.id);
      case "started":
      // Which objects have left meanwhile is not known.
      case "missed":
        return this.#destinations.clear();
    }
  }

  /** Where the object is going to, unless it has arrived at this room time. */
  destination(id: number, roomTime: number): Destination | undefined {
    const destination = this.#destinations.get(id);
    return destination && destination.t > roomTime ? destination : undefined;
  }

  /**
   * Where the object is going to, as far as that is known: of the own avatar to the end, of others
   * for the next two seconds. `into` has the object's place before. False if it has arrived.
   */
  ahead(id: number, roomTime: number, isOwn: boolean, into: Point): boolean {
    const to = this.destination(id, roomTime);
    if (!to) return false;
    const share = isOwn ? 1 : Math.min(1, KNOWN_AHEAD_MS / (to.t - roomTime));
    into.x += (to.x - into.x) * share;
    into.y += (to.y - into.y) * share;
    into.z += (to.z - into.z) * share;
    return true;
  }

  #read(id: number, components: ComponentValues): void {
    for (const name in components) {
      const value = components[name];
      if (typeof value !== "object" || value === null || !("to" in value)) continue;
      const to = value.to as Destination | null;
      if (to) this.#destinations.set(id, to);
      else this.#destinations.delete(id);
    }
  }
}
