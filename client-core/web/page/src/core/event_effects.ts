/** Where an event is shown: what its effect names, or each place and object of one without. */

import type { EventKind, GameEvent } from "../ambit/ambit.js";
import type { Point } from "./camera.js";
import type { Effect, Locate } from "./effects.js";

/** How an event is shown for which its game declares nothing. */
const PLAIN: Effect = { form: "ring", colour: "#9a6bff", size: 1.8, at: null, from: null,
  reach: null, due: null };
/** With a seed, it is a burst that is the same on all screens. */
const PLAIN_BURST: Effect = { ...PLAIN, form: "blast", size: 4 };

/**
 * What is shown of an event, nothing where all that it names is out of sight: at a place, with the
 * object at which it stays or -1, and for a warning how long that lasts.
 */
export function shownEffects(kind: EventKind, event: GameEvent, locate: Locate) {
  const values = kind.fields.map(({ name }) => (event as Record<string, unknown>)[name]);
  const value = (event as Record<string, unknown>)["seed"];
  const seed = typeof value === "number" ? value : undefined;
  const show = (effect: Effect, field: number, from?: Point) => {
    const object = kind.fields[field]?.type === "object" ? (values[field] as number) : -1;
    const at = placeOf(values[field], locate);
    const number = (index: number | null) => {
      const given = index === null ? undefined : values[index];
      return typeof given === "number" ? given : undefined;
    };
    const reach = number(effect.reach);
    const sized = reach === undefined ? effect : { ...effect, size: reach / 10 };
    return at ? [{ effect: sized, at, object, from, seed, ms: number(effect.due) }] : [];
  };
  const first = (type: string) => kind.fields.findIndex((field) => field.type === type);
  const { effect } = kind;
  if (effect) {
    const at = effect.at ?? (first("position") >= 0 ? first("position") : first("object"));
    if (effect.form !== "beam") return show(effect, at);
    return show(effect, at, placeOf(values[effect.from ?? first("object")], locate));
  }
  return kind.fields.flatMap(({ type }, field) => {
    if (type === "position") return show(seed === undefined ? PLAIN : PLAIN_BURST, field);
    return type === "object" ? show(PLAIN, field) : [];
  });
}

function placeOf(value: unknown, locate: Locate): Point | undefined {
  const place = { x: 0, y: 0, z: 0 };
  if (typeof value === "number") return locate(value, place) ? place : undefined;
  if (typeof value !== "object" || value === null || !("x" in value && "y" in value)) {
    return undefined;
  }
  return { ...place, ...(value as Partial<Point>) };
}
