//! What a datagram's body says of one object.
//!
//! The bits stand in [`super`]. Each record stands for itself: it says of which kind the object is,
//! so that one of an object that the client does not (or no longer) know can be passed over.
//! Invariant: components are in ascending order of their index, each at most once.

use super::body::{BodyContext, WRITE_CANNOT_FAIL};
use super::wire_variant;
use crate::ids::Alias;
use crate::schema::{Component, ObjectKind};
use crate::time::GameTime;
use crate::wire::{Coder, Measure, Wire, WireError};

/// EffectReports in one record, at most.
pub const MAX_EFFECTS: usize = 8;

const RECORD_BITS: u32 = 2;
const KIND_BITS: u32 = 6;

/// News of one object, from the time `at` on. A component goes by its index in the kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The client follows it.
    ObjectEntered {
        /// The client's name for it.
        alias: Alias,
        /// Index in the schema's kinds.
        kind: u8,
        /// From when on.
        at: GameTime,
        /// Whether it is the player's avatar.
        own: bool,
        /// Its state, or the first part of it.
        components: Vec<(u8, Component)>,
    },
    /// Something about it has changed.
    ObjectUpdated {
        /// The client's name for it.
        alias: Alias,
        /// As in its `ObjectEntered`.
        kind: u8,
        /// From when on the numbers and texts hold.
        at: GameTime,
        /// What has changed.
        components: Vec<(u8, Component)>,
    },
    /// The client follows it no longer.
    Leave {
        /// The client's name for it.
        alias: Alias,
        /// From when on.
        at: GameTime,
    },
    /// When inputs of the client take effect; the newest first, 1 to [`MAX_EFFECTS`].
    EffectReports(Vec<EffectTime>),
}

/// When inputs take effect. Whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EffectTime {
    /// All that were sampled up to then, as the client told the time, unless an earlier effect
    /// covers them ...
    pub sampled_until: GameTime,
    /// ... take effect then.
    pub takes_effect_at: GameTime,
}

impl Default for Record {
    fn default() -> Self {
        Self::Leave {
            alias: Alias::default(),
            at: GameTime::ZERO,
        }
    }
}

impl Record {
    /// The object's name, if it is about one.
    pub const fn alias(&self) -> Option<Alias> {
        match self {
            Self::ObjectEntered { alias, .. }
            | Self::ObjectUpdated { alias, .. }
            | Self::Leave { alias, .. } => Some(*alias),
            Self::EffectReports(_) => None,
        }
    }

    /// The components that it carries.
    pub fn components(&self) -> &[(u8, Component)] {
        match self {
            Self::ObjectEntered { components, .. } | Self::ObjectUpdated { components, .. } => {
                components
            }
            Self::Leave { .. } | Self::EffectReports(_) => &[],
        }
    }

    /// How many bits a body grows by this: the record and the flag before it.
    pub fn bits(&mut self, context: &BodyContext<'_>, stamp: GameTime) -> usize {
        let mut measure = Measure::new();
        self.wire(context, stamp, &mut measure)
            .expect("a measure refuses nothing");
        1 + measure.bits()
    }

    /// Reads, writes or measures; `stamp` is the body's.
    ///
    /// # Panics
    /// With a writer or a measure, when the record does not fit the schema: our bug.
    pub fn wire<C: Coder>(
        &mut self,
        context: &BodyContext<'_>,
        stamp: GameTime,
        coder: &mut C,
    ) -> Result<(), WireError> {
        wire_variant(
            self,
            coder,
            RECORD_BITS,
            "record",
            Self::variant,
            Self::blank,
        )?;
        match self {
            Self::ObjectEntered {
                alias,
                kind,
                at,
                own,
                components,
            } => {
                let kind = wire_record_head(alias, kind, at, context, stamp, coder)?;
                coder.flag(own)?;
                wire_components(components, kind, stamp, coder)
            }
            Self::ObjectUpdated {
                alias,
                kind,
                at,
                components,
            } => {
                let kind = wire_record_head(alias, kind, at, context, stamp, coder)?;
                wire_components(components, kind, stamp, coder)
            }
            Self::Leave { alias, at } => {
                alias.wire(coder)?;
                coder.time(at, context.horizon(stamp))
            }
            Self::EffectReports(effects) => {
                wire_effect_times(effects, stamp, context.horizon(stamp), coder)
            }
        }
    }

    const fn variant(&self) -> u64 {
        match self {
            Self::ObjectEntered { .. } => 0,
            Self::ObjectUpdated { .. } => 1,
            Self::Leave { .. } => 2,
            Self::EffectReports(_) => 3,
        }
    }

