//! A whole number within a range.

use ambit_proto::message::FrameValue;
use ambit_proto::schema::Codec;

use super::{Attribute, Telling};

#[cfg(feature = "rules")]
pub(super) mod access;

/// A whole number from `MIN` to `MAX`, both included. It has no history: clients see the newest.
/// The narrower the range, the fewer bits it takes. `0.into()` is one, limited to the range. Also
/// the type of a field of a command or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> Number<MIN, MAX> {
    /// A number, limited to the range.
    pub const fn new(number: i64) -> Self {
        const { assert!(MIN <= MAX, "the range of a `Number<MIN, MAX>` is empty") };
        Self(if number < MIN {
            MIN
        } else if number > MAX {
            MAX
        } else {
            number
        })
    }

    /// The number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

/// Zero, or the end of the range that is nearest to it.
impl<const MIN: i64, const MAX: i64> Default for Number<MIN, MAX> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<const MIN: i64, const MAX: i64> From<i64> for Number<MIN, MAX> {
    fn from(number: i64) -> Self {
        Self::new(number)
    }
}

impl<const MIN: i64, const MAX: i64> From<Number<MIN, MAX>> for i64 {
    fn from(number: Number<MIN, MAX>) -> Self {
        number.0
    }
}

impl<const MIN: i64, const MAX: i64> Attribute for Number<MIN, MAX> {
    type Shown<'f> = i64;

    fn codec() -> Codec {
        Codec::Number { min: MIN, max: MAX }
    }

    fn shown(value: FrameValue<'_>) -> Option<i64> {
        value.as_number().copied()
    }

    access_by!();
}

impl<const MIN: i64, const MAX: i64> Telling for Number<MIN, MAX> {}
