/**
 * The room-wide objects (scores, the state of the round) as texts: for each room-wide kind of the
 * game a table, with a column for each component that this player may know and that says
 * something. A kind with a single object without an owner is the state of the game: a line.
 */

import type { Component, Frame, Kind, Outcome, RowValue } from "../ambit/ambit.js";
import { cellOf } from "./figures.js";
import { asWords, labelOf, wordOf } from "./words.js";

export interface ScoreTable {
  title: string;
  /** Of a player or a thing: its name; then what it is ranked by; then all others. */
  columns: string[];
  /** The highest first number on top. */
  rows: ScoreRow[];
  /** Whether its only row is the state of the game. */
  isState: boolean;
  /** The time that runs, of a state of the game; empty if none does. */
  clock: string;
  /** What a state of the game is in: the first of its texts that is one of some words. */
  phase: string;
  /** How the game has ended, if the state says so. */
  outcome: Outcome | null;
  /** What each column is about. */
  roles: readonly Component["role"][];
}

export interface ScoreRow {
  cells: string[];
  /** Whether it is the player's own. */
  own: boolean;
  /** The same as long as the row is there. */
  id: number;
}

/** Columns and rows of a table that are shown beside the game, until the player wants all. */
export const SHORT_COLUMNS = 2;
export const SHORT_ROWS = 5;

/** What is read of a frame. */
export type RoomWideFrame = Pick<Frame, "rows" | "isOwn" | "component" | "list" | "id">;

/** Whether the objects of a kind have no place. */
export function isRoomWide(kind: Kind): boolean {
  return !kind.components.some(({ type }) => type === "path" || type === "pose");
}

/**
 * The tables of these kinds; none of a kind without objects. `chosen` are the names of the texts
 * that players choose ({@link chosenTexts}).
 */
export function scoreTablesOf(
  frame: RoomWideFrame,
  kinds: readonly Kind[],
  chosen: ReadonlySet<string> = new Set(),
): ScoreTable[] {
  const tables = kinds.map((kind) => tableOf(frame, kind, chosen));
  return tables.filter(({ rows }) => rows.length > 0);
}

/** The best rows, and the player's own wherever it is. */
export function shortened({ rows }: ScoreTable): ScoreRow[] {
  const best = rows.slice(0, SHORT_ROWS);
  const own = rows.find((row) => row.own);
  return own && !best.includes(own) ? [...best.slice(0, -1), own] : best;
}

/** The own place in a table, and what it is ranked by; undefined if the player is not in it. */
export function placeOf({ columns, rows }: ScoreTable) {
  const at = rows.findIndex(({ own }) => own);
  const [, points] = rows[at]?.cells ?? [];
  if (at < 0 || points === undefined) return undefined;
  // Equal points give the same place.
  const place = rows.findIndex(({ cells }) => cells[1] === points) + 1;
  return { place, of: rows.length, points, column: columns[1] ?? "" };
}

function tableOf(frame: RoomWideFrame, kind: Kind, chosen: ReadonlySet<string>): ScoreTable {
  const indices = frame.rows(kind.name);
  const isState = indices.length === 1 && !frame.isOwn(indices[0] as number);
  const value = (index: number, component: number) =>
    kind.components[component]?.type === "list"
      ? linesOf(frame.list(index, component))
      : frame.component(index, component);
  const components = kind.components
    .map((component, index) => ({ ...component, index }))
    // A text that is empty for all says nothing: a winner before the end, a team without teams.
    .filter(({ index, unit, ...of }) =>
      // Counts are on cards; bytes mean something to the game alone; obstacles are on the map.
      of.type !== "counts" &&
      of.type !== "bytes" &&
      !(of.type === "list" && of.obstacles) &&
      // Nor does a time that does not run.
      indices.some((row) => {
        const is = value(row, index) ?? "";
        return is !== "" && !(unit === "s" && is === 0);
      }),
    );
  const ranked = components.find(({ type }) => type === "number");
  const points = (row: number) => (ranked && Number(value(row, ranked.index))) || 0;
  const name = components.find(({ type }) => type === "text");
  const place = (component: Component) =>
    component === name ? 0 : component === ranked ? 1 : SHORT_COLUMNS;
  const columns = components.toSorted((a, b) => (isState ? 0 : place(a) - place(b)));
  const said = isState ? components.filter(({ words }) => words.length > 0) : [];
  const textOf = ({ index }: { index: number }) => String(value(indices[0] as number, index));
  const [phase] = said;
  const outcomes = said.map((component) =>
    component.words.find(({ is }) => is === textOf(component))?.outcome);
  return {
    title: labelOf(kind),
    columns: columns.map(labelOf),
    rows: indices
      .toSorted((a, b) => points(b) - points(a))
      .map((row) => ({
        cells: columns.map((component) => {
          const cell = cellOf(component, value(row, component.index));
          // Players write their names themselves, the game those of what they choose.
          const isOfGame = component.words.length > 0 || chosen.has(component.name);
          const isWord = component.type === "text" && component.role === null && isOfGame;
          return isWord && cell !== "" ? wordOf(component, cell) : cell;
        }),
        own: frame.isOwn(row),
        id: frame.id(row),
      })),
    isState,
    clock: isState ? clockOf(components, (index) => value(indices[0] as number, index)) : "",
    phase: phase ? wordOf(phase, textOf(phase)) : "",
    outcome: outcomes.find(Boolean) ?? null,
    roles: columns.map(({ role }) => role),
  };
}

/** The rows of a list: what has a name in words, a place as its metres, one row after the other. */
function linesOf(rows: readonly ReadonlyMap<string, RowValue>[]): string {
  const wordsOf = (value: RowValue) =>
    typeof value === "string" ? asWords(value) : [value].flat().map(Math.round).join(", ");
  return rows.map((row) => [...row.values()].map(wordsOf).join(" ")).join("; ");
}

function clockOf(
  components: readonly (Component & { index: number })[],
  value: (component: number) => number | boolean | string | undefined,
): string {
  const clock = components.find(({ unit }) => unit === "s");
  return clock ? cellOf(clock, value(clock.index)) : "";
}
