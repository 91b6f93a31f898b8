/**
 * Everything in sight at one time, for drawing.
 *
 * The worker draws pictures; the page asks for the next one while it shows this one. What is between
 * the time of a picture and that of a frame (milliseconds, unless the page is very slow) is moved on
 * with the velocities.
 */

import type { CorePort } from "./core_port.js";
import { Arrays, type Picture, OBJECT_NUMBERS, VALUE_FLOATS } from "./picture.js";
import type { Kind, Schema } from "./schema.js";

export { OBJECT_NUMBERS, VALUE_FLOATS } from "./picture.js";

/** A flag: the object is the player's avatar or, if it is room-wide, the player's own. */
export const FLAG_OWN = 1;
/** A flag: the object moves. */
export const FLAG_MOVES = 2;

/** Places in an object's row. */
const AGE = 13;
const ID = 14;
const KIND = 15;
const FLAGS = 16;
const FIRST_VALUE = 17;

/** Frames that are nearer to each other show the same picture. */
const MIN_INTERVAL_MS = 3;
/** The next frame of a page is expected within this. */
const MAX_INTERVAL_MS = 250;
/** Further than this, nothing is moved on from a picture. */
const MAX_MOVED_MS = 250;

/** A value with a rate of change. */
export interface Gauge {
  value: number;
  /** A second. */
  rate: number;
  max: number;
}

/** A value in a row of a list. */
export type RowValue = number | string | [x: number, y: number, z: number];

/**
 * Everything in sight at one time. Objects are numbered from 0 to {@link Frame.count} - 1, by
 * ascending ids; these indices are good until the next frame. What is room-wide (the score, the
 * state of the round) has no place, and the indices after these: {@link Frame.rows}. Read the
 * arrays through the frame each time: a call of the client may move them.
 */
export class Frame {
  /** The number of objects. */
  count = 0;
  /** The number of room-wide objects: their indices begin at `count`. */
  roomWide = 0;
  /** The index of the player's avatar, or -1. */
  avatar = -1;
  /** The room time that it shows, in milliseconds; NaN without a game. */
  time = NaN;
  readonly #port: CorePort;
  #picture: Picture | undefined;
  #arrays = NOTHING;
  #schema: Schema | undefined;
  /** So far the positions are moved on from those of the picture, in milliseconds. */
  #movedMs = 0;
  #shownAt = -Infinity;
  #intervalMs = 16;
  /** For each kind: the index of a component, by its name. */
  #components: Map<string, number>[] = [];

  /** @internal */
  constructor(port: CorePort) {
    this.#port = port;
  }

