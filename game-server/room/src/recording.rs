//! A recording of a room: all that went in, so that the same room can run again, bit by bit.
//!
//! A recording is a snapshot and a journal, as the WorldServer keeps them for failover
//! ([`crate::journal`]); the snapshot is missing if the room began with the recording. The journal
//! holds what the host gave the room, datagrams included, so that a replay runs the network too. (A
//! journal for failover holds the decoded commands alone.) The shells write the bytes to a file.
//! After a panic the file holds the tick that caused it: an entry is recorded before the room is
//! ticked.
//!
//! Format: the magic `AMBITREC`, version (32 bits big-endian), then entries, each a 32-bit
//! big-endian length and that many bytes of postcard. The first entry is the [`Header`] and the
//! snapshot, each other one a tick: the room's time, its inputs, and a digest of the room's state
//! before it ([`crate::digest`]), by which a replay is compared; the first tick has none. Cost: a
//! copy of the inputs.

use std::time::Duration;

use crate::digest::{Comparison, TickDigest};
use crate::journal::{JournalEntry, RoomSnapshot, SavedRoom};
pub use crate::logic::registry::Header;
use crate::logic::registry::Registry;
use crate::room::{Room, RoomInput, RoomOutput};
use crate::saved::{self, BadState};
use crate::tick_schedule::TickSchedule;
use ambit_proto::time::GameTime;

const MAGIC: &[u8; 8] = b"AMBITREC";
/// Datagrams, inputs and snapshots are recorded as they are, so a new shape of these
/// (`ambit_proto::message::VERSION`, [`RoomInput`], [`Room::save`]) is a new version here.
pub const VERSION: u32 = 19;

/// Why the bytes of a recording can't be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRecording {
    /// Another kind of file.
    #[error("not a recording of a room")]
    Foreign,
    /// Made by another build.
    #[error(
        "a recording of version {0}, and this build runs those of version {VERSION}: use the build \
         that made it"
    )]
    Version(u32),
    /// The process died while it wrote an entry.
    #[error("the recording ends within an entry")]
    Truncated,
    /// An entry does not decode.
    #[error("an entry of the recording can't be read: {0}")]
    Entry(#[from] BadState),
    /// The room can't be made by this build.
    #[error("the recorded room can't be made: {0}")]
    Room(String),
}

/// A recording, entry by entry.
#[derive(Debug)]
pub struct Recording<'a> {
    /// How the room was made.
    pub header: Header,
    snapshot: Option<RoomSnapshot>,
    rest: &'a [u8],
}

/// A tick, as what follows the first entry.
#[derive(Debug, PartialEq)]
pub struct RecordedTick {
    /// The room's time.
    pub at: GameTime,
    pub inputs: Vec<RoomInput>,
    /// Of the room before this tick; `None` if that is not known.
    pub before: Option<TickDigest>,
}

/// A room that has run again.
pub struct Replayed {
    pub room: Room,
    /// How it compares with what was played.
    pub comparison: Comparison,
}

/// Appends the beginning of a recording to `out`. `snapshot` is the room before the first tick that
/// is recorded, unless that is its first one.
pub fn begin(header: &Header, snapshot: Option<&RoomSnapshot>, out: &mut Vec<u8>) {
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_be_bytes());
    let snapshot = snapshot.map(|snapshot| (snapshot.at, &snapshot.state));
    put_entry(&saved::section(&(header, snapshot)), out);
}

/// Appends one tick to `out`, with a digest of the room before it.
pub fn append(entry: &JournalEntry, before: Option<&TickDigest>, out: &mut Vec<u8>) {
    put_entry(&saved::section(&(entry.at, &entry.inputs, before)), out);
}

/// A whole recording of what is known of a room.
pub fn recording_of(header: &Header, saved: &SavedRoom) -> Vec<u8> {
    let mut out = Vec::new();
    begin(header, Some(&saved.snapshot), &mut out);
    for entry in &saved.journal {
        append(entry, None, &mut out);
    }
    out
}

impl<'a> Recording<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, BadRecording> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BadRecording::Foreign)?;
        let (version, rest) = rest.split_first_chunk().ok_or(BadRecording::Truncated)?;
        let version = u32::from_be_bytes(*version);
        if version != VERSION {
            return Err(BadRecording::Version(version));
        }
        let (entry, rest) = split_entry(rest)?.ok_or(BadRecording::Truncated)?;
        let (header, snapshot): (Header, Option<(GameTime, Vec<u8>)>) = saved::only_section(entry)?;
        Ok(Recording {
            header,
            snapshot: snapshot.map(|(at, state)| RoomSnapshot { at, state }),
            rest,
        })
    }

    /// The room before the first tick that was recorded.
    pub fn room(&self, registry: &Registry) -> Result<Room, BadRecording> {
        let Some(snapshot) = &self.snapshot else {
            return room(&self.header, registry);
        };
        let (config, game) = registry
            .prepare(&self.header)
            .map_err(|error| BadRecording::Room(error.to_string()))?;
        Ok(Room::restore(config, game, &snapshot.state)?)
    }

    /// The next tick; `None` at the end.
    pub fn next_tick(&mut self) -> Result<Option<RecordedTick>, BadRecording> {
        let Some((entry, rest)) = split_entry(self.rest)? else {
            return Ok(None);
        };
        self.rest = rest;
        let (at, inputs, before) = saved::only_section(entry)?;
        let inputs = JournalEntry { at, inputs }.inputs()?;
        Ok(Some(RecordedTick { at, inputs, before }))
    }
}

