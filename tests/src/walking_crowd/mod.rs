//! A test game whose avatars the server moves, to measure the cost of a crowd.
//!
//! Commands of the players are accepted and ignored. There are two motions, both at 4 m/s:
//! - `waypoints`: from one random position of the map to the next; a path, sent once for each leg.
//! - `steered`: the heading turns by a random angle of at most 10 degrees at every tick, and is
//!   mirrored at the map's edge; a pose, since it cannot be predicted.
//!
//! Invariants:
//! 1. The same seed and joins give the same walks, bit for bit, on every machine; each walker has
//!    its own random generator.
//! 2. The first position is drawn from the long-term distribution of the motion, so that the
//!    density of a crowd does not change over time: uniform for `steered`, denser in the middle for
//!    `waypoints`. So on a map of one size a `steered` walker has fewer neighbours: 1,000 on 200 x
//!    200 m see 21 in a block of 3 x 3 cells of 10 m, walkers between waypoints see 30; on 165 x
//!    165 m `steered` walkers see 30 too.
//!
//! Cost: for `waypoints`, the end of each leg; for `steered`, a step per tick and walker, without
//! allocation. Source of the first position on a leg: Le Boudec and Vojnovic, "Perfect simulation
//! and stationarity of a class of mobility models" (INFOCOM 2005).
//!
//! Benches of the game server, which cannot depend on this crate, include this folder as a module.

