//! A test game of cubes that roll, fly and rest, for rooms with free poses.
//!
//! Players' cubes move in circles by themselves and push the loose cubes; while a player holds
//! control 0, they throw up the cubes that they meet. Loose cubes roll until friction stops them,
//! bounce off walls and floor, and then rest with a pose that does not change. Some are removed and
//! others dropped in, so that slots are reused. Clients cannot extrapolate any of it exactly.
//! Everything follows from the seed and the inputs.
//!
//! No physics library: pushes, gravity, friction and spin take a few lines each. Units: metres,
//! seconds.

use std::collections::BTreeMap;
use std::f32::consts::TAU;
use std::time::Duration;

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::pose::{PoseFormat, Turning};
use ambit_proto::schema::{Codec, Component, ComponentSpec, ObjectKind, Schema};
use ambit_proto::space::Position;
use ambit_room::config::{Allowed, BadParameter, Parameter, Parameters};
use ambit_room::logic::game::{Game, GameInfo, Left};
use ambit_room::logic::sight::Sight;
use ambit_room::logic::statics::Obstacle;
use ambit_room::logic::world::World;
use fastrand::Rng;

/// While a player holds this control, its cube throws up the cubes that it meets.
pub const FLING: u8 = 0;
/// The grid of all cubes, as in G. Fiedler, "State Synchronization".
pub const FORMAT: PoseFormat =
    PoseFormat { per_metre: 4_096, turn: Turning::Free { bits: 15 }, motion: None };

const HALF_M: f32 = 0.2;
/// How far a player's cube pushes.
const REACH_M: f32 = 1.6;
const GRAVITY: f32 = 9.8;
/// Share of the speed that is lost in a second on the floor.
const FRICTION: f32 = 1.3;
const REST_BELOW_M_PER_S: f32 = 0.12;
const RUN_M_PER_S: f32 = 5.0;

const PARAMETERS: &[Parameter] = &[
    Parameter {
        key: "cubes",
        label: "",
        default: "900",
        allowed: Allowed::Whole { min: 0, max: 5_000 },
        about: "loose cubes",
    },
    Parameter {
        key: "boxes",
        label: "",
        default: "0",
        allowed: Allowed::Whole { min: 0, max: 60_000 },
        about: "fixed boxes, which nothing collides with",
    },
    Parameter {
        key: "renewed",
        label: "",
        default: "0",
        allowed: Allowed::Whole { min: 0, max: 100 },
        about: "cubes replaced per second",
    },
    Parameter {
        key: "restless",
        label: "",
        default: "no",
        allowed: Allowed::Word(&["no", "yes"]),
        about: "whether cubes at rest start to roll again by themselves",
    },
    Parameter {
        key: "ghosts",
        label: "",
        default: "no",
        allowed: Allowed::Word(&["no", "yes"]),
        about: "whether players' cubes push nothing and are visible only to their own players",
    },
];

#[derive(Debug)]
pub struct RollingCubes {
    cubes: u32,
    boxes: u32,
    renewed_per_s: f32,
    restless: bool,
    ghosts: bool,
    /// Replacements that are due, with a fraction.
    due_renewals: f32,
    runners: BTreeMap<PlayerId, Runner>,
    cubes_in_play: Vec<LooseCube>,
}

/// A player's cube.
#[derive(Debug)]
struct Runner {
    object: ObjectId,
    flings: bool,
    at: [f32; 2],
    laps: f32,
}

#[derive(Debug)]
struct LooseCube {
    object: ObjectId,
    at: [f32; 3],
    velocity: [f32; 3],
    attitude: [f32; 4],
    is_moving: bool,
}

impl RollingCubes {
    pub const INFO: GameInfo =
        GameInfo::new("rolling_cubes", "Cubes that roll, fly and rest.").parameters(PARAMETERS);

    pub fn create(parameters: &Parameters) -> Result<Box<dyn Game>, BadParameter> {
        Ok(Box::new(RollingCubes {
            cubes: parameters.whole("cubes") as u32,
            boxes: parameters.whole("boxes") as u32,
            renewed_per_s: parameters.whole("renewed") as f32,
            restless: parameters.word("restless") == "yes",
            ghosts: parameters.word("ghosts") == "yes",
            due_renewals: 0.0,
            runners: BTreeMap::new(),
            cubes_in_play: Vec::new(),
        }))
    }

