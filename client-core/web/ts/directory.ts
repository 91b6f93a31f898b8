/**
 * The configured servers: their addresses and certificates, as they were read last.
 *
 * A server's certificate for browsers is valid for days, so the description of a server is read
 * anew before each dial. If that fails, the last known one counts.
 */

import type { ServerAddress } from "./connection.js";
import { AmbitError, messageOf } from "./errors.js";

/** How long a server may take to describe itself. */
const READ_TIMEOUT_MS = 3_000;
/** A description is not read again before. */
const FRESH_MS = 1_000;

interface Source {
  /** Of a `connect.json`; undefined for a server that the page has described. */
  url: URL | undefined;
  known: ServerAddress | undefined;
}

export class Directory {
  readonly #sources: Source[];
  #readAt = -Infinity;

  /** `servers`: URLs of `connect.json`, or descriptions. */
  constructor(servers: readonly (string | ServerAddress)[]) {
    this.#sources = servers.map((server) =>
      typeof server === "string"
        ? { url: new URL(server), known: undefined }
        : { url: undefined, known: server },
    );
  }

  /** Reads all descriptions; returns the addresses. Fails if no server is known. */
  async read(): Promise<string[]> {
    const failures: string[] = [];
    const isFresh = performance.now() < this.#readAt + FRESH_MS;
    const reading = this.#sources.map(async (source) => {
      if (!source.url || isFresh) return;
      try {
        source.known = await read(source.url);
      } catch (thrown) {
        failures.push(`could not read ${source.url.href}: ${messageOf(thrown)}`);
      }
    });
    await Promise.all(reading);
    this.#readAt = performance.now();
    const known = this.#sources.flatMap((source) => source.known ?? []);
    if (known.length === 0) throw new AmbitError("no_server", failures.join("; "));
    return known.map((server) => server.address);
  }

  /** The servers with these addresses. */
  find(addresses: readonly string[]): ServerAddress[] {
    const known = this.#sources.flatMap((source) => source.known ?? []);
    return known.filter((server) => addresses.includes(server.address));
  }
}

async function read(url: URL): Promise<ServerAddress> {
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const response = await fetch(url, { cache: "no-store", signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { address, certificates_sha256 } = (await response.json()) as Partial<ServerAddress>;
  if (typeof address !== "string" || !Array.isArray(certificates_sha256)) {
    throw new Error("it has no address and certificates_sha256");
  }
  return dialled({ address, certificates_sha256 }, url.hostname);
}

/**
 * The server as a browser can dial it. `host` stands in for an unspecified IP address; and for any
 * IP address if an authority has signed the certificate, since that is for a name.
 */
export function dialled(server: ServerAddress, host: string): ServerAddress {
  return { ...server, address: withHost(server, host) };
}

function withHost({ address, certificates_sha256 }: ServerAddress, host: string): string {
  const [, ip, port] = /^(.*):(\d+)$/.exec(address) ?? [];
  if (port !== undefined && certificates_sha256.length === 0) return `${host}:${port}`;
  if (ip !== "0.0.0.0" && ip !== "[::]") return address;
  // A browser takes `localhost` for IPv6 alone, and tries nothing else.
  const local = ip === "[::]" ? "[::1]" : "127.0.0.1";
  return `${host === "localhost" ? local : host}:${port}`;
}

/** `[::1]:7777` is of the host `[::1]`. */
export function hostOf(address: string): string {
  return address.replace(/:\d+$/, "");
}
