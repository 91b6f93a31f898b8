//! A recording of a room: all that went in, so that the same room can run again, bit by bit.
//!
//! A recording is a snapshot and a journal, as the WorldServer keeps them for failover
//! ([`crate::journal`]); the snapshot is missing if the room began with the recording. The journal
//! holds what the host gave the room, datagrams included, so that a replay runs the network too. (A
//! journal for failover holds the decoded commands alone.) The shells write the bytes to a file.
//! After a panic the file holds the tick that caused it: an entry is recorded before the room is
//! ticked.
//!
//! Format: the magic `AMBITREC`, version (32 bits big-endian), then entries. Each is the 32-bit
//! big-endian length of its content, a checksum of 16 bytes, and the content, which is postcard.
//! The first entry is the [`Header`] and the snapshot, each other one a tick: the room's time, its
//! inputs, and a digest of the room's state before it ([`crate::digest`]), by which a replay is
//! compared; the first tick has none. An entry without content is the end, and nothing follows it.
//! Cost: a copy of the inputs, 20 bytes a tick, and SHA-256 of all of it.
//!
//! A checksum is the first half of the SHA-256 of the checksum before it (zeros at first), the
//! length and the content. So a changed byte, an entry that was taken out, put in or moved, and a
//! file that was cut are found before the replay. It protects from damage and from careless edits.
//! It is no signature: [`seal`] makes the checksums of any content.

use std::time::Duration;

use crate::digest::{Comparison, Seconds, TickDigest};
use crate::journal::{JournalEntry, RoomSnapshot, SavedRoom};
pub use crate::logic::registry::Header;
use crate::logic::registry::Registry;
use crate::room::{Room, RoomInput, RoomOutput};
use crate::saved::{self, BadState};
use crate::tick_schedule::TickSchedule;
use ambit_proto::time::GameTime;
use ring::digest::{Context, SHA256};

/// The first bytes of each recording.
pub const MAGIC: &[u8; 8] = b"AMBITREC";
/// Magic and version.
const PREAMBLE_BYTES: usize = MAGIC.len() + 4;
/// Datagrams, inputs and snapshots are recorded as they are, so a new shape of these
/// (`ambit_proto::message::VERSION`, [`RoomInput`], [`Room::save`]) is a new version here.
pub const VERSION: u32 = 20;

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
    /// The file was cut, its process died while it wrote an entry, or a length was changed.
    #[error("the recording ends within entry {number}, after {} of room time", Seconds(*.after))]
    Truncated {
        /// The first one is 1.
        number: usize,
        /// The time of the last tick before.
        after: GameTime,
    },
    /// Each entry is whole, and the end is missing.
    #[error(
        "the recording has no end: its server was killed, or the file was cut, after {} of room \
         time",
        Seconds(*.after)
    )]
    Unfinished {
        /// The time of the last tick.
        after: GameTime,
    },
    /// Not as it was written, or not where it was written.
    #[error(
        "entry {number} (room time {}) was changed: its checksum does not fit",
        Seconds(*.after)
    )]
    Changed {
        /// The first one is 1.
        number: usize,
        /// The time of the last tick before.
        after: GameTime,
    },
    /// More bytes than were written.
    #[error("{0} bytes follow the end of the recording")]
    Trailing(usize),
    /// An entry does not decode.
    #[error("an entry of the recording can't be read: {0}")]
    Entry(#[from] BadState),
    /// The room can't be made by this build.
    #[error("the recorded room can't be made: {0}")]
    Room(String),
}

/// A recording, entry by entry. All its checksums fit.
#[derive(Debug)]
pub struct Recording<'a> {
    /// How the room was made.
    pub header: Header,
    /// Why it is not whole, if it was read as one that may not be.
    pub lack: Option<BadRecording>,
    snapshot: Option<RoomSnapshot>,
    /// Whole ticks.
    rest: &'a [u8],
}

/// Writes a recording, entry by entry.
#[derive(Clone, Debug)]
pub struct Recorder {
    checksum: Checksum,
}

type Checksum = [u8; 16];

