//! Tests of the game through its world, by topic.

mod bolts;
mod determinism;
mod fights;
mod life;
mod spells;
mod veil;
mod walking;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::FieldGame;
use super::commands;
use super::schema::{HEALTH, MANA_LEFT};
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::{Game, GameCommand, Refusal};
use ambit_room::logic::world::{World, WorldChange};

const ANN: PlayerId = PlayerId(1);
const BOB: PlayerId = PlayerId(2);
const CID: PlayerId = PlayerId(3);

const BOLT: u8 = 0;
const HEAL: u8 = 1;
const VEIL: u8 = 2;
const BLINK: u8 = 3;

/// A game and its world. The tests run each tick.
struct Scene {
    game: FieldGame,
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
        let world = World::new(config, game.schema());
        let tick = Duration::from_secs(1) / config.tick_hz;
        let mut scene = Self {
            game,
            world,
            tick,
            avatars: BTreeMap::new(),
            changes: Vec::new(),
        };
        scene.world.begin_tick(GameTime::ZERO + config.delay);
        scene.game.start(&mut scene.world);
        scene.world.finish_tick();
        scene
    }

    /// Adds a player at a position.
    fn player(mut self, player: PlayerId, x: f32, y: f32) -> Self {
        let avatar = self.game.join(&mut self.world, player, "player");
        self.avatars.insert(player, avatar);
        self.put(player, x, y);
        self
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
        let (avatar, now) = (self.avatar(player), self.world.now());
        self.world.set_gauge(avatar, HEALTH, now, value, 0.0);
    }

    fn set_mana(&mut self, player: PlayerId, value: f32) {
        let (avatar, now) = (self.avatar(player), self.world.now());
        self.world.set_gauge(avatar, MANA_LEFT, now, value, 0.0);
    }

    fn sees(&self, viewer: PlayerId, object: ObjectId) -> bool {
        self.game.sees(&self.world, self.avatar(viewer), object)
    }

    fn millis(&self) -> u64 {
        self.world.now().millis()
    }

    /// All objects of a kind.
    fn of_kind(&self, kind: u8) -> Vec<ObjectId> {
        self.world
            .objects()
            .filter(|&object| self.world.kind(object) == kind)
            .collect()
    }
}

fn refused(refusal: impl Into<Refusal>) -> Result<(), Refusal> {
    Err(refusal.into())
}

/// The events of one kind among the changes: their objects and times.
fn events(changes: &[WorldChange], wanted: u8) -> Vec<(ObjectId, u64)> {
    let event = |change: &WorldChange| match *change {
        WorldChange::Event {
            kind,
            about,
            effect,
            ..
        } if kind == wanted => Some((about, effect.millis())),
        _ => None,
    };
    changes.iter().filter_map(event).collect()
}
