//! What the game consists of: kinds, events, commands, refusals.

use ambit::prelude::*;

use super::FieldWorld;
use super::rules::{
    AVATAR_HEALTH, BLINK_MANA, BODY_RADIUS_M, BOLT_M_PER_S, BOLT_MANA, HEAL_MANA, HEALTH_PER_S,
    MANA_PER_S, MAX_MANA, NPC_HEALTH, RESPAWN_DELAY, VEIL_MANA, WALK_M_PER_S, WOLF_HEALTH,
};

/// Bytes of a name: 24 characters of 4.
const NAME_BYTES: u32 = 96;
/// Those of a name, and how many that one has felled.
const WINNER_BYTES: u32 = NAME_BYTES + 12;

/// The avatar of a player or of a pilot.
#[derive(Kind)]
#[look(glyph = '@', shape = arrow, colour = 0x30_80ff, size = 2.0 * BODY_RADIUS_M)]
#[look(bar = health, label = name)]
pub struct Avatar {
    path: Path,
    health: Gauge<{ AVATAR_HEALTH as u32 }>,
    #[audience(owner)]
    mana: Gauge<{ MAX_MANA as u32 }>,
    #[component(role = player)]
    name: Text<NAME_BYTES>,
    alive: Flag,
    /// For its own player, to display it.
    #[audience(owner)]
    #[component(label = "Hidden from others", sign = hide)]
    #[effect(ring, colour = 0xb0_a0ff, size = 1.6)]
    veiled: Flag,
    /// How many wanderers and avatars fell to its bolts in this round. Players have it beside the
    /// table of the best, in which most are not.
    #[audience(owner)]
    #[component(label = "You felled")]
    pub(super) felled: Number<0, 9_999>,
    /// Until it comes back; 0 as long as it lives.
    #[audience(owner)]
    #[component(unit = "s")]
    pub(super) back_in: Gauge<{ RESPAWN_DELAY.as_secs() as u32 }>,
}

/// A wanderer.
#[derive(Kind)]
#[kind(label = "Wanderer")]
#[look(glyph = 'n', figure = round, colour = 0xc0_6030, size = 2.0 * BODY_RADIUS_M, bar = health)]
pub(super) struct Npc {
    path: Path,
    health: Gauge<{ NPC_HEALTH as u32 }>,
}

#[derive(Kind)]
#[look(glyph = '*', shape = point, colour = 0xff_d020, material = glow, size = 0.45)]
pub(super) struct Bolt {
    path: Path,
}

/// One of the few players who have felled the most in this round, in the whole room.
#[derive(Kind)]
#[kind(room_wide, label = "Best hunters")]
pub(super) struct BestHunter {
    #[component(label = "Best hunter", role = player)]
    pub(super) name: Text<NAME_BYTES>,
    pub(super) felled: Number<0, 9_999>,
}

/// The rounds of the room.
#[derive(Kind)]
#[kind(room_wide)]
pub(super) struct Contest {
    pub(super) round: Number<1, 9_999>,
    /// The player who first fells this number wins the round; 0 if that does not end it.
    #[component(label = "First to fell")]
    pub(super) target: Number<0, 999>,
    #[component(unit = "s")]
    pub(super) time_left: Gauge<3_600>,
    /// With the number that the winner felled.
    #[component(label = "Last round", role = winner)]
    pub(super) last_winner: Text<WINNER_BYTES>,
}

/// It hunts avatars.
#[derive(Kind)]
#[look(glyph = 'w', figure = beast, colour = 0x6a_5a58, size = 1.2, bar = health)]
pub(super) struct Wolf {
    pub(super) path: Path,
    pub(super) health: Gauge<{ WOLF_HEALTH as u32 }>,
}

#[derive(Event)]
#[event(name = "cast")]
#[effect(cast, colour = 0x90_a0ff, size = 1.4, at = caster)]
pub(super) struct SpellCast {
    pub(super) caster: Id<Avatar>,
    pub(super) spell: Spell,
    pub(super) at: Position,
}

#[derive(Event)]
#[event(text = "{by} hits {target}")]
#[effect(hit, colour = 0xff_5030, size = 1.2)]
pub(super) struct Damage {
    pub(super) target: ObjectId,
    pub(super) amount: i64,
    /// Who has done it, unless that one was veiled.
    pub(super) by: Option<ObjectId>,
}

#[derive(Event)]
#[event(name = "heal")]
#[effect(heal, colour = 0x50_e070, size = 1.2)]
pub(super) struct Healed {
    pub(super) target: Id<Avatar>,
    pub(super) amount: i64,
}

#[derive(Event)]
#[event(name = "death", text = "{target} has fallen. Felled by {by}.")]
#[effect(death, colour = 0xff_8040, size = 2.0)]
pub(super) struct Died {
    pub(super) target: ObjectId,
    pub(super) by: Option<ObjectId>,
}

#[derive(Event)]
#[event(name = "respawn")]
#[effect(arrival, colour = 0x90_d0ff, size = 1.6)]
pub(super) struct Respawned {
    pub(super) target: ObjectId,
}

/// A wolf begins to hunt an avatar.
#[derive(Event)]
#[event(text = "{wolf} hunts {prey}")]
#[effect(ring, colour = 0xff_3020, size = 2.0, at = wolf)]
pub(super) struct Growl {
    pub(super) wolf: Id<Wolf>,
    pub(super) prey: Id<Avatar>,
}

/// A round is over, for all players; the next one has begun.
#[derive(Event)]
#[event(text = "The round is over: {last_winner} has won.")]
pub(super) struct RoundWon {
    pub(super) last_winner: Text<WINNER_BYTES>,
}

