//! The one list of all formats, random values of each, and the checks that each must pass.
//!
//! Test support: only tests and the feature `dev-tools` compile it. Only tests, `link::examples`
//! and crates with the feature `dev-tools` use it.
//!
//! **To add a format**: implement [`Example`] here, or in `link/examples.rs` for a part of the link
//! (a random valid value from a seeded generator; a format that needs a context, such as a schema,
//! is wrapped in a type that contains one), and add one line to [`formats`]. The tests of `wire` go
//! through the list; each format is checked for
//!
//! 1. round trips: written values read back equal, at any bit offset, and [`Measure`] returns what
//!    the [`Writer`] wrote ([`Format::check_round_trip`]);
//! 2. truncation: cut at any byte, it is an error ([`Format::check_truncation`]);
//! 3. arbitrary bytes: the reader returns, and whatever it accepts can be written and read again
//!    ([`Format::check_bytes`]).
//!
//! The checks panic with the format and the seed.

pub(crate) mod messages;
pub(crate) mod poses;
mod primitives;
mod schemas;
pub mod typescript;

#[cfg(test)]
pub(crate) use primitives::unit_quaternion;

use std::fmt::Debug;

use self::messages::{ExampleAxes, ExampleBody, ExampleNotice, ExamplePlainPoses, ExampleRecord};
use self::poses::{ExampleHeader, ExampleSection};
use crate::ids::{Alias, Seq};
use crate::keymap::Keymap;
use crate::map::{ObstacleShape, StaticMap, StaticObstacle};
use crate::message::{Command, KeyInput, LatenessReport, Uplink};
use crate::presentation::MAX_OBSTACLE_LOOKS;
use crate::space::Position;
use crate::time::GameTime;
use crate::wire::{self, Measure, Reader, Wire, WireError, Writer};

/// The time of the examples. It is not on a whole millisecond and far from both ends.
const BASE_TIME: GameTime = GameTime::from_micros(100_000_567);

/// A format that can generate examples.
pub trait Example: Wire + Default + PartialEq + Debug {
    /// Any valid value that is exact on the wire (on the grid, in whole milliseconds). Extremes
    /// should be likely.
    fn example(rng: &mut fastrand::Rng) -> Self;
}

/// Every format of this crate.
pub fn formats() -> Vec<Format> {
    vec![
        // wire: the building blocks of formats.
        Format::for_type::<primitives::Bits>("wire.bits"),
        Format::for_type::<primitives::Integers>("wire.integers"),
        Format::for_type::<primitives::Bounded>("wire.bounded"),
        Format::for_type::<primitives::Varint>("wire.varint"),
        Format::for_type::<primitives::SignedVarint>("wire.signed_varint"),
        Format::for_type::<primitives::Quantised>("wire.quantised"),
        Format::for_type::<primitives::Orientation>("wire.smallest_three"),
        Format::for_type::<primitives::Time>("wire.time"),
        Format::for_type::<primitives::Bytes>("wire.bytes"),
        Format::for_type::<primitives::Text>("wire.text"),
        Format::for_type::<primitives::List>("wire.list"),
        Format::for_type::<primitives::Maybe>("wire.option"),
        // ids, space, keymap
        Format::for_type::<Alias>("ids.alias"),
        Format::for_type::<Seq>("ids.seq"),
        Format::for_type::<Position>("space.position"),
        Format::for_type::<Keymap>("keymap.keymap"),
        // message
        Format::for_type::<Command>("message.command"),
        Format::for_type::<ExampleNotice>("message.notice"),
        Format::for_type::<LatenessReport>("message.report"),
        Format::for_type::<KeyInput>("message.input"),
        Format::for_type::<Uplink>("message.uplink"),
        Format::for_type::<ExampleAxes>("message.uplink_axes"),
        Format::for_type::<ExampleRecord>("message.record"),
        Format::for_type::<ExampleBody>("message.body"),
        Format::for_type::<ExamplePlainPoses>("message.plain_poses"),
        // pose
        Format::for_type::<ExampleHeader>("pose.section_header"),
        Format::for_type::<ExampleSection<false>>("pose.section_shared"),
        Format::for_type::<ExampleSection<true>>("pose.section_fine"),
        // map
        Format::for_type::<StaticMap>("map.static_map"),
        // link
        Format::for_type::<crate::link::DatagramHeader>("link.header"),
        Format::for_type::<crate::link::Messages>("link.messages"),
        Format::for_type::<crate::link::Slice>("link.slice"),
        Format::for_type::<crate::link::ReceivedSet>("link.received_set"),
    ]
}