/// A tick, as what follows the first entry.
#[derive(Debug, PartialEq)]
pub struct RecordedTick {
    /// The room's time.
    pub at: GameTime,
    pub inputs: Vec<RoomInput>,
    /// Of the room before this tick; `None` if that is not known.
    pub before: Option<TickDigest>,
}

/// What a replay shows of each tick, in this order.
pub enum ReplayStep<'a> {
    /// The room before the tick, and what goes in.
    Begins { at: GameTime, room: &'a Room, inputs: &'a [RoomInput] },
    /// What has come out.
    Ends { at: GameTime, outputs: &'a [RoomOutput] },
    /// The room after the tick, which may be asked what operators ask.
    Rests { at: GameTime, room: &'a mut Room },
}

/// A room that has run again.
pub struct Replayed {
    pub room: Room,
    /// How it compares with what was played.
    pub comparison: Comparison,
}

impl Recorder {
    /// Appends the beginning of a recording to `out`. `snapshot` is the room before the first tick
    /// that is recorded, unless that is its first one.
    pub fn begin(header: &Header, snapshot: Option<&RoomSnapshot>, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_be_bytes());
        let snapshot = snapshot.map(|snapshot| (snapshot.at, &snapshot.state));
        let mut this = Self { checksum: Checksum::default() };
        this.put(&saved::section(&(header, snapshot)), out);
        this
    }

    /// Appends one tick to `out`, with a digest of the room before it.
    pub fn append(&mut self, entry: &JournalEntry, before: Option<&TickDigest>, out: &mut Vec<u8>) {
        self.put(&saved::section(&(entry.at, &entry.inputs, before)), out);
    }

    /// Appends the end to `out`.
    pub fn end(mut self, out: &mut Vec<u8>) {
        self.put(&[], out);
    }

    fn put(&mut self, content: &[u8], out: &mut Vec<u8>) {
        let length = u32::try_from(content.len()).expect("an entry is shorter than 4 GiB");
        self.checksum = next_checksum(self.checksum, content);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&self.checksum);
        out.extend_from_slice(content);
    }
}

/// A whole recording of what is known of a room.
pub fn recording_of(header: &Header, saved: &SavedRoom) -> Vec<u8> {
    let mut out = Vec::new();
    let mut recorder = Recorder::begin(header, Some(&saved.snapshot), &mut out);
    for entry in &saved.journal {
        recorder.append(entry, None, &mut out);
    }
    recorder.end(&mut out);
    out
}

/// Gives each whole entry the checksum that fits, for tests that change what a recording contains.
pub fn seal(recording: &mut [u8]) {
    let mut checksum = Checksum::default();
    let mut rest = recording.get_mut(PREAMBLE_BYTES..).unwrap_or_default();
    while let Some((length, after)) = rest.split_first_chunk_mut() {
        let length = u32::from_be_bytes(*length) as usize;
        let Some((written, after)) = after.split_first_chunk_mut() else { return };
        let Some((content, after)) = after.split_at_mut_checked(length) else { return };
        checksum = next_checksum(checksum, content);
        *written = checksum;
        rest = after;
    }
}

impl<'a> Recording<'a> {
    /// Reads a whole recording, to its end.
    pub fn read(bytes: &'a [u8]) -> Result<Self, BadRecording> {
        let recording = Self::read_unfinished(bytes)?;
        recording.lack.clone().map_or(Ok(recording), Err)
    }

