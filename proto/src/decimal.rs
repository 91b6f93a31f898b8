//! Decimal values in few bits: half floats of 16 bits, and angles of 8.
//!
//! A format and a value go in, the nearest value of that format comes out, and its bits.
//!
//! A half is a binary16 of IEEE 754: a sign, 5 bits of exponent, 10 of fraction. So it has three
//! significant decimal digits, up to [`MAX_HALF_VALUE`]. Infinities and NaN are none: a reader
//! refuses them. An angle is a turn in 256 steps, as that of the [axes](crate::axes) is.
//!
//! Rounding is to the nearest value, of two that are equally near to the even one. It uses the bits
//! of the float and exact operations alone, so it is the same on every machine.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use std::fmt;

use crate::axes::AxisKind;
use crate::wire::{Coder, WireError};

/// The largest half; the least one is its negative.
pub const MAX_HALF_VALUE: f32 = 65_504.0;

/// The smallest half with a full fraction: 2^-14. Below it the steps stay the same.
const MIN_NORMAL: f32 = 1.0 / 16_384.0;
/// Steps to 1 of the halves below [`MIN_NORMAL`].
const STEPS_PER_UNIT: f32 = 16_777_216.0;
/// Of an exponent, from the float to the half.
const EXPONENT_OFFSET: u32 = 127 - 15;
/// Bits of the fraction that a float has and a half has not.
const CUT_BITS: u32 = 13;
const SIGN: u16 = 0x8000;
const EXPONENT: u16 = 0x7c00;

/// How a decimal value is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecimalFormat {
    /// A half float, from -65,504 to 65,504: 16 bits.
    Half,
    /// An angle in radians, of which only the direction counts: 8 bits.
    Angle,
}

/// A decimal value: its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Decimal {
    /// Of [`DecimalFormat::Half`].
    Half(u16),
    /// Of [`DecimalFormat::Angle`]: steps counter-clockwise from the east.
    Angle(u8),
}

impl DecimalFormat {
    /// Bits of a value on the wire.
    pub const fn bits(self) -> usize {
        match self {
            Self::Half => 16,
            Self::Angle => 8,
        }
    }

    /// Zero.
    pub const fn zero(self) -> Decimal {
        match self {
            Self::Half => Decimal::Half(0),
            Self::Angle => Decimal::Angle(0),
        }
    }

    /// The nearest value. A half ends at [`MAX_HALF_VALUE`], an angle wraps around; what is not a
    /// number counts as 0, and so does an infinite angle.
    pub fn nearest(self, value: f32) -> Decimal {
        match self {
            Self::Half => Decimal::Half(half_of(value)),
            Self::Angle => Decimal::Angle(AxisKind::Angle.step_of(value).cast_unsigned()),
        }
    }

    /// The nearest value; `None` if this one is not finite or beyond the range.
    pub fn within(self, value: f32) -> Option<Decimal> {
        let is_within = value.is_finite() && (self == Self::Angle || value.abs() <= MAX_HALF_VALUE);
        is_within.then(|| self.nearest(value))
    }
}

impl Decimal {
    /// How it is encoded.
    pub const fn format(self) -> DecimalFormat {
        match self {
            Self::Half(_) => DecimalFormat::Half,
            Self::Angle(_) => DecimalFormat::Angle,
        }
    }

    /// The value; of an angle the radians, from -pi on, up to pi.
    pub fn value(self) -> f32 {
        match self {
            Self::Half(bits) => value_of_half(bits),
            Self::Angle(steps) => AxisKind::Angle.value_of(steps.cast_signed()),
        }
    }

    /// The value, with no more digits than tell it from its neighbours: five, of an angle three
    /// behind the point.
    pub fn rounded(self) -> f64 {
        match self {
            Self::Half(_) => format!("{:.4e}", self.value()).parse().expect("a number"),
            Self::Angle(_) => (f64::from(self.value()) * 1_000.0).round() / 1_000.0,
        }
    }

