//! The body of a datagram from a client: the share of late data, the held keys with their latest
//! changes, and whether the client has lost track of poses. None of it waits for an answer.
//!
//! [`super`] describes the bits. The link repeats nothing of it: the next datagram contains the
//! newest state. Changes of the controls must not get lost, so each datagram contains them until
//! one of them is acknowledged. Of the axes only the newest values count: they are in each input,
//! and in no change. How many there are, both ends know by the schema.

use std::time::Duration;

use super::body::{STAMP_BITS, low_time_bits, nearest_time};
use crate::axes::{Axes, MAX_AXES};
use crate::keymap::{CONTROLS, KeySample, Keymap};
use crate::time::GameTime;
use crate::wire::{Coder, Reader, Wire, WireError};

/// The highest number of changes of the controls in one datagram: at 20 a second, those of one and
/// a half seconds.
pub const MAX_CHANGES: usize = 31;
/// The largest age of the oldest of them, relative to the sample.
pub const MAX_CHANGE_AGE: Duration = Duration::from_millis(MAX_AGE_MS);

const MAX_AGE_MS: u64 = 65_535;

/// The body of a client's datagram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uplink {
    /// How many events and updates were late; about once a second.
    pub report: Option<LatenessReport>,
    /// The held controls and their last changes; `None` if the player steers nothing.
    pub input: Option<KeyInput>,
    /// The low 16 bits of the number of the newest datagram whose poses could not be read, because
    /// their baseline is missing or they are invalid. The client repeats it until a section names
    /// no acknowledged set, or only datagrams after that one.
    pub lost_track: Option<u16>,
}

/// How many events and updates arrived after their effect time, counted from the join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatenessReport {
    /// Events and updates that arrived.
    pub received: u64,
    /// Those that arrived after their effect time.
    pub late: u64,
}

/// The controls at a moment, and the changes before it that are not known to have arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyInput {
    /// The controls held at that moment.
    pub keys: Keymap,
    /// The low 24 bits of the room's milliseconds, as the client estimates them.
    pub at_low_bits: u32,
    /// The axes at that moment; those that the game does not declare are not sent. A reader sets it
    /// if the game has any.
    pub axes: Option<Axes>,
    /// The newest first, [`MAX_CHANGES`] at most.
    changes: Vec<KeyChange>,
}

/// A moment at which controls went down or came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct KeyChange {
    /// Milliseconds before the sample, or before the change that came after this one.
    before_ms: u64,
    /// The changed controls; at least one.
    toggled: Keymap,
}

impl KeyInput {
    /// These controls, held at `now`, without changes.
    pub fn new(keys: Keymap, now: GameTime) -> Self {
        Self {
            keys,
            at_low_bits: low_time_bits(now, STAMP_BITS) as u32,
            axes: None,
            changes: Vec::new(),
        }
    }

    /// The input at `now`, with a change for each of `samples` that differs from the one before it.
    /// The samples are ordered, the oldest first; `held_before` was held before the first, and the
    /// newest is still held at `now`.
    ///
    /// # Panics
    /// If they are too many, too old or not in order, in whole milliseconds.
    pub fn with_changes(
        now: GameTime,
        held_before: Keymap,
        samples: impl IntoIterator<Item = KeySample>,
    ) -> Self {
        let mut keys = held_before;
        let mut toggled_at = Vec::new();
        for sample in samples {
            let toggled = Keymap(keys.0 ^ sample.keys.0);
            if toggled != Keymap::default() {
                toggled_at.push((sample.at.millis(), toggled));
                keys = sample.keys;
            }
        }
        assert!(
            toggled_at.is_sorted_by(|earlier, later| earlier.0 < later.0),
            "samples must be in the order of their times"
        );
        let mut later = now.millis();
        let mut changes = Vec::with_capacity(toggled_at.len());
        for (at, toggled) in toggled_at.into_iter().rev() {
            let before_ms = later.checked_sub(at).expect("samples must not be later than `now`");
            changes.push(KeyChange { before_ms, toggled });
            later = at;
        }
        assert!(
            changes.len() <= MAX_CHANGES && now.millis() - later <= MAX_AGE_MS,
            "too many changes, or too old ones"
        );
        Self { keys, at_low_bits: low_time_bits(now, STAMP_BITS) as u32, axes: None, changes }
    }

    /// The same input with these axes.
    pub fn with_axes(self, axes: Option<Axes>) -> Self {
        Self { axes, ..self }
    }

    /// Whether it contains changes.
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// When the keys were held: the moment nearest to `near` with the bits in `at_low_bits`.
    pub fn at(&self, near: GameTime) -> GameTime {
        nearest_time(self.at_low_bits.into(), STAMP_BITS, near)
    }

