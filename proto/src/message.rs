//! The contents of datagrams, above the link: commands up, state and events down.
//!
//! Values go in and bits come out, or the reverse; nothing is stored here. [`Command`] and
//! [`Notice`] are reliable messages of [`crate::link`], delivered once and in any order.
//! [`Record`]s are the body of a datagram ([`DatagramBody`]), which is never repeated but written
//! again from the newest state. The rest of this page is enough to write a client, together with
//! the datagram of [`crate::link`], the schema in `Joined` (`proto/ambit/game.proto`), and for
//! poses the pages named below. `docs/wire-client.md` has what is not a format: connecting,
//! time-outs, rates, and what a client does after a failover or a gate. `proto/tests/vectors` has
//! bytes of every format with JSON beside them.
//!
//! # Types
//! Bits go from the lowest up, into bytes from the lowest bit up. In the tables, a number is a
//! width in bits, and
//! - `varint` is an unsigned integer in groups of 5 bits, the lowest group first: first 1 bit that
//!   is 1 if another group follows, then 4 bits of the number, from the lowest up. As a number of 5
//!   bits, a group is `(4 bits of the number) << 1 | more`: 5 is 10; 300 is 25, 5, 2
//!   ([`Coder::varint`]). A writer writes no more groups than the number needs; a reader accepts
//!   groups of zero after them, 16 groups in all;
//! - `signed` is a varint of 0, -1, 1, -2, 2, ... (zigzag);
//! - `0..=n` is an integer in as many bits as `n` takes: `0..=8` has 4; one greater than `n` is an
//!   error;
//! - `time` is room time in milliseconds: a `signed` relative to the base time. The base time is 0
//!   in a message; in a body it is the stamp for the points of components, and the horizon for
//!   `at`: the stamp plus the local lag, `Joined.delay_ms`;
//! - `alias` is a slot, `varint` of at most 65,535, and an epoch, 8; the client's identifier for an
//!   object (see below);
//! - `float` is 32 bits of IEEE 754, unchanged;
//! - `position` is a width w less 7, 4; x, w; y, w; on the ground, 1; if not: z, 16. x and y are in
//!   1/256 m from 0, z is in 1/256 m from -64 m, and 0 m on the ground; w is 7 to 22;
//! - `position after` another one is w less 7, 4; x, w; y, w; z as before, 1; if not: z, 16. x and
//!   y are the differences from the other position in 1/256 m, as numbers 0, -1, 1, -2, 2, ...
//!   (zigzag); their sums are modulo 2^22;
//! - `bytes n` is a length, `0..=n`, and as many times 8 bits.
//!
//! A value out of its range is an error: the message, or the whole body, is unreadable. Where a
//! value has several encodings, a writer uses the shortest and a reader accepts each. Reliable
//! messages and bodies are padded with zeros to whole bytes, and nothing may follow the padding.
//!
//! # Client to server
//! The body is empty or an [`Uplink`]:
//!
//! | bits | field | |
//! | --- | --- | --- |
//! | 1 | has report | |
//! | | report | if it has: received, `varint`, and late, `varint` |
//! | 1 | has input | |
//! | 24 | at | if it has: the low bits of the estimated room time in milliseconds |
//! | | keys | if it has: the held controls, one bit each, as a `varint` below 2^32 |
//! | 8 | axis | if it has: for each axis of the schema its value, lowest bit first |
//! | 5 | changes | if it has: how many changes follow |
//! | | change | each, the newest first: before, several, which controls |
//! | | before | `varint`: see below |
//! | 1 | several | whether more than one control went down or came up |
//! | 5 | control | if not: which one |
//! | | controls | if so: which ones, two or more, in the format of the keys |
//! | 1 | has lost track | |
//! | 16 | lost track | if it has: see below |
//!
//! A report counts the events and updates since the join, and how many of them came after their
//! effect time. It leaves about once a second. Inputs leave as often as the client likes, 20 or 60
//! times a second. Each is a sample of the controls that are held, or were pressed since the sample
//! before. A sample that differs from the one before it is a change. The client sends it in each
//! datagram until one that contained it is acknowledged; a datagram with changes asks for an
//! acknowledgement, and one without does not. So the server learns of every change despite losses;
//! it skips changes that are not newer than those it has received. `before` of the newest change is
//! in milliseconds before `at`; of each other change, in milliseconds before the previous one in
//! the list, less 1. All together they are at most 65,535. If more than [`MAX_CHANGES`] are not
//! acknowledged, the client merges the oldest two into one, at the time of the later, with the
//! controls of both. The value of a linear axis is 127 times the number, from -127 to 127 in two's
//! complement (-128 counts as -127); of an angle it is in 256ths of a turn, counter-clockwise from
//! the east. Each input has the axes as they are, and no change has any: the newest values count. A
//! client sends them as often as other samples, and sends until the server has those that it shows.
//! Lost track is the low bits of the whole number (the link has 14 bits of it,
//! counted from 0) of the newest datagram whose poses the client could not read, because it lacks
//! their baseline or they are invalid. The client repeats it in each datagram until a pose section
//! names no acknowledged set, or only datagrams after that one.
//!
//! A reliable message is a [`Command`]: number, 32 (the client's own count, which `Refused` names);
//! kind, 8: index in the schema's commands; fields.
//!
//! Fields are their number, `0..=8`, and each field: its type, 3, and its value:
//!
//! | type | | value |
//! | --- | --- | --- |
//! | 0 | none | nothing |
//! | 1 | object | alias |
//! | 2 | position | position |
//! | 3 | number | signed |
//! | 4 | choice | 8: index in the names of the field; from 255 on 255, then the index in 10 |
//! | 5 | text | bytes 200, UTF-8 |
//! | 6 | decimal | angle, 1; if so: 8, steps of a turn; if not: 16, a half float |
//!
//! They are those of the schema, in its order, one for each; none stands for an optional field
//! without a value. Numbers, choices and texts are within the range that the schema declares.
//!
//! A command takes effect the local lag (`Joined.delay_ms`) after it arrives. Its effects appear in
//! records and events; a game may accept a command that has none. If the game refuses it, `Refused`
//! gives the game's reason. Some commands do not reach the game; in this order:
//! - A message that is not a command, or does not have the fields of its kind: `malformed`, if it
//!   has the 4 bytes of a number. A kind that the schema does not have: `unknown_command`.
//! - Above 64 a second, after a burst of 64: `rate_limited`.
//! - A command that is repeated after a failover and that the last host has executed has no answer.
//! - Of a kind of which only the newest counts (`CommandKind.newest_only`), a command whose number
//!   is not above that of the newest of its kind that has arrived on this connection: `outdated`.
//!   (b is above a if b - a, modulo 2^32, is 1 to 2^31 - 1.) Within 30 s of the player's return
//!   also one that is 1 to 127 behind the newest of its kind that the last host has executed. Other
//!   commands are executed in the order of their arrival, whatever their numbers.
//! - One with a position that is not on the map: `bad_position`. One with an object that the client
//!   does not follow, or never did: `no_such_object`. The first such field decides. Aliases are
//!   those of this connection: a command with an object cannot be repeated on another one.
//!
//! Of malformed and unknown commands, of those above the rate and of outdated ones, one a second of
//! each has an answer, a `Refused` with the code; all are counted. A client whose datagrams or
//! commands cannot be decoded, or whose datagrams repeat old numbers, also gets one `Error` on its
//! stream that says so.
//!
//! A `Refused` that is not delivered within 2 s is given up.
//!
//! # Server to client: messages
//! A reliable message is a [`Notice`]: notice, 1; then
//!
//! | notice | | fields |
//! | --- | --- | --- |
//! | 0 | `Event` | kind, 6: index in the schema's events; far, 1; effect, 15, or 24 if far; fields |
//! | 1 | `Refused` | command, 32: its number; own, 1; if own: reason, 8; if not: code, 16 |
//!
//! A code is an `ErrorCode` of `world.proto`. A reason is the game's own: index in the schema's
//! refusals. The effect is the low bits of room time in milliseconds; of all moments with these
//! bits, the one nearest to now is meant. The fields are those of the schema's event, in its order,
//! each a value as in a command, without its type. An object, and a field that the schema calls
//! optional, begins with a bit that is 1 if a value follows: an object that the client does not
//! follow has no value. An event that names an alias may arrive before the record that introduces
//! it.
//!
//! # Server to client: body
//!
//! | bits | field | |
//! | --- | --- | --- |
//! | 24 | stamp | the low bits of room time in milliseconds, of the tick that wrote this |
//! | | records | each: 1 bit of value 1, then the record |
//! | 1 | end | 0 |
//! | to a whole byte of the datagram | | 0 |
//! | rest | pose section | if more of the datagram follows: see below |
//!
//! Of all moments with the bits of the stamp, the one nearest to now is meant. A record begins with
//! its type, 2:
//!
//! | type | | fields |
//! | --- | --- | --- |
//! | 0 | `Enter` | alias; kind, 6: index in the schema; at, time; own, 1; components |
//! | 1 | `Update` | alias; kind, 6; at, time; components |
//! | 2 | `Leave` | alias; at, time |
//! | 3 | `InputEffects` | number less 1, 3; for each, the newest first: at, effect |
//!
//! `own` marks the player's own avatar and, of what is room-wide, what belongs to the player. (The
//! objects of a kind without path or pose have no place: every client of the room gets them.)
//! Effects say when the client's own inputs take effect: all
//! changes up to `at` that no earlier effect covers take effect at `effect`, which is the horizon
//! of the tick that processed them. For the first, `at` is a `time` relative to the stamp, and
//! `effect` one relative to the horizon; for each other one, both are varints of the milliseconds
//! before the previous one in the list, less 1. Each datagram contains them until one that
//! contained them is acknowledged; of more than 8 the oldest are left out.
//!
//! Components: a mask with 1 bit for each component of the kind, the first one lowest; then those
//! whose bit is set, in order, by their codec:
//!
//! | codec | bits |
//! | --- | --- |
//! | `Path` | points, each with a position and a jump, 1 (below). The last one may be a continuation |
//! | `Gauge` | points, each with a value, `0..=floor(16 max)`, in 1/16; changes, 1; if so: rate |
//! | `Flag` | points, each with 1 bit |
//! | `Number` | `0..=(max - min)`, counted from min |
//! | `Half` | 16: a half float |
//! | `Angle` | 8: steps of a turn |
//! | `Text` | bytes `max_bytes`, UTF-8 |
//! | `Bytes` | bytes `max_bytes` |
//! | `Rows` | `0..=max`: how many follow; each with its fields, as below |
//! | `Counts` | `0..=names`: how many follow; each with index, `0..names`, ascending, and count, `1..=max` |
//! | `Pose` | x, y, z, each signed; turn; for a yaw: speed, signed; flag, 1; motion, if it has |
//!
//! The fields of a row are those of the codec, in its order. One that the schema calls optional
//! begins with a bit that is 1 if a value follows. A number is `0..=(max - min)`, counted from min;
//! a choice is `0..names`, an index; a text is bytes `max_bytes`, UTF-8; a half has 16 bits, an
//! angle 8, and a position is a `position`. A row has no objects.
//!
//! A half float is a binary16 of IEEE 754: of its 16 bits the sign is the highest, then come 5 of
//! exponent and 10 of fraction. One with an exponent of 31 (an infinity, NaN) is invalid. The steps
//! of an angle are 256ths of a turn, counter-clockwise from the east.
//!
//! x, y and z of a pose are in grid units, `per_metre` to a metre, from -(2^27 - 1) to 2^27 - 1. A
//! turn has no bits if the format is `fixed`. For a `yaw` it has the format's bits: steps of a turn
//! about z, from x towards y. If it is `free`, 2 bits give the largest component of a unit
//! quaternion (x, y, z, w), followed by the bits of each of the other three, in that order: value
//! c + k stands for k / (c sqrt 2), where c is 2^(bits - 1) - 1; the largest is positive. The speed
//! is along the heading, in grid units a second, from -32,768 to 32,767.
//!
//! A pose has motion if its format has (`Pose.motion` in the schema) and the flag is 0. It is six
//! signed numbers, from -32,768 to 32,767: the velocity along x, y and z, `linear` to a metre a
//! second; then the angular velocity about x, y and z of the world, `angular` to a radian a second.
//! In such a format the flag says that the object is at rest, so all six are 0; in any other it is
//! the game's own.
//!
//! A rate is `0..=65534`, in 1/64 a second, counted from -32,767/64.
//!
//! Points: their number, `0..=15`; for each its time and the bits of the table. The first time is a
//! `time`; each other one is a varint of the milliseconds since the one before it, less 1. The
//! first point of a path begins with 1 bit. If it is 1, nothing follows: the object is then where
//! it is by what the client knows of its path (rounded to 1/256 m), which the client has
//! acknowledged; so an `Enter` has none such. Otherwise a `position` follows. Each other point has
//! a `position after` that of the point before it, or a `position` if that was not sent. Between
//! two points a path is straight, unless the later one is a jump: then the object stays at the
//! earlier point until that moment. After the last point it stays there. A path is sent whole only
//! to the player whose avatar it moves; to others up to 2 s beyond the horizon. The part on which
//! it is then is continued straight to the last point, which is the end only by chance: an update
//! says where the object turns or stops, at the latest when the horizon gets there. A gauge changes
//! from each point on at the point's rate, within 0 to `max`; a flag keeps its value. Before the
//! first point the first one's value applies.
//!
//! # Server to client: poses
//! For an object of a kind with poses, once its `Enter` has been acknowledged, the server sends the
//! poses of ticks: the newest only, each at most once a tick. A pose is valid from the datagram's
//! horizon on, as is the one in an `Enter`. Between two of them a client interpolates
//! ([`crate::pose::interpolate`]), and after the newest it extrapolates for a while
//! ([`crate::pose::extrapolate`]); where a server knows that this is near enough, it sends nothing.
//! How a client goes on, `Kind.reckoning` says; a client that knows the first order alone is right
//! to follow that, and farther off at times than the tolerance.
//!
//! An object may *jump*: at a tick it is elsewhere, and takes no way there. The poses after a jump
//! say when it was, until the client is known to have one of them. A client shows the object by the
//! poses before the jump until the horizon of its tick, and by those after it from then on.
//!
//! How a section is coded, the client chooses at the join (`Join.coding` in `game.proto`);
//! `Joined.coding` says what it gets. It holds for all sections of the connection.
//!
//! # Poses: `PLAIN`
//! Whole poses. The schema is all that a reader needs:
//!
//! | bits | field | |
//! | --- | --- | --- |
//! | | poses | each: 1 bit of value 1, then the pose |
//! | 1 | end | 0 |
//! | to a whole byte | | 0; nothing follows |
//!
//! A pose is its object's alias; kind, 6; the pose, in the bits of the codec `Pose` above; jumped,
//! 1: whether the object has jumped since the poses that the client is known to have; if so: how
//! many milliseconds before the stamp, 12 (4,095 also stands for more). It says what an `Update` of
//! the first component would. A pose of an alias that the client does not follow is skipped: one
//! that it does not know, that has left, or of an epoch that is not the slot's newest. So is a pose
//! whose datagram has an older stamp than the one that is shown, unless the client interpolates and
//! it fills a gap. Nothing depends on other datagrams: there are no baselines, and nothing to lose
//! track of. A lost pose is not repeated; newer ones follow. The last pose of an object that comes
//! to rest is repeated until it has arrived.
//!
//! `85 80 10 bb 09 17 01 a0 50 0c 00` is a section with one pose: the object of kind 2 of
//! `Schema::example_with_poses` (100 units a metre, a yaw of 8 bits) with slot 1 and epoch 2 is at
//! (5, 6, 0), looks along y (64), and walks at 4 m/s.
//!
//! # Poses: all other codings
//! Most poses are coded relative to a baseline, an earlier pose that the client is known to have.
//! Therefore a client keeps, for each slot, the poses of the last
//! [`crate::pose::HISTORY_DATAGRAMS`] datagrams and the newest older one, with number and stamp of
//! the datagram ([`crate::pose::BaselineHistory`]). It keeps also those of an object that has left,
//! or of the slot's previous object, until they are that old: a `Leave` may overtake a datagram,
//! whose poses of other objects must stay readable.
//!
//! The section is a header, described in [`crate::pose::section`], followed by the bytes of one
//! range coder. Its decoder has a `range` of 32 bits, 2^32 - 1 at first, and a `code`, the first
//! four bytes, the first one highest; after the end it reads zeros. Its operations are
//! - a `symbol` of a table that adds up to 2^15: unit = range >> 15; the symbol is the one whose
//!   part, from `start` and of `size`, holds code / unit; code -= unit start; range = unit size;
//! - a `bit` that is 1 with a probability of p / 65,536: bound = range p >> 16; it is 1 if code <
//!   bound: range = bound; otherwise it is 0: code -= bound, range -= bound;
//! - `uncoded n`, n bits: range >>= n; the value is code / range; code -= range value. (`raw n` of
//!   the shared level is something else: a symbol.)
//!
//! After each of these, while range < 2^24: code = code << 8 | next byte, range <<= 8. Their order
//! and the tables are in [`crate::pose::section`] for the slots, in [`crate::pose::shared`] and
//! [`crate::pose::fine`] for the poses at either level; their constants in
//! [`crate::pose::trained`].
//!
//! A client that lacks a baseline that the section uses stops there. What it has read before is
//! valid; it reports that it has lost track.
//!
//! # Client behaviour
//! - It shows room time as it estimates it (pongs of the link) and reads timelines at that time.
//!   `Enter`, `Leave`, numbers, decimals, texts and events apply when that time reaches `at` or
//!   `effect`; at once if it has passed.
//! - The points of a component replace all earlier information from the first point's time on. A
//!   path may begin at its first change, after the stamp, if the client has acknowledged the path
//!   before: what the client knows holds until then.
//!   Datagrams may overtake each other: for each component the client keeps the stamp of its newest
//!   update, and skips updates with an older stamp.
//! - An alias is a slot and how often it was used, modulo 256. A record with an older epoch (1 to
//!   127 back) than the slot's newest is late, and skipped; an `Enter` with a newer one also
//!   removes the slot's previous object. A `Leave` is final: later records of that alias are
//!   skipped. An `Enter` may arrive more than once; the stamp tells which information in it is new.
//! - An `Update` of an unknown alias is skipped; its kind gives its length.
//! - An `Enter` need not contain all components; the rest follows in updates. Components of the
//!   owner are sent to the owner only, those of the team to the owner and the team.
//!
//! # Example
//! `10 27 00 11 02 01 30 72 11 08 a0 00 0e` is the body of the tick at 10 s, where the local lag is
//! 150 ms, with one record: an object of kind 1 of `Schema::example`, which has only a path, enters
//! with slot 1 and epoch 2; it is at rest at (5, 6, 0) from 10.15 s on, and that is also when it
//! enters.
//!
//! Units: milliseconds, metres, bits. Sources: "Architectures de developpement adaptees aux MMOGs"
//! (Project Deus) for the messages; G. Fiedler, "State Synchronization", for quantising on both
//! ends.

