/**
 * One WebTransport session: a stream of bytes and datagrams, both ways.
 *
 * Bounds: {@link MAX_CHUNKS} pieces wait to be written to the stream, then the session is given up,
 * since the server does not read. {@link MAX_DATAGRAMS} datagrams wait; further ones are dropped
 * and count as lost, as if the network had dropped them.
 */

import { AmbitError, messageOf } from "./errors.js";
import type { LineShaper } from "./line_shaper.js";

/** Enough for a handshake through 20 % loss both ways on a busy machine. */
const DIAL_TIMEOUT_MS = 10_000;
/** How long the last bytes may take, before and after the end of a session. */
const DRAIN_TIMEOUT_MS = 1_000;
/**
 * The codes by which a server knows whether the player has quit, or may come back. Not 0: with that
 * a browser ends sessions by itself, such as those of a page that it freezes.
 */
const QUIT = 2;
const SUSPENDED = 1;
const MAX_CHUNKS = 128;
const MAX_DATAGRAMS = 16;
/** Those that the browser keeps for the page: of about a second, in a room with much traffic. */
const INCOMING_DATAGRAMS = 256;

/** A server, and the certificates that it may present. */
export interface ServerAddress {
  /** `"127.0.0.1:7777"`. */
  address: string;
  /** SHA-256 in hex, perhaps after `sha256:`. Empty if an authority has signed the certificate. */
  certificates_sha256: string[];
}

/** What a session reports. Nothing is reported after `closed`, nor after `close()`. */
export interface ConnectionHandler {
  bytes(bytes: Uint8Array): void;
  datagram(bytes: Uint8Array): void;
  /** `code` is the server's, if it has ended the session. */
  closed(code: number | undefined, reason: string): void;
}

export class Connection {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #datagrams: WritableStreamDefaultWriter<Uint8Array>;
  #waitingChunks = 0;
  #waitingDatagrams = 0;
  #handler: ConnectionHandler | undefined;
  #isSuspended = false;

  /** Opens a session for `path` (`/ambit-world/1`). */
  static async dial(server: ServerAddress, path: string, shaper: LineShaper): Promise<Connection> {
    const { address } = server;
    const certificates = server.certificates_sha256.map(bytesOfHex);
    const hashes = certificates.map((value) => ({ algorithm: "sha-256", value }));
    const options: WebTransportOptions = {
      requireUnreliable: true,
      congestionControl: "low-latency",
    };
    if (hashes.length > 0) options.serverCertificateHashes = hashes;
    const transport = new WebTransport(`https://${address}${path}`, options);
    // The reason is that of `ready`, or of `#watchEnd`.
    transport.closed.catch(() => {});
    try {
      await within(DIAL_TIMEOUT_MS, transport.ready);
      const stream = await transport.createBidirectionalStream();
      const checked = new Uint8Array(certificates.flatMap((sha256) => [...sha256]));
      return new Connection(address, checked, transport, stream, shaper);
    } catch (thrown) {
      closeTransport(transport);
      const trusts =
        hashes.length > 0
          ? "present one of the certificates that this page knows for it"
          : "present a certificate that an authority has signed";
      throw new AmbitError(
        "could_not_connect",
        // A browser does not tell which of these it is.
        `could not connect to ${address}: ${messageOf(thrown)} Does the server run there, may ` +
          `UDP pass, and does it ${trusts}?`,
      );
    }
  }

  private constructor(
    /** The server's address. */
    readonly address: string,
    /** The SHA-256 of all certificates that it might present; none if an authority has signed. */
    readonly certificates: Uint8Array,
    private readonly transport: WebTransport,
    private readonly stream: WebTransportBidirectionalStream,
    private readonly shaper: LineShaper,
  ) {
    this.#writer = stream.writable.getWriter();
    const datagrams = transport.datagrams;
    datagrams.incomingHighWaterMark = INCOMING_DATAGRAMS;
    this.#datagrams = outgoing(datagrams).getWriter();
  }

