//! Tests of the game through its world, by topic.

mod bolts;
mod determinism;
mod fights;
mod life;
mod pilots;
mod rounds;
mod score;
mod spells;
mod veil;
mod walking;
mod wolves;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::rules::{BLINK_COOLDOWN, BLINK_MANA, BLINK_RANGE_M, BOLT_MANA, HEAL_MANA, VEIL_MANA};
use super::{FieldGame, FieldRefusal, commands};
use ambit::{Refusal as _, Typed};
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::{Game as RoomGame, GameCommand, Left, Refusal};
use ambit_room::logic::sight::Sight;
use ambit_room::logic::world::{World, WorldChange};

const ANN: PlayerId = PlayerId(1);
const BOB: PlayerId = PlayerId(2);
const CID: PlayerId = PlayerId(3);

// Indices as the clients know them: the schema's order.
const NPC: u8 = 1;
const BOLT_KIND: u8 = 2;
const BEST_HUNTER: u8 = 3;
const WOLF: u8 = 4;
const CONTEST: u8 = 5;
const HEALTH: u8 = 1;
const MANA_LEFT: u8 = 2;
const NAME: u8 = 3;
const ALIVE: u8 = 4;
const VEILED: u8 = 5;
const FELLED: u8 = 6;
const BACK_IN: u8 = 7;
const CAST: u8 = 0;
const DAMAGE: u8 = 1;
const HEALED: u8 = 2;
const DIED: u8 = 3;
const RESPAWNED: u8 = 4;
const GROWL: u8 = 5;
const ROUND_WON: u8 = 6;

const BOLT: u8 = 0;
const HEAL: u8 = 1;
const VEIL: u8 = 2;
const BLINK: u8 = 3;

/// A game and its world. The tests run each tick.
struct Scene {
    game: Typed<FieldGame>,
    world: World,
    tick: Duration,
    avatars: BTreeMap<PlayerId, ObjectId>,
    /// The changes since `run` last cleared them.
    changes: Vec<WorldChange>,
}

impl Scene {
    /// An empty map of 200 x 200 m, 20 ticks a second.
    fn new() -> Self {
        Self::with(FieldGame::new(0, 0), &RoomConfig::default())
    }

    fn with(game: FieldGame, config: &RoomConfig) -> Self {
        let game = Typed(game);
        let world = World::new(config, game.schema());
        let tick = Duration::from_secs(1) / config.tick_hz;
        let mut scene = Self { game, world, tick, avatars: BTreeMap::new(), changes: Vec::new() };
        scene.world.begin_tick(GameTime::ZERO + config.delay);
        scene.game.start(&mut scene.world);
        scene.world.finish_tick();
        scene
    }

    /// Adds a player at a position.
    fn player(mut self, player: PlayerId, x: f32, y: f32) -> Self {
        self.join(player, "player");
        self.put(player, x, y);
        self
    }

    /// Does what the room does at a join.
    fn join(&mut self, player: PlayerId, name: &str) -> ObjectId {
        let avatar = self.game.join(&mut self.world, player, name);
        self.world.add_player(player, avatar, name);
        self.avatars.insert(player, avatar);
        avatar
    }

    /// Does what the room does when a player has left.
    fn leave(&mut self, player: PlayerId) {
        self.game.leave(&mut self.world, player, Left::Quit);
        self.world.remove_player(player);
    }

    /// Does what the room does when a player has another name.
    fn rename(&mut self, player: PlayerId, name: &str) {
        self.world.rename_player(player, name);
        self.game.rename(&mut self.world, player, name);
    }

    fn put(&mut self, player: PlayerId, x: f32, y: f32) {
        let avatar = self.avatar(player);
        self.world.teleport(avatar, Position::on_ground(x, y));
    }

    fn avatar(&self, player: PlayerId) -> ObjectId {
        self.avatars[&player]
    }

    /// Executes a command at the horizon of the current tick.
    fn command(&mut self, player: PlayerId, command: &GameCommand) -> Result<(), Refusal> {
        self.game.command(&mut self.world, player, command)
    }

    fn walk(&mut self, player: PlayerId, x: f32, y: f32) -> Result<(), Refusal> {
        self.command(player, &commands::walk(x, y))
    }

    fn cast(&mut self, player: PlayerId, spell: u8) -> Result<(), Refusal> {
        self.command(player, &commands::cast(spell, None))
    }

    fn cast_at(&mut self, player: PlayerId, spell: u8, x: f32, y: f32) -> Result<(), Refusal> {
        self.command(player, &commands::cast(spell, Some((x, y))))
    }

    /// Ends the current tick and begins the next one.
    fn tick(&mut self) {
        self.game.step(&mut self.world, self.tick);
        self.world.finish_tick();
        self.world.drain_changes(&mut self.changes);
        let next = self.world.now() + self.tick + Duration::from_micros(999);
        self.world.begin_tick(next);
        while let Some(timer) = self.world.pop_due_timer() {
            self.game.timer(&mut self.world, &timer);
        }
    }

