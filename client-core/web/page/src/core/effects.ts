/**
 * What is seen when something happens: the pieces of light of all effects that run.
 *
 * Each effect is a few pieces, computed in each frame from the share of its time that is over:
 * rings on the ground, sparks, a flash, a column or a beam. All go into one buffer for one draw
 * call. At most {@link MAX_EFFECTS} run at once; the oldest one is dropped and counted. A frame
 * makes no garbage.
 */

import type { EventKind } from "../ambit/ambit.js";
import type { Point } from "./camera.js";
import type { Flight } from "./elements.js";
import { parseColour } from "./look.js";
import { seededUnits } from "./seeded.js";

/** As a game declares it; `flight` is how a shot looks, by what it is made of. */
export type Effect = NonNullable<EventKind["effect"]> & { flight?: Flight };
export type EffectForm = Effect["form"];

export const MAX_EFFECTS = 64;
/** Of one effect: its sparks, two rings, a flash, a column or a beam. */
const MAX_SPARKS = 20;
const MAX_PIECES_OF_ONE = MAX_SPARKS + 3;
/** Of trails, flames of engines and what shines; what is beyond has none. */
const MAX_TRAILS = 768;
/** Trails, and the ring around the own avatar. */
export const MAX_PIECES = MAX_EFFECTS * MAX_PIECES_OF_ONE + MAX_TRAILS + 1;
/** Floats of a piece: place and width, way and shape, colour and strength. */
export const PIECE_FLOATS = 12;
/** What a piece is; the shader has the same numbers. */
export const SHAPES = { spark: 0, ring: 1, streak: 2, disc: 3, bubble: 4 } as const;
/** The greatest length of the light behind a shot. */
const TAIL_M = 3.5;
/** Of that length. */
const TAILS: Readonly<Record<Flight, number>> = {
  ball: 1,
  flame: 0.8,
  shard: 1.1,
  drop: 0.55,
  halo: 0.7,
  arrow: 0.6,
};
/** The number of flames or drops behind a shot. */
const SHED = 5;
/** A bubble grows and shrinks by this share in this time. */
const PULSE = { share: 0.06, ms: 1_700 } as const;
/** How much wider the ring around a bubble is. */
const BUBBLE_RING = 1.14;
const WHITE: Colour = { red: 1, green: 1, blue: 1 };
/** Rings in the ground would flicker. */
const GROUND_M = 0.12;
/** A warning is filled where it will hit, as strongly at first and in the end. */
const FILLED = [0.3, 0.62] as const;

/** How a form looks. Lengths are in sizes of the effect, and times in its duration. */
type Motion = typeof PLAIN;

const PLAIN = {
  ms: 0,
  sparks: 0,
  /** From and to which distance sparks fly. */
  from: 0.1,
  to: 1,
  /** How high they begin, how far they rise, and how far they fall again. */
  lift: 0.5,
  up: 0,
  fall: 0,
  spark: 0.16,
  flash: 0,
  /** The radii of the ring at the beginning and at the end; without one both are 0. */
  ring: [0, 0] as readonly [number, number],
  /** The height of a column. */
  column: 0,
};
const SPARKS = {
  cast: { ms: 520, sparks: 9, from: 0.95, to: 0.15, lift: 0.1, up: 1.5 },
  hit: { ms: 460, sparks: 14, to: 1.2, up: 0.7, fall: 0.9 },
  heal: { ms: 1_000, sparks: 12, from: 0.6, to: 0.5, lift: 0.1, up: 1.9, spark: 0.2 },
  arrival: { ms: 900, sparks: 10, from: 0.2, to: 0.9, lift: 0, up: 1.4 },
  death: { ms: 950, sparks: 18, to: 1.1, lift: 0.4, up: 1.3, fall: 1.7, spark: 0.2 },
  blast: { ms: 950, sparks: 20, from: 0.05, to: 1.15, lift: 0, up: 0.4, fall: 0.3, spark: 0.17 },
  beam: { ms: 360, sparks: 6, from: 0, to: 0.8, up: 0.4, fall: 0.4 },
};
const MOTIONS: Readonly<Record<EffectForm, Motion>> = {
  cast: { ...PLAIN, ...SPARKS.cast, flash: 0.9, ring: [1.1, 0.3] },
  hit: { ...PLAIN, ...SPARKS.hit, flash: 1.1 },
  heal: { ...PLAIN, ...SPARKS.heal, ring: [0.7, 1] },
  arrival: { ...PLAIN, ...SPARKS.arrival, flash: 1.2, ring: [0.2, 1.2], column: 4 },
  death: { ...PLAIN, ...SPARKS.death, flash: 1.5, ring: [0.2, 1] },
  blast: { ...PLAIN, ...SPARKS.blast, flash: 1.9, ring: [0.15, 0.95] },
  ring: { ...PLAIN, ms: 650, ring: [0.4, 1] },
  warning: { ...PLAIN, ms: 600, ring: [1, 1] },
  beam: { ...PLAIN, ...SPARKS.beam, flash: 0.8 },
};

