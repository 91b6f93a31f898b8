/**
 * What is in sight at one time, as it goes from the worker to the page: one buffer with all arrays.
 *
 * The worker copies it from the memory of the WebAssembly module, where
 * `client-core/web/src/frame_buffers.rs` describes it.
 */

import type { WebClient } from "../pkg/ambit_client_web.js";

/** Floats of an object's transform: position 3, rotation 4, velocity 3, angular velocity 3. */
export const TRANSFORM_FLOATS = 13;
/** Floats of a component's value: the value; of a gauge also its rate and its maximum. */
export const VALUE_FLOATS = 3;

/** The table at the beginning: see `frame_buffers.rs`. */
const LAYOUT_NUMBERS = 11;

/** What is in sight. */
export interface Picture {
  /** When it is to be drawn, in milliseconds since the Unix epoch. */
  at: number;
  /** The room time that it shows then, in milliseconds; NaN without a game. */
  time: number;
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

/** The arrays of a picture. */
export class Arrays {
  /** Ordered by alignment, so that the buffer has no gaps. */
  readonly values: Float64Array;
  readonly transforms: Float32Array;
  readonly ages: Float32Array;
  readonly ids: Uint32Array;
  readonly kinds: Uint32Array;
  readonly flags: Uint32Array;
  readonly starts: Uint32Array;

  constructor(objects: number, values: number, buffer: ArrayBuffer) {
    let at = 0;
    const next = (floats: number) => (at += 4 * floats) - 4 * floats;
    this.values = new Float64Array(buffer, next(2 * values * VALUE_FLOATS), values * VALUE_FLOATS);
    const transforms = objects * TRANSFORM_FLOATS;
    this.transforms = new Float32Array(buffer, next(transforms), transforms);
    this.ages = new Float32Array(buffer, next(objects), objects);
    this.ids = new Uint32Array(buffer, next(objects), objects);
    this.kinds = new Uint32Array(buffer, next(objects), objects);
    this.flags = new Uint32Array(buffer, next(objects), objects);
    this.starts = new Uint32Array(buffer, next(objects), objects);
  }

  static bytes(objects: number, values: number): number {
    return 8 * values * VALUE_FLOATS + 4 * objects * (TRANSFORM_FLOATS + 5);
  }

  get all(): (Float64Array | Float32Array | Uint32Array)[] {
    const { values, transforms, ages, ids, kinds, flags, starts } = this;
    return [values, transforms, ages, ids, kinds, flags, starts];
  }
}

/** The core's half: what a picture is copied from. */
type CoreOfPicture = Pick<WebClient, "frame_layout" | "texts_after" | "texts_dropped">;

/** Copies pictures from the core's memory. */
export class PictureCopier {
  /** The highest number of a text that was passed on. */
  #lastText = 0;
  #dropped = 0;

  constructor(private readonly core: CoreOfPicture, private readonly memory: WebAssembly.Memory) {}

  /** The picture that the core has drawn last, in `spare` if that is large enough. */
  copy(at: number, time: number, spare: ArrayBuffer | undefined): Picture {
    const from = this.memory.buffer;
    const layout = new Uint32Array(from, this.core.frame_layout(), LAYOUT_NUMBERS);
    const [count = 0, roomWide = 0, avatar = 0, values = 0] = layout;
    const objects = count + roomWide;
    const bytes = Arrays.bytes(objects, values);
    // Room for some more, so that the next picture fits, too.
    const buffer = spare && spare.byteLength >= bytes ? spare : new ArrayBuffer(2 * bytes);
    let to = 0;
    for (const [index, array] of new Arrays(objects, values, buffer).all.entries()) {
      const source = new Uint8Array(from, layout[4 + index], array.byteLength);
      new Uint8Array(buffer, to, array.byteLength).set(source);
      to += array.byteLength;
    }
    const own = avatar < count ? avatar : -1;
    return { at, time, count, roomWide, avatar: own, values, buffer, texts: this.#newTexts() };
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