    /// The changes, oldest first, and after them the current sample, which equals the newest change
    /// or is later. Both of these have the axes. `near` as in [`KeyInput::at`].
    pub fn samples(&self, near: GameTime) -> impl Iterator<Item = KeySample> {
        let newest = KeySample { at: self.at(near), keys: self.keys, axes: self.axes };
        let mut age_ms = self.changes.iter().map(|change| change.before_ms).sum::<u64>();
        // Undo all changes; then apply them one by one, the oldest first.
        let mut keys =
            self.changes.iter().fold(self.keys, |keys, change| Keymap(keys.0 ^ change.toggled.0));
        let changes = self.changes.iter().rev().map(move |change| {
            keys.0 ^= change.toggled.0;
            let at = newest.at.saturating_sub(Duration::from_millis(age_ms));
            age_ms -= change.before_ms;
            KeySample { at, keys, axes: newest.axes.filter(|_| at == newest.at) }
        });
        changes.chain([newest])
    }
}

/// The number with these low 16 bits that is nearest to `near`: for [`Uplink::lost_track`].
pub fn nearest_datagram_number(low: u16, near: u64) -> u64 {
    let ahead = low.wrapping_sub(near as u16).cast_signed();
    near.saturating_add_signed(ahead.into())
}

impl Uplink {
    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it should be acknowledged: an uplink that only repeats the held controls would be
    /// out of date before it could be sent again.
    pub fn asks_for_ack(&self) -> bool {
        self.report.is_some()
            || self.lost_track.is_some()
            || self.input.as_ref().is_some_and(KeyInput::has_changes)
    }
}

/// Reads the bits after the link's part of a datagram, in a game with `axes` axes; `None` if there
/// is no body.
pub fn read_uplink(mut reader: Reader<'_>, axes: usize) -> Result<Option<Uplink>, WireError> {
    if reader.remaining_bits() < 8 {
        return Ok(None); // The padding of the datagram.
    }
    let mut uplink = Uplink::default();
    uplink.wire_with_axes(axes, &mut reader)?;
    reader.finish()?;
    Ok(Some(uplink))
}

impl Uplink {
    /// The format in a game with `axes` axes, at most [`MAX_AXES`].
    pub fn wire_with_axes<C: Coder>(
        &mut self,
        axes: usize,
        coder: &mut C,
    ) -> Result<(), WireError> {
        coder.option(&mut self.report)?;
        let mut has_input = self.input.is_some();
        coder.flag(&mut has_input)?;
        if C::READS {
            self.input = has_input.then(KeyInput::default);
        }
        if let Some(input) = &mut self.input {
            input.wire_with_axes(axes, coder)?;
        }
        wire_lost_track(&mut self.lost_track, coder)
    }
}

/// In a game without axes.
impl Wire for Uplink {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.wire_with_axes(0, coder)
    }
}

impl Wire for LatenessReport {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.varint(&mut self.received)?;
        coder.varint(&mut self.late)
    }
}

/// In a game without axes.
impl Wire for KeyInput {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.wire_with_axes(0, coder)
    }
}

impl KeyInput {
    /// 24 bits of time, the keys, 8 bits for each axis, 5 bits for the number of changes, and the
    /// changes.
    fn wire_with_axes<C: Coder>(&mut self, axes: usize, coder: &mut C) -> Result<(), WireError> {
        assert!(axes <= MAX_AXES, "{axes} axes, at most {MAX_AXES} are possible");
        let mut low_bits = u64::from(self.at_low_bits);
        coder.bits(&mut low_bits, STAMP_BITS)?;
        self.at_low_bits = low_bits as u32;
        wire_keys(&mut self.keys, coder)?;
        let mut values = self.axes.unwrap_or_default();
        for axis in &mut values.0[..axes] {
            let mut step = axis.cast_unsigned();
            coder.u8(&mut step)?;
            *axis = step.cast_signed();
        }
        if C::READS {
            self.axes = (axes > 0).then_some(values);
        }
        let mut age_ms = 0;
        let mut least_ms = 0;
        coder.list_with(&mut self.changes, MAX_CHANGES, |coder, change| {
            change.wire(coder, least_ms)?;
            least_ms = 1;
            age_ms = change.before_ms.saturating_add(age_ms);
            if age_ms > MAX_AGE_MS {
                Err(WireError::OutOfRange { what: "age of a change" })
            } else {
                Ok(())
            }
        })
    }
}

