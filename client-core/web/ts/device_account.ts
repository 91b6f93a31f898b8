/**
 * The account of a player on this device: an Ed25519 key pair, which the browser's own cryptography
 * makes and uses. A server asks for a signature, and knows the player again by the public key.
 *
 * The account is a secret of 32 bytes. As text it is the line that the files of other clients have,
 * so one account can be had in all of them: `client-core/src/account_file.rs`.
 */

import { AmbitError, messageOf } from "./errors.js";

/** Begins the text; the secret follows in hexadecimal. */
const PREFIX = "ambit-account-";
const SEED_BYTES = 32;
/** Begins what the id of an account is the hash of: `proto/transport/src/account_proof.rs`. */
const ID_PREFIX = "ambit device account, id 1\0";
const ID_BYTES = 16;
/** A private key of Ed25519 in PKCS #8 is this and the secret (RFC 8410). */
const PKCS8 = bytesOf("302e020100300506032b657004220420");

/** What the worker needs of an account. */
export interface AccountKeys {
  readonly public: Uint8Array;
  readonly private: CryptoKey;
}

/** Where an account is kept; tests have others. */
export interface AccountStore {
  /** The text that is kept; `fresh`, which is kept from now on, if there is none. */
  readOr(fresh: string): Promise<string>;
  write(text: string): Promise<void>;
}

/** A player's account; to be given to `connect`. */
export class DeviceAccount {
  readonly #text: string;

  /** @internal */
  readonly keys: AccountKeys;

  private constructor(
    /** As servers and games know it: 32 hexadecimal digits. The secret does not follow from it. */
    readonly id: string,
    text: string,
    keys: AccountKeys,
  ) {
    this.#text = text;
    this.keys = keys;
  }

  /**
   * The account of this browser on this page's origin, which is made if there is none. Fails with
   * `no_account` where the browser has no Ed25519, or keeps nothing for the page.
   */
  static open(): Promise<DeviceAccount> {
    return openIn(BROWSER);
  }

  /** The account of a text that was exported, by this or another client. It is not kept. */
  static async fromText(text: string): Promise<DeviceAccount> {
    const seed = seedOf(text);
    const keys = await keysOf(seed);
    return new DeviceAccount(await idOf(keys.public), PREFIX + hexOf(seed), keys);
  }

  /**
   * The same, and it is the account of this browser from now on. The one before is lost unless its
   * text is elsewhere.
   */
  static importText(text: string): Promise<DeviceAccount> {
    return importInto(BROWSER, text);
  }

  /**
   * Secret: the text of the account, for another browser or the file of another client. Who has it
   * can play as this player.
   */
  exportText(): string {
    return this.#text;
  }
}

/** See {@link DeviceAccount.open}. */
export async function openIn(store: AccountStore): Promise<DeviceAccount> {
  const fresh = PREFIX + hexOf(crypto.getRandomValues(new Uint8Array(SEED_BYTES)));
  // Nothing is kept that could not be used.
  await DeviceAccount.fromText(fresh);
  return DeviceAccount.fromText(await store.readOr(fresh));
}

/** See {@link DeviceAccount.importText}. */
export async function importInto(store: AccountStore, text: string): Promise<DeviceAccount> {
  const account = await DeviceAccount.fromText(text);
  await store.write(account.exportText());
  return account;
}

/** Signs with the private key of an account. */
export async function signWith(key: CryptoKey, statement: Uint8Array): Promise<Uint8Array> {
  const signature = await crypto.subtle.sign("Ed25519", key, new Uint8Array(statement));
  return new Uint8Array(signature);
}

function seedOf(text: string): Uint8Array {
  const [, digits = ""] = /^\s*ambit-account-([0-9a-f]{64})\s*$/i.exec(text) ?? [];
  if (digits) return bytesOf(digits);
  const why = `this is no account: expected ${PREFIX} and ${2 * SEED_BYTES} hexadecimal digits`;
  throw new AmbitError("bad_option", why);
}

async function keysOf(seed: Uint8Array): Promise<AccountKeys> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (!subtle) {
    const why = "a browser has cryptography only for pages from https:// or from localhost";
    throw new AmbitError("no_account", why);
  }
  try {
    const pkcs8 = new Uint8Array([...PKCS8, ...seed]);
    const key = await subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
    // The public key follows from the secret.
    const { x = "" } = await subtle.exportKey("jwk", key);
    const base64 = x.replaceAll("-", "+").replaceAll("_", "/");
    return { public: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)), private: key };
  } catch (thrown) {
    const why = `this browser cannot sign with Ed25519: ${messageOf(thrown)}`;
    throw new AmbitError("no_account", why);
  }
}

async function idOf(key: Uint8Array): Promise<string> {
  const named = new Uint8Array([...new TextEncoder().encode(ID_PREFIX), ...key]);
  const hash = await crypto.subtle.digest("SHA-256", named);
  return hexOf(new Uint8Array(hash).slice(0, ID_BYTES));
}

function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

const DATABASE = "ambit";
const STORE = "accounts";
const KEY = "device";

/** The browser's database, which all pages of the origin have in common. */
const BROWSER: AccountStore = {
  readOr: (fresh) =>
    inDatabase(async (accounts) => {
      // Pages that begin at once make one account: the transactions come one after the other.
      const kept: unknown = await done(accounts.get(KEY));
      if (typeof kept === "string") return kept;
      await done(accounts.put(fresh, KEY));
      return fresh;
    }),
  write: (text) => inDatabase(async (accounts) => void (await done(accounts.put(text, KEY)))),
};

async function inDatabase<T>(work: (accounts: IDBObjectStore) => Promise<T>): Promise<T> {
  try {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    const database = await done(opening);
    try {
      const change = database.transaction(STORE, "readwrite", { durability: "strict" });
      const end = new Promise<void>((resolve, reject) => {
        change.oncomplete = () => resolve();
        change.onabort = () => reject(change.error);
      });
      // What has aborted it is thrown by the work, too.
      end.catch(() => {});
      const result = await work(change.objectStore(STORE));
      await end;
      return result;
    } finally {
      database.close();
    }
  } catch (thrown) {
    const why = `this browser keeps no account for this page: ${messageOf(thrown)}`;
    throw new AmbitError("no_account", why);
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
