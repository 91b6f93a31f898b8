//! Walkers: avatars that the server moves, to measure the cost of a crowd (`walk=...`).
//!
//! Obstacles do not stop them, nothing damages them, and commands of their players are accepted and
//! ignored. There are two motions, both at 4 m/s:
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

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::cell::Grid;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::Waypoint;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::heading::Heading;
use super::schema;
use super::timers::{WakeReason, WakeTimers};
use ambit_room::logic::world::World;

const WALK_M_PER_S: f32 = 4.0;
/// The largest turn of a tick: 10 degrees in 65,536ths of a turn.
const MAX_TURN: i16 = 1_820;

/// How avatars move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WalkMode {
    /// Their players move them: the normal game.
    #[default]
    Played,
    /// From one random position to the next.
    Waypoints,
    /// With a heading that turns at random.
    Steered,
}

impl WalkMode {
    /// The words of the parameter `walk`.
    pub(super) const WORDS: &'static [&'static str] = &["none", "waypoints", "steered"];

    pub(super) fn from_word(word: &str) -> Self {
        match word {
            "waypoints" => Self::Waypoints,
            "steered" => Self::Steered,
            _ => Self::Played,
        }
    }
}

/// All avatars that the server moves. See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ServerWalkers {
    avatars: BTreeMap<PlayerId, ObjectId>,
    /// Random generators of walkers between waypoints.
    #[serde(with = "ambit_room::saved::dice_by")]
    waypoint_rngs: BTreeMap<ObjectId, Rng>,
    /// In the order of their creation.
    steered: Vec<SteeredWalker>,
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

impl ServerWalkers {
    /// Creates a player's avatar and starts its walk.
    pub(super) fn join(
        &mut self,
        world: &mut World,
        timers: &mut WakeTimers,
        walk: WalkMode,
        player: PlayerId,
        rng: Rng,
    ) -> ObjectId {
        let avatar = match walk {
            WalkMode::Steered => self.spawn_steered(world, rng),
            WalkMode::Waypoints | WalkMode::Played => {
                self.spawn_between_waypoints(world, timers, rng)
            }
        };
        self.avatars.insert(player, avatar);
        avatar
    }

    /// Removes a player and returns its avatar.
    pub(super) fn leave(&mut self, player: PlayerId) -> Option<ObjectId> {
        let avatar = self.avatars.remove(&player)?;
        self.waypoint_rngs.remove(&avatar);
        self.steered.retain(|walker| walker.object != avatar);
        Some(avatar)
    }

    pub(super) fn contains(&self, player: PlayerId) -> bool {
        self.avatars.contains_key(&player)
    }

    /// Moves all steered walkers from `since` to now.
    pub(super) fn move_steered(&mut self, world: &mut World, since: GameTime) {
        let (grid, step_m) = (
            *world.grid(),
            WALK_M_PER_S * world.now().since(since).as_secs_f32(),
        );
        for walker in &mut self.steered {
            walker.step(grid, step_m);
            world.set_pose(
                walker.object,
                walker.place,
                walker.heading.to_radians(),
                WALK_M_PER_S,
            );
        }
    }

    /// Starts the next leg of a walker that reached its waypoint since the last tick, at the time
    /// of its arrival.
    pub(super) fn next_leg(
        &mut self,
        world: &mut World,
        timers: &mut WakeTimers,
        walker: ObjectId,
    ) {
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
            [
                (arrival, Waypoint::walk(here)),
                (next, Waypoint::walk(target)),
            ],
        );
        timers.add(next, walker, WakeReason::Walk);
    }

    fn spawn_steered(&mut self, world: &mut World, mut rng: Rng) -> ObjectId {
        let (place, heading) = (
            random_position(*world.grid(), &mut rng),
            Heading(rng.u16(..)),
        );
        let object = schema::spawn_steered(world, place, heading.to_radians(), WALK_M_PER_S);
        self.steered.push(SteeredWalker {
            object,
            rng,
            place,
            heading,
        });
        object
    }

    fn spawn_between_waypoints(
        &mut self,
        world: &mut World,
        timers: &mut WakeTimers,
        mut rng: Rng,
    ) -> ObjectId {
        let (here, target) = random_leg(*world.grid(), &mut rng);
        let object = schema::spawn_walker(world, here);
        let arrival = world.walk_to(object, target, WALK_M_PER_S);
        self.waypoint_rngs.insert(object, rng);
        timers.add(arrival, object, WakeReason::Walk);
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
        let (from, to) = (random_position(grid, rng), random_position(grid, rng));
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