  /** Begins to read. */
  start(handler: ConnectionHandler): void {
    this.#handler = handler;
    const pass = (bytes: Uint8Array): void => this.#handler?.bytes(bytes);
    const passDatagram = (bytes: Uint8Array): void => this.#handler?.datagram(bytes);
    void this.#read("datagram", this.transport.datagrams.readable, passDatagram);
    void this.#watchEnd(this.#read("stream", this.stream.readable, pass));
  }

  /** Sends bytes on the stream. False if too many wait already. */
  send(bytes: Uint8Array): boolean {
    if (this.#waitingChunks >= MAX_CHUNKS) return false;
    this.#waitingChunks += 1;
    const written = () => {
      this.#waitingChunks -= 1;
    };
    // The end of the session has the reason of a failure.
    const write = (later: Uint8Array) => void this.#writer.write(later).then(written, written);
    this.shaper.send("up", "stream", bytes, write);
    return true;
  }

  /** Sends a datagram, or drops it. */
  sendDatagram(bytes: Uint8Array): void {
    this.shaper.send("up", "datagram", bytes, this.#writeDatagram);
  }

  readonly #writeDatagram = (bytes: Uint8Array): void => {
    if (this.#waitingDatagrams >= MAX_DATAGRAMS) return;
    this.#waitingDatagrams += 1;
    const written = () => {
      this.#waitingDatagrams -= 1;
    };
    this.#datagrams.write(bytes).then(written, written);
  };

  /** The player quits: ends the session after everything sent so far has left. */
  async close(): Promise<void> {
    this.#handler = undefined;
    await within(DRAIN_TIMEOUT_MS, this.#writer.close()).catch(() => {});
    closeTransport(this.transport, QUIT);
    await within(DRAIN_TIMEOUT_MS, this.transport.closed).catch(() => {});
  }

  /**
   * Ends the session at once, in such a way that the player may come back to it; or else the player
   * quits, and there is no time for what waits to be sent: the page goes away.
   */
  suspend(quits = false): void {
    this.#isSuspended = true;
    closeTransport(this.transport, quits ? QUIT : SUSPENDED);
  }

  async #read(
    lane: "stream" | "datagram",
    readable: ReadableStream<Uint8Array>,
    pass: (bytes: Uint8Array) => void,
  ): Promise<void> {
    const reader = readable.getReader();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        this.shaper.send("down", lane, value, pass);
      }
    } catch {
      // The end of the session has the reason.
    }
  }

  async #watchEnd(read: Promise<void>): Promise<void> {
    const closed = this.transport.closed.then(
      ({ closeCode, reason }) => ({ code: closeCode, reason: reason ?? "" }),
      (thrown) => ({ code: undefined, reason: messageOf(thrown) }),
    );
    // What the server has sent before the end comes before it.
    const first = await Promise.race([closed, read]);
    const last = first
      ? await within(DRAIN_TIMEOUT_MS, read).catch(() => {}).then(() => first)
      : await within(DRAIN_TIMEOUT_MS, closed).catch(() => ({
          code: undefined,
          reason: "the server ended the stream",
        }));
    const handler = this.#handler;
    this.#handler = undefined;
    closeTransport(this.transport);
    if (this.#isSuspended) handler?.closed(undefined, "the page was left");
    else handler?.closed(last.code, last.reason);
  }
}

/** The newer form of the interface first. */
function outgoing(datagrams: WebTransportDatagramDuplexStream): WritableStream<Uint8Array> {
  const newer = datagrams as { createWritable?: () => WritableStream<Uint8Array> };
  return newer.createWritable?.() ?? datagrams.writable;
}

function closeTransport(transport: WebTransport, closeCode = SUSPENDED): void {
  try {
    transport.close({ closeCode, reason: "" });
  } catch {
    // It has ended already.
  }
}

/** Fails if the text is no SHA-256. */
export function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  const hex = text.replace(/^sha256:/i, "").replaceAll(":", "");
  if (!/^[0-9a-f]{64}$/i.test(hex)) {
    throw new AmbitError("bad_option", `'${text}' is no SHA-256 of a certificate in hex`);
  }
  const bytes = new Uint8Array(32);
  for (let at = 0; at < 32; at += 1) bytes[at] = parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing answered within ${ms / 1_000} s.`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
