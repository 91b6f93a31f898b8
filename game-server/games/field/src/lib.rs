//! `field`: a map with obstacles, wanderers, wolves, pilots, and players who walk and cast spells.
//!
//! Click to move, four spells (bolt, heal, veil, blink), death and respawn, and rounds that the
//! player who fells most wins. The game is all rules and no network: it knows nothing of cells,
//! clients or packets. It is also the example of how to write a game.
//!
//! Invariants:
//! 1. Decisions up to a horizon are final: what is found out in a tick happened after the previous
//!    horizon, in the order of time.
//! 2. Commands are checked against the state at their effect time: before the first timer or
//!    command of a tick, everything in flight is brought up to now (`catch_up`).
//! 3. Nothing reveals a veiled avatar: no other player sees it, its bolts or its events, and it
//!    influences neither the order nor the random numbers of what happens to others.
//!
//! Cost: bolts in flight and due timers. Source of the game and of the horizon: "Architectures de
//! developpement adaptees aux MMOGs" (Project Deus).

mod bolts;
mod creatures;
mod fights;
mod gates;
mod map;
mod rounds;
mod rules;
mod schema;
mod spells;
mod steered;
#[cfg(test)]
mod tests;
mod vitals;
mod wolves;

use ambit::prelude::*;

use self::bolts::Bolts;
use self::creatures::Creatures;
use self::rounds::Rounds;
use self::schema::{
    BestHunter, Bolt, Contest, Damage, Died, Growl, Healed, Npc, Respawned, RoundWon, SpellCast,
    Wolf,
};

pub use self::schema::{Avatar, FieldCommand, FieldRefusal, FieldTimer, Spell};

/// A room without a number of wolves has one for this number of wanderers.
const NPCS_PER_WOLF: u32 = 5;

/// Within `REACH_M` clients know what can hurt an avatar; within `VIEW_M` players see all objects.
const REACH_M: f32 = 9.0;
const VIEW_M: f32 = 19.0;

/// The world of this game.
type FieldWorld = World<FieldGame>;

/// What a room of the game can be created with.
#[derive(Debug, Parameters)]
pub struct FieldSettings {
    /// boxes and walls; at most one for 8 square metres of the map
    #[parameter(default = 40, range = 0..=20_000)]
    obstacles: Given<u32>,
    /// wanderers; more take more processor time, and more bytes where they are dense
    #[parameter(default = 20, range = 0..=20_000, label = "Wanderers")]
    npcs: u32,
    /// beasts that hunt avatars and bite; without a number one for five wanderers, at most four
    #[parameter(default = 4, range = 0..=100, label = "Wolves")]
    wolves: Given<u32>,
    /// avatars that the game steers, so that no player is alone: they walk about near the middle of
    /// the map, shoot at creatures that hurt or hunt them, and take no seats
    #[parameter(default = 0, range = 0..=20, label = "Pilots of the server")]
    pilots: u32,
    /// maps in a row, from west to east, with a gate in the middle of each border between two; each
    /// is a room of its own
    #[parameter(default = 1, range = 1..=16, label = "Maps in a row")]
    maps: u32,
    /// seconds after which the player who has felled the most wins the round; 0 for no end by time.
    /// A row of maps has no rounds
    #[parameter(default = 300, range = 0..=3_600, label = "Seconds of a round")]
    seconds: u32,
    /// the player who first fells this number wins the round; 0 for no such end
    #[parameter(default = 15, range = 0..=999, label = "To fell for a win")]
    target: i64,
    #[parameter(of_room)]
    map: u64,
    #[parameter(of_room)]
    size: (f32, f32),
}

/// The commands of the game, for tools and tests. `O` names objects; there are none in them.
pub mod commands {
    use ambit::message::{GameCommand, TypedCommand as _};
    use ambit::{Choice as _, Position};

    use super::{FieldCommand, Spell};

    /// Walk to a point on the ground.
    pub fn walk<O>(x: f32, y: f32) -> GameCommand<O> {
        let to = Position::on_ground(x, y);
        without_objects(FieldCommand::Move { to })
    }

    /// Cast the spell of this index, perhaps at a point on the ground.
    ///
    /// # Panics
    /// If there is no such spell.
    pub fn cast<O>(spell: u8, at: Option<(f32, f32)>) -> GameCommand<O> {
        let spell = Spell::from_index(spell.into()).expect("a spell has this index");
        let at = at.map(|(x, y)| Position::on_ground(x, y));
        without_objects(FieldCommand::Cast { spell, at })
    }

