/** A picture of gas clouds that repeats without a seam: soft colours on a dark ground. */

import { seededUnits } from "./seeded.js";

/** Of the deep, and of three clouds: from 0 to 255 each. */
const DEEP = [7, 9, 22] as const;
const CLOUDS = [
  { colour: [26, 34, 88], waves: 3, from: 0.34, to: 0.86 },
  { colour: [66, 22, 66], waves: 4, from: 0.48, to: 0.92 },
  { colour: [12, 58, 66], waves: 5, from: 0.52, to: 0.95 },
] as const;
const OCTAVES = 5;
/** Keeps the steps between two dark colours from being seen as lines. */
const GRAIN = 3;

/** Red, green, blue and 255 for each of `pixels` x `pixels`. */
export function cloudsOf(pixels: number, seed: number): Uint8Array<ArrayBuffer> {
  const unit = seededUnits(seed);
  const noises = CLOUDS.map(({ waves }) => noise(waves, unit));
  const data = new Uint8Array(4 * pixels * pixels);
  for (let row = 0; row < pixels; row += 1) {
    for (let column = 0; column < pixels; column += 1) {
      const [x, y] = [column / pixels, row / pixels];
      const at = 4 * (row * pixels + column);
      const shares = CLOUDS.map(({ from, to }, cloud) => {
        const share = ((noises[cloud]?.(x, y) ?? 0) - from) / (to - from);
        const kept = Math.min(Math.max(share, 0), 1);
        return kept * kept * (3 - 2 * kept);
      });
      const grain = GRAIN * (((column * 13 + row * 37 + column * row * 7) % 16) / 16 - 0.5);
      for (let channel = 0; channel < 3; channel += 1) {
        let light = (DEEP[channel] as number) + grain;
        CLOUDS.forEach(({ colour }, cloud) => {
          light += (colour[channel] as number) * (shares[cloud] as number);
        });
        data[at + channel] = Math.min(Math.max(light, 0), 255);
      }
      data[at + 3] = 255;
    }
  }
  return data;
}

/** Smooth noise from 0 to 1 that repeats after 1 in both directions. */
function noise(waves: number, unit: () => number): (x: number, y: number) => number {
  const octaves = Array.from({ length: OCTAVES }, (_, octave) => {
    const cells = waves << octave;
    return { cells, values: Float32Array.from({ length: cells * cells }, unit) };
  });
  return (x, y) => {
    let [sum, weight, all] = [0, 1, 0];
    for (const { cells, values } of octaves) {
      sum += weight * between(values, cells, x * cells, y * cells);
      all += weight;
      weight /= 2;
    }
    return sum / all;
  };
}

function between(values: Float32Array, cells: number, x: number, y: number): number {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  const [right, down] = [smooth(x - column), smooth(y - row)];
  const value = (dx: number, dy: number) =>
    values[((row + dy) % cells) * cells + ((column + dx) % cells)] as number;
  const upper = value(0, 0) + (value(1, 0) - value(0, 0)) * right;
  const lower = value(0, 1) + (value(1, 1) - value(0, 1)) * right;
  return upper + (lower - upper) * down;
}

function smooth(share: number): number {
  return share * share * (3 - 2 * share);
}
