//! The part of a datagram that carries poses.
//!
//! Poses and their bases go in, in ascending order of their slots; bytes come out, up to the end of
//! the datagram, and back.
//!
//! # Bits
//! The header, in the words of [`crate::message`]: level, 1 (0 [`Level::Shared`], 1
//! [`Level::Fine`]); steps back from the datagram's own number to that of the newest one that is
//! known to have arrived, 6, 0 if none is; if it is not 0, which of the 32 before that one are
//! known to have arrived: all of them, 1; if not all, shape, 2: 0, all but one, its index, 5; 1,
//! those below an index, 5; 2, the mask, 32. Bit or index i stands for the one i + 1 before the
//! newest. Zeros up to a whole byte.
//!
//! Behind it one stream of the range coder ([`crate::entropy`]) up to the end of the datagram: for
//! each object, in ascending order of their slots, its place and then its pose, as
//! [`super::shared`] or [`super::fine`] says; then an end. A place is
//! 1. bit: the slot is the one behind the last (the first: 0). The probability of 1 begins at 3/4
//!    of 65,536; after a 1 it grows by a sixteenth of what it lacks, after a 0 it falls by a
//!    sixteenth, and it stays within 2,048 to 64,000;
//! 2. if that is 0: the length in bits, 1 to 16, of how many slots are left out: one of 17 symbols,
//!    of the weights 12, 16, 12, 8, 6, 4, 3, 2 and nine times 1; then the bits below the highest
//!    one, raw. Length 0 is the end;
//! 3. the mode: window, old or absolute: one of 3 symbols of the weights 250, 3 and 3 if the pose
//!    before was of mode window, or this is the first; 40, 208 and 8 if it was of mode old; 24, 4
//!    and 228 if it was of mode absolute.
//!
//! How weights become symbols stands in [`super::shared`]. At the fine level, before all places:
//! whether an object is told as the *reference*, one bit of even chance; if so its slot, a number
//! as [`super::fine`] codes them (middle 0, spread 8), and its pose, whose mode is
//! `DatagramWindow`: it is the object that others move with, such as the player's own, and does not
//! stand among the others. An object in mode `DatagramWindow` is a candidate that is in, any other
//! is the pose of a newcomer; behind the end of the places there is the end of newcomers.
//!
//! # Bases
//! Datagrams that are named are the section's acked set. The base of a pose in mode
//! `DatagramWindow` is the object's pose in the newest datagram of that set that told one, in a
//! section or in a record; in mode `Old` the newest one that came before the 33 datagrams that the
//! set can hold; in mode `Absolute` there is none. The fine level uses all poses of the set in mode
//! `DatagramWindow`.
//!
//! Invariants:
//! 1. A reader never takes a base that it does not have: it stops, and says of which slot
//!    ([`SectionError::LostTrack`]).
//! 2. What was read before an error holds. Whatever the bytes are, a pose that comes out is one of
//!    its object's format.
//!
//! A section may be cut short without this being noticed: datagrams come whole or not at all.

mod slots;

use self::slots::{END_BYTES, Slots};
use super::fine::{self, Known, Scene, Seen};
use super::{AckedSet, Coded, Entry, Kept, Pose, PoseFormat, shared};
use crate::entropy::{Decoder, Encoder};
use crate::time::GameTime;
use crate::wire::{Coder, Reader, WireError, Writer};

/// How a section is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Level {
    /// By static tables, symbols shared between clients: for crowds.
    #[default]
    Shared,
    /// By contexts that adapt, at a higher price: for few clients.
    Fine,
}

/// What a section begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SectionHeader {
    /// How it is coded.
    pub level: Level,
    /// Of the datagram: both ends know it.
    pub number: u64,
    /// The datagrams that are known to have arrived; none of them as long as nothing is known, or
    /// what is known is older than [`super::MAX_LAG`].
    pub acked: Option<AckedSet>,
}

impl SectionHeader {
    /// The header of datagram `number`, which names `acked` if it may.
    pub fn new(level: Level, number: u64, acked: Option<AckedSet>) -> Self {
        Self {
            level,
            number,
            acked: acked.filter(|acked| acked.may_be_named_by(number)),
        }
    }

