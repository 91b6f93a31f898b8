//! The part of a datagram that carries poses.
//!
//! Poses and their baselines go in, in ascending order of their slots; bytes come out, up to the
//! end of the datagram, and back.
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
//! each object, in ascending order of their slots, its slot and baseline mode, and then its pose,
//! as [`super::shared`] or [`super::fine`] defines; then an end. Slot and mode are
//! 1. bit: the slot is the one behind the last (the first: 0). The probability of 1 begins at 3/4
//!    of 65,536; after a 1 it grows by a sixteenth of what it lacks, after a 0 it falls by a
//!    sixteenth, and it stays within 2,048 to 64,000;
//! 2. if that is 0: the length in bits, 1 to 16, of how many slots are left out: one of 17 symbols,
//!    of the weights 12, 16, 12, 8, 6, 4, 3, 2 and nine times 1; then the bits below the highest
//!    one, uncoded. Length 0 is the end;
//! 3. the mode: window, old or absolute: one of 3 symbols of the weights 250, 3 and 3 if the pose
//!    before was of mode window, or this is the first; 40, 208 and 8 if it was of mode old; 24, 4
//!    and 228 if it was of mode absolute;
//! 4. if that is absolute: whether the object has jumped since the poses that the client is known
//!    to have, uncoded, 1; if it has, how many milliseconds before the section's stamp, uncoded, 12
//!    (4,095 also stands for more).
//!
//! How weights become symbols: [`super::shared`]. At the fine level, before all slots: whether
//! there is a *reference*, one bit of even probability; if so its slot, a number as [`super::fine`]
//! codes them (middle 0, spread 8), and its pose, whose mode is `Window`: the object that others
//! move with, such as the player's own avatar; it is not among the others. An object in mode
//! `Window` is a candidate that is in, any other an unacknowledged object; behind the end of the
//! slots comes the end of the fine level's section.
//!
//! # Baselines
//! The datagrams that the header names are the section's acked set. The baseline of a pose in mode
//! `Window` is the object's pose in the newest datagram of that set that had one, in a section or
//! in a record; in mode `Old` the newest pose from before the 33 datagrams that the set can hold;
//! in mode `Absolute` there is none. The fine level uses all poses of the set in mode `Window`.
//!
//! A pose from before a jump is no baseline of one after it, so the first poses after a jump are of
//! mode `Absolute` and say when it was, until one of them is known to have arrived. An object takes
//! no way from where it was before the jump to where it is after it.
//!
//! Invariants:
//! 1. A reader never uses a baseline that it does not have: it stops, and reports the slot
//!    ([`SectionError::MissingBaseline`]).
//! 2. What was read before an error is valid. Whatever the bytes are, a pose that comes out fits
//!    its object's format.
//!
//! A section that is cut short is not always detected: datagrams arrive whole or not at all.

mod slot_coder;

use std::time::Duration;

use self::slot_coder::{END_BYTES, SlotCoder};
use super::fine::{self, AgedPose, FineState, KnownObject};
use super::{AckedSet, BaselineHistory, CodedPose, Pose, PoseFormat, ReceivedPose, shared};
use crate::entropy::{RangeDecoder, RangeEncoder};
use crate::time::GameTime;
use crate::wire::{Coder, Reader, WRITE_CANNOT_FAIL, WireError, Writer};

/// Width of the distance from a datagram's number back to the newest of its acked set; 0 means that
/// it names none.
const DISTANCE_BITS: u32 = 6;
const _: () = assert!(super::MAX_ACKED_DISTANCE < 1 << DISTANCE_BITS);
/// The age of a jump is at most this, in milliseconds: by then, a client that has got nothing of
/// the object shows nothing from before the jump any more.
pub const MAX_JUMP_AGE_MS: u16 = (1 << slot_coder::JUMP_AGE_BITS) - 1;

/// How a section is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Level {
    /// Static tables; symbols are shared between clients: for crowds.
    #[default]
    Shared,
    /// Prediction from several poses and adaptive probabilities, at a higher cost: for few clients.
    Fine,
}

