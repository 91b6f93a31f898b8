//! Walkers: avatars that the server walks, to measure what a crowd costs (`walk=...`).
//!
//! No obstacle stops them, nothing hurts them, and what their players send is taken and ignored.
//! Two motions, both at 4 m/s:
//! - `waypoints`: from one random place of the map to the next; a path, said once a leg.
//! - `steered`: the heading turns by a random angle of at most 10 degrees at every tick, and is
//!   mirrored at the map's edge; a pose, since nobody can foretell it.
//!
//! Invariants:
//! 1. The same seed and joins give the same walks, bit for bit, on every machine; each walker
//!    throws its own dice.
//! 2. A walker's place is drawn from what the motion keeps to in the long run, so that a crowd is
//!    as dense at its first tick as ever after: evenly over the map for `steered`, denser in the
//!    middle for `waypoints`. So on a map of one size `steered` ones have fewer others around them:
//!    1,000 on 200 x 200 m see 21 in a block of 3 x 3 cells of 10 m, those between waypoints 30; on
//!    165 x 165 m `steered` ones see 30 too.
//!
//! Cost: a leg's end for `waypoints`; per tick and walker a step for `steered`, without allocation.
//! PoseSource of the first place on a leg: Le Boudec and Vojnovic, "Perfect simulation and
//! stationarity of a class of mobility models" (INFOCOM 2005).

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
use crate::logic::world::World;

const WALK_M_PER_S: f32 = 4.0;
/// The widest turn of a tick: 10 degrees in 65,536ths of a turn.
const MAX_TURN: i16 = 1_820;

/// How avatars walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WalkMode {
    /// As their players say: the game.
    #[default]
    Played,
    /// From one random place to the next.
    Waypoints,
    /// With a heading that turns at random.
    SteeredWalker,
}

impl WalkMode {
    /// The words of the parameter `walk`.
    pub(super) const WORDS: &'static [&'static str] = &["none", "waypoints", "steered"];

    pub(super) fn from_word(word: &str) -> Self {
        match word {
            "waypoints" => Self::Waypoints,
            "steered" => Self::SteeredWalker,
            _ => Self::Played,
        }
    }
}

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ServerWalkers {
    avatars: BTreeMap<PlayerId, ObjectId>,
    /// Dice of those who walk between waypoints.
    #[serde(with = "crate::saved::dice_by")]
    waypoint_rngs: BTreeMap<ObjectId, Rng>,
    /// In the order of their births.
    steered: Vec<SteeredWalker>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SteeredWalker {
    object: ObjectId,
    #[serde(with = "ambit_proto::dice")]
    rng: Rng,
    /// Finer than its pose, so that rounding does not add up.
    place: Position,
    heading: Heading,
}

impl ServerWalkers {
    /// A player's avatar sets out.
    pub(super) fn join(
        &mut self,
        world: &mut World,
        timers: &mut WakeTimers,
        walk: WalkMode,
        player: PlayerId,
        rng: Rng,
    ) -> ObjectId {
        let avatar = match walk {
            WalkMode::SteeredWalker => self.spawn_steered(world, rng),
            WalkMode::Waypoints | WalkMode::Played => {
                self.spawn_between_waypoints(world, timers, rng)
            }
        };
        self.avatars.insert(player, avatar);
        avatar
    }

    /// The avatar that is a player's no more.
    pub(super) fn leave(&mut self, player: PlayerId) -> Option<ObjectId> {
        let avatar = self.avatars.remove(&player)?;
        self.waypoint_rngs.remove(&avatar);
        self.steered.retain(|walker| walker.object != avatar);
        Some(avatar)
    }

    pub(super) fn contains(&self, player: PlayerId) -> bool {
        self.avatars.contains_key(&player)
    }

    /// All steered ones walk from `since` to now.
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

    /// One has come to its waypoint, since the last tick: it walks on from there, from then on.
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
    /// Turns, and walks on.
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

/// A coordinate brought back onto the map, and whether it was off it.
fn mirrored(at: f32, edge: f32) -> (f32, bool) {
    if at < 0.0 {
        (-at, true)
    } else if at > edge {
        (2.0 * edge - at, true)
    } else {
        (at, false)
    }
}

/// Any place of the map, as likely as any other.
fn random_position(grid: Grid, rng: &mut Rng) -> Position {
    Position::on_ground(rng.f32() * grid.width(), rng.f32() * grid.height()).quantised()
}

/// A place on a leg, and the leg's end, as one finds them at any time: long legs are more likely,
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

/// In whole milliseconds, as paths are kept, and at least one: nobody arrives for ever at one
/// moment.
fn travel_time(from: Position, to: Position) -> Duration {
    let millis = 1_000.0 * f64::from(from.distance(to)) / f64::from(WALK_M_PER_S);
    Duration::from_millis((millis.round() as u64).max(1))
}
