/** What a stable error code means for a player, and whether trying again makes sense. */

/** Codes that mean the same for a player. All other codes are `other`. */
const CODES = {
  no_web_transport: ["no_web_transport"],
  insecure_page: ["insecure_page"],
  no_webgl: ["no_webgl"],
  no_server: ["no_server"],
  could_not_connect: ["could_not_connect"],
  server_gone: ["connection_lost", "closed", "server_gone"],
  game_gone: ["game_unreachable"],
  kicked: ["kicked"],
  draining: ["draining"],
  taken_over: ["taken_over"],
  room_closed: ["room_closed"],
  idle: ["idle"],
  seat_lost: ["session_expired"],
  host_died: ["host_died", "room_crashed"],
  outdated_page: ["version_mismatch", "unsupported"],
  full: ["room_full", "too_many_rooms", "too_many_connections", "too_many_from_address"],
  wrong_password: ["wrong_password"],
  bad_name: ["bad_name"],
  try_later: ["try_again", "rate_limited", "no_host_available"],
  client_failed: ["client_failed"],
  other: [],
} as const;

export type ProblemKind = keyof typeof CODES;

const KINDS = new Map<string, ProblemKind>(
  Object.entries(CODES).flatMap(([kind, codes]) =>
    codes.map((code) => [code, kind as ProblemKind] as const),
  ),
);

export function problemOf(code: string): ProblemKind {
  return KINDS.get(code) ?? "other";
}

/** Kinds that say why there is no connection. */
const OF_CONNECTION = new Set<ProblemKind>([
  "no_web_transport",
  "insecure_page",
  "no_server",
  "could_not_connect",
  "server_gone",
  "draining",
  "taken_over",
  "idle",
  "outdated_page",
  "client_failed",
]);

export function isOfConnection(kind: ProblemKind): boolean {
  return OF_CONNECTION.has(kind);
}

/** Kinds that end by themselves: the server comes back, or the network. */
const OF_ABSENCE = new Set<ProblemKind>([
  "no_server",
  "could_not_connect",
  "server_gone",
  "draining",
  "try_later",
]);

/** Whether the page tries to connect again by itself. */
export function comesBack(kind: ProblemKind): boolean {
  return OF_ABSENCE.has(kind);
}

/** Kinds that say why a player is out of the game: to be read, however late. */
const OF_SEAT = new Set<ProblemKind>([
  "game_gone",
  "host_died",
  "no_webgl",
  "room_closed",
  "seat_lost",
]);

/** Whether it is shown over the page until the player has read it, or does something else. */
export function isLasting(kind: ProblemKind): boolean {
  return isOfConnection(kind) || OF_SEAT.has(kind);
}

/** Another attempt would end in the same way. */
const HOPELESS = new Set<ProblemKind>([
  "no_web_transport",
  "insecure_page",
  "no_webgl",
  "outdated_page",
]);

/** Whether the page should offer to connect again. */
export function canRetry(kind: ProblemKind): boolean {
  return !HOPELESS.has(kind);
}

/** The code of an error, `other` if it is not one of the client's. */
export function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "other";
}