/// The beginning of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SectionHeader {
    /// How the section is coded.
    pub level: Level,
    /// The datagram's number, which both ends know.
    pub number: u64,
    /// The datagrams that are known to have arrived, if any is that is not older than
    /// [`super::MAX_ACKED_DISTANCE`].
    pub acked: Option<AckedSet>,
}

impl SectionHeader {
    /// The header of datagram `number`, which names `acked` unless that is too old.
    pub fn new(level: Level, number: u64, acked: Option<AckedSet>) -> Self {
        Self { level, number, acked: acked.filter(|acked| acked.may_be_named_by(number)) }
    }

    /// Reads, writes or measures; `number` is known beforehand.
    pub fn wire<C: Coder>(&mut self, coder: &mut C) -> Result<(), WireError> {
        let mut fine = self.level == Level::Fine;
        coder.flag(&mut fine)?;
        self.level = if fine { Level::Fine } else { Level::Shared };
        let mut back = self.acked.map_or(0, |acked| self.number - acked.newest);
        coder.bits(&mut back, DISTANCE_BITS)?;
        if back == 0 {
            self.acked = None;
            return Ok(());
        }
        let newest =
            self.number.checked_sub(back).ok_or(WireError::OutOfRange { what: "acked set" })?;
        let mut acked = AckedSet { newest, mask: self.acked.map_or(0, |acked| acked.mask) };
        acked.wire_mask(coder)?;
        self.acked = Some(acked);
        Ok(())
    }
}

/// What a pose is coded relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaselineMode {
    /// The newest pose in the acked set.
    Window,
    /// The newest pose before the acked set's window: only while no newer pose has been sent.
    Old,
    /// No other pose.
    Absolute,
    /// No other pose: the object has jumped since those that the client is known to have. The
    /// jump's time is in milliseconds before the section's stamp; [`MAX_JUMP_AGE_MS`] at most.
    Jumped(u16),
}

impl BaselineMode {
    /// The mode of a pose that has no baseline since the object has jumped at the tick of a stamp.
    pub fn jumped_at(jumped: GameTime, stamp: GameTime) -> Self {
        Self::Jumped(jump_age_ms(jumped, stamp))
    }

    /// The stamp of the tick of the jump that this mode tells.
    pub fn jumped_before(self, stamp: GameTime) -> Option<GameTime> {
        match self {
            Self::Jumped(age_ms) => {
                Some(stamp.saturating_sub(Duration::from_millis(age_ms.into())))
            }
            Self::Window | Self::Old | Self::Absolute => None,
        }
    }
}

/// How long before a stamp a jump was, in milliseconds: [`MAX_JUMP_AGE_MS`] at most.
pub fn jump_age_ms(jumped: GameTime, stamp: GameTime) -> u16 {
    let age = stamp.whole_millis().since(jumped.whole_millis());
    age.as_millis().min(MAX_JUMP_AGE_MS.into()) as u16
}

/// A pose that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionPose {
    /// The slot of the object.
    pub slot: u16,
    /// On the grid of its kind.
    pub pose: Pose,
    /// The stamp of the tick at which the object jumped to where its poses have been since. Only
    /// poses that were coded without a baseline for that reason have it.
    pub jumped: Option<GameTime>,
}

/// Why reading a section has stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SectionError {
    /// The bytes are not a valid section.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The object of a slot, or its baseline, is not known here: the server must be notified.
    #[error("the baseline of the pose in slot {slot} is missing")]
    MissingBaseline {
        /// The slot of the object.
        slot: u16,
    },
}

/// The poses that a receiver has of the objects that it follows.
pub trait BaselineSource {
    /// The object of a slot, if its kind has poses. An object that has left should be found for
    /// some time: a late section may still contain its pose, and the poses behind that could not be
    /// read otherwise.
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)>;
}

