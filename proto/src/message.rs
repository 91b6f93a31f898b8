//! What travels in datagrams, above the link: commands up, state and events down.
//!
//! Values go in and bits come out, or the reverse; nothing is kept here. [`Command`] and [`Notice`]
//! are reliable messages of [`crate::link`], delivered once and in any order; [`Record`]s are the
//! body of a datagram ([`Body`]), never repeated but written anew from the newest state. The rest
//! of this page is enough to write a client from, together with the datagram of [`crate::link`],
//! the schema in `Joined` (`proto/ambit/game.proto`), and for poses the pages that it names.
//!
//! # Words
//! Bits go from the lowest up, into bytes from the lowest bit up. In the tables, a number is a
//! width in bits, and
//! - `varint` is an unsigned integer in groups of 5 bits: 1 bit that says whether another group
//!   follows, then 4 bits of the number, the lowest group first; the last group is 0 only if it is
//!   the first;
//! - `signed` is a varint of 0, -1, 1, -2, 2, ... (zigzag);
//! - `0..=n` is an integer in as many bits as `n` takes: `0..=8` has 4; a greater one than `n` is
//!   an error;
//! - `time` is room time in milliseconds: a `signed` relative to the base. The base is 0 in a
//!   message; in a body it is the stamp for the points of components, and the horizon for `at`: the
//!   stamp and the local lag, `Joined.delay_ms`;
//! - `alias` is a slot, `varint` of at most 65,535, and an epoch, 8; the client's name for an
//!   object (see below);
//! - `float` is 32 bits of IEEE 754, as they are;
//! - `position` is x, 22; y, 22; z, 16: x and y in 1/256 m from 0, z in 1/256 m from -64 m;
//! - `bytes n` is a length, `0..=n`, and as many times 8 bits.
//!
//! Whatever is out of its range is an error: the message, or the whole body, cannot be read.
//! Reliable messages and bodies are padded with zeros to whole bytes, and nothing may stand behind
//! that.
//!
//! # Client to server
//! The body is empty or an [`Uplink`]:
//!
//! | bits | field | |
//! | --- | --- | --- |
//! | 1 | has report | |
//! | | report | if it has: news, `varint`, and how many of them came late, `varint`; both count from the join |
//! | 1 | has input | |
//! | 24 | at | if it has: the low bits of room time in milliseconds, as the client estimates it |
//! | | keys | if it has: which of the 32 controls are held, bit by bit, as a `varint` below 2^32 |
//! | 5 | changes | if it has: how many changes follow |
//! | | change | each, the newest first: before, several, which controls |
//! | | before | `varint`: of the first change, milliseconds before `at`; of each other one, before the change told before it, less 1; all together at most 65,535 |
//! | 1 | several | whether more than one control went down or came up |
//! | 5 | control | if not: which one |
//! | | controls | if so: which ones, as the keys are told |
//! | 1 | has lost track | |
//! | 16 | lost track | if it has: the low bits of the number of the newest datagram whose poses it could not read, for want of a base |
//!
//! A report leaves about once a second. InputSender leave as often as the client likes, 20 or 60
//! times a second: each is a sample of what is held, or was pressed since the sample before. A
//! sample unlike the one before it is a change, and is told in each datagram until one that told it
//! is acknowledged; such a datagram asks for that, and one that tells of no change does not. So the
//! server learns of every change, whatever is lost; it skips what is not newer than what it has
//! heard already. Where more than [`MAX_CHANGES`] are unknown, the oldest two become one, at the
//! time of the later, with the controls of both. That track was lost is said in each datagram until
//! a section names no acked set, or only datagrams after that one.
//!
//! A reliable message is a [`Command`]: number, 32 (the client's own count, which `Refused` names);
//! action, 4; then
//!
//! | action | | fields |
//! | --- | --- | --- |
//! | 0 | `Move` | x, float; y, float: metres |
//! | 1 | `Cast` | spell, 8: index in the schema; has target, 1; if it has: x, float; y, float |
//! | 2 | `Keys` | 32: which of the 32 controls are held, until another command or a change of the inputs says otherwise |
//! | 3 | `Custom` | bytes 200: whatever the game says |
//!
//! A command takes effect the local lag (`Joined.delay_ms`) after it arrives. What it does shows in
//! records and events; if it does nothing, `Refused` says why.
//!
//! # Server to client: messages
//! A reliable message is a [`Notice`]: notice, 4; then
//!
//! | notice | | fields |
//! | --- | --- | --- |
//! | 0 | `Event` | kind, 8: index in the schema's events; effect, time; number of fields, `0..=8`; the fields |
//! | 1 | `Refused` | command, 32: its number; code, 16: an `ErrorCode` of `world.proto` |
//!
//! A field is its type, 2, and its value. Types: 0, an object: 1 bit, whether the client follows
//! it, and if so its alias; 1, a position; 2, a number, signed. They are those of the schema, in
//! its order. An event that names an alias may come before the record that introduces it.
//!
//! # Server to client: body
//!
//! | bits | field | |
//! | --- | --- | --- |
//! | 24 | stamp | the low bits of room time in milliseconds, of the tick that wrote this: of all moments with these bits the one nearest to now |
//! | | records | each: 1 bit of value 1, then the record |
//! | 1 | end | 0 |
//! | to a whole byte of the datagram | | 0 |
//! | rest | pose section | if there is more of the datagram: see below |
//!
//! A record begins with its type, 2:
//!
//! | type | | fields |
//! | --- | --- | --- |
//! | 0 | `ObjectEntered` | alias; kind, 6: index in the schema; at, time; own, 1: this is the player's avatar; components |
//! | 1 | `ObjectUpdated` | alias; kind, 6; at, time; components |
//! | 2 | `Leave` | alias; at, time |
//! | 3 | `EffectReports` | number less 1, 3; for each, the newest first: at, effect |
//!
//! EffectReports say when the client's own inputs take effect: all changes up to `at` that no
//! earlier effect covers, at `effect`, which is the horizon of the tick that took them. Of the
//! first, `at` is a `time` relative to the stamp, and `effect` one relative to the horizon; of each
//! other one, both are varints of the milliseconds before the one told before it, less 1. They are
//! told in each datagram until one that told them is acknowledged; of more than 8 the oldest are
//! left out.
//!
//! Components: a mask with 1 bit for each component of the kind, the first one lowest; then those
//! whose bit is set, in order, by their codec:
//!
//! | codec | bits |
//! | --- | --- |
//! | `Path` | points, each with a position; jump, 1 |
//! | `Gauge` | points, each with a value, `0..=floor(16 max)`, in 1/16; changes, 1; if it does: rate |
//! | `Flag` | points, each with 1 bit |
//! | `Number` | `0..=(max - min)`, counted from min |
//! | `Text` | bytes `max_bytes`, UTF-8 |
//! | `Pose` | x, y and z, each signed, in grid units; the turn; for a yaw: speed, signed, in grid units a second; flag, 1 |
//!
//! A turn is nothing if the format says `fixed`; for a `yaw` its bits: steps of a turn about z,
//! from x towards y; if it is `free`, 2 bits for which component of a unit quaternion (x, y, z, w)
//! is the largest and the bits of each of the other three, in that order: value c + k stands for k
//! / (c sqrt 2), where c is 2^(bits - 1) - 1; the largest is positive.
//!
//! A rate is `0..=65534`, in 1/64 a second, counted from -32,767/64; it is not 0, that is to say
//! 32,767.
//!
//! Points: their number, `0..=15`; for each its time and what the table says. The first time is a
//! `time`; each other one is a varint of the milliseconds since the one before it, less 1. Between
//! two points a path is straight, unless the later one is a jump: then it stays at the earlier
//! point until that moment. Behind the last point it stays there. A gauge goes on from each point
//! at the point's rate, within 0 to `max`; a flag holds. PriorEstimate the first point the first
//! one's value holds.
//!
//! # Server to client: poses
//! What is told of an object of a kind with poses, once its `ObjectEntered` has been acknowledged,
//! are the poses of ticks: the newest only, each at most once a tick. A pose holds from the
//! datagram's horizon on, as that in an `ObjectEntered` does; in between, a client shows what lies
//! between two of them ([`crate::pose::between`]), and beyond the newest for a while what that one
//! foretells ([`crate::pose::estimate`]): where a server knows that this is near enough, it says
//! nothing. Most poses are told relative to an earlier one that the client is known to have.
//! Therefore a client keeps, for each slot, the poses of the last [`crate::pose::KEPT_DATAGRAMS`]
//! datagrams and the newest older one, with number and stamp of the datagram
//! ([`crate::pose::Kept`]); also those of an object that has left, or of the slot's tenant before,
//! until they are that old: a datagram may be overtaken by a `Leave`, and what it says of others is
//! to be read.
//!
//! The section is a header, described in [`crate::pose::section`], and behind it the bytes of one
//! range coder. Its decoder has a `range` of 32 bits, 2^32 - 1 at first, and a `code`, the first
//! four bytes, the first one highest; behind the end there are zeros. It is asked for
//! - a `symbol` of a table that adds up to 2^15: unit = range >> 15; the symbol is that whose part,
//!   from `start` and of `size`, holds code / unit; code -= unit start; range = unit size;
//! - a `bit` that is 1 with a probability of p / 65,536: bound = range p >> 16; it is 1 if code <
//!   bound: range = bound; else it is 0: code -= bound, range -= bound;
//! - `raw n`, n bits as they are: range >>= n; the value is code / range; code -= range value.
//!
//! After each of these, while range < 2^24: code = code << 8 | next byte, range <<= 8. Which of
//! them follow on each other, and the tables: in [`crate::pose::section`] for the slots, in
//! [`crate::pose::shared`] and [`crate::pose::fine`] for the poses at either level.
//!
//! A client that finds no base where one is claimed stops there. What it has read before is right;
//! with the rest it has lost track, and says so.
//!
//! # What a client does with it
//! - It shows room time as it estimates it (pongs of the link) and reads timelines at that time.
//!   `ObjectEntered`, `Leave`, numbers, texts and events apply when that time has come to `at` or
//!   `effect`; at once if it has passed.
//! - The points of a component replace all that was known of it from the first one's time on.
//!   Datagrams may overtake each other: of each component it keeps the stamp that it was last told
//!   with, and skips what comes with an older one.
//! - An alias is a slot and how often it was used, modulo 256. A record with an older epoch (1 to
//!   127 back) than the slot's newest is late, and skipped; an `ObjectEntered` with a newer one
//!   also ends what was there before. A `Leave` is final: whatever comes of that alias after it is
//!   skipped. An `ObjectEntered` may come more than once; the stamp says what is new in it.
//! - An `ObjectUpdated` of an alias that it does not know is skipped; its kind says how long it is.
//! - An `ObjectEntered` need not hold all components; what it lacks follows in updates, and those
//!   of the owner come to the owner only, those of the team to the owner and the team.
//!
//! # Example
//! `10 27 00 11 02 01 30 72 11 00 05 00 80 01 00 00 04` is the body of the tick at 10 s, where the
//! local lag is 150 ms, with one record: an object of kind 1 of [`Schema::example`], which has but
//! a path, enters with slot 1 and epoch 2; it is at rest at (5, 6, 0) from 10.15 s on, and that is
//! also when it enters.
//!
//! Units: milliseconds, metres, bits. PoseSource: reference 003 for the messages, 002 for
//! quantising on both ends.

