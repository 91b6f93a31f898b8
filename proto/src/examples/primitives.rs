//! Each building block of a [`Coder`] as a format of its own.

use super::{BASE_TIME, Example};
use crate::ids::Alias;
use crate::time::GameTime;
use crate::wire::{self, Coder, Wire, WireError, quantise};

macro_rules! primitive {
    ($name:ident($value:ty), |$it:ident, $coder:ident| $wire:expr, |$rng:ident| $example:expr) => {
        #[derive(Clone, PartialEq, Debug, Default)]
        pub(super) struct $name($value);

        impl Wire for $name {
            fn wire(&mut self, $coder: &mut impl Coder) -> Result<(), WireError> {
                let $it = &mut self.0;
                $wire
            }
        }

        impl Example for $name {
            fn example($rng: &mut fastrand::Rng) -> Self {
                Self($example)
            }
        }
    };
}

/// All widths from 0 to 64.
const WIDTHS: u32 = 65;

primitive!(
    Bits(Vec<u64>),
    |values, coder| {
        values.resize(WIDTHS as usize, 0);
        values.iter_mut().zip(0..).try_for_each(|(value, width)| coder.bits(value, width))
    },
    |rng| (0..WIDTHS).map(|width| rng.u64(..).checked_shr(64 - width).unwrap_or(0)).collect()
);

primitive!(
    Integers((bool, u8, u16, u32, u64)),
    |value, coder| {
        coder.flag(&mut value.0)?;
        coder.u8(&mut value.1)?;
        coder.u16(&mut value.2)?;
        coder.u32(&mut value.3)?;
        coder.u64(&mut value.4)
    },
    |rng| (rng.bool(), rng.u8(..), rng.u16(..), rng.u32(..), rng.u64(..))
);

/// Of one value, of a power of two, of one more than it, and all integers.
const RANGES: [(i64, i64); 5] = [(5, 5), (-8, 7), (0, 8), (-1_000, 10_000), (i64::MIN, i64::MAX)];

primitive!(
    Bounded([i64; 5]),
    |values, coder| values
        .iter_mut()
        .zip(RANGES)
        .try_for_each(|(value, (min, max))| coder.bounded(value, min, max)),
    |rng| RANGES.map(|(min, max)| match rng.u8(..4) {
        0 => min,
        1 => max,
        _ => rng.i64(min..=max),
    })
);

primitive!(Varint(u64), |value, coder| coder.varint(value), |rng| rng.u64(..) >> rng.u8(..64));

primitive!(SignedVarint(i64), |value, coder| coder.signed_varint(value), |rng| rng.i64(..)
    >> rng.u8(..64));

primitive!(
    Quantised([f32; 2]),
    |values, coder| {
        coder.quantised(&mut values[0], -3.0, 7.5, 10.0)?;
        coder.quantised(&mut values[1], 0.0, 1.0, 255.0)
    },
    |rng| [
        quantise(rng.f32() * 12.0 - 4.0, -3.0, 7.5, 10.0),
        quantise(rng.f32() * 1.5, 0.0, 1.0, 255.0)
    ]
);

impl Default for Orientation {
    fn default() -> Self {
        Self([0.0, 0.0, 0.0, 1.0])
    }
}

/// A rotation at the precision of crowds and at that of physics.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Orientation([f32; 4]);

impl Wire for Orientation {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.smallest_three(&mut self.0, 9)
    }
}

impl Example for Orientation {
    fn example(rng: &mut fastrand::Rng) -> Self {
        wire::decode(&wire::encode(&mut Self(unit_quaternion(rng)))).expect("the encoding is valid")
    }
}

primitive!(Time(GameTime), |value, coder| coder.time(value, BASE_TIME), |rng| {
    let millis = if rng.bool() { rng.u64(..200_000) } else { rng.u64(..=GameTime::MAX.millis()) };
    GameTime::from_millis(millis)
});

primitive!(Bytes(Vec<u8>), |value, coder| coder.bytes(value, 200), |rng| {
    let length = rng.usize(..=200);
    (0..length).map(|_| rng.u8(..)).collect()
});

primitive!(Text(String), |value, coder| coder.text(value, 100), |rng| {
    let length = rng.usize(..=25);
    (0..length).map(|_| rng.char(..)).collect()
});

primitive!(List(Vec<Alias>), |values, coder| coder.list(values, 30), |rng| {
    let length = rng.usize(..=30);
    (0..length).map(|_| Alias::example(rng)).collect()
});

primitive!(Maybe(Option<Alias>), |value, coder| coder.option(value), |rng| {
    let there = rng.bool();
    there.then(|| Alias::example(rng))
});
/// With components that are often zero or equal: the corner cases of the format.
pub(crate) fn unit_quaternion(rng: &mut fastrand::Rng) -> [f32; 4] {
    let parts: [f32; 4] = std::array::from_fn(|_| match rng.u8(..4) {
        0 => 0.0,
        1 => 1.0,
        _ => rng.f32() * 2.0 - 1.0,
    });
    let norm = parts.iter().map(|part| part * part).sum::<f32>().sqrt();
    if norm < 0.01 { [0.0, 0.0, 0.0, 1.0] } else { parts.map(|part| part / norm) }
}
