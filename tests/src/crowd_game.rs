//! A test game with a dense crowd of avatars.
//!
//! The avatars walk at 4 m/s; each turns at random at every tick, and turns back at the map's edge.
//! They are in teams of five, and each engages a target again every second: the avatar
//! [`TARGET_OFFSET`] places further on. Everything follows from the seed.

use std::collections::BTreeMap;
use std::f32::consts::{PI, TAU};
use std::time::Duration;

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::pose::{PoseFormat, Turning};
use ambit_proto::schema::{Codec, Component, ComponentSpec, ObjectKind, Schema};
use ambit_proto::space::Position;
use ambit_room::config::{BadParameter, Parameters};
use ambit_room::logic::game::{Game, GameInfo, Left};
use ambit_room::logic::world::World;

/// The grid of all avatars.
pub const FORMAT: PoseFormat =
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
pub const TEAM_SIZE: u64 = 5;
/// An avatar's target is this many avatars further on.
pub const TARGET_OFFSET: usize = 7;

const WALK_M_PER_S: f32 = 4.0;
const MAX_TURN_RAD: f32 = 10.0 * TAU / 360.0;
const ENGAGED_FOR: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub struct CrowdGame {
    walkers: BTreeMap<PlayerId, Walker>,
    ticks: u64,
}

#[derive(Debug)]
struct Walker {
    object: ObjectId,
    at: [f32; 2],
    heading: f32,
}

impl CrowdGame {
    pub const INFO: GameInfo = GameInfo::new("crowd", "A dense crowd of avatars.");

    pub fn create(_parameters: &Parameters) -> Result<Box<dyn Game>, BadParameter> {
        Ok(Box::<CrowdGame>::default())
    }

    /// Each avatar engages its target, and is engaged by it.
    fn engage_targets(&self, world: &mut World) {
        let until = world.now() + ENGAGED_FOR;
        let avatars: Vec<ObjectId> = self.walkers.values().map(|walker| walker.object).collect();
        for (number, &avatar) in avatars.iter().enumerate() {
            let target = avatars[(number + TARGET_OFFSET) % avatars.len()];
            if target != avatar {
                world.engage(avatar, target, until);
                world.engage(target, avatar, until);
            }
        }
    }
}

impl Game for CrowdGame {
    fn schema(&self) -> Schema {
        let components = vec![ComponentSpec::public("pose", Codec::Pose(FORMAT))];
        let kind = ObjectKind { name: "avatar".into(), components, ..ObjectKind::default() };
        Schema { game: "crowd".into(), kinds: vec![kind], ..Schema::default() }
    }

    fn start(&mut self, _world: &mut World) {}

    fn join(&mut self, world: &mut World, player: PlayerId, _name: &str) -> ObjectId {
        let width = world.grid().width();
        let height = world.grid().height();
        let rng = world.rng();
        let at = [rng.f32() * width, rng.f32() * height];
        let heading = rng.f32() * TAU;
        let pose = FORMAT.pose(Position::on_ground(at[0], at[1]), heading, WALK_M_PER_S);
        let object = world.spawn(0, vec![Component::Pose(pose)]);
        world.set_team(object, Some((player.0 / TEAM_SIZE) as u8));
        self.walkers.insert(player, Walker { object, at, heading });
        object
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
        if let Some(walker) = self.walkers.remove(&player) {
            world.despawn(walker.object);
        }
    }

    fn step(&mut self, world: &mut World, dt: Duration) {
        let (edges, step_m) =
            ([world.grid().width(), world.grid().height()], WALK_M_PER_S * dt.as_secs_f32());
        for walker in self.walkers.values_mut() {
            walker.heading += (2.0 * world.rng().f32() - 1.0) * MAX_TURN_RAD;
            walker.step(edges, step_m);
            let position = Position::on_ground(walker.at[0], walker.at[1]);
            world.set_pose(walker.object, position, walker.heading.rem_euclid(TAU), WALK_M_PER_S);
        }
        if self.ticks.is_multiple_of(20) {
            self.engage_targets(world);
        }
        self.ticks += 1;
    }
}

impl Walker {
    fn step(&mut self, edges: [f32; 2], step_m: f32) {
        let (y, x) = self.heading.sin_cos();
        self.at[0] += step_m * x;
        self.at[1] += step_m * y;
        for (axis, edge) in edges.into_iter().enumerate() {
            if !(0.0..=edge).contains(&self.at[axis]) {
                self.at[axis] = self.at[axis].clamp(0.0, edge);
                self.heading = if axis == 0 { PI - self.heading } else { -self.heading };
            }
        }
    }
}