mod body;
pub(crate) mod example;
mod record;
mod uplink;

pub use self::body::{
    BODY_OVERHEAD_BITS, BodyContext, DatagramBody, STAMP_BITS, end_records, low_time_bits,
    nearest_time, read_body, write_poses, write_record, write_stamp,
};
pub use self::example::{ExampleBody, ExampleRecord};
pub use self::record::{
    ComponentSelection, EffectTime, MAX_EFFECTS, Record, RecordHead, RecordWriter,
};
pub use self::uplink::{
    KeyInput, LatenessReport, MAX_CHANGE_AGE, MAX_CHANGES, Uplink, nearest_datagram_number,
    read_uplink,
};

use crate::ids::Alias;
use crate::schema::{FieldType, MAX_FIELDS, Schema};
use crate::space::Position;
use crate::time::GameTime;
use crate::wire::{Coder, Wire, WireError};

/// Version of all this: `Join.version`.
pub const VERSION: u32 = 3;
/// Bytes of [`Action::Custom`], at most.
pub const MAX_CUSTOM_BYTES: usize = 200;

const ACTION_BITS: u32 = 4;
const NOTICE_BITS: u32 = 4;
const FIELD_BITS: u32 = 2;

/// What a player wants. Floats are as the client sent them, perhaps not finite or off the map: the
/// game validates.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Action {
    /// Walk there.
    Move {
        /// Metres.
        x: f32,
        /// Metres.
        y: f32,
    },
    /// Cast a spell.
    Cast {
        /// Index in the schema's spells.
        spell: u8,
        /// At what point of the ground, in metres.
        at: Option<(f32, f32)>,
    },
    /// Hold these of the 32 controls, and no others.
    Keys(u32),
    /// What the game says, [`MAX_CUSTOM_BYTES`] at most.
    Custom(Vec<u8>),
}

