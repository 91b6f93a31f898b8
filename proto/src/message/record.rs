//! Records: the parts of a datagram's body about one object each, and the one about the times at
//! which the client's inputs take effect.
//!
//! [`super`] describes the bits. Each record is self-contained: one with components names the kind
//! of the object, so a client can skip the record of an object that it does not know. Invariant:
//! components are in ascending order of their index, each at most once.

use super::body_context::BodyContext;
use super::wire_variant;
use crate::ids::Alias;
use crate::schema::{Component, MAX_COMPONENTS, MAX_KINDS, ObjectKind, SentPart};
use crate::time::GameTime;
use crate::wire::{Coder, Measure, WRITE_CANNOT_FAIL, Wire, WireError};

/// The highest number of effects in one record.
pub const MAX_EFFECTS: usize = 8;

const TYPE_BITS: u32 = 2;
/// The type of each record.
const ENTER: u64 = 0;
const UPDATE: u64 = 1;
const LEAVE: u64 = 2;
const INPUT_EFFECTS: u64 = 3;

const KIND_BITS: u32 = 6;
const _: () = assert!(MAX_KINDS <= 1 << KIND_BITS);
// The mask of a `ComponentSelection`.
const _: () = assert!(MAX_COMPONENTS <= u16::BITS as usize);

/// The state of one object from the time `at` on, or the effect times of inputs. Components are
/// referenced by their index in the kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The client follows the object from now on.
    Enter {
        /// The client's identifier for it.
        alias: Alias,
        /// Index in the schema's kinds.
        kind: u8,
        /// The time from which it applies.
        at: GameTime,
        /// Whether it is the player's own avatar or, if its kind is room-wide, the player's own.
        own: bool,
        /// Its state, or the first part of it.
        components: Vec<(u8, Component)>,
    },
    /// The object has changed.
    Update {
        /// The client's identifier for it.
        alias: Alias,
        /// As in its `Enter`.
        kind: u8,
        /// The time from which the numbers and texts apply; other components have times of their
        /// own.
        at: GameTime,
        /// The changed components.
        components: Vec<(u8, Component)>,
    },
    /// The client no longer follows the object.
    Leave {
        /// The client's identifier for it.
        alias: Alias,
        /// The time from which it applies.
        at: GameTime,
    },
    /// When inputs of the client take effect; the newest first, 1 to [`MAX_EFFECTS`].
    InputEffects(Vec<EffectTime>),
}

/// When inputs take effect. Whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EffectTime {
    /// Covers the inputs that were sampled up to then, by the client's timestamps, and that no
    /// earlier effect covers.
    pub sampled_until: GameTime,
    /// When these inputs take effect.
    pub takes_effect_at: GameTime,
}

/// A value for a reader, which overwrites it.
impl Default for Record {
    fn default() -> Self {
        Self::Leave { alias: Alias::default(), at: GameTime::ZERO }
    }
}

impl Record {
    /// The object's alias, if the record is about an object.
    pub const fn alias(&self) -> Option<Alias> {
        match self {
            Self::Enter { alias, .. } | Self::Update { alias, .. } | Self::Leave { alias, .. } => {
                Some(*alias)
            }
            Self::InputEffects(_) => None,
        }
    }

    /// The components that it contains.
    pub fn components(&self) -> &[(u8, Component)] {
        match self {
            Self::Enter { components, .. } | Self::Update { components, .. } => components,
            Self::Leave { .. } | Self::InputEffects(_) => &[],
        }
    }

    /// How many bits a body grows by this: the record and the flag before it.
    pub fn bits(&mut self, context: &BodyContext<'_>, stamp: GameTime) -> usize {
        let mut measure = Measure::new();
        self.wire(context, stamp, &mut measure).expect("measuring cannot fail");
        1 + measure.bits()
    }

