/** Connecting, in the way of this page. */

import {
  type Client,
  connect,
  type ConnectOptions,
  DeviceAccount,
  GOOD_LINE,
  type LineConditions,
  TokenStorage,
} from "./ambit.js";
import { codeOf } from "../core/problems.js";
import {
  beginsWithSignIn,
  remembered,
  rememberedText,
  type SignedIn,
  type SignInWay,
  type Way,
  waysOf,
} from "../core/sign_in.js";

/** What is bad about the line now: the overlay's sliders change it. */
export const lineConditions: LineConditions = { ...GOOD_LINE };

/** Where it is kept that the player wants no account. */
const ACCOUNT_KEY = "ambit-account";
const OFF = "off";
/** Where it is kept how the player has signed in. */
const SIGNED_IN_KEY = "ambit-signed-in";
/** How long the server may take to say what it offers. */
const READ_TIMEOUT_MS = 3_000;
const NO_ACCOUNT: PageAccount = { own: undefined, problem: "" };

/** Of this browser, as far as there is one. */
export interface PageAccount {
  /** Undefined if the browser can have none, or the player wants none. */
  readonly own: DeviceAccount | undefined;
  /** Why there is none, or why it does not count; empty if there is nothing to say. */
  readonly problem: string;
}

/** A connected player, with or without an account. */
export interface Session {
  client: Client;
  account: PageAccount;
  /** What the server offers. */
  ways: ReadonlySet<Way>;
  /** How the player has signed in; undefined for one that has not. */
  signedIn: SignedIn | undefined;
  /** Whether the account was made just now. */
  isNew?: boolean;
}

/** What a player signs in with. */
export interface Credentials {
  way: SignInWay;
  /** With a password: the login, or the name for a new account. */
  login: string;
  /** The password or the token. */
  secret: string;
  isNew: boolean;
}

/**
 * Asks the player for credentials until `attempt` succeeds; `login` is that of the last time. False
 * if the player goes on without an account that needs a sign-in.
 */
export type AskToSignIn = (
  ways: ReadonlySet<Way>,
  login: string,
  attempt: (given: Credentials) => Promise<void>,
) => Promise<boolean>;

export function wantsAccount(): boolean {
  return localStorage.getItem(ACCOUNT_KEY) !== OFF;
}

/** Counts for sessions that begin later. */
export function setWantsAccount(wants: boolean): void {
  if (wants) localStorage.removeItem(ACCOUNT_KEY);
  else localStorage.setItem(ACCOUNT_KEY, OFF);
}

/** The next session begins without a sign-in. */
export function forgetSignIn(): void {
  localStorage.removeItem(SIGNED_IN_KEY);
}

/** `wantsSignIn`: the player has asked for it. */
export async function openSession(
  name: string,
  ask: AskToSignIn,
  wantsSignIn = false,
): Promise<Session> {
  const options: ConnectOptions = {
    keepSession: true,
    physics: true,
    predict: true,
    line: lineConditions,
  };
  if (name) options.name = name;
  const ways = await readWays();
  const last = remembered(localStorage.getItem(SIGNED_IN_KEY));
  if (wantsSignIn || beginsWithSignIn(ways, last)) {
    const resumed = wantsSignIn ? undefined : await resume(options);
    if (resumed) return { client: resumed, account: NO_ACCOUNT, ways, signedIn: last };
    const session = await signIn(options, ways, last, ask);
    if (session) return session;
    forgetSignIn();
  }
  const account = ways.has("device") ? await openAccount() : NO_ACCOUNT;
  const session = { account, ways, signedIn: undefined };
  if (!account.own) return { ...session, client: await connect(options) };
  try {
    return { ...session, client: await connect({ ...options, account: account.own }) };
  } catch (thrown) {
    // A player whom a server does not know is welcome all the same.
    if (codeOf(thrown) !== "bad_account") throw thrown;
    const refused = { own: account.own, problem: (thrown as Error).message };
    return { ...session, client: await connect(options), account: refused };
  }
}

/** A server that cannot be asked has the ways of all servers: what is wrong is told later. */
async function readWays(): Promise<ReadonlySet<Way>> {
  try {
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    const answer = await fetch("/connect.json", { cache: "no-store", signal });
    return waysOf(await answer.json());
  } catch {
    return waysOf(undefined);
  }
}

/** The session of an account that this page had, if it still goes on. */
async function resume(options: ConnectOptions): Promise<Client | undefined> {
  const kept = new TokenStorage(options.keepSession).read();
  if (kept.length === 0) return undefined;
  try {
    const client = await connect(options);
    if (client.account !== undefined) return client;
    // Another session has begun, without an account.
    await client.quit();
    return undefined;
  } catch (thrown) {
    if (codeOf(thrown) !== "bad_account") throw thrown;
    return undefined;
  }
}

async function signIn(
  options: ConnectOptions,
  ways: ReadonlySet<Way>,
  last: SignedIn | undefined,
  ask: AskToSignIn,
): Promise<Session | undefined> {
  let session: Session | undefined;
  await ask(ways, last?.login ?? "", async ({ way, login, secret, isNew }) => {
    const [named] = login.split("#");
    const name = options.name ?? named;
    const client = await connect({
      ...options,
      ...(name ? { name } : {}),
      ...(way === "password" ? { password: { login, password: secret, isNew } } : { token: secret }),
    });
    const signedIn = { way, login: client.login ?? "" };
    localStorage.setItem(SIGNED_IN_KEY, rememberedText(signedIn));
    session = { client, account: NO_ACCOUNT, ways, signedIn, isNew };
  });
  return session;
}

async function openAccount(): Promise<PageAccount> {
  if (!wantsAccount()) return { own: undefined, problem: "" };
  try {
    return { own: await DeviceAccount.open(), problem: "" };
  } catch (thrown) {
    return { own: undefined, problem: (thrown as Error).message };
  }
}
