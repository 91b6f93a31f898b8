/**
 * Choices that hang on each other, as a tree: each stands in a row below all that it needs. What
 * belongs together stands together, and few lines cross.
 *
 * The choices of a command go in, with what each needs; places and lines come out, in columns and
 * rows. A line over several rows goes between what stands there.
 */

import { aboutOf } from "./action_tile.js";
import { type Action, choiceOf } from "./actions.js";

export interface TreeNode {
  action: Action;
  column: number;
  row: number;
  /** What it needs of the others that are shown. */
  needs: readonly TreeNode[];
}

/** A point of a line: a column and a row. */
export type TreePoint = readonly [column: number, row: number];

export interface TreeLine {
  from: TreeNode;
  to: TreeNode;
  points: readonly TreePoint[];
}

export interface ChoiceTree {
  /** Row by row, from left to right. */
  nodes: readonly TreeNode[];
  lines: readonly TreeLine[];
  columns: number;
  rows: number;
}

/** A place in a row: of a choice, or where a line passes. */
interface Spot {
  node: TreeNode | undefined;
  row: number;
  x: number;
  up: Spot[];
  down: Spot[];
}

/** How often places are moved to what they hang on. */
const SWEEPS = 12;

export function treeOf(actions: readonly Action[]): ChoiceTree {
  const nodes = nodesOf(actions);
  const lines: TreeLine[] = [];
  let columns = 0;
  for (const group of groupsOf(nodes)) {
    const spots = new Map<TreeNode, Spot>();
    for (const node of group) spots.set(node, { node, row: node.row, x: 0, up: [], down: [] });
    const ways = group.flatMap((to) => to.needs.map((from) => wayOf(spots, from, to)));
    const passed = ways.flatMap(({ way }) => way.slice(1, -1));
    const rows = rowsOf([...spots.values(), ...passed]);
    settle(rows);
    const all = rows.flat();
    const first = Math.min(...all.map(({ x }) => x));
    for (const spot of all) spot.x += columns - first;
    for (const [node, { x }] of spots) node.column = x;
    for (const { from, to, way } of ways) {
      lines.push({ from, to, points: way.map(({ x, row }) => [x, row]) });
    }
    columns = Math.ceil(Math.max(...all.map(({ x }) => x))) + 1;
  }
  const rows = Math.max(0, ...nodes.map(({ row }) => row + 1));
  nodes.sort((one, other) => one.row - other.row || one.column - other.column);
  return { nodes, lines, columns, rows };
}

/** In their order, each a row below the lowest that it needs. */
function nodesOf(actions: readonly Action[]): TreeNode[] {
  const choices = actions.filter((action) => choiceOf(action) !== "");
  const byName = new Map(choices.map((action) => [choiceOf(action), action]));
  const made = new Map<Action, TreeNode>();
  const make = (action: Action, above: readonly Action[]): TreeNode => {
    const known = made.get(action);
    if (known) return known;
    // A schema is checked: nothing needs itself. What did would stand at the top.
    const needed = (aboutOf(action)?.needs ?? []).flatMap((name) => byName.get(name) ?? []);
    const others = needed.filter((other) => other !== action && !above.includes(other));
    const needs = others.map((other) => make(other, [...above, action]));
    const row = Math.max(-1, ...needs.map((need) => need.row)) + 1;
    const node = { action, column: 0, row, needs };
    made.set(action, node);
    return node;
  };
  return choices.map((action) => make(action, []));
}

/** Those that hang together, in the order of their first ones; what stands alone comes last. */
function groupsOf(nodes: readonly TreeNode[]): TreeNode[][] {
  const groupOf = new Map<TreeNode, TreeNode[]>(nodes.map((node) => [node, [node]]));
  for (const node of nodes) {
    for (const need of node.needs) {
      const [own, other] = [groupOf.get(node) ?? [], groupOf.get(need) ?? []];
      if (own === other) continue;
      other.push(...own);
      for (const moved of own) groupOf.set(moved, other);
    }
  }
  const groups = [...new Set(nodes.map((node) => groupOf.get(node) ?? [node]))];
  for (const group of groups) group.sort((one, other) => nodes.indexOf(one) - nodes.indexOf(other));
  const isAlone = (group: readonly TreeNode[]) => Number(group.length === 1);
  return groups.sort((one, other) => isAlone(one) - isAlone(other));
}

/** From a choice to one that needs it, by way of a spot in each row between them. */
function wayOf(spots: ReadonlyMap<TreeNode, Spot>, from: TreeNode, to: TreeNode) {
  const [first, last] = [spots.get(from), spots.get(to)];
  const way: Spot[] = first ? [first] : [];
  for (let row = from.row + 1; row < to.row; row += 1) {
    way.push({ node: undefined, row, x: 0, up: [], down: [] });
  }
  if (last) way.push(last);
  way.slice(1).forEach((spot, at) => {
    const above = way[at];
    if (!above) return;
    above.down.push(spot);
    spot.up.push(above);
  });
  return { from, to, way };
}

function rowsOf(spots: readonly Spot[]): Spot[][] {
  const rows: Spot[][] = [];
  for (const spot of spots) (rows[spot.row] ??= []).push(spot);
  return rows.map((row) => {
    row.forEach((spot, at) => (spot.x = at));
    return row;
  });
}

/** Orders each row by what its spots hang on, then moves them there, each a column wide. */
function settle(rows: readonly Spot[][]): void {
  const meanOf = (spots: readonly Spot[], own: number) =>
    spots.length === 0 ? own : spots.reduce((sum, { x }) => sum + x, 0) / spots.length;
  const sweep = (sortsToo: boolean, isDown: boolean) => {
    for (const row of isDown ? rows : [...rows].reverse()) {
      const near = (spot: Spot) => (isDown ? spot.up : spot.down);
      const wanted = new Map(row.map((spot) => [spot, meanOf(near(spot), spot.x)]));
      const of = (spot: Spot) => wanted.get(spot) ?? spot.x;
      if (sortsToo) row.sort((one, other) => of(one) - of(other));
      spread(row, row.map(of));
    }
  };
  for (let count = 0; count < SWEEPS; count += 1) sweep(true, count % 2 === 0);
  for (let count = 0; count < SWEEPS; count += 1) sweep(false, count % 2 === 1);
  // The last word has the widest row, so that columns are whole where most of them are.
  const widest = rows.reduce((most, row) => (row.length > most.length ? row : most), rows[0] ?? []);
  const offset = (widest[0]?.x ?? 0) % 1;
  for (const spot of rows.flat()) spot.x -= offset;
}

/** In their order, as near as possible to the wanted places, a column apart. */
function spread(row: readonly Spot[], wanted: readonly number[]): void {
  // Spots that would be too near form blocks, each at the mean of what it wants.
  const blocks: { sum: number; count: number }[] = [];
  wanted.forEach((x, at) => {
    let block = { sum: x - at, count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count > block.sum / block.count;) {
      block = { sum: block.sum + last.sum, count: block.count + last.count };
      blocks.pop();
      last = blocks.at(-1);
    }
    blocks.push(block);
  });
  let at = 0;
  for (const { sum, count } of blocks) {
    for (let index = 0; index < count; index += 1, at += 1) {
      const spot = row[at];
      if (spot) spot.x = sum / count + at;
    }
  }
}
