/** Connecting, in the way of this page. */

import {
  type Client,
  connect,
  type ConnectOptions,
  DeviceAccount,
  GOOD_LINE,
  type LineConditions,
} from "./ambit.js";
import { codeOf } from "../core/problems.js";

/** What is bad about the line now: the overlay's sliders change it. */
export const lineConditions: LineConditions = { ...GOOD_LINE };

/** Where it is kept that the player wants no account. */
const ACCOUNT_KEY = "ambit-account";
const OFF = "off";

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
}

export function wantsAccount(): boolean {
  return localStorage.getItem(ACCOUNT_KEY) !== OFF;
}

/** Counts for sessions that begin later. */
export function setWantsAccount(wants: boolean): void {
  if (wants) localStorage.removeItem(ACCOUNT_KEY);
  else localStorage.setItem(ACCOUNT_KEY, OFF);
}

export async function openSession(name: string): Promise<Session> {
  const options: ConnectOptions = {
    keepSession: true,
    physics: true,
    predict: true,
    line: lineConditions,
  };
  if (name) options.name = name;
  const account = await openAccount();
  if (!account.own) return { client: await connect(options), account };
  try {
    return { client: await connect({ ...options, account: account.own }), account };
  } catch (thrown) {
    // A player whom a server does not know is welcome all the same.
    if (codeOf(thrown) !== "bad_account") throw thrown;
    const refused = { own: account.own, problem: (thrown as Error).message };
    return { client: await connect(options), account: refused };
  }
}

async function openAccount(): Promise<PageAccount> {
  if (!wantsAccount()) return { own: undefined, problem: "" };
  try {
    return { own: await DeviceAccount.open(), problem: "" };
  } catch (thrown) {
    return { own: undefined, problem: (thrown as Error).message };
  }
}