/// An action, and the name that the client gives it. Client to server, reliable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// The client's own count.
    pub number: u32,
    /// What is wanted.
    pub action: Action,
}

/// News for one client. Server to client, reliable.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Something happens at one moment.
    Event {
        /// Index in the schema's events.
        kind: u8,
        /// When.
        effect: GameTime,
        /// As the schema says.
        fields: Vec<EventValue>,
    },
    /// A command does nothing.
    Refused {
        /// Its number.
        command: u32,
        /// Why: an `ErrorCode`.
        code: u16,
    },
}

/// A field of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventValue {
    /// An object, `Unchanged` if the client does not follow it.
    Object(Option<Alias>),
    /// A point in space.
    Position(Position),
    /// A whole number.
    Number(i64),
}

impl Default for Action {
    fn default() -> Self {
        Self::Keys(0)
    }
}

impl Default for Notice {
    fn default() -> Self {
        Self::Refused {
            command: 0,
            code: 0,
        }
    }
}

impl Default for EventValue {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl EventValue {
    /// What it holds.
    pub const fn ty(&self) -> FieldType {
        match self {
            Self::Object(_) => FieldType::Object,
            Self::Position(_) => FieldType::Position,
            Self::Number(_) => FieldType::Number,
        }
    }
}

impl Notice {
    /// Whether this is a refusal, or an event with the fields that `schema` says. A client skips
    /// any other.
    pub fn fits(&self, schema: &Schema) -> bool {
        match self {
            Self::Refused { .. } => true,
            Self::Event { kind, fields, .. } => schema.event(*kind).is_some_and(|event| {
                fields
                    .iter()
                    .map(EventValue::ty)
                    .eq(event.fields.iter().map(|field| field.ty))
            }),
        }
    }
}

impl Wire for Command {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.u32(&mut self.number)?;
        self.action.wire(coder)
    }
}