#![warn(missing_docs, reason = "authors of games and clients import it")]

mod body;
mod body_context;
mod field_value;
mod plain_poses;
mod record;
mod typed;
mod uplink;

pub use self::body::{
    BODY_OVERHEAD_BITS, DatagramBody, STAMP_BITS, end_records, low_time_bits, nearest_time,
    read_body, write_poses, write_record, write_stamp,
};
pub use self::body_context::BodyContext;
#[cfg(any(test, feature = "dev-tools"))]
pub(crate) use self::plain_poses::wire_plain_poses;
pub use self::plain_poses::{PlainPose, end_plain_poses, read_plain_poses};
pub use self::record::{
    ComponentSelection, EffectTime, MAX_EFFECTS, Record, RecordHead, RecordWriter,
};
pub use self::typed::{
    FormattedRows, FrameValue, ShownComponents, TypedCommand, TypedEvent, TypedId, TypedKind,
    TypedSound,
};
pub use self::uplink::{
    KeyInput, LatenessReport, MAX_CHANGE_AGE, MAX_CHANGES, Uplink, nearest_datagram_number,
    read_uplink,
};

pub use crate::field_value::FieldValue;
use crate::ids::{Alias, ObjectId};
use crate::schema::{FieldSpec, FieldType, MAX_EVENTS, MAX_FIELDS, Schema};
use crate::time::GameTime;
use crate::wire::{Coder, Reader, WRITE_CANNOT_FAIL, Wire, WireError, Writer};