impl KeyChange {
    /// Its time, a varint counted from `least_ms`; a flag and 5 bits for one control, or a flag and
    /// all of them. A reader accepts the second form for one control, too.
    fn wire<C: Coder>(&mut self, coder: &mut C, least_ms: u64) -> Result<(), WireError> {
        let mut more_ms = self.before_ms.saturating_sub(least_ms);
        coder.varint(&mut more_ms)?;
        self.before_ms = more_ms.saturating_add(least_ms);
        let mut several = self.toggled.0.count_ones() != 1;
        coder.flag(&mut several)?;
        if several {
            wire_keys(&mut self.toggled, coder)?;
            return if self.toggled == Keymap::default() {
                Err(WireError::OutOfRange { what: "change of controls" })
            } else {
                Ok(())
            };
        }
        let mut control = i64::from(self.toggled.0.trailing_zeros());
        coder.bounded(&mut control, 0, i64::from(CONTROLS) - 1)?;
        self.toggled = Keymap(1 << control);
        Ok(())
    }
}

/// As a number: most games use only the lowest few controls.
fn wire_keys(keys: &mut Keymap, coder: &mut impl Coder) -> Result<(), WireError> {
    let mut number = u64::from(keys.0);
    coder.varint(&mut number)?;
    keys.0 = u32::try_from(number).map_err(|_| WireError::OutOfRange { what: "keys" })?;
    Ok(())
}

