//! Decimal values in few bits: half floats and angles.

use ambit_proto::decimal::{Decimal, DecimalFormat};
use ambit_proto::message::FrameValue;
use ambit_proto::schema::Codec;

use super::Attribute;

#[cfg(feature = "rules")]
pub(super) mod access;

/// A decimal number of 16 bits: three significant digits, from -65,504 to 65,504. It has no
/// history: clients see the newest. `0.5.into()` is one, rounded to the nearest and limited to the
/// range. Also the type of a field of a command or an event.
///
/// The steps grow with the value: 1/1,024 from 1 to 2, 1 from 1,024 to 2,048, 32 from 32,768 on. A
/// [`Number`](super::Number) counts in equal steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Half(f32);

/// A direction of 8 bits, in radians counter-clockwise from the east: a turn in 256 steps. It has
/// no history: clients see the newest. `0.5.into()` is one, rounded to the nearest. Also the type
/// of a field of a command or an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Angle(f32);

macro_rules! decimal {
    ($name:ident) => {
        impl $name {
            const FORMAT: DecimalFormat = DecimalFormat::$name;

            /// The value nearest to this one; 0 for NaN.
            pub fn new(value: f32) -> Self {
                Self(Self::FORMAT.nearest(value).value())
            }

            pub(crate) fn of_bits(decimal: Decimal) -> Option<Self> {
                (decimal.format() == Self::FORMAT).then(|| Self(decimal.value()))
            }
        }

        impl From<f32> for $name {
            fn from(value: f32) -> Self {
                Self::new(value)
            }
        }

        impl From<$name> for f32 {
            fn from(decimal: $name) -> Self {
                decimal.0
            }
        }

        impl From<$name> for Decimal {
            fn from(decimal: $name) -> Self {
                $name::FORMAT.nearest(decimal.0)
            }
        }

        impl Attribute for $name {
            type Shown<'f> = f32;

            fn codec() -> Codec {
                Codec::Decimal(Self::FORMAT)
            }

            fn shown(value: FrameValue<'_>) -> Option<f32> {
                Self::of_bits(value.as_decimal().copied()?).map(Self::get)
            }

            access_by!();
        }
    };
}

impl Half {
    /// The number.
    pub const fn get(self) -> f32 {
        self.0
    }
}

impl Angle {
    /// The radians, from -pi on, up to pi.
    pub const fn get(self) -> f32 {
        self.0
    }
}

decimal!(Half);
decimal!(Angle);

#[cfg(test)]
mod tests {
    use std::f32::consts::{FRAC_PI_2, PI, TAU};

    use super::*;

    #[test]
    fn a_value_is_rounded_when_it_is_made() {
        assert_eq!((Half::new(0.1).get(), Half::new(1e9).get()), (0.099_975_586, 65_504.0));
        assert_eq!(Half::from(f32::NAN), Half::default());
        assert_eq!(Angle::new(TAU + FRAC_PI_2).get(), FRAC_PI_2);
        assert_eq!((Angle::new(PI).get(), Angle::new(0.01).get()), (-PI, 0.0));
        let shown = FrameValue::Decimal(Half::new(2.5).into());
        assert_eq!((Half::shown(shown), Angle::shown(shown)), (Some(2.5), None));
    }
}