    /// Reads, writes or measures; `number` is known beforehand.
    pub fn wire<C: Coder>(&mut self, coder: &mut C) -> Result<(), WireError> {
        let mut fine = self.level == Level::Fine;
        coder.flag(&mut fine)?;
        self.level = if fine { Level::Fine } else { Level::Shared };
        let mut back = self.acked.map_or(0, |acked| self.number - acked.newest);
        coder.bits(&mut back, 6)?;
        if back == 0 {
            self.acked = None;
            return Ok(());
        }
        let newest = self
            .number
            .checked_sub(back)
            .ok_or(WireError::OutOfRange { what: "acked set" })?;
        let mut acked = AckedSet {
            newest,
            mask: self.acked.map_or(0, |acked| acked.mask),
        };
        acked.wire_mask(coder)?;
        self.acked = Some(acked);
        Ok(())
    }
}

/// Relative to what a pose is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The newest pose in the acked set.
    DatagramWindow,
    /// The newest before the acked set's window: only while nothing newer than that has been sent.
    Old,
    /// Nothing.
    Absolute,
}

/// Why reading a section has stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SectionError {
    /// The bytes make no sense.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The object of a slot, or the base that is claimed, is not known here: say so to the server.
    #[error("no base is known for the pose of slot {slot}")]
    LostTrack {
        /// Of the object.
        slot: u16,
    },
}

/// What a receiver knows of the objects that it follows.
pub trait Bases {
    /// The object of a slot, if its kind has poses. One that has left should be found for a while,
    /// since a section that its `Leave` has overtaken still speaks of it, and what stands behind it
    /// could not be read otherwise.
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &Kept)>;
}

/// Writes a section.
pub struct SectionWriter<'o> {
    stream: Stream<'o>,
    slots: Slots,
    header_bytes: usize,
    /// Ages for the fine level; kept for its storage.
    seen: Vec<Seen>,
    /// Whether it is known if there is a reference.
    begun: bool,
}

enum Stream<'o> {
    Shared(Encoder<'o>),
    Fine(fine::Encoder<'o, 'o>),
}

impl<'o> SectionWriter<'o> {
    /// Begins a section of the shared level behind what is in `out`.
    ///
    /// # Panics
    /// When the header says [`Level::Fine`]: our bug.
    pub fn new(out: &'o mut Vec<u8>, header: &SectionHeader) -> Self {
        assert!(
            header.level == Level::Shared,
            "the fine level needs a scene"
        );
        Self::begin(out, header, Stream::Shared)
    }

    /// Begins a section of either level behind what is in `out`. The scene is for the fine one: it
    /// is cleared, and saves allocations from one section to the next.
    pub fn with_scene(out: &'o mut Vec<u8>, header: &SectionHeader, scene: &'o mut Scene) -> Self {
        match header.level {
            Level::Shared => Self::begin(out, header, Stream::Shared),
            Level::Fine => Self::begin(out, header, |encoder| {
                Stream::Fine(fine::Encoder::new(encoder, scene))
            }),
        }
    }

