/**
 * The colour of an age: how old what a client knows about an object is. Green is fresh, yellow
 * half a second, red a second and more; grey is unknown, or not worth a colour.
 */

export interface Colour {
  /** 0 to 1. */
  r: number;
  g: number;
  b: number;
}

interface Stop extends Colour {
  ms: number;
}

const STOPS: readonly Stop[] = [
  { ms: 0, r: 0.1, g: 0.8, b: 0.35 },
  { ms: 100, r: 0.1, g: 0.8, b: 0.35 },
  { ms: 500, r: 0.95, g: 0.8, b: 0.1 },
  { ms: 1_000, r: 0.9, g: 0.15, b: 0.1 },
];
const UNKNOWN: Readonly<Colour> = { r: 0.5, g: 0.5, b: 0.5 };

/** Fills `into`; an unknown age is NaN. */
export function colourByAge(ageMs: number, into: Colour): void {
  if (Number.isNaN(ageMs)) return void Object.assign(into, UNKNOWN);
  let upper = 1;
  while (upper < STOPS.length - 1 && ageMs > (STOPS[upper] as Stop).ms) upper += 1;
  const from = STOPS[upper - 1] as Stop;
  const to = STOPS[upper] as Stop;
  const share = Math.min(Math.max((ageMs - from.ms) / (to.ms - from.ms), 0), 1);
  into.r = from.r + (to.r - from.r) * share;
  into.g = from.g + (to.g - from.g) * share;
  into.b = from.b + (to.b - from.b) * share;
}
