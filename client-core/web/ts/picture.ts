/**
 * What is in sight at one time, as it goes from the worker to the page: one buffer with all arrays.
 *
 * The worker copies both arrays from the memory of the WebAssembly module as they are:
 * `client-core/boundary/src/frame_arrays.rs` describes them.
 */

import type { WebClient } from "./ambit-glue.js";

/** Numbers of an object's row: `ObjectRow`. The transform comes first. */
export const OBJECT_NUMBERS = 18;
/** Floats of a component's value: the value; of a gauge also its rate and its maximum. */
export const VALUE_FLOATS = 3;

/** The table at the beginning: see `frame_layout` of the core. */
const LAYOUT_NUMBERS = 6;

/** What is in sight. */
export interface Picture {
  /** When it is to be drawn, in milliseconds since the Unix epoch. */
  at: number;
  /** The room time that it shows then, in milliseconds; NaN without a game. */
  time: number;
  /** Room time for each unit of time: 1, but in a replay. */
  speed: number;
  count: number;
  /** Room-wide objects: they follow the others. */
  roomWide: number;
  /** The index of the player's avatar, or -1. */
  avatar: number;
  values: number;
  buffer: ArrayBuffer;
  texts: NewTexts | undefined;
}

/** The texts of pictures, by their numbers: those that came to the known ones. */
export interface NewTexts {
  /** All known ones are out of date. */
  replaces: boolean;
  texts: [number: number, text: string][];
}

/** The arrays of a picture: the values come first, so that they are aligned. */
export class Arrays {
  readonly values: Float64Array;
  /** The rows of the objects as floats, and as whole numbers. */
  readonly floats: Float32Array;
  readonly numbers: Uint32Array;

  constructor(objects: number, values: number, buffer: ArrayBuffer) {
    this.values = new Float64Array(buffer, 0, values * VALUE_FLOATS);
    const [from, length] = [this.values.byteLength, objects * OBJECT_NUMBERS];
    this.floats = new Float32Array(buffer, from, length);
    this.numbers = new Uint32Array(buffer, from, length);
  }

  static bytes(objects: number, values: number): number {
    return 8 * values * VALUE_FLOATS + 4 * objects * OBJECT_NUMBERS;
  }
}

/** @internal The core's half: what a picture is copied from. */
type CoreOfPicture = Pick<WebClient, "frame_layout" | "texts_after" | "texts_dropped">;

/** @internal Copies pictures from the core's memory. */
export class PictureCopier {
  /** The highest number of a text that was passed on. */
  #lastText = 0;
  #dropped = 0;

  constructor(private readonly core: CoreOfPicture, private readonly memory: WebAssembly.Memory) {}

  /** The picture that the core has drawn last, in `spare` if that is large enough. */
  copy(at: number, time: number, spare: ArrayBuffer | undefined): Picture {
    const from = this.memory.buffer;
    const layout = new Uint32Array(from, this.core.frame_layout(), LAYOUT_NUMBERS);
    const [count = 0, roomWide = 0, avatar = 0, values = 0, ofValues = 0, ofObjects = 0] = layout;
    const objects = count + roomWide;
    const bytes = Arrays.bytes(objects, values);
    // Room for some more, so that the next picture fits, too.
    const buffer = spare && spare.byteLength >= bytes ? spare : new ArrayBuffer(2 * bytes);
    const to = new Arrays(objects, values, buffer);
    to.values.set(new Float64Array(from, ofValues, to.values.length));
    to.numbers.set(new Uint32Array(from, ofObjects, to.numbers.length));
    const own = avatar < count ? avatar : -1;
    const texts = this.#newTexts();
    return { at, time, speed: 1, count, roomWide, avatar: own, values, buffer, texts };
  }

  #newTexts(): NewTexts | undefined {
    const dropped = this.core.texts_dropped();
    const replaces = dropped !== this.#dropped;
    this.#dropped = dropped;
    if (replaces) this.#lastText = 0;
    const json = this.core.texts_after(this.#lastText);
    if (json === undefined && !replaces) return undefined;
    const texts = JSON.parse(json ?? "[]") as NewTexts["texts"];
    this.#lastText = texts.at(-1)?.[0] ?? this.#lastText;
    return { replaces, texts };
  }
}
