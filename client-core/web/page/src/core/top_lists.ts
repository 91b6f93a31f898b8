/**
 * The best results of games, which outlive rooms: what is asked of a server, what it answers, and
 * how players read it. The page gives the way to ask. No clock, no DOM.
 *
 * A list is asked for each time that it is shown; the boards of a game until it has some.
 */

/** A row of a list, as a server has it. */
export interface TopResult {
  /** From 1; equal scores have equal places. */
  place: number;
  /** Empty for a player whose account was deleted. */
  player: string;
  score: number;
  /** In seconds since 1970. */
  addedAt: number;
}

/** A row as it is shown. */
export interface TopRow {
  place: number;
  player: string;
  score: string;
  /** How long ago, or the date. */
  when: string;
  /** The date with the time. */
  exact: string;
  /** The player is called like the reader. Others may have the same name: it is only a hint. */
  own: boolean;
}

/** Since midnight, since Monday, since the first of the month (each in UTC), and all. */
export const PERIODS = ["day", "week", "month", "all"] as const;
export type Period = (typeof PERIODS)[number];

/** Asks the page's own server. */
export type Read = (address: string) => Promise<Pick<Response, "ok" | "status" | "json">>;

const MOST_SHOWN = 20;
const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;
/** What is older has its date. */
const RECENT_S = 7 * DAY_S;
/** The last second that a date of a browser can have. */
const LAST_S = 8.64e12;

export class TopLists {
  /** The boards of games that have some, and answers that are on the way. */
  readonly #boards = new Map<string, Promise<readonly string[]>>();

  constructor(private readonly read: Read) {}

  /** The boards of a game that have results. A game that had none is asked about again. */
  boards(game: string): Promise<readonly string[]> {
    const kept = this.#boards.get(game);
    if (kept) return kept;
    const boards = this.#ask({ game }).then((answer) => boardsOf(answer));
    this.#boards.set(game, boards);
    const forget = () => void this.#boards.delete(game);
    boards.then(({ length }) => length === 0 && forget(), forget);
    return boards;
  }

  /** The best results of a board, the first one at the top. */
  async results(game: string, board: string, period: Period): Promise<TopResult[]> {
    const count = String(MOST_SHOWN);
    return resultsOf(await this.#ask({ game, board, period, count })).slice(0, MOST_SHOWN);
  }

  async #ask(about: Record<string, string>): Promise<unknown> {
    const answer = await this.read(`/results.json?${new URLSearchParams(about)}`);
    if (!answer.ok) throw new Error(`the server has answered with ${answer.status}`);
    return answer.json();
  }
}

/** `now` is in seconds since 1970, as the player's own clock has it. */
export function topRow(result: TopResult, own: string, now: number, language: string): TopRow {
  const { place, player, score, addedAt } = result;
  return {
    place,
    player,
    score: new Intl.NumberFormat(language).format(score),
    when: whenOf(addedAt, now, language),
    exact: dateOf(addedAt, language, { dateStyle: "long", timeStyle: "short" }),
    own: player !== "" && player === own,
  };
}

function whenOf(at: number, now: number, language: string): string {
  // The server's clock may be ahead.
  const age = Math.max(0, now - at);
  if (age >= RECENT_S) return dateOf(at, language, { dateStyle: "medium" });
  const short = new Intl.RelativeTimeFormat(language, { style: "short" });
  const ago = (unit: "minute" | "hour" | "day", seconds: number) =>
    short.format(-Math.floor(age / seconds), unit);
  if (age >= DAY_S) return ago("day", DAY_S);
  if (age >= HOUR_S) return ago("hour", HOUR_S);
  if (age >= MINUTE_S) return ago("minute", MINUTE_S);
  return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(0, "second");
}

function dateOf(at: number, language: string, style: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(language, style).format(at * 1_000);
}

function boardsOf(answer: unknown): string[] {
  const { boards } = objectOf(answer);
  if (!Array.isArray(boards)) throw new Error("the server has answered without boards");
  return boards.filter((board) => typeof board === "string");
}

/** A row of another form is left out. */
function resultsOf(answer: unknown): TopResult[] {
  const { results } = objectOf(answer);
  if (!Array.isArray(results)) throw new Error("the server has answered without results");
  return results.flatMap((result: unknown) => {
    const { place, player, score, added_at: addedAt } = objectOf(result);
    const numbers = [place, score, addedAt];
    if (typeof player !== "string" || !numbers.every(Number.isFinite)) return [];
    if (Math.abs(addedAt as number) > LAST_S) return [];
    return [{ place, player, score, addedAt } as TopResult];
  });
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
