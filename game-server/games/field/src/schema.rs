//! The schema of the game, and the indices that the rules use.
//!
//! The constants are positions in the lists of [`schema`]; a test compares them.

use ambit_proto::ids::ObjectId;
use ambit_proto::schema::{
    Codec, Component, ComponentSpec, EventKind, FieldSpec, FieldType, ObjectKind, Schema,
};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::rules::{AVATAR_HEALTH, BOLT_M_PER_S, HEALTH_PER_S, MANA_PER_S, MAX_MANA, NPC_HEALTH};
use ambit_room::logic::world::World;

pub(super) const AVATAR: u8 = 0;
pub(super) const NPC: u8 = 1;
pub(super) const BOLT: u8 = 2;

/// Of avatars and wanderers.
pub(super) const HEALTH: u8 = 1;
/// Only avatars have this and the following components. Only the owner receives it.
pub(super) const MANA_LEFT: u8 = 2;
pub(super) const NAME: u8 = 3;
pub(super) const ALIVE: u8 = 4;
/// Only the owner receives it, to display it.
pub(super) const VEILED: u8 = 5;

pub(super) const CAST: u8 = 0;
pub(super) const DAMAGE: u8 = 1;
pub(super) const HEALED: u8 = 2;
pub(super) const DIED: u8 = 3;
pub(super) const RESPAWNED: u8 = 4;

/// Bytes of a name: 24 characters of 4.
const NAME_BYTES: u32 = 96;

/// The spells, in the order of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spell {
    Bolt,
    Heal,
    Veil,
    Blink,
}

impl Spell {
    const ALL: [(Spell, &str); 4] = [
        (Self::Bolt, "bolt"),
        (Self::Heal, "heal"),
        (Self::Veil, "veil"),
        (Self::Blink, "blink"),
    ];

    pub(super) fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).map(|(spell, _)| *spell)
    }
}

pub(super) fn schema() -> Schema {
    let path = || ComponentSpec::public("path", Codec::Path);
    let avatar = vec![
        path(),
        ComponentSpec::public("health", Codec::Gauge { max: AVATAR_HEALTH }),
        ComponentSpec::owner("mana", Codec::Gauge { max: MAX_MANA }),
        ComponentSpec::public(
            "name",
            Codec::Text {
                max_bytes: NAME_BYTES,
            },
        ),
        ComponentSpec::public("alive", Codec::Flag),
        ComponentSpec::owner("veiled", Codec::Flag),
    ];
    let npc = vec![
        path(),
        ComponentSpec::public("health", Codec::Gauge { max: NPC_HEALTH }),
    ];
    Schema {
        game: "field".into(),
        kinds: vec![
            kind("avatar", avatar),
            kind("npc", npc),
            kind("bolt", vec![path()]),
        ],
        events: vec![
            event(
                "cast",
                &[
                    ("caster", FieldType::Object),
                    ("spell", FieldType::NUMBER),
                    ("at", FieldType::Position),
                ],
            ),
            event(
                "damage",
                &[("target", FieldType::Object), ("amount", FieldType::NUMBER)],
            ),
            event(
                "heal",
                &[("target", FieldType::Object), ("amount", FieldType::NUMBER)],
            ),
            event("death", &[("target", FieldType::Object)]),
            event("respawn", &[("target", FieldType::Object)]),
        ],
        spells: Spell::ALL.map(|(_, name)| name.to_owned()).into(),
        ..Schema::default()
    }
}

pub(super) fn spawn_avatar(world: &mut World, position: Position, name: &str) -> ObjectId {
    let now = world.now();
    let components = vec![
        Component::at_rest(now, position),
        Component::gauge(now, AVATAR_HEALTH, HEALTH_PER_S, AVATAR_HEALTH),
        Component::gauge(now, MAX_MANA, MANA_PER_S, MAX_MANA),
        Component::Text(String::new()),
        Component::flag(now, true),
        Component::flag(now, false),
    ];
    let avatar = world.spawn(AVATAR, components);
    world.set_text(avatar, NAME, name);
    avatar
}

pub(super) fn spawn_npc(world: &mut World, position: Position) -> ObjectId {
    let now = world.now();
    let health = Component::gauge(now, NPC_HEALTH, HEALTH_PER_S, NPC_HEALTH);
    world.spawn(NPC, vec![Component::at_rest(now, position), health])
}

/// Creates a bolt that flies from one point to another. Returns also its time of arrival.
pub(super) fn spawn_bolt(world: &mut World, from: Position, to: Position) -> (ObjectId, GameTime) {
    let bolt = world.spawn(BOLT, vec![Component::at_rest(world.now(), from)]);
    let arrival = world.walk_to(bolt, to, BOLT_M_PER_S);
    (bolt, arrival)
}

fn kind(name: &str, components: Vec<ComponentSpec>) -> ObjectKind {
    ObjectKind {
        name: name.into(),
        components,
        ..ObjectKind::default()
    }
}

fn event(name: &str, fields: &[(&str, FieldType)]) -> EventKind {
    let fields = fields
        .iter()
        .map(|(name, ty)| FieldSpec::new(*name, ty.clone()))
        .collect();
    EventKind {
        name: name.into(),
        fields,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_indices_are_those_of_the_schema() {
        let schema = schema();
        assert_eq!(schema.check(), Ok(()));
        let kinds = ["avatar", "npc", "bolt"].map(|name| schema.kind_index(name));
        assert_eq!(kinds, [AVATAR, NPC, BOLT].map(Some));
        let component = |name| schema.kinds[usize::from(AVATAR)].component_index(name);
        let names = ["health", "mana", "name", "alive", "veiled"];
        assert_eq!(
            names.map(component),
            [HEALTH, MANA_LEFT, NAME, ALIVE, VEILED].map(Some)
        );
        assert_eq!(
            schema.kinds[usize::from(NPC)].component_index("health"),
            Some(HEALTH)
        );
        let events =
            ["cast", "damage", "heal", "death", "respawn"].map(|name| schema.event_index(name));
        assert_eq!(events, [CAST, DAMAGE, HEALED, DIED, RESPAWNED].map(Some));
        assert_eq!(schema.spells, ["bolt", "heal", "veil", "blink"]);
        assert_eq!(Spell::from_index(2), Some(Spell::Veil));
        assert_eq!(Spell::from_index(4), None);
    }
}