/** Where an object is now; false if it is out of sight. */
export type Locate = (id: number, into: Point) => boolean;

export function colourOf(text: string): Colour {
  const colour = parseColour(text);
  const share = (shift: number) => ((colour >> shift) & 0xff) / 255;
  return { red: share(16), green: share(8), blue: share(0) };
}

/** From 0 to 1 each. */
export interface Colour {
  red: number;
  green: number;
  blue: number;
}

class Running implements Point, Colour {
  motion: Motion = MOTIONS.ring;
  x = 0;
  y = 0;
  z = 0;
  /** From where a beam comes; NaN if nothing does. */
  fromX = NaN;
  fromY = 0;
  fromZ = 0;
  /** Whether a beam is a shot on its way, which arrives at the end. */
  flies = false;
  flight: Flight = "ball";
  /** The object at which it stays; -1 if it stays at its place. */
  object = -1;
  size = 1;
  red = 1;
  green = 1;
  blue = 1;
  at = -Infinity;
  ms = 0;
  /** For each spark its way across, and how fast it is and rises. */
  readonly sparks = new Float32Array(4 * MAX_SPARKS);
}

export class Effects {
  readonly pieces = new Float32Array(PIECE_FLOATS * MAX_PIECES);
  count = 0;
  /** The number of effects that ended early, since too many ran at once. */
  dropped = 0;
  readonly #running = Array.from({ length: MAX_EFFECTS }, () => new Running());
  #next = 0;
  #seed = 1;
  #grown = 1;