    /// Whether it has a value: a half may have the bits of an infinity or of NaN.
    pub const fn is_finite(self) -> bool {
        match self {
            Self::Half(bits) => bits & EXPONENT != EXPONENT,
            Self::Angle(_) => true,
        }
    }

    /// Reads, writes or measures a value of either format. A bit in front says which.
    pub(crate) fn wire_with_format(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let mut is_angle = self.format() == DecimalFormat::Angle;
        coder.flag(&mut is_angle)?;
        let format = if is_angle { DecimalFormat::Angle } else { DecimalFormat::Half };
        if format != self.format() {
            *self = format.zero();
        }
        self.wire(coder)
    }

    /// Reads, writes or measures a value of the same format.
    ///
    /// # Errors
    /// If the bits are those of an infinity or of NaN.
    pub(crate) fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        match self {
            Self::Half(bits) => coder.u16(bits)?,
            Self::Angle(steps) => coder.u8(steps)?,
        }
        if self.is_finite() { Ok(()) } else { Err(WireError::OutOfRange { what: "half float" }) }
    }
}

/// For people: a half as a number, an angle in whole degrees, `-90°`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Half(_) => write!(f, "{}", self.rounded()),
            Self::Angle(_) => write!(f, "{:.0}°", self.value().to_degrees()),
        }
    }
}

fn half_of(value: f32) -> u16 {
    if value.is_nan() {
        return 0;
    }
    let sign = if value.is_sign_negative() { SIGN } else { 0 };
    let magnitude = value.abs().min(MAX_HALF_VALUE);
    let bits = if magnitude < MIN_NORMAL {
        (magnitude * STEPS_PER_UNIT).round_ties_even() as u16
    } else {
        let bits = magnitude.to_bits() - (EXPONENT_OFFSET << 23);
        // Half a step less the least bit, and that bit again if the result would be odd.
        let is_odd = bits >> CUT_BITS & 1;
        ((bits + (1 << (CUT_BITS - 1)) - 1 + is_odd) >> CUT_BITS) as u16
    };
    sign | bits
}

