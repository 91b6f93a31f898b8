//! Where a walker is expected, and how precise that is.
//!
//! A baseline, the new yaw and speed and the age go in, means and deviations come out:
//! [`super`] describes each computation.

use crate::pose::trained::walker::{COLUMNS, ROWS, WalkerTables};
use crate::pose::{Pose, sine};

/// A step of the tables, in milliseconds.
pub const STEP_MS: u64 = 50;
/// Steps beyond which nothing grows any more.
pub(super) const MOST_STEPS: u64 = 64;
/// The variance of rounding to units, in (1/256 unit)^2: one twelfth of a unit squared.
const ROUNDING: u64 = (1 << 16) / 12;
/// What a walker turns in a step, at most: 10 degrees, in 1/4,096 of a turn.
const WIDEST_TURN: usize = 114;

/// The predicted position of an object, and how precise that is.
pub struct WalkerPrediction {
    /// The row of the tables.
    pub(super) row: usize,
    /// In 1/256 unit.
    pub mean: [i64; 2],
    /// The coordinate that is coded first: 0 or 1.
    pub first: usize,
    /// Of the first coordinate, in 1/256 unit.
    pub deviation: u32,
    /// Of the second one, when the first is known.
    pub second_deviation: u32,
    /// By how much the second one is off for each unit that the first is, in 1/256.
    slope: i64,
}

impl WalkerPrediction {
    /// The prediction when the new yaw and speed are known, which are those of `pose`.
    pub fn new(
        tables: &WalkerTables,
        bits: u32,
        baseline: &Pose,
        pose: &Pose,
        age_ms: u64,
    ) -> Self {
        let steps = steps_of(age_ms);
        let speed = if baseline.speed == 0 { 0 } else { i64::from(pose.speed) };
        let length = speed * 256 * age_ms as i64 / 1_000;
        let turn = yaw_difference(bits, baseline.turn[0], pose.turn[0]);
        let ahead = mean_direction(bits, baseline.turn[0], turn, steps);
        let mean = [0, 1].map(|axis| {
            i64::from(baseline.at[axis]) * 256 + ((length * i64::from(ahead[axis])) >> sine::BITS)
        });

        // Across is at a right angle to the movement: x is more across the more it goes along y.
        let along = ahead.map(i32::unsigned_abs);
        let first = usize::from(along[0] > along[1]);
        let far = along[1 - first].max(1);
        let near = along[first];
        let sign = if (ahead[0] < 0) == (ahead[1] < 0) { -1 } else { 1 };
        let ratio = u64::from(near * 256 / far);

        let per_step = length.unsigned_abs() as u32 / steps as u32;
        let square = (u64::from(per_step) * u64::from(per_step)) >> 8;
        let lateral = ((square * lateral_variance(tables, bits, steps, turn)) >> 16).min(1 << 40);
        let across = (lateral * u64::from((far * far) >> 14)) >> 14;
        let known = (across << 8) / (across + 2 * ROUNDING);
        let along_way = (square * u64::from(tables.along[row(steps)])) >> 16;
        let left = (((known * ratio) >> 8) * ratio * (2 * ROUNDING)) >> 16;
        let faster = u64::from(pose.speed.abs_diff(baseline.speed)) * 128 * age_ms / 1_000;
        let common = ROUNDING + faster * faster;
        Self {
            row: row(steps),
            mean,
            first,
            deviation: (common + across).isqrt() as u32,
            second_deviation: (common + along_way + left).isqrt() as u32,
            slope: sign * ((known * ratio) >> 8) as i64,
        }
    }

    /// The mean of the second coordinate when the first is known.
    pub fn second_mean(&self, first: i32) -> i64 {
        let error = (i64::from(first) * 256 - self.mean[self.first]).clamp(-(1 << 32), 1 << 32);
        self.mean[1 - self.first] + ((error * self.slope) >> 8)
    }
}

/// The column of [`WalkerTables::lateral`] for a turn.
pub fn lateral_column(bits: u32, steps: u64, turn: i32) -> usize {
    let by = (turn.unsigned_abs() as usize) << (12 - bits);
    (by * COLUMNS / (steps as usize * WIDEST_TURN)).min(COLUMNS - 1)
}

/// The variance across the direction of movement after `steps` steps and a turn: a step's length
/// squared, in 1/2^24.
fn lateral_variance(tables: &WalkerTables, bits: u32, steps: u64, turn: i32) -> u64 {
    let variance = u64::from(tables.lateral[row(steps)][lateral_column(bits, steps, turn)]);
    // Beyond the rows it grows with the third power of the time, as it does there.
    let variance =
        if steps > ROWS as u64 { variance * steps.pow(3) / (ROWS as u64).pow(3) } else { variance };
    variance + yaw_rounding(bits) * (steps * steps + 1) / 2
}

/// The number of steps that is nearest to an age.
pub(super) fn steps_of(age_ms: u64) -> u64 {
    ((age_ms + STEP_MS / 2) / STEP_MS).clamp(1, MOST_STEPS)
}

/// The row of the tables for a number of steps.
pub(super) fn row(steps: u64) -> usize {
    (steps as usize).min(ROWS) - 1
}

/// The shorter way from one yaw to another, in steps of a turn.
pub fn yaw_difference(bits: u32, from: u16, to: u16) -> i32 {
    let full = 1 << bits;
    ((i32::from(to) - i32::from(from) + full / 2) & (full - 1)) - full / 2
}

/// The variance of a yaw's rounding, in rad^2 / 2^24.
pub const fn yaw_rounding(bits: u32) -> u64 {
    // (2 pi)^2 / 12 2^24, divided by the square of the steps.
    55_195_133 >> (2 * bits)
}

/// The mean of the directions of min(n, 8) parts of the distance, with even turning.
fn mean_direction(bits: u32, baseline: u16, turn: i32, steps: u64) -> [i32; 2] {
    let parts = steps.min(ROWS as u64) as i32;
    let from = i32::from(baseline) << (12 - bits);
    let turn = turn << (12 - bits);
    if parts == 1 {
        let (cos, sin) = sine::direction(from + turn);
        return [cos, sin];
    }
    let by = (turn << 12) / parts;
    let mut sum = [0, 0];
    for part in 1..=parts {
        let (cos, sin) = sine::direction(from + ((by * part) >> 12));
        sum[0] += cos;
        sum[1] += sin;
    }
    sum.map(|sum| sum / parts)
}
