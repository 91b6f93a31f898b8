//! How an object can turn, and its orientation in whole numbers.
//!
//! A yaw is an angle about z in steps, counted from x towards y. A free orientation is the smallest
//! three components of a unit quaternion in steps, as in [`crate::wire`]; any three steps are read
//! as the nearest valid orientation.

use std::f32::consts::{FRAC_1_SQRT_2, TAU};

use super::quaternion::{heading, unit};
use super::sine;
use crate::wire::{Coder, WireError, smallest_three};

/// How an object of a kind can turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turning {
    /// Not at all.
    Fixed,
    /// About z: a heading, with a speed along it.
    Yaw {
        /// Bits of the heading, 4 to 12.
        bits: u8,
    },
    /// About any axis.
    Free {
        /// Bits of each of the smallest three components, 5 to 15.
        bits: u8,
    },
}

impl Turning {
    pub(super) fn check(self) -> Result<(), WireError> {
        match self {
            Self::Yaw { bits } if !(4..=12).contains(&bits) => {
                Err(WireError::OutOfRange { what: "bits of a yaw" })
            }
            Self::Free { bits } if !(5..=15).contains(&bits) => {
                Err(WireError::OutOfRange { what: "bits of an orientation" })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn fits(self, turn: [u16; 4]) -> bool {
        match self {
            Self::Fixed => turn == [0; 4],
            Self::Yaw { bits } => turn[0] >> bits == 0 && turn[1..] == [0; 3],
            Self::Free { bits } => turn[0] < 4 && turn[1..].iter().all(|part| part >> bits == 0),
        }
    }

    /// The length of a turn that is coded absolute.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Self::Fixed => 0,
            Self::Yaw { bits } => bits as u32,
            Self::Free { bits } => 2 + 3 * bits as u32,
        }
    }

    pub(super) fn wire(self, turn: &mut [u16; 4], coder: &mut impl Coder) -> Result<(), WireError> {
        let mut field = |part: &mut u16, bits: u32| {
            let mut wide = u64::from(*part);
            coder.bits(&mut wide, bits)?;
            *part = wide as u16;
            Ok(())
        };
        match self {
            Self::Fixed => Ok(()),
            Self::Yaw { bits } => field(&mut turn[0], bits.into()),
            Self::Free { bits } => {
                field(&mut turn[0], 2)?;
                turn[1..].iter_mut().try_for_each(|part| field(part, bits.into()))
            }
        }
    }

    pub(super) fn upright(self) -> [u16; 4] {
        match self {
            Self::Fixed | Self::Yaw { .. } => [0; 4],
            Self::Free { .. } => self.of_quaternion([0.0, 0.0, 0.0, 1.0]),
        }
    }

    pub(super) fn of_yaw(self, radians: f32) -> [u16; 4] {
        let Self::Yaw { bits } = self else {
            return self.upright();
        };
        let steps = f64::from(1_u32 << bits);
        let turns = f64::from(radians) / std::f64::consts::TAU;
        [(turns.rem_euclid(1.0) * steps).round() as u16 & ((1 << bits) - 1), 0, 0, 0]
    }

    /// The nearest turn to a quaternion; its heading, for a yaw.
    pub(super) fn of_quaternion(self, quaternion: [f32; 4]) -> [u16; 4] {
        match self {
            Self::Fixed => [0; 4],
            Self::Yaw { .. } => self.of_yaw(heading(quaternion)),
            Self::Free { bits } => {
                let (largest, steps) = smallest_three(quaternion, bits.into());
                [largest as u16, steps[0] as u16, steps[1] as u16, steps[2] as u16]
            }
        }
    }

    pub(super) fn yaw(self, turn: [u16; 4]) -> f32 {
        match self {
            Self::Yaw { bits } => f32::from(turn[0]) / (1_u32 << bits) as f32 * TAU,
            Self::Fixed | Self::Free { .. } => 0.0,
        }
    }

    /// The heading as an angle of [`sine`].
    pub(super) fn angle(self, turn: [u16; 4]) -> i32 {
        match self {
            Self::Yaw { bits } => i32::from(turn[0]) << (12 - bits),
            Self::Fixed | Self::Free { .. } => 0,
        }
    }

    /// The nearest turn to an angle of [`sine`], for a yaw.
    pub(super) fn of_angle(self, angle: i32) -> [u16; 4] {
        match self {
            Self::Yaw { bits } => {
                let coarser = 12 - u32::from(bits);
                let mask = (1_i32 << bits) - 1;
                let half = (1 << coarser) >> 1;
                [(((angle.rem_euclid(sine::ANGLES) + half) >> coarser) & mask) as u16, 0, 0, 0]
            }
            Self::Fixed | Self::Free { .. } => self.upright(),
        }
    }

    pub(super) fn quaternion(self, turn: [u16; 4]) -> [f32; 4] {
        match self {
            Self::Fixed => [0.0, 0.0, 0.0, 1.0],
            Self::Yaw { .. } => {
                let half = self.yaw(turn) / 2.0;
                [0.0, 0.0, half.sin(), half.cos()]
            }
            Self::Free { bits } => free(turn, bits),
        }
    }

    /// The turn at `part` / `whole` of the shorter way from one turn to another; a fraction above 1
    /// extrapolates.
    pub(super) fn interpolate(
        self,
        from: [u16; 4],
        to: [u16; 4],
        part: i64,
        whole: i64,
    ) -> [u16; 4] {
        match self {
            Self::Fixed => [0; 4],
            Self::Yaw { bits } => {
                let half = 1_i32 << (bits - 1);
                let mask = (1_i32 << bits) - 1;
                let turned = ((i32::from(to[0]) - i32::from(from[0]) + half) & mask) - half;
                let steps = (i64::from(turned) * part / whole.max(1)) as i32;
                [((i32::from(from[0]) + steps) & mask) as u16, 0, 0, 0]
            }
            Self::Free { .. } => self.of_quaternion(interpolated(
                self.quaternion(from),
                self.quaternion(to),
                part,
                whole,
            )),
        }
    }
}

/// Uses additions, multiplications, divisions and roots only: the same on every machine.
fn free(turn: [u16; 4], bits: u8) -> [f32; 4] {
    let centre = f32::from((1_u16 << (bits - 1)) - 1);
    let mut quaternion = [0.0; 4];
    let mut others = turn[1..].iter();
    let mut sum = 0.0;
    for (index, part) in quaternion.iter_mut().enumerate() {
        if index != usize::from(turn[0]) {
            let step = others.next().map_or(0.0, |step| f32::from(*step));
            *part = (step - centre) / centre * FRAC_1_SQRT_2;
            sum += *part * *part;
        }
    }
    quaternion[usize::from(turn[0] & 3)] = (1.0 - sum).max(0.0).sqrt();
    unit(quaternion)
}

fn interpolated(from: [f32; 4], to: [f32; 4], part: i64, whole: i64) -> [f32; 4] {
    let fraction = part as f32 / whole.max(1) as f32;
    let cosine: f32 = from.iter().zip(to).map(|(a, b)| a * b).sum();
    let sign = if cosine < 0.0 { -1.0 } else { 1.0 };
    unit(std::array::from_fn(|index| from[index] + (to[index] * sign - from[index]) * fraction))
}

/// The angles of [`sine`] are as fine as the finest yaw.
const _: () = assert!(sine::ANGLES == 1 << 12);