/// Writes a section.
pub struct SectionWriter<'o> {
    stream: LevelEncoder<'o>,
    slots: SlotCoder,
    header_bytes: usize,
    /// For the fine level; reused for its storage.
    aged: Vec<AgedPose>,
    /// Whether the fine level's section begins with the reference or its absence: that is written.
    has_begun: bool,
}

enum LevelEncoder<'o> {
    Shared(RangeEncoder<'o>),
    Fine(fine::FineEncoder<'o, 'o>),
}

impl<'o> SectionWriter<'o> {
    /// Begins a section of the shared level behind what is in `out`.
    ///
    /// # Panics
    /// When the header has [`Level::Fine`]: a bug.
    pub fn new(out: &'o mut Vec<u8>, header: &SectionHeader) -> Self {
        assert!(header.level == Level::Shared, "the fine level needs a state");
        Self::begin(out, header, LevelEncoder::Shared)
    }

    /// Begins a section of either level behind what is in `out`. The state is for the fine level:
    /// it is cleared, and reused to save allocations.
    pub fn with_state(
        out: &'o mut Vec<u8>,
        header: &SectionHeader,
        state: &'o mut FineState,
    ) -> Self {
        match header.level {
            Level::Shared => Self::begin(out, header, LevelEncoder::Shared),
            Level::Fine => Self::begin(out, header, |encoder| {
                LevelEncoder::Fine(fine::FineEncoder::of_datagram(encoder, state))
            }),
        }
    }

