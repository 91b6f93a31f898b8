//! The shared level: the symbols of one pose relative to its baseline, by static tables.
//!
//! A baseline and a pose go in, a [`CodedPose`] comes out: a few symbols that depend on nothing
//! else, so that they are computed once a tick and written into the sections of all clients with
//! this baseline. Back, the baseline and a section's decoder go in, the pose comes out. One
//! description serves both directions.
//!
//! # Symbols
//! Each symbol takes a part of 0 .. 2^15 of the range coder ([`crate::entropy`]). Words:
//! - `one of` N by weights: symbol i begins at i + floor((2^15 - N) before / all), where `before`
//!   are the weights of those before it and `all` the weights of all, and ends where the next one
//!   begins. The weights are in [`symbol_weights`];
//! - `raw n` is a symbol for n bits, 0 to 15, that weigh the same: value v takes 2^(15-n) from
//!   v 2^(15-n) on. So `raw 0` has no value, but rounds the range down to a multiple of 2^15;
//! - `number` is a whole number: the length of its magnitude in bits, one of 32 (0 to 31) by
//!   weights: 4000 >> (length / 3) by default; if that is not 0, its sign, raw 1 (1 is below zero),
//!   and the bits below the highest one, raw: first those above the lowest 15, if there are any,
//!   then the lowest 15 or fewer.
//!
//! # Without a baseline
//! x and y, numbers by the weights `COORDINATES`; z, a number; the turn, raw, as many bits as the
//! format has (a free one: 2, then the three); for a yaw the speed, a number by the weights
//! `SPEEDS`; the flag, raw 1.
//!
//! # With a baseline, if the format has a yaw
//! See [`walker`]: yaw, then position, both relative to what a walker may do in the time between
//! the stamps.
//!
//! # With a baseline, if the object turns freely or not at all
//! What differs from the baseline, one of 8 by the weights `CHANGES`: the sum of 1, the position;
//! 2, the turn; 4, the flag. If the position does: x, y and z minus the baseline's, numbers. If the
//! turn does: whether the largest component is another one, one of 2 by the weights `TIPPED`; if it
//! is, the whole turn, raw; else the three components minus the baseline's, numbers.
//!
//! # Motion
//! Behind all that, if the format has motion and the flag is not set: velocity and angular velocity
//! about x, y and z, each as its distance from what [`super::motion`] predicts, rounded to the
//! nearest, halves away from zero (without a baseline: from 0), in 16 bits that wrap round: its
//! length in bits, one of 17 by the weights `VELOCITIES`; if that is 1 to 15, raw: its sign (1 is
//! below zero) and the bits below the highest one; length 16 is -32,768.
//!
//! Cost: [`code`] 100 ns, a [`CodedPose`] written 15 ns, read 200 ns; no allocation.

pub(crate) mod symbol_coder;
pub mod walker;

pub use self::symbol_coder::CodedPose;
use self::symbol_coder::SymbolCoder;
use super::motion::{self, VelocityPrediction};
use super::trained::symbol_weights;
use super::{MAX_AT, Motion, MotionFormat, Pose, PoseFormat, Turning};
use crate::entropy::RangeDecoder;
use crate::time::GameTime;
use crate::wire::WireError;

/// The symbols of `pose` in a datagram with this stamp, relative to the baseline and its stamp.
///
/// # Panics
/// When one of the poses does not fit this format: a bug.
pub fn code(
    format: &PoseFormat,
    baseline: Option<(GameTime, &Pose)>,
    stamp: GameTime,
    pose: &Pose,
) -> CodedPose {
    let mut coded = CodedPose::default();
    wire(*format, baseline, stamp, &mut { *pose }, &mut coded).expect("a pose of this format");
    coded
}

/// The pose whose symbols come next.
pub(super) fn read(
    format: PoseFormat,
    baseline: Option<(GameTime, &Pose)>,
    stamp: GameTime,
    decoder: &mut RangeDecoder<'_>,
) -> Result<Pose, WireError> {
    let mut pose = Pose::default();
    wire(format, baseline, stamp, &mut pose, decoder)?;
    Ok(pose)
}

fn wire<S: SymbolCoder>(
    format: PoseFormat,
    baseline: Option<(GameTime, &Pose)>,
    stamp: GameTime,
    pose: &mut Pose,
    symbols: &mut S,
) -> Result<(), WireError> {
    match (baseline, format.turn) {
        (None, _) => wire_alone(format, pose, symbols),
        (Some((time, baseline)), Turning::Yaw { bits }) => {
            let age_ms = stamp.millis().saturating_sub(time.millis());
            walker::wire(bits.into(), baseline, age_ms, pose, symbols)
        }
        (Some((time, baseline)), turn) => {
            wire_changes(turn, baseline, pose, symbols)?;
            let age_us =
                stamp.whole_millis().since(time.whole_millis()).as_micros().min(u32::MAX.into())
                    as u32;
            wire_motion(
                format,
                pose,
                |grid, pose| motion::predict_velocities(format, grid, baseline, age_us, pose),
                symbols,
            );
            Ok(())
        }
    }
}

