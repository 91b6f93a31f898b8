/** What decides about what a player can do: the values of a frame by the names of components. */

import type { Condition, Cost, Frame, Kind } from "../ambit/ambit.js";

/** Of the avatar, of the player's own rows and of the game's state. */
export interface Known {
  /** Those of the avatar that are set. */
  flags: ReadonlySet<string>;
  texts: ReadonlyMap<string, string>;
  /** The texts of the avatar alone. */
  own: ReadonlyMap<string, string>;
  numbers: ReadonlyMap<string, number>;
  /** What the avatar's gauges have. */
  gauges: ReadonlyMap<string, number>;
  /** How many there are of what is counted, such as in a bag. */
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** How many in the tables have a text: by {@link countKey}. */
  shares: ReadonlyMap<string, number>;
}

/** `states` are the room-wide kinds; one with a single object that is nobody's is the state. */
export function knownOf(frame: Frame, states: readonly Kind[]): Known {
  const flags = new Set<string>();
  const [texts, own] = [new Map<string, string>(), new Map<string, string>()];
  const [numbers, gauges] = [new Map<string, number>(), new Map<string, number>()];
  const counts = new Map<string, ReadonlyMap<string, number>>();
  const shares = new Map<string, number>();
  const read = (object: number, { components }: Kind, isAvatar: boolean) =>
    components.forEach(({ name, type }, index) => {
      const value = frame.component(object, index);
      if (type === "counts") counts.set(name, frame.counts(object, index));
      if (type === "flag" && isAvatar && value === true) flags.add(name);
      if (typeof value === "number" && type === "number") numbers.set(name, value);
      if (typeof value === "number" && type === "gauge" && isAvatar) gauges.set(name, value);
      if (type === "text") texts.set(name, String(value ?? ""));
      if (type === "text" && isAvatar) own.set(name, String(value ?? ""));
    });
  for (const kind of states) {
    const rows = frame.rows(kind.name);
    for (const row of rows) {
      if (frame.isOwn(row) || rows.length === 1) read(row, kind, false);
      kind.components.forEach(({ name, type }, index) => {
        if (type !== "text") return;
        const key = countKey(name, String(frame.component(row, index) ?? ""));
        shares.set(key, (shares.get(key) ?? 0) + 1);
      });
    }
  }
  if (frame.avatar >= 0) read(frame.avatar, frame.kind(frame.avatar), true);
  return { flags, texts, own, numbers, gauges, counts, shares };
}

/** Whether something is offered that has this condition. */
export function isMet(
  condition: Condition | null,
  { flags, texts }: Pick<Known, "flags" | "texts">,
): boolean {
  if (!condition) return true;
  const { of, is } = condition;
  return is === "" ? flags.has(of) : texts.get(of) === is;
}

/** Of those whose text `name` is `value`. */
export function countKey(name: string, value: string): string {
  return `${name} ${value}`;
}

/** What the player has of that in which the costs are; undefined if nothing costs anything. */
export function purseOf(
  costs: readonly (Cost | null)[],
  numbers: ReadonlyMap<string, number>,
): Cost | undefined {
  const of = costs.find((cost) => cost && numbers.has(cost.of))?.of;
  return of === undefined ? undefined : { of, amount: numbers.get(of) ?? 0 };
}