impl Wire for Action {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        wire_variant(
            self,
            coder,
            ACTION_BITS,
            "action",
            Self::variant,
            Self::blank,
        )?;
        match self {
            Self::Move { x, y } => wire_point(x, y, coder),
            Self::Cast { spell, at } => {
                coder.u8(spell)?;
                wire_target(at, coder)
            }
            Self::Keys(keys) => coder.u32(keys),
            Self::Custom(bytes) => coder.bytes(bytes, MAX_CUSTOM_BYTES),
        }
    }
}

impl Action {
    const fn variant(&self) -> u64 {
        match self {
            Self::Move { .. } => 0,
            Self::Cast { .. } => 1,
            Self::Keys(_) => 2,
            Self::Custom(_) => 3,
        }
    }

    const fn blank(variant: u64) -> Option<Self> {
        Some(match variant {
            0 => Self::Move { x: 0.0, y: 0.0 },
            1 => Self::Cast { spell: 0, at: None },
            2 => Self::Keys(0),
            3 => Self::Custom(Vec::new()),
            _ => return None,
        })
    }
}

impl Wire for Notice {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        wire_variant(
            self,
            coder,
            NOTICE_BITS,
            "notice",
            Self::variant,
            Self::blank,
        )?;
        match self {
            Self::Event {
                kind,
                effect,
                fields,
            } => {
                coder.u8(kind)?;
                coder.time(effect, GameTime::ZERO)?;
                coder.list(fields, MAX_FIELDS)
            }
            Self::Refused { command, code } => {
                coder.u32(command)?;
                coder.u16(code)
            }
        }
    }
}

impl Notice {
    const fn variant(&self) -> u64 {
        match self {
            Self::Event { .. } => 0,
            Self::Refused { .. } => 1,
        }
    }

    const fn blank(variant: u64) -> Option<Self> {
        Some(match variant {
            0 => Self::Event {
                kind: 0,
                effect: GameTime::ZERO,
                fields: Vec::new(),
            },
            1 => Self::Refused {
                command: 0,
                code: 0,
            },
            _ => return None,
        })
    }
}

impl Wire for EventValue {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        wire_variant(
            self,
            coder,
            FIELD_BITS,
            "type of a field",
            Self::variant,
            Self::blank,
        )?;
        match self {
            Self::Object(alias) => coder.option(alias),
            Self::Position(position) => coder.position(position),
            Self::Number(number) => coder.signed_varint(number),
        }
    }
}

