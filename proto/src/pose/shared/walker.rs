//! Objects that walk or drive: a heading that is steered, and a position that follows from it.
//!
//! # Bits
//! `age` is the time between the baseline's stamp and the section's in milliseconds; `n` the steps
//! of 50 ms that it is nearest to, floor((age + 25) / 50), at least 1, at most 64; row n of a table
//! is the last one from n = 8 on. The tables are [`WalkerTables`], the weights [`symbol_weights`].
//! Words as in [`super`].
//!
//! 1. What differs from the baseline, one of 9 by the weights `MOVING`, or by `RESTING` if the
//!    baseline has no speed: below 8, the sum of 1, the speed; 2, the flag; 4, z. 8: nothing at
//!    all, and the pose ends here.
//! 2. If the speed does: the new one, a number by the weights `SPEEDS`.
//! 3. If n is at most 16: yaw minus the baseline's, the shorter way (-half a turn to less than
//!    half), in steps of a turn. It is one of -r ..= r or, as the last symbol, r + 1: none of the
//!    others; r is an eighth of a turn. Symbol t is `spread` by row n of `turn`, floor 2, reserve
//!    row n of `turn_beyond`, with its edge at (2 t - 1) 2^(12 - bits) sixteenths of an entry.
//! 4. If n is more, or it was none of the others: the yaw, raw.
//! 5. x and y, as below; first the one that is more across the direction of movement.
//! 6. If z differs: z minus the baseline's, a number.
//!
//! `Spread`: for symbols low ..= high, by a row of a table, a floor and a reserve. parts = 2^15 -
//! floor (high - low) - reserve; symbol i begins at floor (i - low) + ((parts B(edge of i)) >> 15),
//! the lowest one at 0. B(e) is 2^14 + D(e), or 2^14 - D(-e) if e is below zero; D is linear
//! between the entries of the row, which are 16 apart: with i = e >> 4, D = row(i) +
//! (((row(i + 1) - row(i)) (e & 15)) >> 4), and 2^14 from the last entry on.
//!
//! # Where an object is expected
//! It moves at the new speed (at none if the baseline has none), and turns evenly from the
//! baseline's yaw to the new one: first turning, then moving, in each of k = min(n, 8) parts of the
//! distance. All in whole numbers: division truncates towards zero, `>>` rounds down; an age counts
//! as 3,200 ms at most; an angle is a 4,096th of a turn, its sine and cosine 1/2^14, rounded. Units
//! below are 1/256 of the grid's.
//! - length = 256 speed age / 1000. For part i of k: angle = baseline's + ((((turn 2^12) / k) i) >>
//!   12), for k = 1 the new yaw; turn is the new yaw minus the baseline's, as an angle. ahead = the
//!   sum of the parts' (cos, sin), divided by k; mean = 256 position + ((length ahead) >> 14), each
//!   of x and y.
//! - The first coordinate is x, or y if |ahead x| > |ahead y|. near = |ahead| of the first, far =
//!   |ahead| of the second, at least 1; ratio = 256 near / far. R = 5461, the variance of rounding.
//! - square = (|length| / n)^2 >> 8; column = min(3, 4 |turn| / (114 n)), |turn| as an angle; open
//!   = `lateral`(row n, column), times n^3 and divided by 8^3 if n > 8, plus ((55195133 >> (2
//!   bits)) (n^2 + 1)) / 2; across = (min((square open) >> 16, 2^40) ((far far) >> 14)) >> 14;
//!   known = 256 across / (across + 2 R).
//! - faster = |new speed - baseline's| 128 age / 1000; common = R + faster^2.
//! - deviation of the first = root, rounded down, of common + across. It is coded relative to its
//!   mean.
//! - deviation of the second = root of common + ((square `along`(row n)) >> 16) +
//!   ((((known ratio) >> 8) ratio 2 R) >> 16). It is coded relative to its mean +
//!   ((off slope) >> 8), where off = 256 first - first's mean, within 2^32, and slope =
//!   (known ratio) >> 8, below zero if ahead x and ahead y are both below zero or both not.
//!
//! A coordinate, by its mean, its deviation and row n of `first` or `second`: centre =
//! (mean + 128) >> 8; s = 0, or the length in bits of deviation >> 11; half = (1 << s) >> 1. It is
//! one of 97 buckets of 2^s units, -48 ..= 48, or 49, which means none of them: `spread` by the
//! row, floor 2, reserve 16, with the edge of bucket b at ((256 (centre + (b << s) - half) - 128 -
//! mean) (2^23 / deviation)) >> 16. Then how far it lies above the bucket's lowest, centre +
//! (b << s) - half, raw s; for 49 what it lies above the centre, a number.

use super::symbol_coder::{SymbolCoder, TOTAL};
use super::{check_at, wire_speed, wire_step};
use crate::pose::trained::symbol_weights;
use crate::pose::trained::walker::{COLUMNS, ROWS, WALKER_TABLES, WalkerTables};
use crate::pose::{Pose, sine};
use crate::wire::WireError;