    /// Reads, writes or measures; `stamp` is the body's.
    ///
    /// # Panics
    /// With a writer or a measure, if the record does not match the schema.
    pub fn wire<C: Coder>(
        &mut self,
        context: &BodyContext<'_>,
        stamp: GameTime,
        coder: &mut C,
    ) -> Result<(), WireError> {
        wire_variant(self, coder, TYPE_BITS, "record", Self::variant, Self::blank)?;
        match self {
            Self::Enter { alias, kind, at, own, components } => {
                let kind = wire_record_head(alias, kind, at, context, stamp, coder)?;
                coder.flag(own)?;
                wire_components(components, kind, stamp, coder)?;
                // Of an object that enters, nothing is known.
                if components.iter().any(|(_, component)| component.begins_as_known()) {
                    return Err(WireError::OutOfRange { what: "beginning of a path" });
                }
                Ok(())
            }
            Self::Update { alias, kind, at, components } => {
                let kind = wire_record_head(alias, kind, at, context, stamp, coder)?;
                wire_components(components, kind, stamp, coder)
            }
            Self::Leave { alias, at } => {
                alias.wire(coder)?;
                coder.time(at, context.horizon(stamp))
            }
            Self::InputEffects(effects) => {
                wire_effect_times(effects, stamp, context.horizon(stamp), coder)
            }
        }
    }

    const fn variant(&self) -> u64 {
        match self {
            Self::Enter { .. } => ENTER,
            Self::Update { .. } => UPDATE,
            Self::Leave { .. } => LEAVE,
            Self::InputEffects(_) => INPUT_EFFECTS,
        }
    }

    fn blank(variant: u64) -> Option<Self> {
        let alias = Alias { slot: 0, epoch: 0 };
        let kind = 0;
        let at = GameTime::ZERO;
        let own = false;
        let components = Vec::new();
        Some(match variant {
            ENTER => Self::Enter { alias, kind, at, own, components },
            UPDATE => Self::Update { alias, kind, at, components },
            LEAVE => Self::Leave { alias, at },
            INPUT_EFFECTS => Self::InputEffects(Vec::new()),
            _ => return None,
        })
    }
}

fn wire_effect_times<C: Coder>(
    effects: &mut Vec<EffectTime>,
    stamp: GameTime,
    horizon: GameTime,
    coder: &mut C,
) -> Result<(), WireError> {
    let mut more = effects.len() as i64 - 1;
    coder.bounded(&mut more, 0, MAX_EFFECTS as i64 - 1)?;
    if C::READS {
        effects.clear();
        effects.resize(more as usize + 1, EffectTime::default());
    }
    let mut later: Option<EffectTime> = None;
    for effect in effects {
        match later {
            None => {
                coder.time(&mut effect.sampled_until, stamp)?;
                coder.time(&mut effect.takes_effect_at, horizon)?;
            }
            Some(later) => {
                wire_earlier_time(&mut effect.sampled_until, later.sampled_until, coder)?;
                wire_earlier_time(&mut effect.takes_effect_at, later.takes_effect_at, coder)?;
            }
        }
        later = Some(*effect);
    }
    Ok(())
}

/// A moment before another one: a varint of the milliseconds between them, less 1.
fn wire_earlier_time<C: Coder>(
    time: &mut GameTime,
    later: GameTime,
    coder: &mut C,
) -> Result<(), WireError> {
    let latest =
        later.millis().checked_sub(1).ok_or(WireError::OutOfRange { what: "time of an effect" })?;
    let mut before = if C::READS {
        0
    } else {
        latest.checked_sub(time.millis()).expect("effects must be in order of time")
    };
    coder.varint(&mut before)?;
    if C::READS {
        let millis = latest.checked_sub(before);
        *time = GameTime::from_millis(
            millis.ok_or(WireError::OutOfRange { what: "time of an effect" })?,
        );
    }
    Ok(())
}

/// The beginning of `Enter` and `Update`; returns the object's kind.
fn wire_record_head<'s>(
    alias: &mut Alias,
    kind: &mut u8,
    at: &mut GameTime,
    context: &BodyContext<'s>,
    stamp: GameTime,
    coder: &mut impl Coder,
) -> Result<&'s ObjectKind, WireError> {
    alias.wire(coder)?;
    wire_kind(kind, coder)?;
    coder.time(at, context.horizon(stamp))?;
    context
        .schema
        .kind(*kind)
        .ok_or_else(|| WireError::Unknown { what: "kind", value: (*kind).into() })
}

/// The index of a kind in the schema, which may not have as many.
pub(super) fn wire_kind(kind: &mut u8, coder: &mut impl Coder) -> Result<(), WireError> {
    let mut index = u64::from(*kind);
    coder.bits(&mut index, KIND_BITS)?;
    *kind = index as u8;
    Ok(())
}