/// Version of the datagram formats: `Join.version`.
pub const VERSION: u32 = 9;

const NOTICE_BITS: u32 = 1;
const EVENT_BITS: u32 = 6;
const _: () = assert!(MAX_EVENTS <= 1 << EVENT_BITS);
/// Of the milliseconds of an event's time, if it is nearer than a quarter of their range.
const NEAR_BITS: u32 = 15;

/// What a player does, with the client's number for it. Client to server, reliable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// The client's own count.
    pub number: u32,
    /// Index in the schema's commands.
    pub kind: u8,
    /// As the schema declares them.
    pub fields: Vec<FieldValue<Alias>>,
}

/// What a player does, with the objects named as in [`FieldValue`].
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GameCommand<O = ObjectId> {
    /// Index in the schema's commands.
    pub kind: u8,
    /// As the schema declares them.
    pub fields: Vec<FieldValue<O>>,
}

/// A notification for one client. Server to client, reliable.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Something happens at one moment.
    Event {
        /// Index in the schema's events.
        kind: u8,
        /// When it happens.
        effect: GameTime,
        /// As the schema declares them.
        fields: Vec<FieldValue<Alias>>,
    },
    /// A command has no effect.
    Refused {
        /// The command's number.
        command: u32,
        /// Why.
        reason: RefusalReason,
    },
}