/// A step of the tables, in milliseconds.
pub(in crate::pose) const STEP_MS: u64 = 50;
/// Steps beyond which a yaw is coded absolute.
const TURN_STEPS: u64 = 16;
/// Steps beyond which nothing grows any more.
const MOST_STEPS: u64 = 64;
/// Buckets to either side of the mean.
const REACH: i32 = 48;
/// The smallest part of the total for a bucket or a turn.
const FLOOR: u32 = 2;
/// The part of the total for what is beyond the buckets.
const BEYOND: u32 = 16;
/// The variance of rounding to units, in (1/256 unit)^2: one twelfth of a unit squared.
const ROUNDING: u64 = (1 << 16) / 12;

/// Reads or writes a pose with a heading, relative to its baseline.
pub(in crate::pose) fn wire<S: SymbolCoder>(
    bits: u32,
    baseline: &Pose,
    age_ms: u64,
    pose: &mut Pose,
    symbols: &mut S,
) -> Result<(), WireError> {
    let mut change = change_of(baseline, pose);
    symbols.one_of(
        &mut change,
        if baseline.speed == 0 { &symbol_weights::RESTING } else { &symbol_weights::MOVING },
    );
    if S::READS {
        *pose = *baseline;
        pose.flag ^= change < 8 && change & 2 != 0;
    }
    if change == 8 {
        return Ok(());
    }
    if change & 1 != 0 {
        wire_speed(&mut pose.speed, symbols)?;
    }
    let steps = steps_of(age_ms);
    wire_yaw(&WALKER_TABLES, bits, baseline.turn[0], steps, &mut pose.turn[0], symbols);
    let predicted = WalkerPrediction::new(
        &WALKER_TABLES,
        bits,
        baseline,
        pose,
        age_ms.min(MOST_STEPS * STEP_MS),
    );
    predicted.wire(&WALKER_TABLES, &mut pose.at, symbols);
    if change & 4 != 0 {
        wire_step(&mut pose.at[2], baseline.at[2], symbols);
    }
    check_at(pose)
}

fn change_of(baseline: &Pose, pose: &Pose) -> u32 {
    if baseline == pose {
        return 8;
    }
    u32::from(pose.speed != baseline.speed)
        | u32::from(pose.flag != baseline.flag) << 1
        | u32::from(pose.at[2] != baseline.at[2]) << 2
}

/// The number of steps that is nearest to an age.
pub(in crate::pose) fn steps_of(age_ms: u64) -> u64 {
    ((age_ms + STEP_MS / 2) / STEP_MS).clamp(1, MOST_STEPS)
}

fn row(steps: u64) -> usize {
    (steps as usize).min(ROWS) - 1
}

/// The shorter way from one yaw to another, in steps of a turn.
pub(in crate::pose) fn yaw_difference(bits: u32, from: u16, to: u16) -> i32 {
    let full = 1 << bits;
    ((i32::from(to) - i32::from(from) + full / 2) & (full - 1)) - full / 2
}

fn wire_yaw<S: SymbolCoder>(
    tables: &WalkerTables,
    bits: u32,
    baseline: u16,
    steps: u64,
    yaw: &mut u16,
    symbols: &mut S,
) {
    if steps <= TURN_STEPS {
        let table = &tables.turn[row(steps)];
        let reach = (1 << bits) / 8;
        // Half steps of a turn are the table's unit at 8 bits; here in 1/16 of it.
        let edge = |turn: i32| i64::from(2 * turn - 1) << (12 - bits);
        let by = yaw_difference(bits, baseline, *yaw);
        let mut turn = if by.abs() <= reach { by } else { reach + 1 };
        let parts = TOTAL - FLOOR * (2 * reach as u32 + 1) - tables.turn_beyond[row(steps)];
        symbols.pick(&mut turn, -reach, reach + 1, |turn| {
            symbol_start(table, edge(turn), parts, FLOOR * (turn + reach) as u32)
        });
        if turn <= reach {
            *yaw = ((i32::from(baseline) + turn) & ((1 << bits) - 1)) as u16;
            return;
        }
    }
    symbols.raw16(yaw, bits);
}

/// Where a symbol begins: its part of `parts`, by the distribution at `position` (in 1/16 of a
/// table's step), above `floor`.
fn symbol_start<const N: usize>(table: &[u16; N], position: i64, parts: u32, floor: u32) -> u32 {
    let distance = position.unsigned_abs();
    let (index, rest) = ((distance >> 4) as usize, (distance & 15) as u32);
    let half = if index + 1 >= N {
        1 << 14
    } else {
        u32::from(table[index]) + ((u32::from(table[index + 1] - table[index]) * rest) >> 4)
    };
    let below = if position < 0 { (1 << 14) - half } else { (1 << 14) + half };
    floor + ((parts * below) >> 15)
}

/// The predicted position of an object, and how precise that is.
pub(in crate::pose) struct WalkerPrediction {
    row: usize,
    /// In 1/256 unit.
    pub(in crate::pose) mean: [i64; 2],
    /// The coordinate that is coded first: 0 or 1.
    pub(in crate::pose) first: usize,
    /// Of the first coordinate, in 1/256 unit.
    pub(in crate::pose) deviation: u32,
    /// Of the second one, when the first is known.
    pub(in crate::pose) second_deviation: u32,
    /// By how much the second one is off for each unit that the first is, in 1/256.
    pub(in crate::pose) slope: i64,
}

