//! A game with one of everything: for tests, benches and the list of formats.

use super::{Codec, ComponentSpec, EventKind, FieldSpec, FieldType, Kind, Schema, Sight};

impl Schema {
    /// Kinds `avatar` (all codecs; mana is the owner's) and `stone` (a path, seen from 3 cells away), the event `hit`,
    /// two spells.
    pub fn example() -> Self {
        let fields = [("who", FieldType::Object), ("where", FieldType::Position), ("damage", FieldType::Number)];
        let fields = fields.map(|(name, ty)| FieldSpec { name: name.into(), ty });
        let far = Sight { inner: 0, outer: 3 };
        Self {
            game: "example".into(),
            kinds: vec![avatar(), Kind { name: "stone".into(), components: vec![path()], sight: Some(far) }],
            events: vec![EventKind { name: "hit".into(), fields: fields.into() }],
            spells: vec!["bolt".into(), "heal".into()],
        }
    }
}

fn avatar() -> Kind {
    let components = vec![
        path(),
        ComponentSpec::public("health", Codec::Gauge { max: 100.0 }),
        ComponentSpec::owner("mana", Codec::Gauge { max: 62.5 }),
        ComponentSpec::public("veiled", Codec::Flag),
        ComponentSpec::public("level", Codec::Number { min: 1, max: 99 }),
        ComponentSpec::public("name", Codec::Text { max_bytes: 96 }),
    ];
    Kind { name: "avatar".into(), components, sight: None }
}

fn path() -> ComponentSpec {
    ComponentSpec::public("path", Codec::Path)
}
