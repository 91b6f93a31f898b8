/**
 * What is a wreck: objects of which a flag is set whose effect is a death, in games that bring them
 * back elsewhere by themselves. A wreck stays where it was when the flag was set, whatever its
 * object does until it is back.
 */

import type { Frame, Kind } from "../ambit/ambit.js";
import { InSight } from "./in_sight.js";

/** Position and rotation. */
const KEPT_FLOATS = 7;

/** What is asked about objects. */
export type WreckedObjects = Pick<Frame, "component" | "count" | "id" | "kindIndex" | "transforms">;

/** The components of a kind that say that it is a wreck. */
export function wreckFlagsOf({ components }: Pick<Kind, "components">): number[] {
  return components.flatMap(({ type, effect }, index) =>
    type === "flag" && effect?.form === "death" ? [index] : [],
  );
}

export class Wrecks {
  readonly #flags: readonly (readonly number[])[];
  /** Their transforms. */
  readonly #wrecks = new InSight<Float32Array>();

  constructor(kinds: readonly Pick<Kind, "components">[]) {
    this.#flags = kinds.map(wreckFlagsOf);
  }

  /** Whether objects of a kind can be wrecks. */
  isFor(kind: number): boolean {
    return (this.#flags[kind]?.length ?? 0) > 0;
  }

  /** As of this frame. */
  isWreck(frame: Pick<Frame, "component" | "kindIndex">, index: number): boolean {
    const flags = this.#flags[frame.kindIndex(index)] ?? [];
    return flags.some((flag) => frame.component(index, flag) === true);
  }

  /**
   * How full of life an object is, from 0 to 1: by its bar, and nothing if it is a wreck. Undefined
   * for what has neither.
   */
  lifeOf(frame: Pick<Frame, "bar" | "component" | "kindIndex">, index: number): number | undefined {
    if (this.isWreck(frame, index)) return 0;
    return frame.bar(index) ?? (this.isFor(frame.kindIndex(index)) ? 1 : undefined);
  }

  /** Notes where the wrecks of a frame are; `floats` are those of each object's transform. */
  update(frame: WreckedObjects, floats: number): void {
    this.#wrecks.begin();
    for (let index = 0; index < frame.count; index += 1) {
      if (this.isWreck(frame, index)) this.#note(frame, index, floats);
    }
    this.#wrecks.end();
  }

  /** Where a wreck is and how it lies: position and rotation. Undefined if it is none. */
  transformOf(id: number): Float32Array | undefined {
    return this.#wrecks.get(id);
  }

  #note(frame: WreckedObjects, index: number, floats: number): void {
    const id = frame.id(index);
    if (this.#wrecks.see(id)) return;
    const from = index * floats;
    this.#wrecks.add(id, frame.transforms.slice(from, from + KEPT_FLOATS));
  }
}