fn wire_components<C: Coder>(
    components: &mut Vec<(u8, Component)>,
    kind: &ObjectKind,
    stamp: GameTime,
    coder: &mut C,
) -> Result<(), WireError> {
    let mut mask = mask_of(components);
    coder.bits(&mut mask, kind.components.len() as u32)?;
    if C::READS {
        let sent = (0..).zip(&kind.components).filter(|(index, _)| mask >> index & 1 == 1);
        components.clear();
        components.extend(sent.map(|(index, spec)| (index, Component::unknown(&spec.codec))));
    }
    for (index, component) in components {
        component.wire(&kind.components[usize::from(*index)].codec, stamp, coder)?;
    }
    Ok(())
}

fn mask_of(components: &[(u8, Component)]) -> u64 {
    assert!(components.is_sorted_by(|a, b| a.0 < b.0), "components must be in order, each once");
    components.iter().map(|(index, _)| 1 << index).sum()
}

/// Writes or measures records directly from the components of objects, without copies.
/// [`Record::wire`] reads the result; each record begins with the bit that announces it.
#[derive(Clone, Copy, Debug)]
pub struct RecordWriter<'s> {
    /// What both ends know.
    pub context: BodyContext<'s>,
    /// The body's, in whole milliseconds.
    pub stamp: GameTime,
}

/// The fields of a record about the object as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// The client's identifier for it.
    pub alias: Alias,
    /// Index in the schema's kinds.
    pub kind: u8,
    /// The time from which the record applies.
    pub at: GameTime,
    /// As in an `Enter`.
    pub own: bool,
}

/// Which components of an object are sent, and from which time on.
#[derive(Clone, Copy, Debug)]
pub struct ComponentSelection<'c> {
    /// All components of the object, in the order of its kind.
    pub all: &'c [Component],
    /// Bit `i`, from the lowest: component `i` is sent.
    pub mask: u16,
    /// Which part of their timelines.
    pub part: SentPart,
}