    fn blank(variant: u64) -> Option<Self> {
        let alias = Alias { slot: 0, epoch: 0 };
        let (kind, at, own, components) = (0, GameTime::ZERO, false, Vec::new());
        Some(match variant {
            0 => Self::ObjectEntered {
                alias,
                kind,
                at,
                own,
                components,
            },
            1 => Self::ObjectUpdated {
                alias,
                kind,
                at,
                components,
            },
            2 => Self::Leave { alias, at },
            3 => Self::EffectReports(Vec::new()),
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

/// A moment before another one: a varint of the milliseconds between, less 1.
fn wire_earlier_time<C: Coder>(
    time: &mut GameTime,
    later: GameTime,
    coder: &mut C,
) -> Result<(), WireError> {
    let latest = later.millis().checked_sub(1).ok_or(WireError::OutOfRange {
        what: "time of an effect",
    })?;
    let mut before = if C::READS {
        0
    } else {
        latest
            .checked_sub(time.millis())
            .expect("effects in order of time")
    };
    coder.varint(&mut before)?;
    if C::READS {
        let millis = latest.checked_sub(before);
        *time = GameTime::from_millis(millis.ok_or(WireError::OutOfRange {
            what: "time of an effect",
        })?);
    }
    Ok(())
}

/// What `ObjectEntered` and `ObjectUpdated` begin with; the object's kind.
fn wire_record_head<'s>(
    alias: &mut Alias,
    kind: &mut u8,
    at: &mut GameTime,
    context: &BodyContext<'s>,
    stamp: GameTime,
    coder: &mut impl Coder,
) -> Result<&'s ObjectKind, WireError> {
    alias.wire(coder)?;
    let mut index = u64::from(*kind);
    coder.bits(&mut index, KIND_BITS)?;
    *kind = index as u8;
    coder.time(at, context.horizon(stamp))?;
    context.schema.kind(*kind).ok_or(WireError::Unknown {
        what: "kind",
        value: index,
    })
}

fn wire_components<C: Coder>(
    components: &mut Vec<(u8, Component)>,
    kind: &ObjectKind,
    base: GameTime,
    coder: &mut C,
) -> Result<(), WireError> {
    let mut mask = mask_of(components);
    coder.bits(&mut mask, kind.components.len() as u32)?;
    if C::READS {
        let sent = (0..)
            .zip(&kind.components)
            .filter(|(index, _)| mask >> index & 1 == 1);
        components.clear();
        components.extend(sent.map(|(index, spec)| (index, Component::unknown(&spec.codec))));
    }
    for (index, component) in components {
        component.wire(&kind.components[usize::from(*index)].codec, base, coder)?;
    }
    Ok(())
}

fn mask_of(components: &[(u8, Component)]) -> u64 {
    assert!(
        components.is_sorted_by(|a, b| a.0 < b.0),
        "components in order, each once"
    );
    components.iter().map(|(index, _)| 1 << index).sum()
}

/// Writes or measures records straight from the components of objects, without copies. What it
/// writes is what [`Record::wire`] reads; each begins with the bit that says that there is one.
#[derive(Clone, Copy, Debug)]
pub struct RecordWriter<'s> {
    /// What both ends know.
    pub context: BodyContext<'s>,
    /// The body's, in whole milliseconds.
    pub stamp: GameTime,
}

/// What a record says of the object as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// The client's name for it.
    pub alias: Alias,
    /// Index in the schema's kinds.
    pub kind: u8,
    /// From when on.
    pub at: GameTime,
    /// Whether it is the player's avatar: for an `ObjectEntered`.
    pub own: bool,
}

/// Which components of an object are told, and from when on.
#[derive(Clone, Copy, Debug)]
pub struct ComponentSelection<'c> {
    /// All components of the object, in the order of its kind.
    pub all: &'c [Component],
    /// Bit `i`, from the lowest: component `i` is told.
    pub mask: u16,
    /// What holds from then on is told, and nothing that was before. Not before the stamp.
    pub from: GameTime,
}

