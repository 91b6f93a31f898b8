/**
 * Everything in sight at one time, for drawing.
 *
 * The data is in the memory of the WebAssembly module, in arrays with one item (or a fixed number
 * of items) for each object. `client-core/web/src/frame_buffers.rs` describes them.
 *
 * Invariant: a frame makes no objects. The arrays are made anew only when the memory has grown or
 * the buffers have moved; texts are decoded when they are asked for, once.
 */

import type { Driver } from "./driver.js";
import type { Kind, Schema } from "./schema.js";

/** Floats of an object's transform: position 3, rotation 4, velocity 3, angular velocity 3. */
export const TRANSFORM_FLOATS = 13;
/** Floats of a component's value: the value; of a gauge also its rate and its maximum. */
export const VALUE_FLOATS = 3;
/** A flag: the object is the player's avatar or, if it is room-wide, the player's own. */
export const FLAG_OWN = 1;
/** A flag: the object moves. */
export const FLAG_MOVES = 2;

/** The table at the beginning: see `frame_buffers.rs`. */
const LAYOUT_NUMBERS = 14;
const COUNT = 0;
const SCHEMA = 1;
const AVATAR = 2;
const GENERATION = 3;
const OBJECT_ROOM = 4;
const VALUE_ROOM = 5;
const FIRST_ADDRESS = 6;
const ROOM_WIDE = 13;

/** So many decoded texts are kept; then all are forgotten. */
const MAX_TEXTS = 8_192;

/** A value with a rate of change. */
export interface Gauge {
  value: number;
  /** A second. */
  rate: number;
  max: number;
}

/** The arrays of a frame. They are longer than the number of objects. */
class Arrays {
  readonly ids: Uint32Array;
  readonly kinds: Uint32Array;
  readonly flags: Uint32Array;
  readonly starts: Uint32Array;
  readonly transforms: Float32Array;
  readonly values: Float64Array;
  readonly ages: Float32Array;
  readonly buffer: ArrayBufferLike;
  readonly generation: number;

