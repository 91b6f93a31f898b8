//! The schema of the game, and the indices that the rules use.
//!
//! The constants are positions in the lists of [`schema`]; a test compares them.

use ambit_proto::ids::ObjectId;
use ambit_proto::schema::{
    Codec, CommandKind, Component, ComponentSpec, EventKind, FieldSpec, FieldType, Look,
    ObjectKind, RefusalKind, Schema, Shape,
};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::rules::{
    AVATAR_HEALTH, BODY_RADIUS_M, BOLT_M_PER_S, HEALTH_PER_S, MANA_PER_S, MAX_MANA, NPC_HEALTH,
};
use ambit_room::logic::game::Refusal;
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

pub(super) const WALK: u8 = 0;
pub(super) const CAST_SPELL: u8 = 1;

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

/// The game's reasons for refusing a command, in the order of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldRefusal {
    NotEnoughMana,
    OnCooldown,
    Dead,
    OutOfRange,
    Blocked,
}

impl FieldRefusal {
    const ALL: [(Self, &str, &str); 5] = [
        (Self::NotEnoughMana, "not_enough_mana", "not enough mana"),
        (Self::OnCooldown, "on_cooldown", "on cooldown"),
        (Self::Dead, "dead", "dead"),
        (Self::OutOfRange, "out_of_range", "out of range"),
        (Self::Blocked, "blocked", "blocked"),
    ];
}

impl From<FieldRefusal> for Refusal {
    fn from(refusal: FieldRefusal) -> Self {
        Self::Game(refusal as u8)
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
            kind(
                "avatar",
                avatar,
                look('@', Shape::Arrow, 0x30_80ff, 2.0 * BODY_RADIUS_M),
            ),
            kind(
                "npc",
                npc,
                look('n', Shape::Disc, 0xc0_6030, 2.0 * BODY_RADIUS_M),
            ),
            kind(
                "bolt",
                vec![path()],
                look('*', Shape::Point, 0xff_d020, 0.3),
            ),
        ],
        events: vec![
            event(
                "cast",
                &[
                    ("caster", FieldType::Object),
                    ("spell", spells()),
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
        commands: commands(),
        refusals: FieldRefusal::ALL
            .map(|(_, name, text)| RefusalKind {
                name: name.into(),
                text: text.into(),
            })
            .into(),
    }
}

fn commands() -> Vec<CommandKind> {
    let walk = CommandKind {
        name: "move".into(),
        help: "Walk to a point on the ground, up to the first obstacle.".into(),
        key: Some("click".into()),
        newest_only: true,
        fields: vec![FieldSpec::new("to", FieldType::Position)],
    };
    let cast = CommandKind {
        name: "cast".into(),
        help: "Cast a spell; bolt and blink need a point.".into(),
        fields: vec![
            FieldSpec::new("spell", spells()),
            FieldSpec::new("at", FieldType::Position).optional(),
        ],
        ..CommandKind::default()
    };
    vec![walk, cast]
}

fn spells() -> FieldType {
    FieldType::choice(Spell::ALL.map(|(_, name)| name))
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

/// Its bar is the health and its label the name, where it has them.
fn kind(name: &str, components: Vec<ComponentSpec>, look: Look) -> ObjectKind {
    let mut kind = ObjectKind {
        name: name.into(),
        components,
        ..ObjectKind::default()
    };
    kind.look = Look {
        bar: kind.component_index("health"),
        label: kind.component_index("name"),
        ..look
    };
    kind
}

fn look(glyph: char, shape: Shape, colour: u32, size_m: f32) -> Look {
    Look {
        glyph,
        shape,
        colour,
        size_m,
        ..Look::default()
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
        let commands = ["move", "cast"].map(|name| schema.command_index(name));
        assert_eq!(commands, [WALK, CAST_SPELL].map(Some));
        for (refusal, name, _) in FieldRefusal::ALL {
            assert_eq!(schema.refusal_index(name), Some(refusal as u8));
        }
        let spell = &schema.commands[usize::from(CAST_SPELL)].fields[0].ty;
        for (index, name) in (0..).zip(["bolt", "heal", "veil", "blink"]) {
            assert_eq!(spell.choice_index(name), Some(index));
        }
        assert_eq!(Spell::from_index(2), Some(Spell::Veil));
        assert_eq!(Spell::from_index(4), None);
    }
}
