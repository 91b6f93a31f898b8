/** Matrices of instances, computed into the arrays that the graphics card gets. */

/** Floats of a matrix, column by column. */
export const MATRIX_FLOATS = 16;

/**
 * Writes the matrix of an object: its rotation and position from a frame's transform (position 3,
 * quaternion 4), with the extents of its mesh, lifted by `lift`.
 */
export function composeMatrix(
  transforms: Float32Array,
  from: number,
  scale: readonly [number, number, number],
  factor: number,
  lift: number,
  matrices: Float32Array,
  to: number,
): void {
  const qx = transforms[from + 3] as number;
  const qy = transforms[from + 4] as number;
  const qz = transforms[from + 5] as number;
  const qw = transforms[from + 6] as number;
  const x = scale[0] * factor;
  const y = scale[1] * factor;
  const z = scale[2] * factor;
  matrices[to] = (1 - 2 * (qy * qy + qz * qz)) * x;
  matrices[to + 1] = 2 * (qx * qy + qw * qz) * x;
  matrices[to + 2] = 2 * (qx * qz - qw * qy) * x;
  matrices[to + 3] = 0;
  matrices[to + 4] = 2 * (qx * qy - qw * qz) * y;
  matrices[to + 5] = (1 - 2 * (qx * qx + qz * qz)) * y;
  matrices[to + 6] = 2 * (qy * qz + qw * qx) * y;
  matrices[to + 7] = 0;
  matrices[to + 8] = 2 * (qx * qz + qw * qy) * z;
  matrices[to + 9] = 2 * (qy * qz - qw * qx) * z;
  matrices[to + 10] = (1 - 2 * (qx * qx + qy * qy)) * z;
  matrices[to + 11] = 0;
  matrices[to + 12] = transforms[from] as number;
  matrices[to + 13] = transforms[from + 1] as number;
  matrices[to + 14] = (transforms[from + 2] as number) + lift;
  matrices[to + 15] = 1;
}

/** After `composeMatrix`: on its back, on the ground that is `lift` below. */
export function layDown(
  matrices: Float32Array,
  to: number,
  scale: readonly [number, number, number],
  lift: number,
): void {
  const [wide, high] = [scale[0], scale[2]];
  for (let row = 0; row < 3; row += 1) {
    const [ahead, up] = [matrices[to + row] as number, matrices[to + 8 + row] as number];
    matrices[to + row] = (up / high) * wide;
    matrices[to + 8 + row] = (-ahead / wide) * high;
  }
  matrices[to + 14] = (matrices[to + 14] as number) - lift + LYING * wide;
}

/**
 * After `composeMatrix`: on its side, on the ground that is `lift` below; `factor` as there. What
 * has four legs would stand on its head if it lay on its back.
 */
export function layOnSide(
  matrices: Float32Array,
  to: number,
  scale: readonly [number, number, number],
  factor: number,
  lift: number,
): void {
  const [wide, high] = [scale[1], scale[2]];
  for (let row = 0; row < 3; row += 1) {
    const [left, up] = [matrices[to + 4 + row] as number, matrices[to + 8 + row] as number];
    matrices[to + 4 + row] = (up / high) * wide;
    matrices[to + 8 + row] = (-left / wide) * high;
  }
  matrices[to + 14] = (matrices[to + 14] as number) - lift + ON_SIDE * wide * factor;
}

/** The half of a body's depth, and of that of a creature's width, in widths. */
const LYING = 0.28;
const ON_SIDE = 0.34;
