/**
 * Where plants are on a map of open land: low shrubs here and there, bushes at the foot of walls, a
 * tree on what is as long as wide, and a wood around the map. They are only drawn: they stop no
 * object, so none stands in a way.
 */

import type { StaticObstacle } from "../ambit/ambit.js";
import type { Point } from "./camera.js";
import type { Extent } from "./map_view.js";
import { seededUnits } from "./seeded.js";

export type PlantSort = "bush" | "tree" | "fir";

export interface Plant extends Point {
  sort: PlantSort;
  /** In metres: half of its width. */
  size: number;
  turn: number;
}

/** Along the foot of a wall there is room for a bush on each such piece. */
const BUSH_EVERY_M = 1.7;
const BUSHES = 0.62;
/** The greatest ratio of the sides of an obstacle with a tree on it. */
const SQUARE = 1.7;
const LEAST_HALF_M = 0.7;
/** The square metres of each thicket, its most shrubs, and how far they spread. */
const THICKET = { each: 170, most: 9, spread: 2.6 } as const;
const MOST_THICKETS = 900;
/** The wood around the map. */
const WOOD = { from: 2.6, deep: 34, apart: 4.6 } as const;
/** Of the trees of the wood. */
const FIRS = 0.55;
const MOST = 12_000;

export function plantPlaces(extent: Extent, obstacles: readonly StaticObstacle[]): Plant[] {
  const unit = seededUnits(23);
  const plants: Plant[] = [];
  const add = (sort: PlantSort, x: number, y: number, z: number, size: number) => {
    if (plants.length < MOST) plants.push({ sort, x, y, z, size, turn: 2 * Math.PI * unit() });
  };
  for (const { shape, centre, half, yaw } of obstacles) {
    if (shape !== "box" || Math.min(half[0], half[1]) < 0.1) continue;
    const [cos, sin] = [Math.cos(yaw), Math.sin(yaw)];
    const foot = centre[2] - half[2];
    const put = (along: number, across: number, size: number) =>
      add("bush", centre[0] + cos * along - sin * across, centre[1] + sin * along + cos * across,
        foot, size);
    for (const side of [1, -1]) {
      for (let at = -half[0] + 0.5; at < half[0]; at += BUSH_EVERY_M) {
        if (unit() < BUSHES) put(at + unit() - 0.5, side * half[1], 0.28 + 0.3 * unit());
      }
      for (let at = -half[1] + 0.5; at < half[1]; at += BUSH_EVERY_M) {
        if (unit() < BUSHES) put(side * half[0], at + unit() - 0.5, 0.28 + 0.3 * unit());
      }
    }
    const [least, longest] = [Math.min(half[0], half[1]), Math.max(half[0], half[1])];
    if (least < LEAST_HALF_M || longest > SQUARE * least) continue;
    add(unit() < FIRS ? "fir" : "tree", centre[0], centre[1], centre[2] + half[2], 0.62 * least);
  }
  addThickets(extent, unit, add);
  addWood(extent, unit, add);
  return plants;
}

type Add = (sort: PlantSort, x: number, y: number, z: number, size: number) => void;

function addThickets({ west, south, width, height }: Extent, unit: () => number, add: Add): void {
  const count = Math.min((width * height) / THICKET.each, MOST_THICKETS);
  for (let thicket = 1; thicket <= count; thicket += 1) {
    const [middleX, middleY] = [west + width * unit(), south + height * unit()];
    const shrubs = 1 + Math.floor(THICKET.most * unit());
    for (let shrub = 0; shrub < shrubs; shrub += 1) {
      const around = () => THICKET.spread * (unit() + unit() - 1);
      const [x, y] = [middleX + around(), middleY + around()];
      if (x < west || y < south || x > west + width || y > south + height) continue;
      add("bush", x, y, -0.06, 0.26 + 0.42 * unit() * unit());
    }
  }
}

function addWood({ west, south, width, height }: Extent, unit: () => number, add: Add): void {
  const { from, deep, apart } = WOOD;
  const out = from + deep;
  for (let x = west - out; x < west + width + out; x += apart) {
    for (let y = south - out; y < south + height + out; y += apart) {
      // Over the map itself, however large it is.
      const isBeside = x > west && x < west + width - apart;
      if (isBeside && y > south && y < south + height - apart) {
        y = Math.max(y, south + height - 2 * apart);
        continue;
      }
      const [atX, atY] = [x + apart * 0.8 * unit(), y + apart * 0.8 * unit()];
      const away = Math.max(west - atX, atX - west - width, south - atY, atY - south - height);
      if (away < from || away > out) continue;
      add(unit() < FIRS ? "fir" : "tree", atX, atY, -0.4, 1.3 + 1.1 * unit());
    }
  }
}