fn wire_alone<S: SymbolCoder>(
    format: PoseFormat,
    pose: &mut Pose,
    symbols: &mut S,
) -> Result<(), WireError> {
    let [x, y, z] = &mut pose.at;
    symbols.number_by(x, &symbol_weights::COORDINATES);
    symbols.number_by(y, &symbol_weights::COORDINATES);
    symbols.number(z);
    check_at(pose)?;
    wire_turn(format.turn, &mut pose.turn, symbols);
    if let Turning::Yaw { .. } = format.turn {
        wire_speed(&mut pose.speed, symbols)?;
    }
    wire_flag(&mut pose.flag, symbols);
    let still = [VelocityPrediction { middle: 0.0, spread: 1.0 }; 6];
    wire_motion(format, pose, |_, _| still, symbols);
    Ok(())
}

fn wire_changes<S: SymbolCoder>(
    turning: Turning,
    baseline: &Pose,
    pose: &mut Pose,
    symbols: &mut S,
) -> Result<(), WireError> {
    let mut changes = u32::from(pose.at != baseline.at)
        | u32::from(pose.turn != baseline.turn) << 1
        | u32::from(pose.flag != baseline.flag) << 2;
    symbols.one_of(&mut changes, &symbol_weights::CHANGES);
    if S::READS {
        *pose = *baseline;
        pose.flag ^= changes & 4 != 0;
    }
    if changes & 1 != 0 {
        for (at, before) in pose.at.iter_mut().zip(baseline.at) {
            wire_step(at, before, symbols);
        }
        check_at(pose)?;
    }
    if changes & 2 != 0 {
        wire_other_turn(turning, baseline.turn, &mut pose.turn, symbols)?;
    }
    Ok(())
}

fn wire_other_turn<S: SymbolCoder>(
    turning: Turning,
    baseline: [u16; 4],
    turn: &mut [u16; 4],
    symbols: &mut S,
) -> Result<(), WireError> {
    let mut tipped = u32::from(turn[0] != baseline[0]);
    symbols.one_of(&mut tipped, &symbol_weights::TIPPED);
    if tipped == 1 {
        wire_turn(turning, turn, symbols);
        return Ok(());
    }
    turn[0] = baseline[0];
    for (part, before) in turn[1..].iter_mut().zip(&baseline[1..]) {
        let mut wide = i32::from(*part);
        wire_step(&mut wide, (*before).into(), symbols);
        *part =
            u16::try_from(wide).map_err(|_| WireError::OutOfRange { what: "turn of a pose" })?;
    }
    if turning.fits(*turn) { Ok(()) } else { Err(WireError::OutOfRange { what: "turn of a pose" }) }
}

fn wire_turn<S: SymbolCoder>(turning: Turning, turn: &mut [u16; 4], symbols: &mut S) {
    match turning {
        Turning::Fixed => {}
        Turning::Yaw { bits } => symbols.raw16(&mut turn[0], bits.into()),
        Turning::Free { bits } => {
            symbols.raw16(&mut turn[0], 2);
            turn[1..].iter_mut().for_each(|part| symbols.raw16(part, bits.into()));
        }
    }
}

fn wire_speed<S: SymbolCoder>(speed: &mut i16, symbols: &mut S) -> Result<(), WireError> {
    let mut wide = i32::from(*speed);
    symbols.number_by(&mut wide, &symbol_weights::SPEEDS);
    *speed = i16::try_from(wide).map_err(|_| WireError::OutOfRange { what: "speed of a pose" })?;
    Ok(())
}

/// The motion, if the format has it and the pose is not at rest: the difference from the
/// prediction, part by part.
fn wire_motion<S: SymbolCoder>(
    format: PoseFormat,
    pose: &mut Pose,
    predict: impl FnOnce(MotionFormat, &Pose) -> [VelocityPrediction; 6],
    symbols: &mut S,
) {
    let Some(grid) = format.motion.filter(|_| !pose.flag) else {
        pose.motion = Motion::default();
        return;
    };
    let predictions = predict(grid, pose);
    let mut parts = pose.motion.parts();
    for (part, prediction) in parts.iter_mut().zip(predictions) {
        let middle = nearest(prediction.middle);
        let mut difference = part.wrapping_sub(middle);
        symbols.short_number(&mut difference, &symbol_weights::VELOCITIES);
        *part = middle.wrapping_add(difference);
    }
    pose.motion = Motion::from_parts(parts);
}

/// Halves away from zero. `f32::round` may be a function call.
fn nearest(value: f32) -> i16 {
    (value + if value < 0.0 { -0.5 } else { 0.5 }) as i16
}

fn wire_flag<S: SymbolCoder>(flag: &mut bool, symbols: &mut S) {
    let mut bit = u32::from(*flag);
    symbols.raw(&mut bit, 1);
    *flag = bit == 1;
}

/// The difference, as a number. The reader checks the result.
fn wire_step<S: SymbolCoder>(value: &mut i32, before: i32, symbols: &mut S) {
    let mut step = value.wrapping_sub(before);
    symbols.number(&mut step);
    *value = before.wrapping_add(step);
}

fn check_at(pose: &Pose) -> Result<(), WireError> {
    let is_valid = pose.at.iter().all(|at| (-MAX_AT..=MAX_AT).contains(at));
    if is_valid { Ok(()) } else { Err(WireError::OutOfRange { what: "coordinate of a pose" }) }
}

#[cfg(test)]
mod tests;