/// Why a command has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// A general reason: the number of an `ErrorCode`.
    Code(u16),
    /// The game's own: an index in the schema's refusals.
    Game(u8),
}

impl GameCommand<Alias> {
    /// The command with this number.
    pub fn numbered(self, number: u32) -> Command {
        Command { number, kind: self.kind, fields: self.fields }
    }
}

impl Default for Notice {
    fn default() -> Self {
        Self::Refused { command: 0, reason: RefusalReason::Code(0) }
    }
}

impl Notice {
    /// Whether this has the fields or the reason that `schema` declares. A client skips any other.
    pub fn fits(&self, schema: &Schema) -> bool {
        // A client need not follow the objects of an event.
        let fits = |(value, field): (&FieldValue<Alias>, &FieldSpec)| {
            value.fits(field) || (value, &field.ty) == (&FieldValue::None, &FieldType::Object)
        };
        match self {
            Self::Refused { reason, .. } => match *reason {
                RefusalReason::Code(_) => true,
                RefusalReason::Game(index) => schema.refusal(index).is_some(),
            },
            Self::Event { kind, fields, .. } => schema.event(*kind).is_some_and(|event| {
                fields.len() == event.fields.len() && fields.iter().zip(&event.fields).all(fits)
            }),
        }
    }
}