impl WalkerPrediction {
    pub(in crate::pose) fn new(
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
        let (far, near) = (along[1 - first].max(1), along[first]);
        let sign = if (ahead[0] < 0) == (ahead[1] < 0) { -1 } else { 1 };
        let ratio = u64::from(near * 256 / far);

        let per_step = length.unsigned_abs() as u32 / steps as u32;
        let square = (u64::from(per_step) * u64::from(per_step)) >> 8;
        let lateral = ((square * tables.lateral_variance(bits, steps, turn)) >> 16).min(1 << 40);
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

    fn wire<S: SymbolCoder>(&self, tables: &WalkerTables, at: &mut [i32; 3], symbols: &mut S) {
        let (first, second) = (self.first, 1 - self.first);
        let mean = self.mean[first];
        wire_coordinate(&mut at[first], mean, self.deviation, &tables.first[self.row], symbols);
        let mean = self.second_mean(at[first]);
        wire_coordinate(
            &mut at[second],
            mean,
            self.second_deviation,
            &tables.second[self.row],
            symbols,
        );
    }

    /// The mean of the second coordinate when the first is known.
    pub(in crate::pose) fn second_mean(&self, first: i32) -> i64 {
        let error = (i64::from(first) * 256 - self.mean[self.first]).clamp(-(1 << 32), 1 << 32);
        self.mean[1 - self.first] + ((error * self.slope) >> 8)
    }
}

impl WalkerTables {
    /// The column of [`WalkerTables::lateral`] for a turn.
    pub(in crate::pose) fn column(bits: u32, steps: u64, turn: i32) -> usize {
        let by = (turn.unsigned_abs() as usize) << (12 - bits);
        (by * COLUMNS / (steps as usize * WIDEST_TURN)).min(COLUMNS - 1)
    }

    /// The variance across the direction of movement after so many steps and such a turn: a step's
    /// length squared, in 1/2^24.
    pub(in crate::pose) fn lateral_variance(&self, bits: u32, steps: u64, turn: i32) -> u64 {
        let variance = u64::from(self.lateral[row(steps)][Self::column(bits, steps, turn)]);
        // Beyond the rows it grows with the third power of the time, as it does there.
        let variance = if steps > ROWS as u64 {
            variance * steps.pow(3) / (ROWS as u64).pow(3)
        } else {
            variance
        };
        variance + yaw_rounding(bits) * (steps * steps + 1) / 2
    }
}

/// What a walker turns in a step, at most: 10 degrees, in 1/4,096 of a turn.
const WIDEST_TURN: usize = 114;

/// The variance of a yaw's rounding, in rad^2 / 2^24.
pub(in crate::pose) const fn yaw_rounding(bits: u32) -> u64 {
    // (2 pi)^2 / 12 2^24, divided by the square of the steps.
    55_195_133 >> (2 * bits)
}

/// The mean of the directions of min(n, 8) parts of the distance, with even turning.
fn mean_direction(bits: u32, baseline: u16, turn: i32, steps: u64) -> [i32; 2] {
    let parts = steps.min(ROWS as u64) as i32;
    let (from, turn) = (i32::from(baseline) << (12 - bits), turn << (12 - bits));
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

/// A coordinate whose mean is predicted, in 1/256 unit.
fn wire_coordinate<S: SymbolCoder>(
    at: &mut i32,
    mean: i64,
    deviation: u32,
    shape: &[u16; 49],
    symbols: &mut S,
) {
    let centre = ((mean + 128) >> 8) as i32;
    let shift = (deviation >> 11).checked_ilog2().map_or(0, |log| log + 1);
    let half = (1 << shift) >> 1;
    let off = at.wrapping_sub(centre);
    let mut bucket = (off.wrapping_add(half) >> shift).clamp(-REACH - 1, REACH + 1);
    if bucket < -REACH {
        bucket = REACH + 1;
    }
    // A shape's step is an eighth of a deviation; positions are in 1/16 of it.
    let scale = i64::from((128 << 16) / deviation);
    let edge = |bucket: i32| {
        let lowest =
            (i64::from(centre) + (i64::from(bucket) << shift) - i64::from(half)) * 256 - 128;
        ((lowest - mean) * scale) >> 16
    };
    let parts = TOTAL - FLOOR * (2 * REACH as u32 + 1) - BEYOND;
    symbols.pick(&mut bucket, -REACH, REACH + 1, |bucket| {
        symbol_start(shape, edge(bucket), parts, FLOOR * (bucket + REACH) as u32)
    });
    if bucket > REACH {
        wire_step(at, centre, symbols);
        return;
    }
    let lowest = (bucket << shift).wrapping_sub(half);
    let mut low = off.wrapping_sub(lowest) as u32;
    symbols.raw(&mut low, shift);
    *at = centre.wrapping_add(lowest).wrapping_add(low as i32);
}
