//! The analogue controls of a player: at most four axes, 8 bits each.
//!
//! An axis is *linear*, from -1 to 1 (a lever, a trigger), or an *angle*, in radians
//! counter-clockwise from the east. One more, *shown behind*, is no control: with it a client says
//! which time its screen showed. A sample of the controls has the values of all axes of the
//! game, in the order of their declaration ([`Schema::axes`](crate::schema::Schema::axes)). Both
//! ends work with the same whole steps, so they agree on every value.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use std::f32::consts::TAU;

/// The highest number of axes of a game.
pub const MAX_AXES: usize = 4;

/// Steps from 0 to 1 of a linear axis: 0, 1 and -1 are exact.
const LINEAR_STEPS: f32 = 127.0;
/// Steps of a full turn.
const STEPS_PER_TURN: f32 = 256.0;
/// Steps of a second.
const STEPS_PER_S: f32 = 250.0;

/// What the values of an axis mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AxisKind {
    /// From -1 to 1, in 255 steps. It goes back to 0 when the player's connection ends.
    Linear,
    /// Radians counter-clockwise from the east, in 256 steps; read from -pi on, up to pi. It stays
    /// when the player's connection ends.
    Angle,
    /// How far behind the room's clock a client shows the world: 0 to 1.02 s, in steps of 4 ms.
    /// Clients set it by themselves, in games with lag compensation. It stays when the connection
    /// ends.
    ShownBehind,
}

/// The values of all axes, in steps.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Axes(pub [i8; MAX_AXES]);

impl AxisKind {
    /// The step nearest to a value: -1 to 1, what is beyond counts as the end, or an angle of any
    /// number of turns. What is not a number counts as 0.
    pub fn step_of(self, value: f32) -> i8 {
        match self {
            Self::Linear => (value.clamp(-1.0, 1.0) * LINEAR_STEPS).round() as i8,
            // The last half step of the turn rounds to its end, which is its beginning.
            Self::Angle => {
                let steps = (value.rem_euclid(TAU) / TAU * STEPS_PER_TURN).round() as u16;
                (steps as u8).cast_signed()
            }
            Self::ShownBehind => {
                ((value * STEPS_PER_S).round().clamp(0.0, 255.0) as u8).cast_signed()
            }
        }
    }

    /// The value of a step. Any step is valid: -128 of a linear axis counts as -127.
    pub fn value_of(self, step: i8) -> f32 {
        match self {
            Self::Linear => (f32::from(step) / LINEAR_STEPS).max(-1.0),
            Self::Angle => f32::from(step) * (TAU / STEPS_PER_TURN),
            Self::ShownBehind => f32::from(step.cast_unsigned()) / STEPS_PER_S,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{FRAC_PI_2, PI};

    use super::*;

    #[test]
    fn the_ends_and_the_middle_of_a_linear_axis_are_exact() {
        let read = |value| AxisKind::Linear.value_of(AxisKind::Linear.step_of(value));
        for exact in [-1.0, 0.0, 1.0] {
            assert_eq!(read(exact), exact);
        }
        assert_eq!((read(7.0), read(f32::NEG_INFINITY), read(f32::NAN)), (1.0, -1.0, 0.0));
        for step in -100..=100 {
            let value = step as f32 / 100.0;
            assert!((read(value) - value).abs() <= 0.5 / LINEAR_STEPS + 1e-6, "{value}");
            assert_eq!(read(-value), -read(value));
        }
        assert_eq!(AxisKind::Linear.value_of(i8::MIN), -1.0);
    }

    #[test]
    fn an_angle_is_read_within_half_a_step_whatever_its_turns() {
        let read = |value| AxisKind::Angle.value_of(AxisKind::Angle.step_of(value));
        assert_eq!((read(0.0), read(TAU), read(FRAC_PI_2)), (0.0, 0.0, FRAC_PI_2));
        assert_eq!((read(PI), read(-PI), read(f32::INFINITY)), (-PI, -PI, 0.0));
        for step in -1_000..1_000 {
            let value = step as f32 / 50.0;
            let off = (read(value) - value).rem_euclid(TAU);
            assert!(off.min(TAU - off) <= PI / STEPS_PER_TURN + 1e-4, "{value}");
        }
    }

    #[test]
    fn each_step_reads_back_as_itself() {
        for step in i8::MIN..=i8::MAX {
            for kind in [AxisKind::Linear, AxisKind::Angle] {
                let exact = if kind == AxisKind::Linear { step.max(-127) } else { step };
                assert_eq!(kind.step_of(kind.value_of(step)), exact);
            }
        }
    }
}