    fn begin(
        out: &'o mut Vec<u8>,
        header: &SectionHeader,
        stream: impl FnOnce(Encoder<'o>) -> Stream<'o>,
    ) -> Self {
        let mut writer = Writer::new(out);
        { *header }
            .wire(&mut writer)
            .expect("a writer refuses nothing");
        let header_bytes = writer.finish();
        Self {
            stream: stream(Encoder::new(out)),
            slots: Slots::default(),
            header_bytes,
            seen: Vec::new(),
            begun: false,
        }
    }

    /// Adds a pose at the shared level: what [`super::code`] has made of it and of the base of this
    /// mode.
    ///
    /// # Panics
    /// When the slots do not ascend, or the section is of the fine level: our bug.
    pub fn shared(&mut self, slot: u16, mode: Mode, coded: &Coded) {
        let Stream::Shared(encoder) = &mut self.stream else {
            panic!("a section has one level")
        };
        self.slots.write(slot, mode, encoder);
        coded.write(encoder);
    }

    /// Adds a pose at the fine level: `history` are the object's poses in the acked set, the newest
    /// first; in mode `Old` the one base; in mode `Absolute` none.
    ///
    /// # Panics
    /// When the slots do not ascend, or the section is of the shared level: our bug.
    pub fn fine(
        &mut self,
        slot: u16,
        mode: Mode,
        format: &PoseFormat,
        history: &[(GameTime, Pose)],
        stamp: GameTime,
        pose: &Pose,
    ) {
        let Stream::Fine(encoder) = &mut self.stream else {
            panic!("a section has one level")
        };
        if !std::mem::replace(&mut self.begun, true) {
            encoder.names_reference(None);
        }
        self.slots.write(slot, mode, encoder.stream());
        take_seen(history, stamp, &mut self.seen);
        let known = Known {
            format: *format,
            half_edge_m: 0.0,
            history: &self.seen,
        };
        match mode {
            Mode::DatagramWindow => encoder.object(&known, Some(pose)),
            Mode::Old | Mode::Absolute => encoder.stranger(&known, pose),
        }
    }

    /// Adds the pose of the object that others move with, before all others; told as
    /// [`SectionWriter::fine`] does in mode `DatagramWindow`.
    ///
    /// # Panics
    /// When the section is of the shared level, or not at its beginning: our bug.
    pub fn reference(
        &mut self,
        slot: u16,
        format: &PoseFormat,
        history: &[(GameTime, Pose)],
        stamp: GameTime,
        pose: &Pose,
    ) {
        let Stream::Fine(encoder) = &mut self.stream else {
            panic!("a section has one level")
        };
        assert!(
            !std::mem::replace(&mut self.begun, true),
            "the reference comes first"
        );
        encoder.names_reference(Some(slot));
        take_seen(history, stamp, &mut self.seen);
        encoder.reference(
            &Known {
                format: *format,
                half_edge_m: 0.0,
                history: &self.seen,
            },
            Some(pose),
        );
    }

    /// How many bytes the section has if it is finished now; at most two less, at the fine level
    /// three.
    pub fn bytes(&self) -> usize {
        let stream = match &self.stream {
            Stream::Shared(encoder) => encoder.bytes_if_finished(),
            Stream::Fine(encoder) => encoder.bytes_so_far() + 1,
        };
        self.header_bytes + stream + END_BYTES
    }

    /// What slot and mode of the next pose take at most, in bits.
    pub fn place_bits_at_most(&self, slot: u16, mode: Mode) -> usize {
        self.slots.bits_at_most(slot, mode)
    }

    /// Ends the section, which runs to the end of the datagram.
    pub fn finish(self) {
        match self.stream {
            Stream::Shared(mut encoder) => {
                self.slots.write_end(&mut encoder);
                encoder.finish();
            }
            Stream::Fine(mut encoder) => {
                if !self.begun {
                    encoder.names_reference(None);
                }
                self.slots.write_end(encoder.stream());
                encoder.finish();
            }
        }
    }
}

/// Poses with their ages, which rise: a pose that is not older than the one before it is left out.
fn take_seen(history: &[(GameTime, Pose)], stamp: GameTime, out: &mut Vec<Seen>) {
    out.clear();
    for (time, pose) in history {
        // In whole milliseconds: a receiver knows no more.
        let age_us = u32::try_from(stamp.whole_millis().since(time.whole_millis()).as_micros())
            .unwrap_or(u32::MAX);
        if out.last().is_none_or(|newer| newer.age_us < age_us) {
            out.push(Seen {
                age_us,
                pose: *pose,
            });
        }
    }
}

/// Reads the section of datagram `number`, appends the poses of their slots' present tenants to
/// `out` and returns the acked set. What was read before an error is in `out`, and is valid.
pub fn read_section(
    bytes: &[u8],
    number: u64,
    stamp: GameTime,
    bases: &impl Bases,
    out: &mut Vec<(u16, Pose)>,
) -> Result<Option<AckedSet>, SectionError> {
    let mut reader = Reader::new(bytes);
    let mut header = SectionHeader {
        number,
        ..SectionHeader::default()
    };
    header.wire(&mut reader)?;
    let decoder = Decoder::new(reader.rest()?);
    match header.level {
        Level::Shared => read_shared(decoder, &header, stamp, bases, out)?,
        Level::Fine => read_fine(decoder, &header, stamp, bases, out)?,
    }
    Ok(header.acked)
}

fn read_shared(
    mut decoder: Decoder<'_>,
    header: &SectionHeader,
    stamp: GameTime,
    bases: &impl Bases,
    out: &mut Vec<(u16, Pose)>,
) -> Result<(), SectionError> {
    let mut slots = Slots::default();
    while let Some((slot, mode)) = slots.read(&mut decoder)? {
        let (format, kept) = bases.object(slot).ok_or(SectionError::LostTrack { slot })?;
        let base = base_of(slot, mode, header, kept)?.map(|entry| (entry.stamp, &entry.pose));
        let pose = shared::read(*format, base, stamp, &mut decoder)?;
        check(&decoder)?;
        if kept.admits(header.number) {
            out.push((slot, pose));
        }
    }
    Ok(decoder.finish()?)
}

fn read_fine(
    decoder: Decoder<'_>,
    header: &SectionHeader,
    stamp: GameTime,
    bases: &impl Bases,
    out: &mut Vec<(u16, Pose)>,
) -> Result<(), SectionError> {
    let mut scene = Scene::default();
    let mut decoder = fine::Decoder::new(decoder, &mut scene);
    let (mut slots, mut history, mut seen) = (Slots::default(), Vec::new(), Vec::new());
    let reference = decoder.reference_named()?;
    if let Some(slot) = reference {
        let (format, kept) = bases.object(slot).ok_or(SectionError::LostTrack { slot })?;
        base_of(slot, Mode::DatagramWindow, header, kept)?;
        header
            .acked
            .iter()
            .for_each(|acked| kept.history(acked, &mut history));
        take_seen(&history, stamp, &mut seen);
        let known = Known {
            format: *format,
            half_edge_m: 0.0,
            history: &seen,
        };
        let pose = decoder.reference(&known)?.ok_or(WireError::OutOfRange {
            what: "pose that is not in",
        })?;
        check(decoder.stream())?;
        if kept.admits(header.number) {
            out.push((slot, pose));
        }
    }
    while let Some((slot, mode)) = slots.read(decoder.stream())? {
        if reference == Some(slot) {
            return Err(WireError::OutOfRange {
                what: "slot of a pose",
            }
            .into());
        }
        let (format, kept) = bases.object(slot).ok_or(SectionError::LostTrack { slot })?;
        let base = base_of(slot, mode, header, kept)?.map(|entry| (entry.stamp, entry.pose));
        if let (Mode::DatagramWindow, Some(acked)) = (mode, header.acked) {
            kept.history(&acked, &mut history);
        } else {
            history.clear();
            history.extend(base);
        }
        take_seen(&history, stamp, &mut seen);
        let known = Known {
            format: *format,
            half_edge_m: 0.0,
            history: &seen,
        };
        let pose = match mode {
            Mode::DatagramWindow => decoder.object(&known)?.ok_or(WireError::OutOfRange {
                what: "pose that is not in",
            })?,
            Mode::Old | Mode::Absolute => decoder.newcomer_pose(&known)?,
        };
        check(decoder.stream())?;
        if kept.admits(header.number) {
            out.push((slot, pose));
        }
    }
    if decoder.newcomer()?.is_some() {
        return Err(WireError::TrailingBits.into());
    }
    Ok(decoder.finish()?)
}

/// The base that is claimed.
fn base_of<'k>(
    slot: u16,
    mode: Mode,
    header: &SectionHeader,
    kept: &'k Kept,
) -> Result<Option<&'k Entry>, SectionError> {
    let base = match (mode, header.acked) {
        (Mode::Absolute, _) => return Ok(None),
        (Mode::DatagramWindow, Some(acked)) => kept.base(&acked),
        (Mode::Old, Some(acked)) => kept.older_than(acked.window_start()),
        (_, None) => {
            return Err(WireError::OutOfRange {
                what: "base of a pose",
            }
            .into());
        }
    };
    base.map(Some).ok_or(SectionError::LostTrack { slot })
}

/// Behind the end anything might seem to stand.
fn check(decoder: &Decoder<'_>) -> Result<(), WireError> {
    if decoder.is_overrun() {
        Err(WireError::Truncated)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