/// Runs a recording through a new room, and compares it with what was played; `each` sees what
/// comes out of every tick.
pub fn replay(
    bytes: &[u8],
    registry: &Registry,
    mut each: impl FnMut(GameTime, &[RoomOutput]),
) -> Result<Replayed, BadRecording> {
    let mut recording = Recording::read(bytes)?;
    let mut comparison = Comparison::default();
    let mut room = recording.room(registry)?;
    let mut outputs = Vec::new();
    while let Some(RecordedTick { at, mut inputs, before }) = recording.next_tick()? {
        if let Some(played) = before {
            comparison.note(&played, &room);
        }
        outputs.clear();
        room.tick(at, &mut inputs, &mut outputs);
        each(at, &outputs);
    }
    Ok(Replayed { room, comparison })
}

/// Runs a room on after its recording has ended: all players have lost their connections.
pub fn run_without_players(room: &mut Room, time: Duration) {
    let last = room.last_tick().unwrap_or_default();
    room.finish_replay(last);
    let mut schedule = TickSchedule::after(room.config().tick_hz, last);
    while schedule.next_deadline() <= last + time {
        room.tick(schedule.next_deadline(), &mut Vec::new(), &mut Vec::new());
        schedule.skip();
    }
}

/// The room that a header describes.
pub fn room(header: &Header, registry: &Registry) -> Result<Room, BadRecording> {
    registry.create_room(header).map_err(|error| BadRecording::Room(error.to_string()))
}

fn put_entry(entry: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(entry.len()).expect("an entry is shorter than 4 GiB");
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(entry);
}

/// An entry, and what follows it.
type SplitEntry<'a> = (&'a [u8], &'a [u8]);

/// The next entry; `None` at the end.
fn split_entry(bytes: &[u8]) -> Result<Option<SplitEntry<'_>>, BadRecording> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (length, rest) = bytes.split_first_chunk().ok_or(BadRecording::Truncated)?;
    let length = u32::from_be_bytes(*length) as usize;
    rest.split_at_checked(length).ok_or(BadRecording::Truncated).map(Some)
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
    use ambit_proto::message::FieldValue;
    use ambit_proto::pose::PoseCoding;
    use ambit_proto::space::Position;
    use ambit_proto::standing::Standing;

    use super::*;
    use crate::logic::game::{GameCommand, Left};
    use crate::room::{TransferArrival, TransferId};

    #[test]
    fn a_recording_reads_back_its_header_and_ticks() {
        let bytes = recording();
        let mut recording = Recording::read(&bytes).expect("a recording");
        assert_eq!(recording.header, header());
        let tick =
            |ms, inputs| RecordedTick { at: GameTime::from_millis(ms), inputs, before: None };
        assert_eq!(recording.next_tick(), Ok(Some(tick(50, inputs()))));
        assert_eq!(recording.next_tick(), Ok(Some(tick(100, Vec::new()))));
        assert_eq!(recording.next_tick(), Ok(None));
    }

    #[test]
    fn a_truncated_recording_is_read_up_to_its_last_whole_tick() {
        let bytes = recording();
        for length in 0..bytes.len() {
            let Ok(mut recording) = Recording::read(&bytes[..length]) else {
                continue;
            };
            let mut ticks = 0;
            let end = loop {
                match recording.next_tick() {
                    Ok(Some(_)) => ticks += 1,
                    end => break end,
                }
            };
            assert!(ticks < 2, "{length} of {} bytes", bytes.len());
            assert!(matches!(end, Ok(None) | Err(BadRecording::Truncated)), "{length}: {end:?}");
        }
    }

    #[test]
    fn a_recording_of_another_version_is_refused_with_both_numbers() {
        let mut bytes = recording();
        bytes[MAGIC.len() + 3] = 1;
        let refused = Recording::read(&bytes).expect_err("it is of another version");
        assert_eq!(refused, BadRecording::Version(1));
        assert!(
            refused
                .to_string()
                .starts_with("a recording of version 1, and this build runs those of version 19")
        );
        bytes[0] = b'B';
        assert_eq!(Recording::read(&bytes).err(), Some(BadRecording::Foreign));
    }

    fn header() -> Header {
        let parameters = [("size".to_owned(), "80x80".to_owned())].into();
        Header { game: "field".to_owned(), room: 3, seed: 4, capacity: 5, grace_ms: 6, parameters }
    }

    fn inputs() -> Vec<RoomInput> {
        let client = ClientId(1);
        let player = PlayerId(2);
        let at = GameTime::from_micros(7);
        vec![
            RoomInput::Join {
                account: None,
                client,
                player,
                name: "ann".to_owned(),
                coding: PoseCoding::Plain,
            },
            RoomInput::Datagram { client, at, bytes: vec![1, 2, 3].into() },
            RoomInput::Rename { player, name: "bob".to_owned() },
            RoomInput::Command {
                player,
                number: 8,
                command: GameCommand {
                    kind: 1,
                    fields: vec![FieldValue::Object(ObjectId(4)), FieldValue::None],
                },
            },
            RoomInput::ReleaseForTransfer { player, transfer: TransferId(9) },
            RoomInput::RefuseTransfer { player },
            RoomInput::AdmitTransfer(TransferArrival {
                player,
                transfer: TransferId(10),
                account: None,
                standing: Standing::default(),
                name: "bob".to_owned(),
                at: Position::new(1.5, -0.0, 2.0),
                carried: vec![4],
            }),
            RoomInput::Disconnect { client, player },
            RoomInput::Remove { player, why: Left::Kicked },
        ]
    }

    fn recording() -> Vec<u8> {
        let mut bytes = Vec::new();
        begin(&header(), None, &mut bytes);
        for (ms, inputs) in [(50, inputs()), (100, Vec::new())] {
            append(&JournalEntry::new(GameTime::from_millis(ms), &inputs), None, &mut bytes);
        }
        bytes
    }
}
