//! The shared level: the symbols of one pose relative to its base, by static tables.
//!
//! A base and a pose go in, a [`Coded`] comes out: a handful of symbols that depend on nothing
//! else, and so are computed once a tick and written into the sections of all clients that have
//! this base. Back: the base and a section's decoder go in, the pose comes out. One description
//! does both.
//!
//! # Symbols
//! Each symbol takes a part of 0 .. 2^15 of the range coder ([`crate::entropy`]). Words:
//! - `one of` N by weights: symbol i begins at i + floor((2^15 - N) before / all), where `before`
//!   are the weights of those before it and `all` the weights of all, and ends where the next one
//!   begins. The weights stand in [`tables`];
//! - `raw n` is n bits, 0 to 15, that weigh the same: value v takes 2^(15-n) from v 2^(15-n) on;
//! - `number` is a whole number: the length of its magnitude in bits, one of 32 (0 to 31) by
//!   weights: 4000 >> (length / 3) where nothing else is said; if that is not 0, its sign, raw 1 (1
//!   is below zero), and the bits below the highest one, raw: first those above the lowest 15, if
//!   there are any, then the lowest 15 or fewer.
//!
//! # Without a base
//! x and y, numbers by the weights `COORDINATES`; z, a number; the turn, raw, as many bits as the
//! format has (a free one: 2, then the three); for a yaw the speed, a number by the weights
//! `SPEEDS`; the flag, raw 1.
//!
//! # With a base, if it has a yaw
//! See [`steered`]: yaw, then place, both relative to what a walker may do in the time between the
//! stamps.
//!
//! # With a base, if it turns freely or not at all
//! What differs from the base, one of 8 by the weights `CHANGES`: the sum of 1, the place does; 2,
//! the turn does; 4, the flag does. If the place does: x, y and z minus the base's, numbers. If the
//! turn does: whether the largest component is another one, one of 2 by the weights `TIPPED`; if it
//! is, the whole turn, raw; else the three components minus the base's, numbers.
//!
//! # Motion
//! Behind all that, if the format tells motion and the flag is not set: velocity and angular
//! velocity about x, y and z, each as its distance from what `pose::motion` foretells, rounded to
//! the nearest (without a base: from 0), in 16 bits that wrap round: its length in bits, one of 17
//! by the weights `VELOCITIES`; if that is 1 to 15, raw: its sign (1 is below zero) and the bits
//! below the highest one; length 16 is -32,768.
//!
//! Cost: [`code`] 100 ns, a [`Coded`] written 15 ns, read 200 ns; no allocation.

pub mod steered;
pub(crate) mod symbols;
pub mod tables;
#[cfg(test)]
pub(super) mod training;

pub use self::symbols::Coded;
use self::symbols::Symbols;
use super::motion::{self, Forecast};
use super::{MAX_AT, Motion, MotionFormat, Pose, PoseFormat, Turning};
use crate::entropy::Decoder;
use crate::time::GameTime;
use crate::wire::WireError;

/// The symbols of `pose`, which a datagram with this stamp tells, relative to its base and the
/// base's stamp.
///
/// # Panics
/// When one of the poses is none of this format: our bug.
pub fn code(
    format: &PoseFormat,
    base: Option<(GameTime, &Pose)>,
    stamp: GameTime,
    pose: &Pose,
) -> Coded {
    let mut coded = Coded::default();
    wire(*format, base, stamp, &mut { *pose }, &mut coded).expect("a pose of this format");
    coded
}

/// The pose whose symbols come next.
pub(super) fn read(
    format: PoseFormat,
    base: Option<(GameTime, &Pose)>,
    stamp: GameTime,
    decoder: &mut Decoder<'_>,
) -> Result<Pose, WireError> {
    let mut pose = Pose::default();
    wire(format, base, stamp, &mut pose, decoder)?;
    Ok(pose)
}

fn wire<S: Symbols>(
    format: PoseFormat,
    base: Option<(GameTime, &Pose)>,
    stamp: GameTime,
    pose: &mut Pose,
    symbols: &mut S,
) -> Result<(), WireError> {
    match (base, format.turn) {
        (None, _) => wire_alone(format, pose, symbols),
        (Some((time, base)), Turning::Yaw { bits }) => {
            let age_ms = stamp.millis().saturating_sub(time.millis());
            steered::wire(bits.into(), base, age_ms, pose, symbols)
        }
        (Some((time, base)), turn) => {
            wire_changes(turn, base, pose, symbols)?;
            let age_us = stamp
                .whole_millis()
                .since(time.whole_millis())
                .as_micros()
                .min(u32::MAX.into()) as u32;
            wire_motion(
                format,
                pose,
                |grid, pose| motion::foretell(format, grid, base, age_us, pose),
                symbols,
            );
            Ok(())
        }
    }
}

