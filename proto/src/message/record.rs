//! What a datagram's body says of one object.
//!
//! The bits stand in [`super`]. Each record stands for itself: it says of which kind the object is,
//! so that one of an object that the client does not (or no longer) know can be passed over.
//! Invariant: components are in ascending order of their index, each at most once.

use super::body::{BodyContext, WRITES};
use super::wire_variant;
use crate::ids::Alias;
use crate::schema::{Component, Kind};
use crate::time::GameTime;
use crate::wire::{Coder, Measure, Wire, WireError};

/// Effects in one record, at most.
pub const MAX_EFFECTS: usize = 8;

const RECORD_BITS: u32 = 2;
const KIND_BITS: u32 = 6;

/// News of one object, from the time `at` on. A component goes by its index in the kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The client follows it.
    Enter {
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
    Update {
        /// The client's name for it.
        alias: Alias,
        /// As in its `Enter`.
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
    Effects(Vec<Effect>),
}

/// When inputs take effect. Whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// All that were sampled up to then, as the client told the time, unless an earlier effect
    /// covers them ...
    pub at: GameTime,
    /// ... take effect then.
    pub effect: GameTime,
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
            Self::Enter { alias, .. } | Self::Update { alias, .. } | Self::Leave { alias, .. } => {
                Some(*alias)
            }
            Self::Effects(_) => None,
        }
    }

    /// The components that it carries.
    pub fn components(&self) -> &[(u8, Component)] {
        match self {
            Self::Enter { components, .. } | Self::Update { components, .. } => components,
            Self::Leave { .. } | Self::Effects(_) => &[],
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
            Self::Enter {
                alias,
                kind,
                at,
                own,
                components,
            } => {
                let kind = wire_head(alias, kind, at, context, stamp, coder)?;
                coder.flag(own)?;
                wire_components(components, kind, stamp, coder)
            }
            Self::Update {
                alias,
                kind,
                at,
                components,
            } => {
                let kind = wire_head(alias, kind, at, context, stamp, coder)?;
                wire_components(components, kind, stamp, coder)
            }
            Self::Leave { alias, at } => {
                alias.wire(coder)?;
                coder.time(at, context.horizon(stamp))
            }
            Self::Effects(effects) => wire_effects(effects, stamp, context.horizon(stamp), coder),
        }
    }

    const fn variant(&self) -> u64 {
        match self {
            Self::Enter { .. } => 0,
            Self::Update { .. } => 1,
            Self::Leave { .. } => 2,
            Self::Effects(_) => 3,
        }
    }

    fn blank(variant: u64) -> Option<Self> {
        let alias = Alias { slot: 0, epoch: 0 };
        let (kind, at, own, components) = (0, GameTime::ZERO, false, Vec::new());
        Some(match variant {
            0 => Self::Enter {
                alias,
                kind,
                at,
                own,
                components,
            },
            1 => Self::Update {
                alias,
                kind,
                at,
                components,
            },
            2 => Self::Leave { alias, at },
            3 => Self::Effects(Vec::new()),
            _ => return None,
        })
    }
}

fn wire_effects<C: Coder>(
    effects: &mut Vec<Effect>,
    stamp: GameTime,
    horizon: GameTime,
    coder: &mut C,
) -> Result<(), WireError> {
    let mut more = effects.len() as i64 - 1;
    coder.bounded(&mut more, 0, MAX_EFFECTS as i64 - 1)?;
    if C::READS {
        effects.clear();
        effects.resize(more as usize + 1, Effect::default());
    }
    let mut later: Option<Effect> = None;
    for effect in effects {
        match later {
            None => {
                coder.time(&mut effect.at, stamp)?;
                coder.time(&mut effect.effect, horizon)?;
            }
            Some(later) => {
                wire_before(&mut effect.at, later.at, coder)?;
                wire_before(&mut effect.effect, later.effect, coder)?;
            }
        }
        later = Some(*effect);
    }
    Ok(())
}

/// A moment before another one: a varint of the milliseconds between, less 1.
fn wire_before<C: Coder>(
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

/// What `Enter` and `Update` begin with; the object's kind.
fn wire_head<'s>(
    alias: &mut Alias,
    kind: &mut u8,
    at: &mut GameTime,
    context: &BodyContext<'s>,
    stamp: GameTime,
    coder: &mut impl Coder,
) -> Result<&'s Kind, WireError> {
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
    kind: &Kind,
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
pub struct Head {
    /// The client's name for it.
    pub alias: Alias,
    /// Index in the schema's kinds.
    pub kind: u8,
    /// From when on.
    pub at: GameTime,
    /// Whether it is the player's avatar: for an `Enter`.
    pub own: bool,
}

