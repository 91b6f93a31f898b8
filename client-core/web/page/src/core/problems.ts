/** What a stable error code means for a player, and whether trying again makes sense. */

/**
 * `connection`: it says why there is none. `absence`: it ends by itself, since the server comes
 * back, or the network. `seat`: it says why a player is out of the game, to be read, however late.
 * `hopeless`: another attempt would end in the same way.
 */
type Trait = "connection" | "absence" | "seat" | "hopeless";

/** Codes that mean the same for a player. All other codes are `other`. */
const PROBLEMS = {
  no_web_transport: { codes: ["no_web_transport"], is: ["connection", "hopeless"] },
  insecure_page: { codes: ["insecure_page"], is: ["connection", "hopeless"] },
  no_webgl: { codes: ["no_webgl"], is: ["seat", "hopeless"] },
  no_server: { codes: ["no_server"], is: ["connection", "absence"] },
  could_not_connect: { codes: ["could_not_connect"], is: ["connection", "absence"] },
  server_gone: {
    codes: ["connection_lost", "closed", "server_gone"],
    is: ["connection", "absence"],
  },
  game_gone: { codes: ["game_unreachable"], is: ["seat"] },
  kicked: { codes: ["kicked"], is: [] },
  draining: { codes: ["draining"], is: ["connection", "absence"] },
  taken_over: { codes: ["taken_over"], is: ["connection"] },
  room_closed: { codes: ["room_closed"], is: ["seat"] },
  idle: { codes: ["idle"], is: ["connection"] },
  seat_lost: { codes: ["session_expired"], is: ["seat"] },
  host_died: { codes: ["host_died", "room_crashed"], is: ["seat"] },
  outdated_page: { codes: ["version_mismatch", "unsupported"], is: ["connection", "hopeless"] },
  full: {
    codes: ["room_full", "too_many_rooms", "too_many_connections", "too_many_from_address"],
    is: [],
  },
  wrong_password: { codes: ["wrong_password"], is: [] },
  bad_name: { codes: ["bad_name"], is: [] },
  try_later: { codes: ["try_again", "rate_limited", "no_host_available"], is: ["absence"] },
  client_failed: { codes: ["client_failed"], is: ["connection"] },
  other: { codes: [], is: [] },
} as const satisfies Record<string, { codes: readonly string[]; is: readonly Trait[] }>;

export type ProblemKind = keyof typeof PROBLEMS;

const KINDS = new Map<string, ProblemKind>(
  Object.entries(PROBLEMS).flatMap(([kind, { codes }]) =>
    codes.map((code) => [code, kind as ProblemKind] as const),
  ),
);

export function problemOf(code: string): ProblemKind {
  return KINDS.get(code) ?? "other";
}

function isA(kind: ProblemKind, trait: Trait): boolean {
  const traits: readonly Trait[] = PROBLEMS[kind].is;
  return traits.includes(trait);
}

export function isOfConnection(kind: ProblemKind): boolean {
  return isA(kind, "connection");
}

/** Whether the page tries to connect again by itself. */
export function comesBack(kind: ProblemKind): boolean {
  return isA(kind, "absence");
}

/** Whether it is shown over the page until the player has read it, or does something else. */
export function isLasting(kind: ProblemKind): boolean {
  return isA(kind, "connection") || isA(kind, "seat");
}

/** Whether the page should offer to connect again. */
export function canRetry(kind: ProblemKind): boolean {
  return !isA(kind, "hopeless");
}

/** The code of an error, `other` if it is not one of the client's. */
export function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "other";
}