    /// Reads a recording that may have no end, or end within a tick: then [`Self::lack`] says so,
    /// and its whole ticks are there. Its first entry has to be whole.
    pub fn read_unfinished(bytes: &'a [u8]) -> Result<Self, BadRecording> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BadRecording::Foreign)?;
        let cut = BadRecording::Truncated { number: 1, after: GameTime::ZERO };
        let (version, rest) = rest.split_first_chunk().ok_or_else(|| cut.clone())?;
        let version = u32::from_be_bytes(*version);
        if version != VERSION {
            return Err(BadRecording::Version(version));
        }
        let mut checksum = Checksum::default();
        let first = split_entry(rest).ok_or(cut)?;
        if !first.continues(&mut checksum) {
            return Err(BadRecording::Changed { number: 1, after: GameTime::ZERO });
        }
        let (header, snapshot): (Header, Option<(GameTime, Vec<u8>)>) =
            saved::only_section(first.content)?;
        let snapshot = snapshot.map(|(at, state)| RoomSnapshot { at, state });
        let begins_at = snapshot.as_ref().map_or(GameTime::ZERO, |snapshot| snapshot.at);
        let (length, lack) = check_ticks(first.rest, checksum, begins_at)?;
        Ok(Recording { header, lack, snapshot, rest: &first.rest[..length] })
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
        let Some(SplitEntry { content, rest, .. }) = split_entry(self.rest) else {
            return Ok(None);
        };
        self.rest = rest;
        let (at, inputs, before) = saved::only_section(content)?;
        let inputs = JournalEntry { at, inputs }.inputs()?;
        Ok(Some(RecordedTick { at, inputs, before }))
    }
}