  constructor(layout: Uint32Array) {
    const { buffer } = layout;
    this.buffer = buffer;
    const [objects = 0, values = 0] = layout.subarray(OBJECT_ROOM, VALUE_ROOM + 1);
    const [ids, kinds, flags, starts, transforms, stored, ages] = layout.subarray(FIRST_ADDRESS);
    this.ids = new Uint32Array(buffer, ids, objects);
    this.kinds = new Uint32Array(buffer, kinds, objects);
    this.flags = new Uint32Array(buffer, flags, objects);
    this.starts = new Uint32Array(buffer, starts, objects);
    this.transforms = new Float32Array(buffer, transforms, objects * TRANSFORM_FLOATS);
    this.values = new Float64Array(buffer, stored, values * VALUE_FLOATS);
    this.ages = new Float32Array(buffer, ages, objects);
    this.generation = layout[GENERATION] ?? 0;
  }
}

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
  readonly #driver: Driver;
  #layout: Uint32Array | undefined;
  #arrays: Arrays | undefined;
  #schema: Schema | undefined;
  #schemaNumber = 0;
  /** For each kind: the index of a component, by its name. */
  #components: Map<string, number>[] = [];
  #texts = new Map<number, string>();

  /** @internal */
  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** @internal Shows what is in sight at `time`. */
  update(time: number): void {
    this.time = this.#driver.draw(time);
    const layout = this.#current();
    this.count = layout[COUNT] as number;
    this.roomWide = layout[ROOM_WIDE] as number;
    const avatar = layout[AVATAR] as number;
    this.avatar = avatar < this.count ? avatar : -1;
    if (layout[SCHEMA] !== this.#schemaNumber) this.#readSchema(layout[SCHEMA] as number);
  }

  /** @internal */
  clear(): void {
    this.count = 0;
    this.roomWide = 0;
    this.avatar = -1;
    this.time = NaN;
  }

  /** Of each object: its id, ascending, never reused. */
  get ids(): Uint32Array {
    return this.#read().ids;
  }

  /** Of each object: the index of its kind in {@link Schema.kinds}. */
  get kinds(): Uint32Array {
    return this.#read().kinds;
  }

  /** Of each object: {@link FLAG_OWN} and {@link FLAG_MOVES}. */
  get flags(): Uint32Array {
    return this.#read().flags;
  }

  /** Of each object: the index of its first value; times {@link VALUE_FLOATS} in `values`. */
  get starts(): Uint32Array {
    return this.#read().starts;
  }

  /**
   * Of each object {@link TRANSFORM_FLOATS} floats: position x, y, z in metres (east, north, up),
   * rotation as a unit quaternion x, y, z, w, velocity in metres and angular velocity in radians a
   * second.
   */
  get transforms(): Float32Array {
    return this.#read().transforms;
  }

  /**
   * Of each component of each object {@link VALUE_FLOATS} floats; {@link Frame.value} reads them.
   * NaN is what the player may not know, or what is in the transform.
   */
  get values(): Float64Array {
    return this.#read().values;
  }

  /**
   * Of each object: how old the newest data about it is, in milliseconds. Of an object that moves
   * freely, that is the newest pose; of all others, any data of the host: silence about them means
   * that nothing has changed. NaN before the first data.
   */
  get ages(): Float32Array {
    return this.#read().ages;
  }

  /** What the game declares. */
  get schema(): Schema | undefined {
    return this.#schema;
  }

  /** The index of the object with this id, or -1. */
  indexOf(id: number): number {
    const { ids } = this;
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ids[middle] as number) < id) low = middle + 1;
      else high = middle;
    }
    return low < this.count && ids[low] === id ? low : -1;
  }

  /** The indices of the room-wide objects of the kind called `kind`, of all without a name. */
  rows(kind?: string): number[] {
    const indices = Array.from({ length: this.roomWide }, (_, row) => this.count + row);
    return indices.filter((index) => kind === undefined || this.kind(index).name === kind);
  }

  id(index: number): number {
    return this.ids[index] as number;
  }

  /** Its kind, as the game declares it. */
  kind(index: number): Kind {
    return this.#schema?.kinds[this.kinds[index] as number] as Kind;
  }

  /** Whether it is the player's avatar or, if it is room-wide, the player's own. */
  isOwn(index: number): boolean {
    return ((this.flags[index] as number) & FLAG_OWN) !== 0;
  }

  moves(index: number): boolean {
    return ((this.flags[index] as number) & FLAG_MOVES) !== 0;
  }

  x(index: number): number {
    return this.transforms[index * TRANSFORM_FLOATS] as number;
  }

  y(index: number): number {
    return this.transforms[index * TRANSFORM_FLOATS + 1] as number;
  }

  z(index: number): number {
    return this.transforms[index * TRANSFORM_FLOATS + 2] as number;
  }

  /** The direction that it faces, in radians counter-clockwise from the east. */
  heading(index: number): number {
    const floats = this.transforms;
    const at = index * TRANSFORM_FLOATS + 3;
    const x = floats[at] as number;
    const y = floats[at + 1] as number;
    const z = floats[at + 2] as number;
    const w = floats[at + 3] as number;
    return Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  }

  /**
   * The value of the component called `name`: a number, also of a gauge; radians; a boolean; a text.
   * Undefined if the object has no such component, or one that the player may not know.
   */
  value(index: number, name: string): number | boolean | string | undefined {
    const component = this.#components[this.kinds[index] as number]?.get(name);
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
        return this.#text(value);
      default:
        return value;
    }
  }

  /** A gauge by its name, into `gauge` if that is given, so that no object is made. */
  gauge(
    index: number,
    name: string,
    gauge: Gauge = { value: 0, rate: 0, max: 0 },
  ): Gauge | undefined {
    const component = this.#components[this.kinds[index] as number]?.get(name);
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
    const arrays = this.#read();
    const start = arrays.starts[index] as number;
    return arrays.values[(start + component) * VALUE_FLOATS + part] as number;
  }

  #text(number: number): string | undefined {
    const known = this.#texts.get(number);
    if (known !== undefined) return known;
    const text = this.#driver.core.text(number);
    if (text !== undefined) {
      if (this.#texts.size >= MAX_TEXTS) this.#texts.clear();
      this.#texts.set(number, text);
    }
    return text;
  }

  #readSchema(number: number): void {
    this.#schemaNumber = number;
    this.#schema = this.#driver.schema();
    const kinds = this.#schema?.kinds ?? [];
    this.#components = kinds.map(
      (kind) => new Map(kind.components.map((component, index) => [component.name, index])),
    );
  }

  /** The table, in the memory as it is now. */
  #current(): Uint32Array {
    const { buffer } = this.#driver.module.memory;
    if (this.#layout?.buffer !== buffer) {
      this.#layout = new Uint32Array(buffer, this.#driver.core.frame_layout(), LAYOUT_NUMBERS);
    }
    return this.#layout as Uint32Array;
  }

  #read(): Arrays {
    const layout = this.#current();
    const arrays = this.#arrays;
    if (arrays && arrays.buffer === layout.buffer && arrays.generation === layout[GENERATION]) {
      return arrays;
    }
    this.#arrays = new Arrays(layout);
    return this.#arrays;
  }
}