  /**
   * Begins an effect at a place. `object` is where it stays from then on, or -1. With a `seed` its
   * sparks are the same on all screens. A warning lasts `ms`, until what it warns of; a beam with
   * `ms` is a shot that arrives then.
   */
  play(
    now: number,
    effect: Effect,
    at: Point,
    object = -1,
    from?: Point,
    seed?: number,
    ms?: number,
  ): void {
    const motion = MOTIONS[effect.form];
    // A form of a newer server.
    if (!motion) return;
    const running = this.#running[this.#next] as Running;
    this.#next = (this.#next + 1) % MAX_EFFECTS;
    if (isRunning(running, now)) this.dropped += 1;
    running.motion = motion;
    Object.assign(running, colourOf(effect.colour));
    running.size = effect.size;
    running.object = object;
    running.at = now;
    running.ms = ms ?? motion.ms;
    running.flies = from !== undefined && ms !== undefined;
    running.flight = effect.flight ?? "ball";
    [running.x, running.y, running.z] = [at.x, at.y, at.z];
    [running.fromX, running.fromY, running.fromZ] = from ? [from.x, from.y, from.z] : [NaN, 0, 0];
    this.#seed = (this.#seed + 1) & 0xffff;
    throwSparks(running.sparks, motion.sparks, seed ?? this.#seed);
  }

  /**
   * Computes the pieces of a frame. Flashes and sparks are larger by `grown`, since from far away
   * they would not be seen; rings, which show how far something reaches, are not.
   */
  update(now: number, locate: Locate, grown = 1): void {
    this.count = 0;
    this.#grown = grown;
    for (const running of this.#running) {
      if (!isRunning(running, now)) continue;
      if (running.object >= 0) locate(running.object, running);
      this.#show(running, Math.max(0, (now - running.at) / running.ms));
    }
  }

  /** After `update`: the ring around the own avatar. */
  ringAround(x: number, y: number, z: number, radius: number, colour: Colour): void {
    this.#add(colour, SHAPES.ring, x, y, z + GROUND_M, radius, 1);
  }

  /** After `ringAround`: light to another place, where it fades; `wide` is half its width. */
  trail({ x, y, z }: Point, dx: number, dy: number, dz: number, wide: number, colour: Colour) {
    if (this.count >= MAX_PIECES) return;
    this.#add(colour, SHAPES.streak, x, y, z, wide, 0.8, dx, dy, dz);
  }

  /** After `ringAround`: light around a place. */
  glow({ x, y, z }: Point, wide: number, colour: Colour): void {
    if (this.count >= MAX_PIECES) return;
    this.#add(colour, SHAPES.spark, x, y, z, wide, 0.85);
  }

  /** After `update`: around what is protected or hidden as long as that lasts; it pulses slowly. */
  bubble(now: number, { x, y, z }: Point, radius: number, colour: Colour): void {
    // The ring around the own avatar has its place in any case.
    if (this.count + 3 > MAX_PIECES) return;
    const pulse = Math.sin((2 * Math.PI * now) / PULSE.ms);
    const wide = radius * (1 + PULSE.share * pulse);
    this.#add(colour, SHAPES.bubble, x, y, z, wide, 0.85 + 0.15 * pulse);
    this.#add(colour, SHAPES.ring, x, y, z, BUBBLE_RING * wide, 0.8 - 0.2 * pulse);
  }

  #show(running: Running, share: number): void {
    const { motion, size, sparks, x, y, z, fromX, fromY, fromZ } = running;
    const left = 1 - share;
    const eased = 1 - left * left;
    const [first, last] = motion.ring;
    const radius = size * (first + (last - first) * eased);
    if (motion === MOTIONS.warning) return this.#warn(running, share);
    if (running.flies) return this.#fly(running, share);
    if (radius > 0) this.#add(running, SHAPES.ring, x, y, z + GROUND_M, radius, left);
    const middle = z + motion.lift * size;
    if (motion.flash > 0) {
      const width = motion.flash * size * (0.6 + 0.4 * eased) * this.#grown;
      const light = motion === MOTIONS.blast ? left : left * left * left;
      this.#add(running, SHAPES.spark, x, y, middle, width, light);
    }
    if (motion.column > 0) {
      const high = motion.column * size;
      this.#add(running, SHAPES.streak, x, y, z, 0.55 * size * left, left, 0, 0, high);
    }
    if (!Number.isNaN(fromX)) {
      const [dx, dy, dz] = [fromX - x, fromY - y, fromZ - z];
      this.#add(running, SHAPES.streak, x, y, middle, 0.4 * size * left, left, dx, dy, dz);
    }
    for (let spark = 0; spark < motion.sparks; spark += 1) {
      const speed = sparks[4 * spark + 2] as number;
      const away = this.#grown * size * (motion.from + (motion.to - motion.from) * eased * speed);
      const rise = motion.up * share * (sparks[4 * spark + 3] as number);
      const atX = x + away * (sparks[4 * spark] as number);
      const atY = y + away * (sparks[4 * spark + 1] as number);
      const atZ = Math.max(z, middle + size * (rise - motion.fall * share * share));
      const wide = this.#grown * motion.spark * size * (0.4 + 0.6 * left);
      this.#add(running, SHAPES.spark, atX, atY, atZ, wide, left);
    }
  }