    /// Ticks until at least this many milliseconds have passed, and returns the changes meanwhile.
    fn run(&mut self, millis: u64) -> Vec<WorldChange> {
        self.changes.clear();
        let end = self.world.now() + Duration::from_millis(millis);
        while self.world.now() < end {
            self.tick();
        }
        self.game.step(&mut self.world, Duration::ZERO);
        self.world.drain_changes(&mut self.changes);
        std::mem::take(&mut self.changes)
    }

    fn position(&self, player: PlayerId) -> Position {
        self.world.position(self.avatar(player))
    }

    fn health(&self, player: PlayerId) -> f32 {
        self.world.gauge(self.avatar(player), HEALTH).value
    }

    fn mana(&self, player: PlayerId) -> f32 {
        self.world.gauge(self.avatar(player), MANA_LEFT).value
    }

    /// Sets the health, without regeneration.
    fn set_health(&mut self, player: PlayerId, value: f32) {
        let avatar = self.avatar(player);
        let now = self.world.now();
        self.world.set_gauge(avatar, HEALTH, now, value, 0.0);
    }

    fn set_mana(&mut self, player: PlayerId, value: f32) {
        let avatar = self.avatar(player);
        let now = self.world.now();
        self.world.set_gauge(avatar, MANA_LEFT, now, value, 0.0);
    }

    fn sees(&self, viewer: PlayerId, object: ObjectId) -> bool {
        self.game.sees(&self.world, self.avatar(viewer), object, Sight::New)
    }

    fn millis(&self) -> u64 {
        self.world.now().millis()
    }

    /// All objects of a kind.
    fn of_kind(&self, kind: u8) -> Vec<ObjectId> {
        self.world.objects().filter(|&object| self.world.kind(object) == kind).collect()
    }
}

fn refused(refusal: impl Into<Refusal>) -> Result<(), Refusal> {
    Err(refusal.into())
}

/// The events of one kind among the changes: their objects and times.
fn events(changes: &[WorldChange], wanted: u8) -> Vec<(ObjectId, u64)> {
    let event = |change: &WorldChange| match *change {
        WorldChange::Event { kind, effect, .. } if kind == wanted => {
            Some((change.object()?, effect.millis()))
        }
        _ => None,
    };
    changes.iter().filter_map(event).collect()
}

impl From<FieldRefusal> for Refusal {
    fn from(refusal: FieldRefusal) -> Self {
        refusal.reason()
    }
}

#[test]
fn the_declaration_keeps_the_names_that_scripts_rely_on() {
    let schema = Typed::<FieldGame>::declared_schema();
    assert_eq!(schema.check(), Ok(()));
    let kinds = ["avatar", "npc", "bolt", "best_hunter", "wolf", "contest"];
    let indices = [0, NPC, BOLT_KIND, BEST_HUNTER, WOLF, CONTEST].map(Some);
    assert_eq!(kinds.map(|name| schema.kind_index(name)), indices);
    let component = |name| schema.kinds[0].component_index(name);
    let names = ["health", "mana", "name", "alive", "veiled", "felled", "back_in"];
    let indices = [HEALTH, MANA_LEFT, NAME, ALIVE, VEILED, FELLED, BACK_IN].map(Some);
    assert_eq!(names.map(component), indices);
    assert_eq!(schema.kinds[1].component_index("health"), Some(HEALTH));
    let events = ["cast", "damage", "heal", "death", "respawn", "growl", "round_won"];
    let indices = [CAST, DAMAGE, HEALED, DIED, RESPAWNED, GROWL, ROUND_WON].map(Some);
    assert_eq!(events.map(|name| schema.event_index(name)), indices);
    let commands = ["move", "cast"].map(|name| schema.command_index(name));
    assert_eq!(commands, [0, 1].map(Some));
    let spell = &schema.commands[1].fields[0].ty;
    for (index, name) in (0..).zip(["bolt", "heal", "veil", "blink"]) {
        assert_eq!(spell.choice_index(name), Some(index));
    }
    // What players read has the numbers of the rules.
    let about = &schema.presentation.commands[1].fields[0].choices;
    for (choice, mana) in about.iter().zip([BOLT_MANA, HEAL_MANA, VEIL_MANA, BLINK_MANA]) {
        let cost = choice.cost.as_ref().expect("it costs something");
        assert_eq!((cost.of.as_str(), cost.amount as f32), ("mana", mana));
    }
    assert_eq!(u128::from(about[3].cooldown_ms), BLINK_COOLDOWN.as_millis());
    assert_eq!(f32::from(about[3].reach_cm as u16), 100.0 * BLINK_RANGE_M);
    let alone = about.iter().map(|choice| choice.alone);
    assert!(alone.eq([false, true, true, false]), "bolt and blink need a place");
    let refusals: Vec<_> = schema.refusals.iter().map(|refusal| refusal.name.as_str()).collect();
    let codes =
        ["not_enough_mana", "on_cooldown", "dead", "out_of_range", "blocked", "needs_place"];
    assert_eq!(refusals, codes);
}
