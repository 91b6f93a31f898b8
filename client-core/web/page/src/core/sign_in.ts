/**
 * Who the player of a page may be: the ways that a server offers, and what the browser remembers of
 * the last sign-in. That is never a password or a token.
 */

const WAYS = ["guest", "device", "password", "token"] as const;

export type Way = (typeof WAYS)[number];

/** The ways in which a player has signed in by itself. */
export type SignInWay = Extract<Way, "password" | "token">;

export interface SignedIn {
  way: SignInWay;
  /** With a password: what the player signs in with. */
  login: string;
}

/** The ways that a `connect.json` names; those of a server that names none. */
export function waysOf(connect: unknown): ReadonlySet<Way> {
  const named = (connect as { accounts?: unknown } | null | undefined)?.accounts;
  if (!Array.isArray(named)) return new Set<Way>(["guest", "device"]);
  return new Set(WAYS.filter((way) => named.includes(way)));
}

/** The ways to sign in that a server offers. */
export function signInWays(ways: ReadonlySet<Way>): SignInWay[] {
  return (["password", "token"] as const).filter((way) => ways.has(way));
}

/** Whether the page can be played without a sign-in. */
export function isOpen(ways: ReadonlySet<Way>): boolean {
  return ways.has("guest") || ways.has("device");
}

/** Whether a session begins with a sign-in, unless an earlier one goes on. */
export function beginsWithSignIn(ways: ReadonlySet<Way>, last: SignedIn | undefined): boolean {
  if (signInWays(ways).length === 0) return false;
  return !isOpen(ways) || (last !== undefined && ways.has(last.way));
}

/** What is remembered: `password ann#48213`, or `token`. */
export function rememberedText({ way, login }: SignedIn): string {
  return way === "password" ? `${way} ${login}` : way;
}

export function remembered(text: string | null): SignedIn | undefined {
  if (text === "token") return { way: "token", login: "" };
  const [, login] = /^password (.+)$/.exec(text ?? "") ?? [];
  return login === undefined ? undefined : { way: "password", login };
}