impl Wire for Command {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.u32(&mut self.number)?;
        coder.u8(&mut self.kind)?;
        coder.list(&mut self.fields, MAX_FIELDS)
    }
}

impl Notice {
    /// The bytes of a reliable message, in a game with this schema.
    ///
    /// # Panics
    /// If it does not [fit](Self::fits).
    pub fn encode(&mut self, schema: &Schema, now: GameTime) -> Vec<u8> {
        let mut out = Vec::new();
        self.wire(schema, now, &mut Writer::new(&mut out)).expect(WRITE_CANNOT_FAIL);
        out
    }

    /// The notice in these bytes, which must contain nothing else. An error also if it does not
    /// [fit](Self::fits).
    pub fn decode(bytes: &[u8], schema: &Schema, now: GameTime) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let mut notice = Self::default();
        notice.wire(schema, now, &mut reader)?;
        reader.finish()?;
        if !notice.fits(schema) {
            return Err(WireError::OutOfRange { what: "notice" });
        }
        Ok(notice)
    }

    /// Room time is `now`, but for some seconds.
    pub(crate) fn wire<C: Coder>(
        &mut self,
        schema: &Schema,
        now: GameTime,
        coder: &mut C,
    ) -> Result<(), WireError> {
        wire_variant(self, coder, NOTICE_BITS, "notice", Self::variant, Self::blank)?;
        match self {
            Self::Event { kind, effect, fields } => {
                let mut index = u64::from(*kind);
                coder.bits(&mut index, EVENT_BITS)?;
                *kind = index as u8;
                wire_time_near(effect, now, coder)?;
                let event = schema.event(*kind);
                let event = event.ok_or(WireError::Unknown { what: "event", value: index })?;
                if C::READS {
                    fields.resize(event.fields.len(), FieldValue::None);
                } else if fields.len() != event.fields.len() {
                    return Err(WireError::OutOfRange { what: "number of fields" });
                }
                let mut all = fields.iter_mut().zip(&event.fields);
                all.try_for_each(|(value, field)| value.wire_as(field, coder))
            }
            Self::Refused { command, reason } => {
                coder.u32(command)?;
                reason.wire(coder)
            }
        }
    }

    const fn variant(&self) -> u64 {
        match self {
            Self::Event { .. } => 0,
            Self::Refused { .. } => 1,
        }
    }

    fn blank(variant: u64) -> Option<Self> {
        Some(match variant {
            0 => Self::Event { kind: 0, effect: GameTime::ZERO, fields: Vec::new() },
            1 => Self::default(),
            _ => return None,
        })
    }
}