    fn begin(
        out: &'o mut Vec<u8>,
        header: &SectionHeader,
        stream: impl FnOnce(RangeEncoder<'o>) -> LevelEncoder<'o>,
    ) -> Self {
        let mut writer = Writer::new(out);
        { *header }.wire(&mut writer).expect(WRITE_CANNOT_FAIL);
        let header_bytes = writer.finish();
        Self {
            stream: stream(RangeEncoder::new(out)),
            slots: SlotCoder::default(),
            header_bytes,
            aged: Vec::new(),
            has_begun: false,
        }
    }

    /// Adds a pose at the shared level: the symbols that [`super::code`] made of it and of the
    /// baseline of this mode.
    ///
    /// # Panics
    /// When the slots do not ascend, or the section is of the fine level: a bug.
    pub fn write_shared(&mut self, slot: u16, mode: BaselineMode, coded: &CodedPose) {
        let LevelEncoder::Shared(encoder) = &mut self.stream else {
            panic!("a section has one level")
        };
        self.slots.write(slot, mode, encoder);
        coded.write(encoder);
    }

    /// Adds a pose at the fine level: `history` are the object's poses in the acked set, the newest
    /// first; in mode `Old` the baseline alone; in mode `Absolute` none.
    ///
    /// # Panics
    /// When the slots do not ascend, or the section is of the shared level: a bug.
    pub fn write_fine(
        &mut self,
        slot: u16,
        mode: BaselineMode,
        format: &PoseFormat,
        history: &[(GameTime, Pose)],
        stamp: GameTime,
        pose: &Pose,
    ) {
        let LevelEncoder::Fine(encoder) = &mut self.stream else {
            panic!("a section has one level")
        };
        if !std::mem::replace(&mut self.has_begun, true) {
            encoder.write_reference_slot(None);
        }
        self.slots.write(slot, mode, encoder.stream());
        collect_ages(history, stamp, &mut self.aged);
        let known = KnownObject { format: *format, half_edge_m: 0.0, history: &self.aged };
        match mode {
            BaselineMode::Window => encoder.write_object(&known, Some(pose)),
            BaselineMode::Old | BaselineMode::Absolute | BaselineMode::Jumped(_) => {
                encoder.write_unacknowledged(&known, pose);
            }
        }
    }

    /// Adds the pose of the object that others move with, before all others, in mode `Window`.
    ///
    /// # Panics
    /// When the section is of the shared level, or not at its beginning: a bug.
    pub fn write_reference(
        &mut self,
        slot: u16,
        format: &PoseFormat,
        history: &[(GameTime, Pose)],
        stamp: GameTime,
        pose: &Pose,
    ) {
        let LevelEncoder::Fine(encoder) = &mut self.stream else {
            panic!("a section has one level")
        };
        assert!(!std::mem::replace(&mut self.has_begun, true), "the reference comes first");
        encoder.write_reference_slot(Some(slot));
        collect_ages(history, stamp, &mut self.aged);
        encoder.write_reference(
            &KnownObject { format: *format, half_edge_m: 0.0, history: &self.aged },
            Some(pose),
        );
    }

    /// The length of the section if it is finished now; at most two bytes less, at the fine level
    /// three.
    pub fn bytes(&self) -> usize {
        let stream = match &self.stream {
            LevelEncoder::Shared(encoder) => encoder.bytes_if_finished(),
            LevelEncoder::Fine(encoder) => encoder.bytes_so_far() + 1,
        };
        self.header_bytes + stream + END_BYTES
    }

    /// The length in bits of the next pose's slot and mode, at most.
    pub fn max_slot_bits(&self, slot: u16, mode: BaselineMode) -> usize {
        self.slots.max_bits(slot, mode)
    }

    /// Ends the section, and with it the datagram.
    pub fn finish(self) {
        match self.stream {
            LevelEncoder::Shared(mut encoder) => {
                self.slots.write_end(&mut encoder);
                encoder.finish();
            }
            LevelEncoder::Fine(mut encoder) => {
                if !self.has_begun {
                    encoder.write_reference_slot(None);
                }
                self.slots.write_end(encoder.stream());
                encoder.finish();
            }
        }
    }
}

/// Replaces `out` by poses with rising ages: a pose that is not older than the one before is left
/// out.
fn collect_ages(history: &[(GameTime, Pose)], stamp: GameTime, out: &mut Vec<AgedPose>) {
    out.clear();
    for (time, pose) in history {
        // In whole milliseconds, as a receiver knows them.
        let age_us = u32::try_from(stamp.whole_millis().since(time.whole_millis()).as_micros())
            .unwrap_or(u32::MAX);
        if out.last().is_none_or(|newer| newer.age_us < age_us) {
            out.push(AgedPose { age_us, pose: *pose });
        }
    }
}

/// Reads the section of datagram `number`, appends the poses of their slots' present tenants to
/// `out` and returns the acked set. What was read before an error is in `out`, and is valid.
pub fn read_section(
    bytes: &[u8],
    number: u64,
    stamp: GameTime,
    source: &impl BaselineSource,
    out: &mut Vec<SectionPose>,
) -> Result<Option<AckedSet>, SectionError> {
    let mut reader = Reader::new(bytes);
    let mut header = SectionHeader { number, ..SectionHeader::default() };
    header.wire(&mut reader)?;
    let decoder = RangeDecoder::new(reader.rest()?);
    match header.level {
        Level::Shared => read_shared(decoder, &header, stamp, source, out)?,
        Level::Fine => read_fine(decoder, &header, stamp, source, out)?,
    }
    Ok(header.acked)
}

fn read_shared(
    mut decoder: RangeDecoder<'_>,
    header: &SectionHeader,
    stamp: GameTime,
    source: &impl BaselineSource,
    out: &mut Vec<SectionPose>,
) -> Result<(), SectionError> {
    let mut slots = SlotCoder::default();
    while let Some((slot, mode)) = slots.read(&mut decoder)? {
        let (format, received) =
            source.object(slot).ok_or(SectionError::MissingBaseline { slot })?;
        let baseline = find_baseline(slot, mode, header, received)?
            .map(|received| (received.stamp, &received.pose));
        let pose = shared::read(*format, baseline, stamp, &mut decoder)?;
        check_not_overrun(&decoder)?;
        if received.is_of_present_tenant(header.number) {
            out.push(SectionPose { slot, pose, jumped: mode.jumped_before(stamp) });
        }
    }
    Ok(decoder.finish()?)
}

fn read_fine(
    decoder: RangeDecoder<'_>,
    header: &SectionHeader,
    stamp: GameTime,
    source: &impl BaselineSource,
    out: &mut Vec<SectionPose>,
) -> Result<(), SectionError> {
    const NOT_IN: WireError = WireError::OutOfRange { what: "pose that is not in" };
    let mut state = FineState::default();
    let mut decoder = fine::FineDecoder::of_datagram(decoder, &mut state);
    let mut history = HistoryReader { header, stamp, source, poses: Vec::new(), aged: Vec::new() };
    let mut slots = SlotCoder::default();
    let reference = decoder.read_reference_slot()?;
    if let Some(slot) = reference {
        let (known, received) = history.read(slot, BaselineMode::Window)?;
        let pose = decoder.read_reference(&known)?.ok_or(NOT_IN)?;
        check_not_overrun(decoder.stream())?;
        if received.is_of_present_tenant(header.number) {
            out.push(SectionPose { slot, pose, jumped: None });
        }
    }
    while let Some((slot, mode)) = slots.read(decoder.stream())? {
        if reference == Some(slot) {
            return Err(WireError::OutOfRange { what: "slot of a pose" }.into());
        }
        let (known, received) = history.read(slot, mode)?;
        let pose = match mode {
            BaselineMode::Window => decoder.read_object(&known)?.ok_or(NOT_IN)?,
            BaselineMode::Old | BaselineMode::Absolute | BaselineMode::Jumped(_) => {
                decoder.read_unacknowledged(&known)?
            }
        };
        check_not_overrun(decoder.stream())?;
        if received.is_of_present_tenant(header.number) {
            out.push(SectionPose { slot, pose, jumped: mode.jumped_before(stamp) });
        }
    }
    Ok(decoder.finish()?)
}

/// Collects what is known of an object before its pose is read.
struct HistoryReader<'r, S> {
    header: &'r SectionHeader,
    stamp: GameTime,
    source: &'r S,
    /// Reused from one object to the next.
    poses: Vec<(GameTime, Pose)>,
    aged: Vec<AgedPose>,
}