/// Runs a recording through a new room, and compares it with what was played; `each` sees every
/// tick.
pub fn replay(
    mut recording: Recording<'_>,
    registry: &Registry,
    mut each: impl FnMut(ReplayStep<'_>),
) -> Result<Replayed, BadRecording> {
    let mut comparison = Comparison::default();
    let mut room = recording.room(registry)?;
    let mut outputs = Vec::new();
    while let Some(RecordedTick { at, mut inputs, before }) = recording.next_tick()? {
        if let Some(played) = before {
            comparison.note(&played, &room);
        }
        outputs.clear();
        each(ReplayStep::Begins { at, room: &room, inputs: &inputs });
        room.tick(at, &mut inputs, &mut outputs);
        each(ReplayStep::Ends { at, outputs: &outputs });
        each(ReplayStep::Rests { at, room: &mut room });
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

/// Of `content`, after the entry with the checksum `before`.
fn next_checksum(before: Checksum, content: &[u8]) -> Checksum {
    let mut hash = Context::new(&SHA256);
    hash.update(&before);
    hash.update(&(content.len() as u32).to_be_bytes());
    hash.update(content);
    let hash = hash.finish();
    *hash.as_ref().first_chunk().expect("SHA-256 has 32 bytes")
}

/// Checks the entries after the first one, which has this checksum. Returns how long the ticks are
/// together, and why the recording is not whole, if it is not.
fn check_ticks(
    ticks: &[u8],
    mut checksum: Checksum,
    mut after: GameTime,
) -> Result<(usize, Option<BadRecording>), BadRecording> {
    let mut rest = ticks;
    for number in 2.. {
        let length = ticks.len() - rest.len();
        if rest.is_empty() {
            return Ok((length, Some(BadRecording::Unfinished { after })));
        }
        let Some(entry) = split_entry(rest) else {
            return Ok((length, Some(BadRecording::Truncated { number, after })));
        };
        if !entry.continues(&mut checksum) {
            return Err(BadRecording::Changed { number, after });
        }
        rest = entry.rest;
        if entry.content.is_empty() {
            let trailing = (!rest.is_empty()).then_some(BadRecording::Trailing(rest.len()));
            return trailing.map_or(Ok((length, None)), Err);
        }
        after = saved::take(&mut { entry.content })?;
    }
    unreachable!("a file has fewer entries than there are numbers")
}

/// An entry, and what follows it.
struct SplitEntry<'a> {
    checksum: &'a Checksum,
    content: &'a [u8],
    rest: &'a [u8],
}

impl SplitEntry<'_> {
    /// Whether this was written after the entry with the checksum `before`, which becomes that of
    /// this one.
    fn continues(&self, before: &mut Checksum) -> bool {
        *before = next_checksum(*before, self.content);
        before == self.checksum
    }
}

/// The next entry; `None` if it is not whole.
fn split_entry(bytes: &[u8]) -> Option<SplitEntry<'_>> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let (content, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    Some(SplitEntry { checksum, content, rest })
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
    fn a_recording_that_was_cut_is_refused_or_read_up_to_its_last_whole_tick() {
        let bytes = recording();
        for length in 0..bytes.len() {
            let cut = &bytes[..length];
            let refused = Recording::read(cut).expect_err("it has no end");
            let Ok(mut recording) = Recording::read_unfinished(cut) else {
                continue;
            };
            assert_eq!(recording.lack, Some(refused), "{length}");
            let mut times = vec![GameTime::ZERO];
            while let Some(tick) = recording.next_tick().expect("it is whole") {
                times.push(tick.at);
            }
            let last = times.last().copied().expect("one");
            match recording.lack {
                Some(BadRecording::Unfinished { after }) => assert_eq!(after, last),
                Some(BadRecording::Truncated { number, after }) => {
                    assert_eq!((number, after), (times.len() + 1, last));
                }
                lack => panic!("{length}: {lack:?}"),
            }
        }
        let of_killed = Recording::read(&bytes[..bytes.len() - 20]).expect_err("it has no end");
        assert_eq!(
            of_killed.to_string(),
            "the recording has no end: its server was killed, or the file was cut, after 0.100 s \
             of room time"
        );
    }

    #[test]
    fn each_changed_byte_is_found_before_anything_runs() {
        let whole = recording();
        for index in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[index] ^= 1;
            Recording::read(&bytes).expect_err("it was changed");
        }
        let mut bytes = whole.clone();
        // The second tick: the byte before is the last one of the first tick's content.
        let index = entries(&whole)[2];
        let second = Recording::read_unfinished(&bytes[..index]).expect("a beginning").lack;
        let at = GameTime::from_millis(50);
        assert_eq!(second, Some(BadRecording::Unfinished { after: at }));
        bytes[index - 1] ^= 1;
        let changed = Recording::read_unfinished(&bytes).expect_err("it was changed");
        assert_eq!(changed, BadRecording::Changed { number: 2, after: GameTime::ZERO });
        bytes[index - 1] ^= 1;
        *bytes.last_mut().expect("bytes") ^= 1;
        assert_eq!(
            Recording::read(&bytes).expect_err("it was changed").to_string(),
            "entry 4 (room time 0.100 s) was changed: its checksum does not fit"
        );
    }

    /// Where each entry begins.
    fn entries(recording: &[u8]) -> Vec<usize> {
        let mut starts = Vec::new();
        let mut at = PREAMBLE_BYTES;
        while let Some(entry) = split_entry(&recording[at..]) {
            starts.push(at);
            at = recording.len() - entry.rest.len();
        }
        starts
    }

    #[test]
    fn entries_that_were_taken_out_repeated_or_added_are_found() {
        let whole = recording();
        let [_, _, second, end] = entries(&whole)[..] else { panic!("two ticks") };
        let parts = [&whole[..second], &whole[second..end], &whole[end..]];
        let changed = |number, after| {
            Some(BadRecording::Changed { number, after: GameTime::from_millis(after) })
        };
        let refused = |parts: &[&[u8]]| Recording::read(&parts.concat()).err();
        assert_eq!(refused(&[parts[0], parts[1], parts[2]]), None);
        assert_eq!(refused(&[parts[0], parts[2]]), changed(3, 50));
        assert_eq!(refused(&[parts[0], parts[1], parts[1], parts[2]]), changed(4, 100));
        assert_eq!(refused(&[&whole, parts[2]]), Some(BadRecording::Trailing(20)));
        // What was changed on purpose can be sealed again.
        let mut again = [parts[0], parts[2]].concat();
        seal(&mut again);
        assert!(Recording::read(&again).is_ok());
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
                .starts_with("a recording of version 1, and this build runs those of version 20")
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
        let mut recorder = Recorder::begin(&header(), None, &mut bytes);
        for (ms, inputs) in [(50, inputs()), (100, Vec::new())] {
            let entry = JournalEntry::new(GameTime::from_millis(ms), &inputs);
            recorder.append(&entry, None, &mut bytes);
        }
        recorder.end(&mut bytes);
        bytes
    }
}
