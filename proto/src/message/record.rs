//! What a datagram's body says of one object.
//!
//! The bits stand in [`super`]. Each record stands for itself: it says of which kind the object is, so that one of an
//! object that the client does not (or no longer) know can be passed over. Invariant: components are in ascending order
//! of their index, each at most once.

use super::wire_variant;
use crate::ids::Alias;
use crate::schema::{Component, Kind, Schema};
use crate::time::GameTime;
use crate::wire::{Coder, Measure, Wire, WireError};

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
}

impl Default for Record {
    fn default() -> Self {
        Self::Leave { alias: Alias::default(), at: GameTime::ZERO }
    }
}

impl Record {
    /// The object's name.
    pub const fn alias(&self) -> Alias {
        match self {
            Self::Enter { alias, .. } | Self::Update { alias, .. } | Self::Leave { alias, .. } => *alias,
        }
    }

    /// From when on it holds.
    pub const fn at(&self) -> GameTime {
        match self {
            Self::Enter { at, .. } | Self::Update { at, .. } | Self::Leave { at, .. } => *at,
        }
    }

    /// The components that it carries.
    pub fn components(&self) -> &[(u8, Component)] {
        match self {
            Self::Enter { components, .. } | Self::Update { components, .. } => components,
            Self::Leave { .. } => &[],
        }
    }

    /// How many bits a body grows by this: the record and the flag before it.
    pub fn bits(&mut self, schema: &Schema, base: GameTime) -> usize {
        let mut measure = Measure::new();
        self.wire(schema, base, &mut measure).expect("a measure refuses nothing");
        1 + measure.bits()
    }

    /// Reads, writes or measures; `base` is the body's stamp.
    ///
    /// # Panics
    /// With a writer or a measure, when the record does not fit `schema`: our bug.
    pub fn wire<C: Coder>(&mut self, schema: &Schema, base: GameTime, coder: &mut C) -> Result<(), WireError> {
        wire_variant(self, coder, RECORD_BITS, "record", Self::variant, Self::blank)?;
        match self {
            Self::Enter { alias, kind, at, own, components } => {
                let kind = wire_head(alias, kind, at, schema, base, coder)?;
                coder.flag(own)?;
                wire_components(components, kind, base, coder)
            }
            Self::Update { alias, kind, at, components } => {
                let kind = wire_head(alias, kind, at, schema, base, coder)?;
                wire_components(components, kind, base, coder)
            }
            Self::Leave { alias, at } => {
                alias.wire(coder)?;
                coder.time(at, base)
            }
        }
    }

    const fn variant(&self) -> u64 {
        match self {
            Self::Enter { .. } => 0,
            Self::Update { .. } => 1,
            Self::Leave { .. } => 2,
        }
    }

    fn blank(variant: u64) -> Option<Self> {
        let alias = Alias { slot: 0, epoch: 0 };
        let (kind, at, own, components) = (0, GameTime::ZERO, false, Vec::new());
        Some(match variant {
            0 => Self::Enter { alias, kind, at, own, components },
            1 => Self::Update { alias, kind, at, components },
            2 => Self::Leave { alias, at },
            _ => return None,
        })
    }
}

/// What `Enter` and `Update` begin with; the object's kind.
fn wire_head<'s>(
    alias: &mut Alias,
    kind: &mut u8,
    at: &mut GameTime,
    schema: &'s Schema,
    base: GameTime,
    coder: &mut impl Coder,
) -> Result<&'s Kind, WireError> {
    alias.wire(coder)?;
    let mut index = u64::from(*kind);
    coder.bits(&mut index, KIND_BITS)?;
    *kind = index as u8;
    coder.time(at, base)?;
    schema.kind(*kind).ok_or(WireError::Unknown { what: "kind", value: index })
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
        let sent = (0..).zip(&kind.components).filter(|(index, _)| mask >> index & 1 == 1);
        components.clear();
        components.extend(sent.map(|(index, spec)| (index, Component::unknown(&spec.codec))));
    }
    for (index, component) in components {
        component.wire(&kind.components[usize::from(*index)].codec, base, coder)?;
    }
    Ok(())
}

fn mask_of(components: &[(u8, Component)]) -> u64 {
    assert!(components.is_sorted_by(|a, b| a.0 < b.0), "components in order, each once");
    components.iter().map(|(index, _)| 1 << index).sum()
}