impl EventValue {
    const fn variant(&self) -> u64 {
        match self {
            Self::Object(_) => 0,
            Self::Position(_) => 1,
            Self::Number(_) => 2,
        }
    }

    fn blank(variant: u64) -> Option<Self> {
        Some(match variant {
            0 => Self::Object(None),
            1 => Self::Position(Position::default()),
            2 => Self::Number(0),
            _ => return None,
        })
    }
}

/// The number of an enum's variant; a reader goes on with a blank one of that number.
fn wire_variant<T, C: Coder>(
    value: &mut T,
    coder: &mut C,
    bits: u32,
    what: &'static str,
    variant: impl Fn(&T) -> u64,
    blank: impl Fn(u64) -> Option<T>,
) -> Result<(), WireError> {
    let mut number = variant(value);
    coder.bits(&mut number, bits)?;
    if C::READS {
        *value = blank(number).ok_or(WireError::Unknown {
            what,
            value: number,
        })?;
    }
    Ok(())
}

fn wire_target<C: Coder>(target: &mut Option<(f32, f32)>, coder: &mut C) -> Result<(), WireError> {
    let mut there = target.is_some();
    coder.flag(&mut there)?;
    if C::READS {
        *target = there.then_some((0.0, 0.0));
    }
    target
        .as_mut()
        .map_or(Ok(()), |(x, y)| wire_point(x, y, coder))
}

fn wire_point(x: &mut f32, y: &mut f32, coder: &mut impl Coder) -> Result<(), WireError> {
    coder.f32_bits(x)?;
    coder.f32_bits(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{decode, encode};

    #[test]
    fn nan_and_infinity_reach_the_game_bit_for_bit() {
        let (x, y) = (f32::from_bits(0x7fc0_1234), f32::NEG_INFINITY);
        let mut command = Command {
            number: 1,
            action: Action::Move { x, y },
        };
        let Ok(Command {
            action:
                Action::Move {
                    x: read_x,
                    y: read_y,
                },
            ..
        }) = decode(&encode(&mut command))
        else {
            panic!("another action");
        };
        assert_eq!(
            (read_x.to_bits(), read_y.to_bits()),
            (x.to_bits(), y.to_bits())
        );
    }

    #[test]
    fn an_action_of_a_newer_client_is_named_in_the_error() {
        let mut bytes = encode(&mut Command::default());
        bytes[4] = 0x0f;
        let unknown = WireError::Unknown {
            what: "action",
            value: 15,
        };
        assert_eq!(decode::<Command>(&bytes), Err(unknown));
    }

    #[test]
    fn the_longest_custom_action_fits_into_a_reliable_message() {
        let longest = encode(&mut Command {
            number: u32::MAX,
            action: Action::Custom(vec![7; MAX_CUSTOM_BYTES]),
        });
        assert!(longest.len() <= crate::link::MAX_MESSAGE);
    }

    #[test]
    fn the_longest_event_fits_into_a_reliable_message() {
        let fields = vec![EventValue::Number(i64::MIN); MAX_FIELDS];
        let longest = encode(&mut Notice::Event {
            kind: 63,
            effect: GameTime::MAX.whole_millis(),
            fields,
        });
        assert!(longest.len() <= crate::link::MAX_MESSAGE);
    }

    #[test]
    fn an_event_fits_when_it_has_the_fields_that_the_schema_says() {
        let schema = Schema::example();
        let who = EventValue::Object(Some(Alias { slot: 1, epoch: 2 }));
        let at = EventValue::Position(Position::default());
        let fits = |kind, fields: &[EventValue]| {
            Notice::Event {
                kind,
                effect: GameTime::ZERO,
                fields: fields.to_vec(),
            }
            .fits(&schema)
        };
        assert!(fits(0, &[who, at, EventValue::Number(-3)]));
        assert!(fits(
            0,
            &[EventValue::Object(None), at, EventValue::Number(0)]
        ));
        assert!(
            !fits(1, &[who, at, EventValue::Number(0)]),
            "an unknown kind"
        );
        assert!(!fits(0, &[who, at]), "a field less");
        assert!(
            !fits(0, &[at, who, EventValue::Number(0)]),
            "in another order"
        );
        assert!(Notice::default().fits(&schema));
    }
}
