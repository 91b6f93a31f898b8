/**
 * How a game has ended, as texts: from the last tables and the last state of the game. Players who
 * left before the end are included.
 */

import type { Outcome } from "../ambit/ambit.js";
import type { ScoreRow, ScoreTable } from "./score_tables.js";

export interface Ending {
  outcome: Outcome;
  /** Who has won, if the state of the game names a winner. */
  winner: string;
  /** Why it has ended, if the state says so. */
  reason: string;
  /** What else the state says, such as how far the players came. */
  facts: (readonly [name: string, value: string])[];
  tables: EndTable[];
}

export interface EndTable {
  title: string;
  columns: string[];
  rows: EndRow[];
  /** What only the player itself knows. */
  own: (readonly [name: string, value: string])[];
}

export interface EndRow {
  /** From 1; who has as many is at the same place. */
  place: number;
  cells: string[];
  own: boolean;
}

/** How many rows of all who have played are kept, and how many are shown at the end. */
const MOST_KEPT = 100;
const MOST_SHOWN = 40;

/** Keeps the rows of those who leave, and the last state. */
export class LastTables {
  readonly #states = new Map<string, ScoreTable>();
  readonly #tables = new Map<string, ScoreTable>();
  readonly #rows = new Map<string, Map<string, KeptRow>>();

  note(tables: readonly ScoreTable[]): void {
    for (const table of tables) {
      if (table.isState) {
        this.#states.set(table.title, table);
        continue;
      }
      this.#tables.set(table.title, table);
      const kept = this.#rows.get(table.title) ?? new Map<string, KeptRow>();
      this.#rows.set(table.title, kept);
      for (const row of table.rows) {
        // A player who comes again has another row; one who is renamed has the same one.
        const name = row.cells[table.roles.indexOf("player")];
        const key = row.own ? "own" : name ? `name ${name}` : `row ${row.id}`;
        if (!kept.has(key) && kept.size >= MOST_KEPT) continue;
        kept.set(key, { row, columns: table.columns });
      }
    }
  }

  ending(): Ending {
    const states = [...this.#states.values()];
    const pairs = states.flatMap(({ columns, rows, roles, ...state }) =>
      columns.map((column, at) => {
        return { ...state, column, role: roles[at], value: rows[0]?.cells[at] ?? "" };
      }),
    );
    const said = (wanted: "winner" | "reason") =>
      pairs.find(({ role }) => role === wanted)?.value ?? "";
    const [winner, reason] = [said("winner"), said("reason")];
    const tables = [...this.#tables.values()].map((table) => this.#whole(table));
    const own = this.#ownName();
    const outcome = states.find((state) => state.outcome)?.outcome ?? "over";
    const facts = pairs.filter(
      ({ role, value, clock, phase }) =>
        !["", "0", clock, phase].includes(value) && role !== "winner" && role !== "reason",
    );
    return {
      outcome: outcome === "over" && winner !== "" && winner === own ? "won" : outcome,
      winner,
      reason,
      facts: facts.map(({ column, value }) => [column, value] as const),
      tables,
    };
  }

  /** As its row has it: in the column of players' names, otherwise in the first one. */
  #ownName(): string | undefined {
    for (const { rows, roles } of this.#tables.values()) {
      const own = rows.find((row) => row.own);
      if (own) return own.cells[Math.max(0, roles.indexOf("player"))];
    }
    return undefined;
  }

  #whole(table: ScoreTable): EndTable {
    const kept = [...(this.#rows.get(table.title)?.values() ?? [])];
    const last = table.columns;
    // Columns come and go with what there is to say.
    const cellsOf = ({ row, columns }: KeptRow) =>
      last.map((column) => row.cells[columns.indexOf(column)] ?? "");
    const all = kept
      .map((one) => ({ cells: cellsOf(one), own: one.row.own }))
      .toSorted((a, b) => pointsOf(b) - pointsOf(a));
    const isForOwn = last.map((_, at) =>
      all.length > 1 && all.every(({ cells, own }) => own || cells[at] === ""),
    );
    const shownRows = all.filter((row, at) => at < MOST_SHOWN || row.own);
    const without = (cells: readonly string[]) => cells.filter((_, at) => !isForOwn[at]);
    const mine = all.find(({ own }) => own)?.cells ?? [];
    return {
      title: table.title,
      columns: without(last),
      rows: shownRows.map(({ cells, own }) => ({
        place: all.findIndex((other) => pointsOf(other) === pointsOf({ cells })) + 1,
        cells: without(cells),
        own,
      })),
      own: last.flatMap((column, at) => {
        const value = mine[at] ?? "";
        return isForOwn[at] && value !== "" ? [[column, value] as const] : [];
      }),
    };
  }
}

interface KeptRow {
  row: ScoreRow;
  columns: readonly string[];
}

function pointsOf({ cells }: { cells: readonly string[] }): number {
  return Number.parseFloat(cells[1] ?? "") || 0;
}