fn wire_lost_track<C: Coder>(number: &mut Option<u16>, coder: &mut C) -> Result<(), WireError> {
    let mut is_present = number.is_some();
    coder.flag(&mut is_present)?;
    if C::READS {
        *number = is_present.then_some(0);
    }
    number.as_mut().map_or(Ok(()), |number| coder.u16(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{decode, encode, measure};

    #[test]
    fn a_steady_input_takes_six_bytes_and_a_change_two_more() {
        let now = GameTime::from_millis(123_456_789);
        let mut uplink =
            Uplink { input: Some(KeyInput::new(Keymap(0b1_0100), now)), ..Uplink::default() };
        assert_eq!(measure(&mut uplink), 3 + 24 + 10 + 5);
        assert_eq!(encode(&mut uplink).len(), 6);
        assert!(!uplink.asks_for_ack() && !uplink.is_empty());
        let change =
            KeySample::new(now.saturating_sub(Duration::from_millis(50)), Keymap(0b1_0100));
        uplink.input = Some(KeyInput::with_changes(now, Keymap(0b1_0000), [change]));
        assert_eq!(measure(&mut uplink), 3 + 24 + 10 + 5 + 10 + 6);
        assert!(uplink.asks_for_ack());
    }

    /// The bits of these inputs before there were axes.
    #[test]
    fn a_game_without_axes_sends_not_one_bit_for_them() {
        let now = GameTime::from_millis(123_456_789);
        let at = |before| now.saturating_sub(Duration::from_millis(before));
        let changes = [(300, 1), (50, 0b1_0001), (0, 0)];
        let changes = changes.map(|(before, keys)| KeySample::new(at(before), Keymap(keys)));
        for (keys, changes, bits) in [
            (0, &changes[..0], 24 + 5 + 5),
            (0xffff_ffff, &changes[..0], 24 + 40 + 5),
            (0, &changes[..1], 24 + 5 + 5 + (15 + 6)),
            (0, &changes[..], 24 + 5 + 5 + (5 + 1 + 10) + (10 + 6) + (10 + 6)),
        ] {
            let held = changes.last().map_or(keys, |_| 0);
            let mut input = KeyInput::with_changes(now, Keymap(held), changes.iter().copied());
            assert_eq!(measure(&mut input), bits, "{input:?}");
            let without = encode(&mut input);
            input.axes = Some(Axes([1, -2, 3, -4]));
            assert_eq!(encode(&mut input), without, "a client whose game has none");
            for axes in 0..=MAX_AXES {
                let mut measure = crate::wire::Measure::new();
                input.wire_with_axes(axes, &mut measure).expect("measuring cannot fail");
                assert_eq!(measure.bits(), bits + 8 * axes);
            }
        }
    }

    #[test]
    fn the_axes_of_an_input_are_those_of_its_newest_sample() {
        let at = GameTime::from_millis;
        let axes = Some(Axes([127, -127, -128, 0]));
        for now in [40, 45] {
            let pressed = [KeySample::new(at(20), Keymap(1)), KeySample::new(at(40), Keymap(3))];
            let input = KeyInput::with_changes(at(now), Keymap(0), pressed);
            let mut uplink =
                Uplink { input: Some(KeyInput { axes, ..input }), ..Uplink::default() };
            let mut bytes = Vec::new();
            let mut writer = crate::wire::Writer::new(&mut bytes);
            uplink.wire_with_axes(3, &mut writer).expect("writing cannot fail");
            writer.finish();
            let read = read_uplink(Reader::new(&bytes), 3).expect("it is valid").expect("a body");
            assert_eq!(read, uplink);
            let samples = read.input.expect("an input").samples(at(now)).collect::<Vec<_>>();
            let has_axes = samples.iter().map(|sample| sample.axes == axes);
            assert_eq!(has_axes.collect::<Vec<_>>(), [false, now == 40, true]);
        }
    }

    #[test]
    fn samples_read_back_as_written_in_any_order_of_presses() {
        for seed in 0..1_000 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let held_before = Keymap(rng.u32(..) >> rng.u32(..32));
            let (mut at, mut keys, mut samples) =
                (100_000 + rng.u64(..100_000), held_before, Vec::new());
            for _ in 0..rng.usize(..=MAX_CHANGES) {
                at += rng.u64(1..2_000);
                keys.0 ^= if rng.bool() { 1 << rng.u32(..32) } else { rng.u32(1..) };
                samples.push(KeySample::new(GameTime::from_millis(at), keys));
            }
            let now = GameTime::from_millis(at + if rng.bool() { 0 } else { rng.u64(..500) });
            let read: KeyInput =
                decode(&encode(&mut KeyInput::with_changes(now, held_before, samples.clone())))
                    .expect("the encoding is valid");
            samples.push(KeySample::new(now, keys));
            let near = now + Duration::from_secs(rng.u64(..3_600));
            assert_eq!(read.samples(near).collect::<Vec<_>>(), samples, "seed {seed}");
        }
    }

    #[test]
    fn an_empty_change_is_not_sent() {
        let at = GameTime::from_millis;
        let samples = [(10, 1), (20, 1), (30, 0), (40, 0)]
            .map(|(ms, keys)| KeySample::new(at(ms), Keymap(keys)));
        let input = KeyInput::with_changes(at(45), Keymap(1), samples);
        let expected = [(30, 0), (45, 0)].map(|(ms, keys)| KeySample::new(at(ms), Keymap(keys)));
        assert_eq!(input.samples(at(45)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn changes_of_an_invalid_age_are_refused() {
        let mut input = KeyInput {
            changes: vec![KeyChange { before_ms: MAX_AGE_MS, toggled: Keymap(1) }],
            ..KeyInput::default()
        };
        assert_eq!(decode(&encode(&mut input)), Ok(input.clone()));
        let (mut bytes, mut more) =
            (Vec::new(), KeyInput { changes: vec![input.changes[0]; 2], ..input });
        let mut writer = crate::wire::Writer::new(&mut bytes);
        assert_eq!(more.wire(&mut writer), Err(WireError::OutOfRange { what: "age of a change" }));
        writer.finish();
        assert_eq!(
            decode::<KeyInput>(&bytes),
            Err(WireError::OutOfRange { what: "age of a change" })
        );
    }

    #[test]
    fn one_control_is_read_from_either_form_and_none_is_refused() {
        let read = |toggled: u32| {
            let mut bytes = Vec::new();
            let mut writer = crate::wire::Writer::new(&mut bytes);
            let mut write = || {
                writer.bits(&mut 0, STAMP_BITS)?;
                wire_keys(&mut Keymap(0), &mut writer)?;
                writer.bits(&mut 1, 5)?;
                writer.varint(&mut 3)?;
                writer.flag(&mut true)?;
                wire_keys(&mut Keymap(toggled), &mut writer)
            };
            write().expect("writing cannot fail");
            writer.finish();
            decode::<KeyInput>(&bytes)
        };
        let change = KeyChange { before_ms: 3, toggled: Keymap(0b1000) };
        let expected = KeyInput { changes: vec![change], ..KeyInput::default() };
        assert_eq!(read(0b1000), Ok(expected.clone()));
        assert_eq!(decode(&encode(&mut expected.clone())), Ok(expected));
        assert!(read(0).is_err());
    }

    #[test]
    fn a_number_resolves_to_the_one_nearest_to_the_last_sent() {
        for (number, near) in
            [(5, 9), (65_530, 65_540), (65_540, 65_530), (1_000_000, 1_010_000), (0, 3)]
        {
            assert_eq!(nearest_datagram_number(number as u16, near), number);
        }
    }

    #[test]
    fn padding_reads_as_an_empty_uplink() {
        assert_eq!(read_uplink(Reader::new(&[]), 4), Ok(None));
        assert_eq!(read_uplink(Reader::new(&[0]), 0), Ok(Some(Uplink::default())));
        assert_eq!(read_uplink(Reader::new(&[0, 0]), 4), Err(WireError::TrailingBits));
    }
}