mod dice_by;
pub mod heading;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use ambit_proto::cell::Grid;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::pose::{PoseFormat, Turning};
use ambit_proto::schema::{Codec, Component, ComponentSpec, ObjectKind, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::Waypoint;
use ambit_room::config::{Allowed, BadParameter, Parameter, Parameters};
use ambit_room::logic::game::{Game, GameInfo, Left};
use ambit_room::logic::world::World;
use ambit_room::saved::{self, BadState};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use self::heading::Heading;

/// The kind of walkers between waypoints: it has only a path.
pub const WALKER: u8 = 0;
/// The kind of steered walkers: it has only a pose.
pub const STEERED: u8 = 1;

const WALK_M_PER_S: f32 = 4.0;
/// The largest turn of a tick: 10 degrees in 65,536ths of a turn.
const MAX_TURN: i16 = 1_820;
/// The purpose of the walkers' random numbers (see `World::rng_for`).
const PLAYER_RNG_DOMAIN: u64 = 3;
/// Centimetres, and 256 headings: 1.4 degrees each.
const STEERED_FORMAT: PoseFormat =
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkMode {
    /// From one random position to the next.
    Waypoints,
    /// With a heading that turns at random.
    Steered,
}

/// The game. See the module.
#[derive(Debug)]
pub struct WalkingCrowd {
    mode: WalkMode,
    walkers: Walkers,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Walkers {
    avatars: BTreeMap<PlayerId, ObjectId>,
    /// Random generators of walkers between waypoints.
    #[serde(with = "dice_by")]
    waypoint_rngs: BTreeMap<ObjectId, Rng>,
    /// When walkers reach their waypoints, the earliest on top.
    arrivals: BinaryHeap<Reverse<(GameTime, ObjectId)>>,
    /// In the order of their creation.
    steered: Vec<SteeredWalker>,
    /// The time up to which all have walked.
    settled_until: GameTime,
}

#[derive(Debug, Serialize, Deserialize)]
struct SteeredWalker {
    object: ObjectId,
    #[serde(with = "ambit_proto::dice")]
    rng: Rng,
    /// More precise than the pose, so that rounding errors do not add up.
    place: Position,
    heading: Heading,
}

impl WalkingCrowd {
    pub const INFO: GameInfo = GameInfo::new("walking_crowd", "A crowd that the server walks.")
        .parameters(&[Parameter {
            key: "walk",
            label: "",
            default: "waypoints",
            allowed: Allowed::Word(&["waypoints", "steered"]),
            about: "how the server moves avatars, at 4 m/s: waypoints moves from one random \
                position to the next, steered turns at random at every tick",
        }]);

    pub fn new(mode: WalkMode) -> Self {
        Self { mode, walkers: Walkers::default() }
    }

    #[allow(clippy::unnecessary_wraps, reason = "the signature of `MakeGame`")]
    pub fn create(parameters: &Parameters) -> Result<Box<dyn Game>, BadParameter> {
        let mode = match parameters.word("walk") {
            "steered" => WalkMode::Steered,
            _ => WalkMode::Waypoints,
        };
        Ok(Box::new(Self::new(mode)))
    }
}

impl Game for WalkingCrowd {
    fn schema(&self) -> Schema {
        let kind = |name: &str, component| ObjectKind {
            name: name.into(),
            components: vec![component],
            ..ObjectKind::default()
        };
        Schema {
            game: Self::INFO.name.into(),
            kinds: vec![
                kind("walker", ComponentSpec::public("path", Codec::Path)),
                kind("steered", ComponentSpec::public("pose", Codec::Pose(STEERED_FORMAT))),
            ],
            ..Schema::default()
        }
    }

    fn start(&mut self, world: &mut World) {
        self.walkers.settled_until = world.now();
    }

    fn join(&mut self, world: &mut World, player: PlayerId, _name: &str) -> ObjectId {
        self.walkers.catch_up(world);
        let rng = world.rng_for(PLAYER_RNG_DOMAIN, player.0);
        let avatar = match self.mode {
            WalkMode::Steered => self.walkers.spawn_steered(world, rng),
            WalkMode::Waypoints => self.walkers.spawn_between_waypoints(world, rng),
        };
        self.walkers.avatars.insert(player, avatar);
        avatar
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
        self.walkers.catch_up(world);
        if let Some(avatar) = self.walkers.remove(player) {
            world.despawn(avatar);
        }
    }

    fn step(&mut self, world: &mut World, _dt: Duration) {
        self.walkers.catch_up(world);
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(saved::of(&self.walkers))
    }

    fn restore(&mut self, _: &mut World, saved: &[u8]) -> Result<(), BadState> {
        self.walkers = saved::all(saved)?;
        Ok(())
    }
}

impl Walkers {
    /// Removes a player and returns its avatar.
    fn remove(&mut self, player: PlayerId) -> Option<ObjectId> {
        let avatar = self.avatars.remove(&player)?;
        self.waypoint_rngs.remove(&avatar);
        self.steered.retain(|walker| walker.object != avatar);
        Some(avatar)
    }

    /// Moves all walkers to now.
    fn catch_up(&mut self, world: &mut World) {
        let now = world.now();
        if self.settled_until >= now {
            return;
        }
        self.move_steered(world);
        while let Some(&Reverse((at, walker))) = self.arrivals.peek()
            && at <= now
        {
            self.arrivals.pop();
            self.start_next_leg(world, walker);
        }
        self.settled_until = now;
    }

    fn move_steered(&mut self, world: &mut World) {
        let (grid, step_m) =
            (*world.grid(), WALK_M_PER_S * world.now().since(self.settled_until).as_secs_f32());
        for walker in &mut self.steered {
            walker.step(grid, step_m);
            world.set_pose(walker.object, walker.place, walker.heading.to_radians(), WALK_M_PER_S);
        }
    }

    /// Starts the next leg of a walker that reached its waypoint since the last tick, at the time
    /// of its arrival.
    fn start_next_leg(&mut self, world: &mut World, walker: ObjectId) {
        let Some(rng) = self.waypoint_rngs.get_mut(&walker) else {
            return;
        };
        let (arrival, here) = world
            .path(walker)
            .last()
            .map(|(time, point)| (time, point.position))
            .expect("a path has a point");
        let target = random_position(*world.grid(), rng);
        let next = arrival + travel_time(here, target);
        world.replace_path(
            walker,
            arrival,
            [(arrival, Waypoint::walk(here)), (next, Waypoint::walk(target))],
        );
        self.arrivals.push(Reverse((next, walker)));
    }

    fn spawn_steered(&mut self, world: &mut World, mut rng: Rng) -> ObjectId {
        let place = random_position(*world.grid(), &mut rng);
        let heading = Heading(rng.u16(..));
        let pose = STEERED_FORMAT.pose(place, heading.to_radians(), WALK_M_PER_S);
        let object = world.spawn(STEERED, vec![Component::Pose(pose)]);
        self.steered.push(SteeredWalker { object, rng, place, heading });
        object
    }

    fn spawn_between_waypoints(&mut self, world: &mut World, mut rng: Rng) -> ObjectId {
        let (here, target) = random_leg(*world.grid(), &mut rng);
        let object = world.spawn(WALKER, vec![Component::at_rest(world.now(), here)]);
        let arrival = world.walk_to(object, target, WALK_M_PER_S);
        self.waypoint_rngs.insert(object, rng);
        self.arrivals.push(Reverse((arrival, object)));
        object
    }
}

impl SteeredWalker {
    /// Turns and moves on.
    fn step(&mut self, grid: Grid, step_m: f32) {
        self.heading = self.heading.turned(self.rng.i16(-MAX_TURN..=MAX_TURN));
        let (x, y) = self.heading.direction();
        let (x, off_x) = mirrored(self.place.x + x * step_m, grid.width());
        let (y, off_y) = mirrored(self.place.y + y * step_m, grid.height());
        self.place = Position { x, y, ..self.place };
        if off_x {
            self.heading = self.heading.mirrored_x();
        }
        if off_y {
            self.heading = self.heading.mirrored_y();
        }
    }
}

/// A coordinate mirrored back onto the map, and whether it was outside.
fn mirrored(at: f32, edge: f32) -> (f32, bool) {
    if at < 0.0 {
        (-at, true)
    } else if at > edge {
        (2.0 * edge - at, true)
    } else {
        (at, false)
    }
}

/// A uniformly random position of the map.
fn random_position(grid: Grid, rng: &mut Rng) -> Position {
    Position::on_ground(rng.f32() * grid.width(), rng.f32() * grid.height()).quantised()
}

/// A position on a leg, and the leg's end, as found at a random time: long legs are more likely,
/// since they last longer.
fn random_leg(grid: Grid, rng: &mut Rng) -> (Position, Position) {
    let longest = Position::default().distance(Position::on_ground(grid.width(), grid.height()));
    loop {
        let from = random_position(grid, rng);
        let to = random_position(grid, rng);
        if rng.f32() * longest < from.distance(to) {
            return (from.lerp(to, rng.f32()).quantised(), to);
        }
    }
}

/// In whole milliseconds, the resolution of paths, and at least one: otherwise a walker could
/// arrive again and again at the same time.
fn travel_time(from: Position, to: Position) -> Duration {
    let millis = 1_000.0 * f64::from(from.distance(to)) / f64::from(WALK_M_PER_S);
    Duration::from_millis((millis.round() as u64).max(1))
}