/// Which components of an object are told, and from when on.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'c> {
    /// All components of the object, in the order of its kind.
    pub all: &'c [Component],
    /// Bit `i`, from the lowest: component `i` is told.
    pub mask: u16,
    /// What holds from then on is told, and nothing that was before. Not before the stamp.
    pub from: GameTime,
}

impl RecordWriter<'_> {
    /// An `Enter`.
    pub fn enter(&self, head: &Head, parts: &Parts<'_>, coder: &mut impl Coder) {
        self.enter_head(head, coder);
        self.parts(head.kind, parts, coder);
    }

    /// An `Update`.
    pub fn update(&self, head: &Head, parts: &Parts<'_>, coder: &mut impl Coder) {
        self.update_head(head, coder);
        self.parts(head.kind, parts, coder);
    }

    /// A `Leave`.
    pub fn leave(&self, alias: Alias, at: GameTime, coder: &mut impl Coder) {
        coder.flag(&mut true).expect(WRITES);
        Record::Leave { alias, at }
            .wire(&self.context, self.stamp, coder)
            .expect(WRITES);
    }

    /// The first half of an `Enter`: what differs from client to client.
    pub fn enter_head(&self, head: &Head, coder: &mut impl Coder) {
        self.head(0, head, coder);
        coder.flag(&mut { head.own }).expect(WRITES);
    }

    /// The first half of an `Update`.
    pub fn update_head(&self, head: &Head, coder: &mut impl Coder) {
        self.head(1, head, coder);
    }

    /// The second half of an `Enter` or an `Update`: the same bits for all clients that may know
    /// the same.
    pub fn parts(&self, kind: u8, parts: &Parts<'_>, coder: &mut impl Coder) {
        let kind = self
            .context
            .schema
            .kind(kind)
            .expect("a kind of the schema");
        coder
            .bits(&mut parts.mask.into(), kind.components.len() as u32)
            .expect(WRITES);
        let told = (0..)
            .zip(&kind.components)
            .zip(parts.all)
            .filter(|((index, _), _)| parts.mask >> index & 1 == 1);
        for ((_, spec), component) in told {
            component.wire_from(&spec.codec, parts.from, self.stamp, coder);
        }
    }

    fn head(&self, record: u64, head: &Head, coder: &mut impl Coder) {
        let Head {
            mut alias,
            mut kind,
            mut at,
            ..
        } = *head;
        coder
            .flag(&mut true)
            .and_then(|()| coder.bits(&mut { record }, RECORD_BITS))
            .expect(WRITES);
        wire_head(
            &mut alias,
            &mut kind,
            &mut at,
            &self.context,
            self.stamp,
            coder,
        )
        .expect(WRITES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::example::{any_component, context};
    use crate::schema::Schema;
    use crate::wire::{Reader, Writer};

    #[test]
    fn a_record_written_without_copies_is_read_as_one_of_copies() {
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
            let head = Head {
                alias: Alias { slot: 3, epoch: 4 },
                kind,
                at: writer.context.horizon(stamp),
                own: true,
            };
            let mask = rng.u16(..) & ((1_u32 << specs.len()) - 1) as u16;
            let parts = Parts {
                all: &all,
                mask,
                from: stamp + std::time::Duration::from_millis(rng.u64(..90)),
            };

            let mut bytes = Vec::new();
            let mut out = Writer::new(&mut bytes);
            writer.enter(&head, &parts, &mut out);
            writer.update(&head, &parts, &mut out);
            writer.leave(head.alias, head.at, &mut out);
            let mut measure = Measure::new();
            writer.enter(&head, &parts, &mut measure);
            writer.update(&head, &parts, &mut measure);
            writer.leave(head.alias, head.at, &mut measure);
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
    fn an_effect_takes_a_few_bytes_and_must_lie_in_the_past() {
        let (schema, stamp) = (Schema::example(), GameTime::from_millis(50_000));
        let context = context(&schema, stamp);
        let effect = Effect {
            at: GameTime::from_millis(49_930),
            effect: context.horizon(stamp),
        };
        assert_eq!(
            Record::Effects(vec![effect]).bits(&context, stamp),
            1 + 2 + 3 + 10 + 5
        );
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        for (mut bits, width) in [(3, 2), (0, 3)] {
            writer.bits(&mut bits, width).expect(WRITES);
        }
        for mut after in [-50_000, -60_000] {
            writer.signed_varint(&mut after).expect(WRITES);
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
        use crate::timeline::{Sample, Timeline};
        fn cut<T: Sample>(timeline: &Timeline<T>, from: GameTime) -> Timeline<T> {
            let behind = timeline.points().filter(|(time, _)| *time > from);
            let mut cut = Timeline::new(40);
            if let Some(value) = timeline.at(from) {
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