  /** A shot on its way, with light behind it. */
  #fly(running: Running, share: number): void {
    const { motion, flight, size, x, y, z, fromX, fromY, fromZ } = running;
    const [dx, dy, dz, left] = [fromX - x, fromY - y, fromZ - z, 1 - share];
    const [atX, atY, atZ] = [x + dx * left, y + dy * left, z + dz * left + motion.lift * size];
    const way = Math.max(Math.hypot(dx, dy, dz), 0.01);
    const tail = Math.min(share, (TAIL_M * TAILS[flight]) / Math.max(TAIL_M, way));
    const wide = 0.5 * size * this.#grown;
    const streak = (colour: Colour, half: number, light: number, long: number) =>
      this.#add(colour, SHAPES.streak, atX, atY, atZ, half, light, dx * long, dy * long, dz * long);
    streak(running, wide, 0.9, tail);
    // What is thrown has an edge, not a glow.
    if (flight === "arrow") return streak(running, wide * 0.7, 1, Math.min(1.1, way * share) / way);
    this.#add(running, SHAPES.spark, atX, atY, atZ, 2 * wide, 1);
    if (flight === "shard") streak(WHITE, wide, 0.9, Math.min(share, 0.9 / way));
    if (flight === "halo") this.#add(running, SHAPES.ring, atX, atY, atZ, 1.7 * wide, 0.9);
    if (flight === "flame" || flight === "drop") this.#shed(running, share, wide, way);
  }

  /** What a shot loses on its way: flames rise, drops fall. */
  #shed(running: Running, share: number, wide: number, way: number): void {
    const { motion, flight, sparks, size, x, y, z, fromX, fromY, fromZ } = running;
    const rise = flight === "flame" ? 0.5 : -0.6;
    for (let spark = 0; spark < SHED; spark += 1) {
      const turned = (4 * share * way + spark / SHED) % 1;
      const left = 1 - share + (turned * 1.6 * (1 + spark)) / way / 2;
      if (left > 1) continue;
      const aside = 0.3 * size * turned;
      const atX = x + (fromX - x) * left + aside * (sparks[4 * spark] as number);
      const atY = y + (fromY - y) * left + aside * (sparks[4 * spark + 1] as number);
      const high = (fromZ - z) * left + motion.lift * size + rise * size * turned;
      const width = wide * (1.1 - 0.8 * turned);
      this.#add(running, SHAPES.spark, atX, atY, Math.max(z, z + high), width, 0.8 * (1 - turned));
    }
  }

  /** How far it will reach, and how soon. */
  #warn(running: Running, share: number): void {
    const { size, x, y, z } = running;
    const [low, filled] = [z + GROUND_M, size * share];
    this.#add(running, SHAPES.ring, x, y, low, size, 1);
    const strength = FILLED[0] + (FILLED[1] - FILLED[0]) * share;
    this.#add(running, SHAPES.disc, x, y, low, size, strength);
    if (filled > 0) this.#add(running, SHAPES.disc, x, y, low, filled, strength);
    if (filled > 0) this.#add(running, SHAPES.ring, x, y, low, filled, 0.5 + share / 2);
  }

  #add(
    { red, green, blue }: Colour,
    shape: number,
    x: number,
    y: number,
    z: number,
    width: number,
    strength: number,
    dx = 0,
    dy = 0,
    dz = 0,
  ): void {
    const { pieces } = this;
    const to = PIECE_FLOATS * this.count;
    pieces[to] = x;
    pieces[to + 1] = y;
    pieces[to + 2] = z;
    pieces[to + 3] = width;
    pieces[to + 4] = dx;
    pieces[to + 5] = dy;
    pieces[to + 6] = dz;
    pieces[to + 7] = shape;
    pieces[to + 8] = red;
    pieces[to + 9] = green;
    pieces[to + 10] = blue;
    pieces[to + 11] = strength;
    this.count += 1;
  }
}

function isRunning({ at, ms }: Running, now: number): boolean {
  return now < at + ms;
}

function throwSparks(sparks: Float32Array, count: number, seed: number): void {
  const unit = seededUnits(seed);
  for (let spark = 0; spark < count; spark += 1) {
    const angle = unit() * 2 * Math.PI;
    sparks[4 * spark] = Math.cos(angle);
    sparks[4 * spark + 1] = Math.sin(angle);
    sparks[4 * spark + 2] = 0.35 + 0.65 * unit();
    sparks[4 * spark + 3] = 0.4 + 0.6 * unit();
  }
}