impl<'r, S: BaselineSource> HistoryReader<'r, S> {
    fn read(
        &mut self,
        slot: u16,
        mode: BaselineMode,
    ) -> Result<(KnownObject<'_>, &'r BaselineHistory), SectionError> {
        let (format, received) =
            self.source.object(slot).ok_or(SectionError::MissingBaseline { slot })?;
        let baseline = find_baseline(slot, mode, self.header, received)?;
        if let (BaselineMode::Window, Some(acked)) = (mode, &self.header.acked) {
            received.acked_poses(acked, &mut self.poses);
        } else {
            self.poses.clear();
            self.poses.extend(baseline.map(|received| (received.stamp, received.pose)));
        }
        collect_ages(&self.poses, self.stamp, &mut self.aged);
        let known = KnownObject { format: *format, half_edge_m: 0.0, history: &self.aged };
        Ok((known, received))
    }
}

/// The baseline of a mode.
fn find_baseline<'k>(
    slot: u16,
    mode: BaselineMode,
    header: &SectionHeader,
    received: &'k BaselineHistory,
) -> Result<Option<&'k ReceivedPose>, SectionError> {
    let baseline = match (mode, header.acked) {
        (BaselineMode::Absolute | BaselineMode::Jumped(_), _) => return Ok(None),
        (BaselineMode::Window, Some(acked)) => received.baseline(&acked),
        (BaselineMode::Old, Some(acked)) => received.newest_before(acked.window_start()),
        (_, None) => {
            return Err(WireError::OutOfRange { what: "baseline of a pose" }.into());
        }
    };
    baseline.map(Some).ok_or(SectionError::MissingBaseline { slot })
}

/// Behind the end of the bytes a decoder reads zeros.
fn check_not_overrun(decoder: &RangeDecoder<'_>) -> Result<(), WireError> {
    if decoder.is_overrun() { Err(WireError::Truncated) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