fn value_of_half(bits: u16) -> f32 {
    let magnitude = bits & !SIGN;
    let value = if magnitude & EXPONENT == 0 {
        f32::from(magnitude) / STEPS_PER_UNIT
    } else {
        f32::from_bits((u32::from(magnitude) << CUT_BITS) + (EXPONENT_OFFSET << 23))
    };
    if bits & SIGN == 0 { value } else { -value }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{FRAC_PI_2, PI, TAU};

    use super::*;
    use crate::wire::Reader;

    const INFINITY: u16 = EXPONENT;

    fn halves() -> impl Iterator<Item = u16> {
        (0..=u16::MAX).filter(|&bits| Decimal::Half(bits).is_finite())
    }

    fn half(value: f32) -> f32 {
        DecimalFormat::Half.nearest(value).value()
    }

    #[test]
    fn each_half_has_the_value_of_the_standard_and_its_own_bits() {
        for bits in halves() {
            let exponent = i32::from(bits >> 10 & 31);
            let fraction = f64::from(bits & 0x3ff);
            let magnitude = if exponent == 0 {
                fraction / 1_024.0 * 2_f64.powi(-14)
            } else {
                (1.0 + fraction / 1_024.0) * 2_f64.powi(exponent - 15)
            };
            let expected = if bits & SIGN == 0 { magnitude } else { -magnitude };
            let value = Decimal::Half(bits).value();
            assert_eq!(f64::from(value), expected, "{bits:#x}");
            assert_eq!(value.is_sign_negative(), bits & SIGN != 0);
            assert_eq!(DecimalFormat::Half.nearest(value), Decimal::Half(bits));
        }
        assert_eq!(halves().count(), 65_536 - 2 * 1_024);
    }

    #[test]
    fn halves_are_ordered_and_what_is_between_two_goes_to_the_nearer() {
        for low in 0..INFINITY - 1 {
            let high = low + 1;
            let [below, above] = [low, high].map(|bits| Decimal::Half(bits).value());
            assert!(below < above, "{low:#x}");
            // Exact: a float has 13 more bits of fraction.
            let middle = f32::midpoint(below, above);
            let even = if low % 2 == 0 { low } else { high };
            let cases = [(middle.next_down(), low), (middle, even), (middle.next_up(), high)];
            for (value, expected) in cases {
                let negative = DecimalFormat::Half.nearest(-value);
                assert_eq!(DecimalFormat::Half.nearest(value), Decimal::Half(expected), "{value}");
                assert_eq!(negative, Decimal::Half(expected | SIGN), "-{value}");
            }
        }
    }

    #[test]
    fn a_half_ends_at_its_range_and_nan_is_zero() {
        for large in [MAX_HALF_VALUE, 65_519.0, 65_520.0, 1e9, f32::MAX, f32::INFINITY] {
            assert_eq!((half(large), half(-large)), (MAX_HALF_VALUE, -MAX_HALF_VALUE));
        }
        assert_eq!(half(f32::NAN).to_bits(), 0);
        assert_eq!((half(0.1), half(1e-9), half(1_000.3)), (0.099_975_586, 0.0, 1_000.5));
        let within = |value| DecimalFormat::Half.within(value);
        assert_eq!(within(-1.5), Some(DecimalFormat::Half.nearest(-1.5)));
        for beyond in [65_505.0, f32::NEG_INFINITY, f32::NAN] {
            assert_eq!(within(beyond), None);
        }
    }

    #[test]
    fn a_reader_refuses_infinities_and_nan() {
        let read = |bits: u16| {
            let mut half = DecimalFormat::Half.zero();
            half.wire(&mut Reader::new(&bits.to_le_bytes())).map(|()| half)
        };
        for bits in [INFINITY, INFINITY | SIGN, INFINITY + 1, u16::MAX] {
            assert_eq!(read(bits), Err(WireError::OutOfRange { what: "half float" }), "{bits:#x}");
        }
        assert_eq!(read(INFINITY - 1), Ok(DecimalFormat::Half.nearest(MAX_HALF_VALUE)));
    }

    #[test]
    fn an_angle_wraps_around_and_each_step_keeps_its_bits() {
        for steps in 0..=u8::MAX {
            let angle = Decimal::Angle(steps);
            for turns in -2..=2 {
                let value = angle.value() + TAU * turns as f32;
                assert_eq!(DecimalFormat::Angle.nearest(value), angle, "{steps}");
            }
        }
        let read = |value| DecimalFormat::Angle.nearest(value).value();
        assert_eq!((read(FRAC_PI_2), read(TAU), read(PI)), (FRAC_PI_2, 0.0, -PI));
        assert_eq!((read(f32::NAN), read(f32::INFINITY)), (0.0, 0.0));
        assert_eq!(DecimalFormat::Angle.within(f32::INFINITY), None);
    }

    #[test]
    fn a_shown_value_leads_back_to_the_same_bits() {
        for bits in halves() {
            let half = Decimal::Half(bits);
            assert_eq!(half.format().nearest(half.rounded() as f32), half);
        }
        for steps in 0..=u8::MAX {
            let angle = Decimal::Angle(steps);
            assert_eq!(angle.format().nearest(angle.rounded() as f32), angle);
            let text = angle.to_string();
            let degrees: f32 = text.trim_end_matches('°').parse().expect("degrees");
            assert_eq!(angle.format().nearest(degrees.to_radians()), angle, "{text}");
        }
        let shown = |format: DecimalFormat, value| format.nearest(value).to_string();
        assert_eq!(shown(DecimalFormat::Half, 0.1), "0.099976");
        assert_eq!(shown(DecimalFormat::Angle, -FRAC_PI_2), "-90°");
    }
}