    fn without_objects<O>(command: FieldCommand) -> GameCommand<O> {
        let GameCommand { kind, fields } = command.into_command();
        let fields = fields.iter().filter_map(|field| field.rename_object(|_| None));
        GameCommand { kind, fields: fields.collect() }
    }
}

/// Purposes of random numbers (see `World::rng_for`).
#[derive(Clone, Copy, Debug)]
enum RngDomain {
    Map = 1,
    Npc = 2,
    Player = 3,
    Pilot = 4,
    Wolf = 5,
}

/// The game `field`. See the module.
#[derive(Debug, Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Avatar, Npc, Bolt, BestHunter, Wolf, Contest), parameters = FieldSettings)]
#[declare(events(SpellCast, Damage, Healed, Died, Respawned, Growl, RoundWon))]
#[declare(timer = FieldTimer)]
pub struct FieldGame {
    obstacles: u32,
    npcs: u32,
    #[serde(default)]
    wolves: u32,
    pilots: u32,
    maps: u32,
    creatures: Creatures,
    bolts: Bolts,
    /// The avatars of the best hunters of the round, also of those who have left, and their rows,
    /// the best one first. Spawned when the first one falls.
    #[serde(default)]
    best_hunters: Vec<(Id<Avatar>, Id<BestHunter>)>,
    #[serde(default)]
    rounds: Rounds,
    /// The time up to which everything is decided.
    settled_until: GameTime,
}

impl FieldGame {
    /// A game with these numbers of obstacles and wanderers, without rounds; players move their
    /// avatars.
    pub fn new(obstacles: u32, npcs: u32) -> Self {
        Self { obstacles, npcs, maps: 1, ..Self::default() }
    }

    /// The same game with this number of pilots.
    #[must_use]
    pub fn with_pilots(self, pilots: u32) -> Self {
        Self { pilots, ..self }
    }

    /// The same game with this number of wolves.
    #[must_use]
    pub fn with_wolves(self, wolves: u32) -> Self {
        Self { wolves, ..self }
    }

    /// The same game as one of several maps.
    #[must_use]
    pub fn with_maps(self, maps: u32) -> Self {
        Self { maps, ..self }
    }

    /// The same game with rounds that last `seconds`, or until a player has felled `target`.
    #[must_use]
    pub fn with_rounds(self, seconds: u32, target: i64) -> Self {
        Self { rounds: Rounds::new(seconds, target), ..self }
    }

    /// The number of avatars, those of pilots included.
    fn avatar_count(&self, world: &FieldWorld) -> usize {
        world.players().len() + self.pilots as usize
    }

    fn set_reads_until(&mut self, avatar: Id<Avatar>, until: GameTime) {
        if let Some(body) = self.creatures.get_mut(avatar.object()) {
            body.reads_until = until;
        }
    }

    /// Brings the bolts up to now.
    fn catch_up(&mut self, world: &mut FieldWorld) {
        let now = world.now();
        if self.settled_until < now {
            self.move_bolts(world, self.settled_until);
            self.settled_until = now;
        }
    }
}

impl Game for FieldGame {
    const INFO: GameInfo = GameInfo::new(
        "field",
        "Hunt among the walls, and be hunted by wolves: whoever fells the most wins the round.",
    )
    // So small that something is always in sight.
    .quick_start(&[
        ("size", "60x60"),
        ("obstacles", "14"),
        ("npcs", "30"),
        ("wolves", "4"),
        ("pilots", "6"),
    ]);
    const SCENERY: Scenery = Scenery::new().camera(Camera::Above);
    type Avatar = Avatar;
    type Command = FieldCommand;
    type Refusal = FieldRefusal;

    fn configure(&mut self, settings: FieldSettings) -> Result<(), BadParameter> {
        let FieldSettings { obstacles, npcs, wolves, pilots, maps, map, .. } = settings;
        let FieldSettings { seconds, target, size: (width, height), .. } = settings;
        let most = map::max_obstacles(width, height);
        if obstacles.value > most && obstacles.is_given {
            let problem = format!(
                "a map of {width}x{height} m has room for {most} at most, not {}",
                obstacles.value
            );
            return Err(BadParameter::Conflict { key: "obstacles", problem });
        }
        BadParameter::check_map(map, maps)?;
        self.obstacles = obstacles.value.min(most);
        (self.npcs, self.pilots, self.maps) = (npcs, pilots, maps);
        let few = wolves.value.min(npcs / NPCS_PER_WOLF);
        self.wolves = if wolves.is_given { wolves.value } else { few };
        let has_rounds = maps == 1;
        self.rounds = if has_rounds { Rounds::new(seconds, target) } else { Rounds::default() };
        Ok(())
    }