/// The spells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Spell {
    /// Flies to a place and takes 25 health from the first creature on its way.
    #[choice(label = "Bolt", cost(mana = BOLT_MANA as i32), sign = bolt)]
    Bolt,
    /// Gives you 40 health.
    #[choice(label = "Heal", cost(mana = HEAL_MANA as i32), alone, sign = heal, made_of = life)]
    Heal,
    /// Other players do not see you for 10 s.
    #[choice(label = "Veil", cost(mana = VEIL_MANA as i32), alone, sign = hide)]
    Veil,
    /// Moves you to a place, at most 15 m away; once in 3 s.
    #[choice(label = "Blink", cost(mana = BLINK_MANA as i32))]
    #[choice(cooldown_ms = 3_000, reach_cm = 1_500, sign = dash)]
    Blink,
}

/// What players can do.
#[derive(Clone, Debug, PartialEq, Command)]
pub enum FieldCommand {
    /// Walk to a point on the ground, round obstacles.
    #[command(newest_only, key = "click", label = "Walk there", only_for(alive))]
    #[command(walk(speed = WALK_M_PER_S, radius = BODY_RADIUS_M))]
    Move {
        /// The point.
        to: Position,
    },
    /// Cast a spell; bolt and blink need a point.
    Cast {
        /// Which one.
        spell: Spell,
        /// Where to.
        at: Option<Position>,
    },
}

/// Why the game refuses a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Refusal)]
pub enum FieldRefusal {
    /// The caster has not enough mana.
    #[text("not enough mana")]
    NotEnoughMana,
    /// The spell is not ready yet.
    #[text("not ready yet")]
    OnCooldown,
    /// The avatar is dead.
    #[text("you have fallen")]
    Dead,
    /// The point is too far away.
    #[text("too far away")]
    OutOfRange,
    /// There is an obstacle.
    #[text("something is in the way there")]
    Blocked,
    /// The spell needs a point, or one farther from the caster.
    #[text("needs a place to aim at, away from you")]
    NeedsPlace,
}

/// What happens later.
#[derive(Debug, Serialize, Deserialize)]
pub enum FieldTimer {
    /// The veil of an avatar ends.
    Unveil(ObjectId),
    /// A dead creature comes back.
    Respawn(ObjectId),
    /// A wanderer or a pilot starts its next leg.
    Walk(ObjectId),
    /// A wolf decides.
    Hunt(ObjectId),
    /// A pilot shoots at its foe.
    Shoot(ObjectId),
    /// The time of the round with this number is up.
    RoundUp(i64),
}

pub(super) fn spawn_avatar(world: &mut FieldWorld, position: Position, name: &str) -> Id<Avatar> {
    world.spawn(Avatar {
        path: Path::at(position),
        health: growing(),
        mana: Gauge::full().changing(MANA_PER_S),
        name: name.into(),
        alive: Flag::on(),
        veiled: Flag::off(),
        felled: 0.into(),
        back_in: Gauge::empty(),
    })
}

pub(super) fn spawn_npc(world: &mut FieldWorld, position: Position) -> Id<Npc> {
    world.spawn(Npc { path: Path::at(position), health: growing() })
}

pub(super) fn growing<const MAX: u32>() -> Gauge<MAX> {
    Gauge::full().changing(HEALTH_PER_S)
}

/// Creates a bolt that flies from one point to another. Returns also its time of arrival.
pub(super) fn spawn_bolt(
    world: &mut FieldWorld,
    from: Position,
    to: Position,
) -> (Id<Bolt>, GameTime) {
    let path = Path::at(from);
    let bolt = world.spawn(Bolt { path });
    let arrival = world.edit(bolt).map(|mut bolt| bolt.path().walk_to(to, BOLT_M_PER_S));
    (bolt, arrival.unwrap_or(world.now()))
}

/// The health of a creature at a time.
pub(super) fn health_at(world: &FieldWorld, creature: ObjectId, at: GameTime) -> Option<f32> {
    if let Some(avatar) = world.cast::<Avatar>(creature) {
        return Some(world.get(avatar)?.health().at(at));
    }
    if let Some(npc) = world.cast::<Npc>(creature) {
        return Some(world.get(npc)?.health().at(at));
    }
    let wolf = world.cast::<Wolf>(creature)?;
    Some(world.get(wolf)?.health().at(at))
}

/// Sets the health of a creature, and its change a second, from a time on.
pub(super) fn set_health(
    world: &mut FieldWorld,
    creature: ObjectId,
    at: GameTime,
    health: f32,
    rate_per_s: f32,
) {
    if let Some(mut avatar) = world.cast(creature).and_then(|id: Id<Avatar>| world.edit(id)) {
        avatar.health().effective(at).set_both(health, rate_per_s);
    } else if let Some(mut npc) = world.cast(creature).and_then(|id: Id<Npc>| world.edit(id)) {
        npc.health().effective(at).set_both(health, rate_per_s);
    } else if let Some(mut wolf) = world.cast(creature).and_then(|id: Id<Wolf>| world.edit(id)) {
        wolf.health().effective(at).set_both(health, rate_per_s);
    }
}

/// Edits the path of a creature.
pub(super) fn edit_path(
    world: &mut FieldWorld,
    creature: ObjectId,
    edit: impl FnOnce(ambit::component::PathMut),
) {
    if let Some(mut avatar) = world.cast(creature).and_then(|id: Id<Avatar>| world.edit(id)) {
        edit(avatar.path());
    } else if let Some(mut npc) = world.cast(creature).and_then(|id: Id<Npc>| world.edit(id)) {
        edit(npc.path());
    } else if let Some(mut wolf) = world.cast(creature).and_then(|id: Id<Wolf>| world.edit(id)) {
        edit(wolf.path());
    }
}