impl RecordWriter<'_> {
    /// Writes a `Leave`.
    pub fn write_leave(&self, alias: Alias, at: GameTime, coder: &mut impl Coder) {
        coder.flag(&mut true).expect(WRITE_CANNOT_FAIL);
        Record::Leave { alias, at }
            .wire(&self.context, self.stamp, coder)
            .expect(WRITE_CANNOT_FAIL);
    }

    /// Writes the first half of an `Enter`, which differs between clients.
    pub fn write_enter_head(&self, head: &RecordHead, coder: &mut impl Coder) {
        self.write_head(ENTER, head, coder);
        coder.flag(&mut { head.own }).expect(WRITE_CANNOT_FAIL);
    }

    /// Writes the first half of an `Update`.
    pub fn write_update_head(&self, head: &RecordHead, coder: &mut impl Coder) {
        self.write_head(UPDATE, head, coder);
    }

    /// Writes the second half of an `Enter` or an `Update`: the same bits for all clients with the
    /// same access.
    pub fn write_components(
        &self,
        kind: u8,
        parts: &ComponentSelection<'_>,
        coder: &mut impl Coder,
    ) {
        let kind = self.context.schema.kind(kind).expect("the kind is in the schema");
        coder.bits(&mut parts.mask.into(), kind.components.len() as u32).expect(WRITE_CANNOT_FAIL);
        let sent = (0..)
            .zip(&kind.components)
            .zip(parts.all)
            .filter(|((index, _), _)| parts.mask >> index & 1 == 1);
        for ((_, spec), component) in sent {
            component.wire_part(&spec.codec, parts.part, self.stamp, coder);
        }
    }

    fn write_head(&self, record_type: u64, head: &RecordHead, coder: &mut impl Coder) {
        let RecordHead { mut alias, mut kind, mut at, .. } = *head;
        coder
            .flag(&mut true)
            .and_then(|()| coder.bits(&mut { record_type }, TYPE_BITS))
            .expect(WRITE_CANNOT_FAIL);
        wire_record_head(&mut alias, &mut kind, &mut at, &self.context, self.stamp, coder)
            .expect(WRITE_CANNOT_FAIL);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::examples::messages::{any_component, context};
    use crate::schema::Schema;
    use crate::wire::{Reader, Writer};

    #[test]
    fn a_record_written_in_place_reads_as_one_written_from_copies() {
        let schema = Schema::example_with_poses();
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let stamp = GameTime::from_millis(100_000 + rng.u64(..1_000));
            let writer = RecordWriter { context: context(&schema, stamp), stamp };
            let kind = rng.u8(..schema.kinds.len() as u8);
            let specs = &schema.kinds[usize::from(kind)].components;
            let all: Vec<Component> =
                specs.iter().map(|spec| any_component(&mut rng, &spec.codec)).collect();
            let head = RecordHead {
                alias: Alias { slot: 3, epoch: 4 },
                kind,
                at: writer.context.horizon(stamp),
                own: true,
            };
            let mask = rng.u16(..) & ((1_u32 << specs.len()) - 1) as u16;
            let parts = ComponentSelection {
                all: &all,
                mask,
                part: SentPart {
                    is_known: false,
                    has_jumped: false,
                    from: stamp + Duration::from_millis(rng.u64(..90)),
                    path_until: None,
                },
            };

            let mut bytes = Vec::new();
            let mut out = Writer::new(&mut bytes);
            write_all(&writer, &head, &parts, &mut out);
            let mut measure = Measure::new();
            write_all(&writer, &head, &parts, &mut measure);
            assert_eq!(out.bits_written(), measure.bits(), "seed {seed}");
            out.finish();
            let mut reader = Reader::new(&bytes);
            for expected in [ENTER, UPDATE, LEAVE] {
                check_read(&writer, expected, head.alias, &parts, &mut reader, seed);
            }
        }
    }

    /// Writes an enter, an update and a leave of one object.
    fn write_all(
        writer: &RecordWriter<'_>,
        head: &RecordHead,
        parts: &ComponentSelection<'_>,
        out: &mut impl Coder,
    ) {
        writer.write_enter_head(head, out);
        writer.write_components(head.kind, parts, out);
        writer.write_update_head(head, out);
        writer.write_components(head.kind, parts, out);
        writer.write_leave(head.alias, head.at, out);
    }

    /// Reads the next record and compares it with what was written.
    fn check_read(
        writer: &RecordWriter<'_>,
        expected: u64,
        alias: Alias,
        parts: &ComponentSelection<'_>,
        reader: &mut Reader<'_>,
        seed: u64,
    ) {
        let mut there = false;
        let mut record = Record::default();
        reader.flag(&mut there).expect("the encoding is valid");
        record.wire(&writer.context, writer.stamp, reader).expect("the encoding is valid");
        assert!(
            there && record.variant() == expected && record.alias() == Some(alias),
            "seed {seed}"
        );
        for (index, component) in record.components() {
            let sent = from_then_on(&parts.all[usize::from(*index)], parts.part.from);
            assert_eq!(*component, sent.clip(writer.stamp), "seed {seed}");
        }
        let sent: u16 = record.components().iter().map(|(index, _)| 1 << index).sum();
        let mask = if expected == LEAVE { 0 } else { parts.mask };
        assert_eq!(sent, mask, "seed {seed}");
    }

    #[test]
    fn an_effect_time_takes_few_bytes_and_is_at_least_zero() {
        let schema = Schema::example();
        let stamp = GameTime::from_millis(50_000);
        let context = context(&schema, stamp);
        let effect = EffectTime {
            sampled_until: GameTime::from_millis(49_930),
            takes_effect_at: context.horizon(stamp),
        };
        assert_eq!(Record::InputEffects(vec![effect]).bits(&context, stamp), 1 + 2 + 3 + 10 + 5);
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        for (mut bits, width) in [(3, 2), (0, 3)] {
            writer.bits(&mut bits, width).expect(WRITE_CANNOT_FAIL);
        }
        for mut after in [-50_000, -60_000] {
            writer.signed_varint(&mut after).expect(WRITE_CANNOT_FAIL);
        }
        writer.finish();
        let mut read = Record::default();
        let refused = Err(WireError::OutOfRange { what: "time" });
        assert_eq!(read.wire(&context, stamp, &mut Reader::new(&bytes)), refused);
    }

    /// The value at `from` and the points after it, computed in the simplest manner.
    fn from_then_on(component: &Component, from: GameTime) -> Component {
        use crate::timeline::{Timeline, TimelineValue};
        fn cut<T: TimelineValue>(timeline: &Timeline<T>, from: GameTime) -> Timeline<T> {
            let behind = timeline.points().filter(|(time, _)| *time > from);
            let mut cut = Timeline::new(40);
            if let Some(value) = timeline.value_at(from) {
                cut.insert(from, value);
            }
            behind.for_each(|(time, value)| cut.insert(time, value.clone()));
            cut
        }
        match component {
            Component::Path(path) => Component::Path(cut(path, from)),
            Component::Gauge(gauge) => Component::Gauge(cut(gauge, from)),
            Component::Flag(flag) => Component::Flag(cut(flag, from)),
            plain => plain.clone(),
        }
    }
}