    /// Wolves bite who is next to them. A bolt is seen coming: 9 m before it hits a player who does
    /// not walk towards it, which it flies in 0.45 s, are more than the local lag.
    fn surroundings(&self) -> Surroundings {
        Surroundings::new().reach_m(REACH_M).view_m(VIEW_M)
    }

    fn planned_objects(&self) -> u64 {
        (self.npcs + self.wolves + self.pilots).into()
    }

    fn start(&mut self, world: &mut FieldWorld) {
        let mut rng = world.rng_for(RngDomain::Map as u64, 0);
        let arrivals =
            if self.maps > 1 { gates::arrival_points(world).to_vec() } else { Vec::new() };
        map::add_obstacles(world, self.obstacles, &arrivals, &mut rng);
        self.spawn_npcs(world, self.npcs);
        self.spawn_wolves(world, self.wolves);
        self.spawn_pilots(world, self.pilots);
        self.start_rounds(world);
        self.settled_until = world.now();
    }

    fn join(&mut self, world: &mut FieldWorld, newcomer: Newcomer) -> Id<Avatar> {
        self.catch_up(world);
        let mut rng = world.rng_for(RngDomain::Player as u64, newcomer.id.0);
        let place = map::spawn_place(world, self.avatar_count(world) + 1, &mut rng);
        let avatar = schema::spawn_avatar(world, place, newcomer.name);
        self.creatures.add_player(avatar.object(), rng);
        if self.rounds.are_played() {
            self.set_reads_until(avatar, world.now() + rules::READS);
        }
        avatar
    }

    fn leave(&mut self, world: &mut FieldWorld, player: Player<Self>, _: Left) {
        self.catch_up(world);
        self.creatures.remove(player.avatar().object());
    }

    fn command(
        &mut self,
        world: &mut FieldWorld,
        player: Player<Self>,
        command: FieldCommand,
    ) -> Result<(), FieldRefusal> {
        self.catch_up(world);
        self.set_reads_until(player.avatar(), GameTime::ZERO);
        match command {
            FieldCommand::Move { to } => self.walk(world, player, to),
            FieldCommand::Cast { spell, at } => self.cast(world, player, spell, at),
        }
    }

    fn timer(&mut self, world: &mut FieldWorld, timer: FieldTimer, _: GameTime) {
        self.catch_up(world);
        match timer {
            FieldTimer::Unveil(avatar) => self.unveil(world, avatar),
            FieldTimer::Respawn(creature) => self.respawn(world, creature),
            FieldTimer::Walk(creature) => self.walk_on(world, creature),
            FieldTimer::Hunt(wolf) => self.hunt(world, wolf),
            FieldTimer::Shoot(pilot) => self.shoot(world, pilot),
            FieldTimer::RoundUp(round) => self.end_by_time(world, round),
        }
    }

    fn step(&mut self, world: &mut FieldWorld, _: Duration) {
        self.catch_up(world);
    }

    fn sees(&self, world: &FieldWorld, viewer: Id<Avatar>, object: ObjectId, _: Sight) -> bool {
        if world.is::<Avatar>(object) {
            return viewer.object() == object || !self.creatures.is_veiled(object, world.now());
        }
        let bolt = world.cast::<Bolt>(object);
        bolt.and_then(|bolt| self.bolts.flying.get(&bolt))
            .is_none_or(|bolt| !bolt.hidden || bolt.caster == viewer.object())
    }

    fn gates(&self, world: &FieldWorld) -> Vec<Gate> {
        gates::gates(world, self.maps)
    }

    fn carry(&self, world: &FieldWorld, player: Player<Self>) -> Option<Vec<u8>> {
        self.save_avatar(world, player)
    }

    fn arrive(
        &mut self,
        world: &mut FieldWorld,
        newcomer: Newcomer,
        at: Position,
        carried: &[u8],
    ) -> Id<Avatar> {
        self.catch_up(world);
        self.spawn_arrival(world, newcomer, at, carried)
    }
}
