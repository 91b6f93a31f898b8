/**
 * What everybody in the room has (the score, the state of the round) as tables of texts: one for
 * each room-wide kind of the game, a column for each component that this player may know.
 */

import type { Component, Frame, Kind } from "../ambit/ambit.js";
import { labelOf } from "./words.js";

export interface ScoreTable {
  title: string;
  columns: string[];
  /** The highest first number on top. */
  rows: ScoreRow[];
}

export interface ScoreRow {
  cells: string[];
  /** Whether it is the player's own. */
  own: boolean;
}

/** What is read of a frame. */
export type RoomWideFrame = Pick<Frame, "rows" | "isOwn" | "component">;

/** Whether the objects of a kind have no place. */
export function isRoomWide(kind: Kind): boolean {
  return !kind.components.some(({ type }) => type === "path" || type === "pose");
}

/** The tables of these kinds; none of a kind without objects. */
export function scoreTablesOf(frame: RoomWideFrame, kinds: readonly Kind[]): ScoreTable[] {
  return kinds.map((kind) => tableOf(frame, kind)).filter(({ rows }) => rows.length > 0);
}

function tableOf(frame: RoomWideFrame, kind: Kind): ScoreTable {
  const indices = frame.rows(kind.name);
  const value = (index: number, component: number) => frame.component(index, component);
  const components = kind.components
    .map((component, index) => ({ ...component, index }))
    .filter(({ index }) => indices.some((row) => value(row, index) !== undefined));
  const ranked = components.find(({ type }) => type === "number");
  const points = (row: number) => (ranked && Number(value(row, ranked.index))) || 0;
  return {
    title: labelOf(kind),
    columns: components.map(labelOf),
    rows: indices
      .toSorted((a, b) => points(b) - points(a))
      .map((row) => ({
        cells: components.map((component) => cellOf(component, value(row, component.index))),
        own: frame.isOwn(row),
      })),
  };
}

/**
 * A gauge is rounded to a whole number, a half to the digits that tell it from its neighbours. An
 * angle is in degrees.
 */
function cellOf({ type }: Component, value: number | boolean | string | undefined): string {
  if (typeof value !== "number") return String(value ?? "");
  if (type === "half") return String(Number(value.toPrecision(5)));
  if (type === "angle") return `${Math.round((value * 180) / Math.PI)}°`;
  return String(Math.round(value));
}