impl RecordWriter<'_> {
    /// An `ObjectEntered`.
    pub fn write_enter(
        &self,
        head: &RecordHead,
        parts: &ComponentSelection<'_>,
        coder: &mut impl Coder,
    ) {
        self.write_enter_head(head, coder);
        self.write_components(head.kind, parts, coder);
    }

    /// An `ObjectUpdated`.
    pub fn write_update(
        &self,
        head: &RecordHead,
        parts: &ComponentSelection<'_>,
        coder: &mut impl Coder,
    ) {
        self.write_update_head(head, coder);
        self.write_components(head.kind, parts, coder);
    }

    /// A `Leave`.
    pub fn write_leave(&self, alias: Alias, at: GameTime, coder: &mut impl Coder) {
        coder.flag(&mut true).expect(WRITE_CANNOT_FAIL);
        Record::Leave { alias, at }
            .wire(&self.context, self.stamp, coder)
            .expect(WRITE_CANNOT_FAIL);
    }

    /// The first half of an `ObjectEntered`: what differs from client to client.
    pub fn write_enter_head(&self, head: &RecordHead, coder: &mut impl Coder) {
        self.write_head(0, head, coder);
        coder.flag(&mut { head.own }).expect(WRITE_CANNOT_FAIL);
    }

    /// The first half of an `ObjectUpdated`.
    pub fn write_update_head(&self, head: &RecordHead, coder: &mut impl Coder) {
        self.write_head(1, head, coder);
    }

    /// The second half of an `ObjectEntered` or an `ObjectUpdated`: the same bits for all clients
    /// that may know the same.
    pub fn write_components(
        &self,
        kind: u8,
        parts: &ComponentSelection<'_>,
        coder: &mut impl Coder,
    ) {
        let kind = self
            .context
            .schema
            .kind(kind)
            .expect("a kind of the schema");
        coder
            .bits(&mut parts.mask.into(), kind.components.len() as u32)
            .expect(WRITE_CANNOT_FAIL);
        let told = (0..)
            .zip(&kind.components)
            .zip(parts.all)
            .filter(|((index, _), _)| parts.mask >> index & 1 == 1);
        for ((_, spec), component) in told {
            component.wire_from(&spec.codec, parts.from, self.stamp, coder);
        }
    }

    fn write_head(&self, record: u64, head: &RecordHead, coder: &mut impl Coder) {
        let RecordHead {
            mut alias,
            mut kind,
            mut at,
            ..
        } = *head;
        coder
            .flag(&mut true)
            .and_then(|()| coder.bits(&mut { record }, RECORD_BITS))
            .expect(WRITE_CANNOT_FAIL);
        wire_record_head(
            &mut alias,
            &mut kind,
            &mut at,
            &self.context,
            self.stamp,
            coder,
        )
        .expect(WRITE_CANNOT_FAIL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::example::{any_component, context};
    use crate::schema::Schema;
    use crate::wire::{Reader, Writer};

    #[test]
    fn a_record_written_in_place_reads_as_one_written_from_copies() {
        let schema = Schema::example_with_poses();
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let stamp = GameTime::from_millis(100_000 + rng.u64(..1_000));
            let writer = RecordWriter {
                context: context(&schema, stamp),
                stamp,
            };
            let kind = rng.u8(..schema.kinds.len() as u8);
            let specs = &schema.kinds[usize::from(kind)].components;
            let all: Vec<Component> = specs
                .iter()
                .map(|spec| any_component(&mut rng, &spec.codec))
                .collect();
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
                from: stamp + std::time::Duration::from_millis(rng.u64(..90)),
            };

            let mut bytes = Vec::new();
            let mut out = Writer::new(&mut bytes);
            writer.write_enter(&head, &parts, &mut out);
            writer.write_update(&head, &parts, &mut out);
            writer.write_leave(head.alias, head.at, &mut out);
            let mut measure = Measure::new();
            writer.write_enter(&head, &parts, &mut measure);
            writer.write_update(&head, &parts, &mut measure);
            writer.write_leave(head.alias, head.at, &mut measure);
            assert_eq!(out.bits_written(), measure.bits(), "seed {seed}");
            out.finish();

            let mut reader = Reader::new(&bytes);
            for expected in [0, 1, 2] {
                let (mut there, mut record) = (false, Record::default());
                reader.flag(&mut there).expect("what was written");
                record
                    .wire(&writer.context, stamp, &mut reader)
                    .expect("what was written");
                assert!(
                    there && record.variant() == expected && record.alias() == Some(head.alias),
                    "seed {seed}"
                );
                for (index, component) in record.components() {
                    let sent = &all[usize::from(*index)];
                    assert_eq!(
                        *component,
                        from_then_on(sent, parts.from).clip(stamp),
                        "seed {seed}"
                    );
                }
                let told = record
                    .components()
                    .iter()
                    .map(|(index, _)| 1 << index)
                    .sum::<u16>();
                assert_eq!(told, if expected == 2 { 0 } else { mask }, "seed {seed}");
            }
        }
    }

    #[test]
    fn an_effect_time_takes_few_bytes_and_must_lie_in_the_past() {
        let (schema, stamp) = (Schema::example(), GameTime::from_millis(50_000));
        let context = context(&schema, stamp);
        let effect = EffectTime {
            sampled_until: GameTime::from_millis(49_930),
            takes_effect_at: context.horizon(stamp),
        };
        assert_eq!(
            Record::EffectReports(vec![effect]).bits(&context, stamp),
            1 + 2 + 3 + 10 + 5
        );
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
        assert_eq!(
            read.wire(&context, stamp, &mut Reader::new(&bytes)),
            refused
        );
    }

    /// The plain way: the value at `from`, and the points behind it.
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