/// One entry of the list: a type that implements [`Example`], with the type erased.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// `module.format`, unique.
    pub name: &'static str,
    encode_example: fn(u64) -> Vec<u8>,
    check_round_trip: fn(&'static str, u64),
    reencode: fn(&[u8]) -> Result<Vec<u8>, WireError>,
}

impl Format {
    /// The entry of `T`.
    pub const fn for_type<T: Example>(name: &'static str) -> Self {
        Self {
            name,
            encode_example: |seed| wire::encode(&mut example::<T>(seed)),
            check_round_trip: check_round_trip::<T>,
            reencode: |bytes| {
                let mut value = T::default();
                value.wire(&mut Reader::new(bytes))?;
                Ok(wire::encode(&mut value))
            },
        }
    }

    /// The bytes of a random valid value.
    pub fn encode_example(&self, seed: u64) -> Vec<u8> {
        (self.encode_example)(seed)
    }

    /// Reads a value from the beginning of `bytes`, and returns its encoding.
    pub fn reencode(&self, bytes: &[u8]) -> Result<Vec<u8>, WireError> {
        (self.reencode)(bytes)
    }

    /// Writes a random valid value and reads it again.
    pub fn check_round_trip(&self, seed: u64) {
        (self.check_round_trip)(self.name, seed);
    }

    /// Cuts a random valid value at every byte.
    pub fn check_truncation(&self, seed: u64) {
        let whole = self.encode_example(seed);
        for length in 0..whole.len() {
            let result = self.reencode(&whole[..length]);
            assert!(
                result.is_err(),
                "{}, seed {seed}: accepted {length} of {} bytes",
                self.name,
                whole.len()
            );
        }
    }

    /// Reads arbitrary bytes; an accepted value must be one that we could have written. Returns
    /// whether a value was accepted.
    pub fn check_bytes(&self, bytes: &[u8]) -> bool {
        let Ok(encoded) = self.reencode(bytes) else {
            return false;
        };
        let again = self.reencode(&encoded);
        assert_eq!(again.as_ref(), Ok(&encoded), "{}: read from {bytes:?}", self.name);
        true
    }
}

fn example<T: Example>(seed: u64) -> T {
    T::example(&mut fastrand::Rng::with_seed(seed))
}

fn check_round_trip<T: Example>(name: &'static str, seed: u64) {
    let mut value = example::<T>(seed);
    let offset = (seed % 67) as usize;
    let mut measure = Measure::new();
    value.wire(&mut measure).expect("measuring cannot fail");

    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    writer.append(&[0xff; 9], offset);
    value.wire(&mut writer).expect("writing cannot fail");
    assert_eq!(
        writer.bits_written() - offset,
        measure.bits(),
        "{name}, seed {seed}: measured, written"
    );
    writer.finish();

    let mut reader = Reader::new(&bytes);
    reader.skip(offset).expect("the encoding is valid");
    let mut read = T::default();
    read.wire(&mut reader)
        .unwrap_or_else(|error| panic!("{name}, seed {seed}: {error} in {value:?}"));
    assert_eq!(read, value, "{name}, seed {seed}");
    assert_eq!(reader.position() - offset, measure.bits(), "{name}, seed {seed}: read, written");
    assert_eq!(reader.finish(), Ok(()), "{name}, seed {seed}");
}

impl Example for Alias {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self { slot: rng.u16(..) >> rng.u8(..16), epoch: rng.u8(..) }
    }
}

impl Example for Seq {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self(rng.u16(..))
    }
}

impl Example for Keymap {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self(rng.u32(..))
    }
}

impl Example for Position {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let metres = |rng: &mut fastrand::Rng| (rng.f32() - 0.2) * 20_000.0;
        Self::new(metres(rng), metres(rng), (rng.f32() - 0.2) * 300.0).quantised()
    }
}

impl Example for StaticMap {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let obstacles = (0..rng.usize(..20)).map(|_| {
            let half = [rng.f32() * 300.0, rng.f32(), rng.f32() * 2.0];
            let shape = match rng.u8(..3) {
                0 => ObstacleShape::Box { half, turn: 0 },
                1 => ObstacleShape::Box { half, turn: rng.u8(..) },
                _ => ObstacleShape::Cylinder { radius: half[0], half_height: half[2] },
            };
            let look = rng.bool().then(|| rng.u8(..MAX_OBSTACLE_LOOKS as u8));
            StaticObstacle { centre: Position::example(rng), shape, look }.quantised()
        });
        Self { obstacles: obstacles.collect() }
    }
}
