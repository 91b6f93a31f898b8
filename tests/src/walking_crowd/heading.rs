//! Headings and their unit vectors.
//!
//! An angle is a whole number of 65,536ths of a turn, counted from x towards y; it wraps around by
//! itself. Sine and cosine use only additions and multiplications, so that walkers move the same
//! way, bit for bit, on every machine; the functions of the standard library differ in their last
//! bits between platforms. Error: below 1e-7.

use std::f64::consts::FRAC_PI_2;

use serde::{Deserialize, Serialize};

const QUARTER_TURN: u16 = 1 << 14;
const HALF_TURN: u16 = 1 << 15;

/// A direction on the ground. See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading(pub u16);

impl Heading {
    /// This heading, turned by `by` 65,536ths of a turn.
    pub fn turned(self, by: i16) -> Self {
        Self(self.0.wrapping_add_signed(by))
    }

    /// The heading after a bounce off a wall along y.
    pub fn mirrored_x(self) -> Self {
        Self(HALF_TURN.wrapping_sub(self.0))
    }

    /// The heading after a bounce off a wall along x.
    pub fn mirrored_y(self) -> Self {
        Self(self.0.wrapping_neg())
    }

    /// In radians, from 0 to two pi.
    pub fn to_radians(self) -> f32 {
        f32::from(self.0) / 65_536.0 * std::f32::consts::TAU
    }

    /// The unit vector in this direction: cosine and sine.
    pub fn direction(self) -> (f32, f32) {
        let part = self.0 % QUARTER_TURN;
        let cos = quarter_sine(QUARTER_TURN - part);
        let sin = quarter_sine(part);
        match self.0 / QUARTER_TURN {
            0 => (cos, sin),
            1 => (-sin, cos),
            2 => (-cos, -sin),
            _ => (sin, -cos),
        }
    }
}

/// Coefficients of the Taylor series of the sine up to the 13th power, the highest first: 1/13!,
/// -1/11!, ...
const SERIES: [f64; 7] = [
    1.0 / 6_227_020_800.0,
    -1.0 / 39_916_800.0,
    1.0 / 362_880.0,
    -1.0 / 5_040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
    1.0,
];

/// The sine of an angle from 0 to a quarter of a turn.
fn quarter_sine(part: u16) -> f32 {
    let x = f64::from(part) * (FRAC_PI_2 / 16_384.0);
    let square = x * x;
    let sum = SERIES.into_iter().fold(0.0, |sum, coefficient| sum * square + coefficient);
    (x * sum) as f32
}