fn wire_alone<S: Symbols>(
    format: PoseFormat,
    pose: &mut Pose,
    symbols: &mut S,
) -> Result<(), WireError> {
    let [x, y, z] = &mut pose.at;
    symbols.number_by(x, &tables::COORDINATES);
    symbols.number_by(y, &tables::COORDINATES);
    symbols.number(z);
    check_at(pose)?;
    wire_turn(format.turn, &mut pose.turn, symbols);
    if let Turning::Yaw { .. } = format.turn {
        wire_speed(&mut pose.speed, symbols)?;
    }
    wire_flag(&mut pose.flag, symbols);
    let still = [Forecast {
        middle: 0.0,
        spread: 1.0,
    }; 6];
    wire_motion(format, pose, |_, _| still, symbols);
    Ok(())
}

fn wire_changes<S: Symbols>(
    turning: Turning,
    base: &Pose,
    pose: &mut Pose,
    symbols: &mut S,
) -> Result<(), WireError> {
    let mut changes = u32::from(pose.at != base.at)
        | u32::from(pose.turn != base.turn) << 1
        | u32::from(pose.flag != base.flag) << 2;
    symbols.one_of(&mut changes, &tables::CHANGES);
    if S::READS {
        *pose = *base;
        pose.flag ^= changes & 4 != 0;
    }
    if changes & 1 != 0 {
        for (at, before) in pose.at.iter_mut().zip(base.at) {
            wire_step(at, before, symbols);
        }
        check_at(pose)?;
    }
    if changes & 2 != 0 {
        wire_other_turn(turning, base.turn, &mut pose.turn, symbols)?;
    }
    Ok(())
}

fn wire_other_turn<S: Symbols>(
    turning: Turning,
    base: [u16; 4],
    turn: &mut [u16; 4],
    symbols: &mut S,
) -> Result<(), WireError> {
    let mut tipped = u32::from(turn[0] != base[0]);
    symbols.one_of(&mut tipped, &tables::TIPPED);
    if tipped == 1 {
        wire_turn(turning, turn, symbols);
        return Ok(());
    }
    turn[0] = base[0];
    for (part, before) in turn[1..].iter_mut().zip(&base[1..]) {
        let mut wide = i32::from(*part);
        wire_step(&mut wide, (*before).into(), symbols);
        *part = u16::try_from(wide).map_err(|_| WireError::OutOfRange {
            what: "turn of a pose",
        })?;
    }
    if turning.fits(*turn) {
        Ok(())
    } else {
        Err(WireError::OutOfRange {
            what: "turn of a pose",
        })
    }
}

fn wire_turn<S: Symbols>(turning: Turning, turn: &mut [u16; 4], symbols: &mut S) {
    match turning {
        Turning::Fixed => {}
        Turning::Yaw { bits } => symbols.raw16(&mut turn[0], bits.into()),
        Turning::Free { bits } => {
            symbols.raw16(&mut turn[0], 2);
            turn[1..]
                .iter_mut()
                .for_each(|part| symbols.raw16(part, bits.into()));
        }
    }
}

fn wire_speed<S: Symbols>(speed: &mut i16, symbols: &mut S) -> Result<(), WireError> {
    let mut wide = i32::from(*speed);
    symbols.number_by(&mut wide, &tables::SPEEDS);
    *speed = i16::try_from(wide).map_err(|_| WireError::OutOfRange {
        what: "speed of a pose",
    })?;
    Ok(())
}

/// The motion, if the format tells it and the pose is not at rest: what is not as foretold, part by
/// part.
fn wire_motion<S: Symbols>(
    format: PoseFormat,
    pose: &mut Pose,
    foretell: impl FnOnce(MotionFormat, &Pose) -> [Forecast; 6],
    symbols: &mut S,
) {
    let Some(grid) = format.motion.filter(|_| !pose.flag) else {
        pose.motion = Motion::default();
        return;
    };
    let forecasts = foretell(grid, pose);
    let mut parts = pose.motion.parts();
    for (part, forecast) in parts.iter_mut().zip(forecasts) {
        let middle = nearest(forecast.middle);
        let mut off = part.wrapping_sub(middle);
        symbols.short_number(&mut off, &tables::VELOCITIES);
        *part = middle.wrapping_add(off);
    }
    pose.motion = Motion::of_parts(parts);
}

/// Halves away from zero. `f32::round` may be a call.
fn nearest(value: f32) -> i16 {
    (value + if value < 0.0 { -0.5 } else { 0.5 }) as i16
}

fn wire_flag<S: Symbols>(flag: &mut bool, symbols: &mut S) {
    let mut bit = u32::from(*flag);
    symbols.raw(&mut bit, 1);
    *flag = bit == 1;
}

/// The difference, a number. Whoever reads checks what comes of it.
fn wire_step<S: Symbols>(value: &mut i32, before: i32, symbols: &mut S) {
    let mut step = value.wrapping_sub(before);
    symbols.number(&mut step);
    *value = before.wrapping_add(step);
}

fn check_at(pose: &Pose) -> Result<(), WireError> {
    let good = pose.at.iter().all(|at| (-MAX_AT..=MAX_AT).contains(at));
    if good {
        Ok(())
    } else {
        Err(WireError::OutOfRange {
            what: "coordinate of a pose",
        })
    }
}

#[cfg(test)]
mod tests;