    fn move_runners(&mut self, world: &mut World, dt: f32) {
        let (width, height) = floor_size(world);
        for (number, runner) in self.runners.values_mut().enumerate() {
            let lap = TAU * (0.25 * width.min(height)) / RUN_M_PER_S;
            runner.laps += dt / lap;
            let angle = TAU * runner.laps + number as f32;
            let from = runner.at;
            runner.at =
                [width * (0.5 + 0.4 * angle.cos()), height * (0.5 + 0.4 * (1.3 * angle).sin())];
            let velocity =
                [0, 1].map(|axis| if dt > 0.0 { (runner.at[axis] - from[axis]) / dt } else { 0.0 });
            let half = (angle / 2.0).sin_cos();
            let position = Position::new(runner.at[0], runner.at[1], HALF_M);
            world.set_free_pose(runner.object, position, [0.0, 0.0, half.0, half.1], runner.flings);
            if self.ghosts {
                continue;
            }
            for body in &mut self.cubes_in_play {
                body.push(runner.at, velocity, runner.flings, world.rng());
            }
        }
    }

    fn replace_cubes(&mut self, world: &mut World, dt: f32) {
        self.due_renewals += dt * self.renewed_per_s;
        while self.due_renewals >= 1.0 && !self.cubes_in_play.is_empty() {
            self.due_renewals -= 1.0;
            let removed = world.rng().usize(..self.cubes_in_play.len());
            world.despawn(self.cubes_in_play.swap_remove(removed).object);
            let (width, height) = floor_size(world);
            let at = [world.rng().f32() * width, world.rng().f32() * height, 4.0];
            self.drop_cube(world, at, true);
        }
    }

    fn drop_cube(&mut self, world: &mut World, at: [f32; 3], moves: bool) {
        let attitude = [0.0, 0.0, 0.0, 1.0];
        let object = world.spawn(CUBE, vec![pose(at, attitude)]);
        self.cubes_in_play.push(LooseCube {
            object,
            at,
            velocity: [0.0; 3],
            attitude,
            is_moving: moves,
        });
    }
}

const CUBE: u8 = 0;
const RUNNER: u8 = 1;

impl Game for RollingCubes {
    fn schema(&self) -> Schema {
        let kind = |name: &str| ObjectKind {
            name: name.into(),
            components: vec![ComponentSpec::public("pose", Codec::Pose(FORMAT))],
            ..ObjectKind::default()
        };
        Schema {
            game: "rolling_cubes".into(),
            kinds: vec![kind("cube"), kind("runner")],
            ..Schema::default()
        }
    }

    fn start(&mut self, world: &mut World) {
        let (width, height) = floor_size(world);
        let columns = f32::from(self.cubes as u16).sqrt().ceil().max(1.0);
        for number in 0..self.cubes {
            let column = number as f32 % columns;
            let row = (number as f32 / columns).floor();
            let at = [width * (column + 0.5) / columns, height * (row + 0.5) / columns, HALF_M];
            self.drop_cube(world, at, false);
        }
        for _ in 0..self.boxes {
            let (x, y) = (world.rng().f32() * width, world.rng().f32() * height);
            world.statics_mut().add(Obstacle::on_ground(x, y, 0.1, 0.1, 0.5));
        }
    }

    fn join(&mut self, world: &mut World, player: PlayerId, _name: &str) -> ObjectId {
        let (width, height) = floor_size(world);
        let at = [width / 2.0, height / 2.0];
        let object = world.spawn(RUNNER, vec![pose([at[0], at[1], HALF_M], [0.0, 0.0, 0.0, 1.0])]);
        self.runners.insert(player, Runner { object, flings: false, at, laps: 0.0 });
        object
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
        if let Some(runner) = self.runners.remove(&player) {
            world.despawn(runner.object);
        }
    }

    fn input(&mut self, _world: &mut World, player: PlayerId, keys: Keymap) {
        if let Some(runner) = self.runners.get_mut(&player) {
            runner.flings = keys.down(FLING);
        }
    }