  /** @internal Shows what is in sight at `time`, and asks for what will be when it is called next. */
  update(time: number): void {
    const picture = this.#port.takePicture();
    if (picture) this.#show(picture);
    this.#moveOn(time);
    const interval = time - this.#shownAt;
    if (interval < MIN_INTERVAL_MS) return;
    this.#shownAt = time;
    // One late frame says little about the next one.
    const bounded = Math.min(interval, MAX_INTERVAL_MS, 2 * this.#intervalMs);
    this.#intervalMs += (bounded - this.#intervalMs) / 2;
    this.#port.requestPicture(time + this.#intervalMs);
  }

  /** @internal */
  clear(): void {
    this.count = 0;
    this.roomWide = 0;
    this.avatar = -1;
    this.time = NaN;
  }

  /**
   * Of each object {@link OBJECT_NUMBERS} floats; the first 13 are its transform: position x, y, z in
   * metres (east, north, up), rotation as a unit quaternion x, y, z, w, velocity in metres and
   * angular velocity in radians a second.
   */
  get transforms(): Float32Array {
    return this.#arrays.floats;
  }

  /**
   * Of each component of each object {@link VALUE_FLOATS} floats; {@link Frame.value} reads them.
   * NaN is what the player may not know, or what is in the transform.
   */
  get values(): Float64Array {
    return this.#arrays.values;
  }

  /** What the game declares. */
  get schema(): Schema | undefined {
    return this.#schema;
  }

  /** The index of the object with this id, or -1. */
  indexOf(id: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.id(middle) < id) low = middle + 1;
      else high = middle;
    }
    return low < this.count && this.id(low) === id ? low : -1;
  }

  /** The indices of the room-wide objects of the kind called `kind`, of all without a name. */
  rows(kind?: string): number[] {
    const indices = Array.from({ length: this.roomWide }, (_, row) => this.count + row);
    return indices.filter((index) => kind === undefined || this.kind(index).name === kind);
  }

  /** Ascending, never reused. */
  id(index: number): number {
    return this.#number(index, ID);
  }

  /** The index of its kind in {@link Schema.kinds}. */
  kindIndex(index: number): number {
    return this.#number(index, KIND);
  }

  /** Its kind, as the game declares it. */
  kind(index: number): Kind {
    return this.#schema?.kinds[this.kindIndex(index)] as Kind;
  }

  /**
   * How old the newest data about it is, in milliseconds. Of an object that moves freely, that is
   * the newest pose; of all others, any data of the host: silence about them means that nothing has
   * changed. NaN before the first data.
   */
  age(index: number): number {
    return this.transforms[index * OBJECT_NUMBERS + AGE] as number;
  }

  /** Whether it is the player's avatar or, if it is room-wide, the player's own. */
  isOwn(index: number): boolean {
    return (this.#number(index, FLAGS) & FLAG_OWN) !== 0;
  }

  moves(index: number): boolean {
    return (this.#number(index, FLAGS) & FLAG_MOVES) !== 0;
  }

  x(index: number): number {
    return this.transforms[index * OBJECT_NUMBERS] as number;
  }

  y(index: number): number {
    return this.transforms[index * OBJECT_NUMBERS + 1] as number;
  }

  z(index: number): number {
    return this.transforms[index * OBJECT_NUMBERS + 2] as number;
  }

  /** The direction that it faces, in radians counter-clockwise from the east. */
  heading(index: number): number {
    const floats = this.transforms;
    const at = index * OBJECT_NUMBERS + 3;
    const x = floats[at] as number;
    const y = floats[at + 1] as number;
    const z = floats[at + 2] as number;
    const w = floats[at + 3] as number;
    return Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  }

  /**
   * The value of the component called `name`: a number, also of a gauge; radians; a boolean; a text;
   * of bytes their hexadecimal digits. Of counts see {@link Frame.counts}, of a list
   * {@link Frame.list}.
   * Undefined if the object has no such component, or one that the player may not know.
   */
  value(index: number, name: string): number | boolean | string | undefined {
    const component = this.#components[this.kindIndex(index)]?.get(name);
    return component === undefined ? undefined : this.component(index, component);
  }

  /** The same by the index of the component in its kind. */
  component(index: number, component: number): number | boolean | string | undefined {
    const value = this.#float(index, component, 0);
    if (Number.isNaN(value)) return undefined;
    switch (this.kind(index).components[component]?.type) {
      case "flag":
        return value !== 0;
      case "text":
      case "bytes":
        return this.#text(value);
      case "counts":
      case "list":
        return undefined;
      default:
        return value;
    }
  }

  /** How many there are of each name that a component counts, by its index in the kind. */
  counts(index: number, component: number): ReadonlyMap<string, number> {
    const declared = this.kind(index).components[component];
    const text = this.#text(this.#float(index, component, 0));
    if (declared?.type !== "counts" || text === undefined) return new Map();
    const pairs = JSON.parse(text) as [name: number, count: number][];
    return new Map(pairs.map(([name, count]) => [declared.names[name] ?? "", count]));
  }

  /**
   * The rows of a component, by its index in the kind: the values by the names of their fields.
   * Those without a value are left out. A choice is a name, a position `[x, y, z]` in metres.
   */
  list(index: number, component: number): ReadonlyMap<string, RowValue>[] {
    const declared = this.kind(index).components[component];
    const text = this.#text(this.#float(index, component, 0));
    if (declared?.type !== "list" || text === undefined) return [];
    const rows = JSON.parse(text) as (RowValue | null)[][];
    return rows.map((row) => {
      const known = new Map<string, RowValue>();
      declared.fields.forEach((field, at) => {
        const value = row[at] ?? null;
        if (value === null) return;
        known.set(field.name, field.type === "choice" ? (field.choices[Number(value)] ?? "") : value);
      });
      return known;
    });
  }

  /** A gauge by its name, into `gauge` if that is given, so that no object is made. */
  gauge(
    index: number,
    name: string,
    gauge: Gauge = { value: 0, rate: 0, max: 0 },
  ): Gauge | undefined {
    const component = this.#components[this.kindIndex(index)]?.get(name);
    if (component === undefined) return undefined;
    gauge.value = this.#float(index, component, 0);
    gauge.rate = this.#float(index, component, 1);
    gauge.max = this.#float(index, component, 2);
    return Number.isNaN(gauge.max) ? undefined : gauge;
  }

  /** The text to show beside it, if its look has one. */
  label(index: number): string | undefined {
    const { label } = this.kind(index).look;
    const value = label === null ? undefined : this.component(index, label);
    return typeof value === "string" ? value : undefined;
  }

  /** How full the bar to show beside it is, from 0 to 1, if its look has one. */
  bar(index: number): number | undefined {
    const { bar } = this.kind(index).look;
    if (bar === null) return undefined;
    const share = this.#float(index, bar, 0) / this.#float(index, bar, 2);
    return Number.isNaN(share) ? undefined : share;
  }

  #float(index: number, component: number, part: number): number {
    const first = this.#number(index, FIRST_VALUE);
    return this.#arrays.values[(first + component) * VALUE_FLOATS + part] as number;
  }

  #number(index: number, at: number): number {
    return this.#arrays.numbers[index * OBJECT_NUMBERS + at] as number;
  }

  #text(number: number): string | undefined {
    return this.#port.texts.get(number);
  }

  #show(picture: Picture): void {
    if (this.#picture) this.#port.reuse(this.#picture.buffer);
    this.#picture = picture;
    const { count, roomWide, values, buffer } = picture;
    this.#arrays = new Arrays(count + roomWide, values, buffer);
    this.#movedMs = 0;
    this.count = count;
    this.roomWide = roomWide;
    this.avatar = picture.avatar;
    const schema = this.#port.game?.schema;
    if (schema === this.#schema) return;
    this.#schema = schema;
    this.#components = (schema?.kinds ?? []).map(
      (kind) => new Map(kind.components.map((component, index) => [component.name, index])),
    );
  }

  /** Moves positions and rotations to where they are at `time`. */
  #moveOn(time: number): void {
    if (!this.#picture) return;
    const wanted = (time + performance.timeOrigin - this.#picture.at) * this.#picture.speed;
    const moved = Math.min(Math.max(wanted, -MAX_MOVED_MS), MAX_MOVED_MS);
    const seconds = (moved - this.#movedMs) / 1_000;
    this.#movedMs = moved;
    this.time = this.#picture.time + moved;
    for (let index = 0; index < this.count; index += 1) {
      if (this.moves(index)) moveTransform(this.transforms, index * OBJECT_NUMBERS, seconds);
    }
  }
}

const NOTHING = new Arrays(0, 0, new ArrayBuffer(0));

/** Moves an object by its velocities, for a short time. */
function moveTransform(floats: Float32Array, at: number, seconds: number): void {
  const get = (index: number) => floats[at + index] as number;
  for (let axis = 0; axis < 3; axis += 1) floats[at + axis] = get(axis) + get(7 + axis) * seconds;
  const [a, b, c] = [get(10), get(11), get(12)];
  if (a === 0 && b === 0 && c === 0) return;
  const [x, y, z, w] = [get(3), get(4), get(5), get(6)];
  const half = seconds / 2;
  // The derivative of a rotation is half of its product with the angular velocity.
  const turned = [
    x + half * (a * w + b * z - c * y),
    y + half * (b * w + c * x - a * z),
    z + half * (c * w + a * y - b * x),
    w - half * (a * x + b * y + c * z),
  ];
  const length = Math.hypot(...turned);
  for (let part = 0; part < 4; part += 1) floats[at + 3 + part] = (turned[part] as number) / length;
}
