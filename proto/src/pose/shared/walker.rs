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

pub(in crate::pose) mod prediction;

use self::prediction::{MOST_STEPS, STEP_MS, WalkerPrediction, row, steps_of, yaw_difference};
use super::symbol_coder::{SymbolCoder, TOTAL};
use super::{check_at, wire_speed, wire_step};
use crate::pose::Pose;
use crate::pose::trained::symbol_weights;
use crate::pose::trained::walker::{WALKER_TABLES, WalkerTables};
use crate::wire::WireError;

/// Steps beyond which a yaw is coded absolute.
const TURN_STEPS: u64 = 16;
/// Buckets to either side of the mean.
const REACH: i32 = 48;
/// The smallest part of the total for a bucket or a turn.
const FLOOR: u32 = 2;
/// The part of the total for what is beyond the buckets.
const BEYOND: u32 = 16;

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
    wire_position(&WALKER_TABLES, &predicted, &mut pose.at, symbols);
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
    let index = (distance >> 4) as usize;
    let rest = (distance & 15) as u32;
    let half = if index + 1 >= N {
        1 << 14
    } else {
        u32::from(table[index]) + ((u32::from(table[index + 1] - table[index]) * rest) >> 4)
    };
    let below = if position < 0 { (1 << 14) - half } else { (1 << 14) + half };
    floor + ((parts * below) >> 15)
}

fn wire_position<S: SymbolCoder>(
    tables: &WalkerTables,
    predicted: &WalkerPrediction,
    at: &mut [i32; 3],
    symbols: &mut S,
) {
    let first = predicted.first;
    let row = predicted.row;
    let mean = predicted.mean[first];
    let deviation = predicted.deviation;
    wire_coordinate(&mut at[first], mean, deviation, &tables.first[row], symbols);
    let mean = predicted.second_mean(at[first]);
    let deviation = predicted.second_deviation;
    wire_coordinate(&mut at[1 - first], mean, deviation, &tables.second[row], symbols);
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