    fn step(&mut self, world: &mut World, dt: Duration) {
        let dt = dt.as_secs_f32();
        self.move_runners(world, dt);
        self.replace_cubes(world, dt);
        let walls = floor_size(world);
        if self.restless {
            self.cubes_in_play
                .iter_mut()
                .filter(|body| !body.is_moving)
                .for_each(|body| body.start_rolling(world.rng()));
        }
        for body in self.cubes_in_play.iter_mut().filter(|body| body.is_moving) {
            body.advance(dt, walls);
            let position = Position::new(body.at[0], body.at[1], body.at[2]);
            world.set_free_pose(body.object, position, body.attitude, body.is_moving);
        }
    }

    fn sees(&self, world: &World, _viewer: ObjectId, object: ObjectId, _: Sight) -> bool {
        !self.ghosts || world.kind(object) != RUNNER
    }
}

impl LooseCube {
    /// A player's cube at this position pushes the loose cube if it is near.
    fn push(&mut self, at: [f32; 2], velocity: [f32; 2], flings: bool, rng: &mut Rng) {
        let (x, y) = (self.at[0] - at[0], self.at[1] - at[1]);
        let distance = (x * x + y * y).sqrt();
        if distance > REACH_M || self.velocity[2] > 0.0 {
            return;
        }
        let push = 3.0 * (1.0 - distance / REACH_M) / distance.max(0.1);
        self.velocity[0] += 0.3 * velocity[0] + push * x + rng.f32() - 0.5;
        self.velocity[1] += 0.3 * velocity[1] + push * y + rng.f32() - 0.5;
        if flings || rng.u8(..) < 8 {
            self.velocity[2] = 3.0 + 3.0 * rng.f32();
        }
        self.is_moving = true;
    }

    /// Rolls off in a random direction.
    fn start_rolling(&mut self, rng: &mut Rng) {
        self.velocity = [4.0 * (rng.f32() - 0.5), 4.0 * (rng.f32() - 0.5), 0.0];
        self.is_moving = true;
    }

    fn advance(&mut self, dt: f32, walls: (f32, f32)) {
        self.velocity[2] -= GRAVITY * dt;
        for axis in 0..3 {
            self.at[axis] += self.velocity[axis] * dt;
        }
        for (axis, wall) in [walls.0, walls.1].into_iter().enumerate() {
            if self.at[axis] < HALF_M || self.at[axis] > wall - HALF_M {
                self.at[axis] = self.at[axis].clamp(HALF_M, wall - HALF_M);
                self.velocity[axis] = -self.velocity[axis];
            }
        }
        self.spin(dt);
        if self.at[2] <= HALF_M {
            self.at[2] = HALF_M;
            self.velocity[2] = if self.velocity[2] < -1.0 { -0.4 * self.velocity[2] } else { 0.0 };
            let slower = (1.0 - FRICTION * dt).max(0.0);
            self.velocity[0] *= slower;
            self.velocity[1] *= slower;
            let speed = (self.velocity[0].powi(2) + self.velocity[1].powi(2)).sqrt();
            self.is_moving = speed > REST_BELOW_M_PER_S || self.velocity[2] > 0.0;
        }
        if !self.is_moving {
            self.velocity = [0.0; 3];
        }
    }

    /// Turns the cube by its speed.
    fn spin(&mut self, dt: f32) {
        let [x, y, z, w] = self.attitude;
        let (a, b) = (-0.5 * dt * self.velocity[1] / HALF_M, 0.5 * dt * self.velocity[0] / HALF_M);
        let turned = [x + a * w + b * z, y + b * w - a * z, z + a * y - b * x, w - a * x - b * y];
        let length = turned.iter().map(|part| part * part).sum::<f32>().sqrt();
        self.attitude = turned.map(|part| part / length);
    }
}

fn pose(at: [f32; 3], attitude: [f32; 4]) -> Component {
    Component::Pose(FORMAT.free(Position::new(at[0], at[1], at[2]), attitude))
}

fn floor_size(world: &World) -> (f32, f32) {
    (world.grid().width(), world.grid().height())
}