impl Wire for RefusalReason {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let variant = |reason: &Self| u64::from(matches!(reason, Self::Game(_)));
        let blank = |variant| Some([Self::Code(0), Self::Game(0)][usize::from(variant == 1)]);
        wire_variant(self, coder, 1, "reason", variant, blank)?;
        match self {
            Self::Code(code) => coder.u16(code),
            Self::Game(index) => coder.u8(index),
        }
    }
}

/// The low bits of a moment's milliseconds: few, if it is near.
fn wire_time_near<C: Coder>(
    time: &mut GameTime,
    now: GameTime,
    coder: &mut C,
) -> Result<(), WireError> {
    let mut is_far = time.millis().abs_diff(now.millis()) >= 1 << (NEAR_BITS - 2);
    coder.flag(&mut is_far)?;
    let bits = if is_far { STAMP_BITS } else { NEAR_BITS };
    let mut low = low_time_bits(*time, bits);
    coder.bits(&mut low, bits)?;
    if C::READS {
        *time = nearest_time(low, bits, now);
    }
    Ok(())
}

/// Codes the number of an enum's variant; a reader continues with a blank value of that variant.
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
        *value = blank(number).ok_or(WireError::Unknown { what, value: number })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::schema::MAX_CHOICES;
    use crate::space::Position;
    use crate::wire::{decode, encode};

    #[test]
    fn a_field_of_a_newer_client_is_named_in_the_error() {
        let mut bytes =
            encode(&mut Command { fields: vec![FieldValue::None], ..Command::default() });
        bytes[5] = 0x71;
        let unknown = WireError::Unknown { what: "type of a field", value: 7 };
        assert_eq!(decode::<Command>(&bytes), Err(unknown));
    }

    #[test]
    fn the_largest_fields_of_a_schema_fit_into_a_reliable_message() {
        let text = |length| FieldType::Text { max_bytes: length };
        let mut schema = Schema::example();
        let types = [200, 200].map(text).into_iter().chain([
            FieldType::NUMBER,
            FieldType::NUMBER,
            FieldType::NUMBER,
            FieldType::Position,
            FieldType::Position,
            FieldType::Position,
        ]);
        let fields: Vec<_> =
            (0..).zip(types).map(|(n, ty): (u8, _)| FieldSpec::new(n.to_string(), ty)).collect();
        schema.events[0].fields.clone_from(&fields);
        schema.presentation.events.clear();
        assert_eq!(schema.check(), Ok(()));
        let values: Vec<_> = fields.iter().map(|field| largest(&field.ty)).collect();
        let command = encode(&mut Command { number: u32::MAX, kind: 63, fields: values.clone() });
        let effect = GameTime::from_millis(1 << 30);
        let event =
            Notice::Event { kind: 0, effect, fields: values }.encode(&schema, GameTime::ZERO);
        assert!(command.len().max(event.len()) <= crate::link::MAX_MESSAGE);
    }

    #[test]
    fn a_notice_fits_when_it_has_what_the_schema_says() {
        let schema = Schema::example();
        let object = || FieldValue::Object(Alias { slot: 1, epoch: 2 });
        let at = || FieldValue::Position(Position::default());
        let fits = |kind, fields: &[FieldValue<Alias>]| {
            Notice::Event { kind, effect: GameTime::ZERO, fields: fields.to_vec() }.fits(&schema)
        };
        let number = || FieldValue::Number(-3);
        assert!(fits(0, &[object(), at(), number()]));
        assert!(fits(0, &[FieldValue::None, at(), number()]));
        assert!(!fits(0, &[object(), FieldValue::None, number()]));
        assert!(!fits(1, &[object(), at(), number()]), "the kind is unknown");
        assert!(!fits(0, &[object(), at()]), "a field is missing");
        assert!(!fits(0, &[at(), object(), number()]), "another order");
        let refused = |reason| Notice::Refused { command: 0, reason }.fits(&schema);
        assert!(refused(RefusalReason::Code(9_999)));
        assert!(refused(RefusalReason::Game(0)));
        assert!(!refused(RefusalReason::Game(1)), "there is one refusal");
    }

    #[test]
    fn an_event_is_at_the_moment_near_now_that_has_its_bits() {
        let schema = Schema::example();
        let now = GameTime::from_millis(7_654_321);
        let lengths = [0, 150, 8_191, 8_192, 100_000, 8_000_000].map(|ahead| {
            let effect = now + Duration::from_millis(ahead);
            let fields = vec![FieldValue::None, FieldValue::Position(Position::default())];
            let fields = [fields, vec![FieldValue::Number(3)]].concat();
            let mut event = Notice::Event { kind: 0, effect, fields };
            let bytes = event.encode(&schema, now);
            // The client's clock is not the server's.
            for later in [0, 3_000] {
                let read = Notice::decode(&bytes, &schema, now + Duration::from_millis(later));
                assert_eq!(read.as_ref(), Ok(&event), "{ahead} ms ahead, {later} ms later");
            }
            bytes.len()
        });
        assert!(lengths[0] < lengths[3], "what is near takes fewer bits: {lengths:?}");
    }

    #[test]
    fn an_event_that_the_schema_does_not_have_is_an_error() {
        let schema = Schema::example();
        let now = GameTime::ZERO;
        let unknown = WireError::Unknown { what: "event", value: 5 };
        assert_eq!(Notice::decode(&[5 << 1, 0, 0, 0], &schema, now), Err(unknown));
        let unknown_reason = [1, 0, 0, 0, 0x82, 3];
        let refused = Notice::decode(&unknown_reason, &schema, now);
        assert!(matches!(refused, Err(WireError::OutOfRange { what: "notice" })), "{refused:?}");
    }

    fn largest(ty: &FieldType) -> FieldValue<Alias> {
        match ty {
            FieldType::Object => FieldValue::Object(Alias { slot: u16::MAX, epoch: u8::MAX }),
            FieldType::Position => FieldValue::Position(Position::default()),
            FieldType::Number { min, .. } => FieldValue::Number(*min),
            FieldType::Choice(_) => FieldValue::Choice(MAX_CHOICES as u16 - 1),
            FieldType::Decimal(format) => FieldValue::Decimal(format.zero()),
            FieldType::Text { max_bytes } => FieldValue::Text("x".repeat(*max_bytes as usize)),
        }
    }
}
