/** What a client of a recorded room was sent: `game-server/host/src/client_views.rs`. */

/** Time, kind and length of a message. */
const HEADER_BYTES = 13;

/** Where a message has come from, by its number. */
export const OF_LOBBY = 0;
export const OF_GAME = 1;
export const OF_DATAGRAMS = 2;

export interface RecordedMessage {
  of: number;
  bytes: Uint8Array;
}

/** The messages in the order of their times. What does not fit at the end is not there. */
export class RecordedMessages {
  readonly #view: DataView;
  #offset = 0;

  constructor(private readonly buffer: ArrayBuffer) {
    this.#view = new DataView(buffer);
  }

  /** The room time of the next one in milliseconds, or Infinity. */
  get nextAt(): number {
    const length = this.#length();
    return length < 0 ? Infinity : Number(this.#view.getBigUint64(this.#offset, true)) / 1_000;
  }

  take(): RecordedMessage | undefined {
    const length = this.#length();
    if (length < 0) return undefined;
    const of = this.#view.getUint8(this.#offset + 8);
    const bytes = new Uint8Array(this.buffer, this.#offset + HEADER_BYTES, length);
    this.#offset += HEADER_BYTES + length;
    return { of, bytes };
  }

  /** Of the next message; negative if there is none. */
  #length(): number {
    const left = this.buffer.byteLength - this.#offset - HEADER_BYTES;
    if (left < 0) return -1;
    const length = this.#view.getUint32(this.#offset + 9, true);
    return length <= left ? length : -1;
  }
}
