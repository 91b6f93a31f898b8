//! A test game of balls that fall, bounce and roll to rest, with physics of its own that clients
//! simulate: the smallest use of [`ambit_proto::physics`].
//!
//! Balls fall under gravity, bounce off the floor, the walls and the tops of the fixed boxes, and
//! do not touch each other. Players steer theirs by two controls, which their flags publish. The
//! host kicks a random ball at regular times, which no client can know in advance.
//!
//! The host steps frames of 1/60 s up to its horizon and sends the poses of the balls that moved.
//! Units: metres, seconds.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::keymap::{Keymap, Keys};
use ambit_proto::map::{StaticMap, StaticObstacle};
use ambit_proto::physics::{
    Arena, BodyId, FRAMES_PER_S, GamePhysics, SharedPhysics, SimulatedKind, frame_at,
};
use ambit_proto::pose::{MotionFormat, Pose, PoseFormat, Turning};
use ambit_proto::schema::{Codec, Component, ComponentSpec, ObjectKind, PosePresentation, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::config::{Allowed, BadParameter, Parameter, Parameters};
use ambit_room::logic::game::{Game, GameInfo, Left};
use ambit_room::logic::statics::Obstacle;
use ambit_room::logic::world::World;

/// The kind of the balls that roll by themselves.
pub const BALL: u8 = 0;
/// The kind of the players' balls.
pub const PLAYER: u8 = 1;
/// The control that pushes a player's ball along x.
pub const PUSH: u8 = 0;
/// The control that lets a player's ball hop, when it lies on something.
pub const HOP: u8 = 1;
/// The flags of a player's ball, with the control of each.
const HELD_CONTROLS: [(u8, u8); 2] = [(1, PUSH), (2, HOP)];

/// Balls do not turn, and their grid differs from that of the shipped games.
pub const FORMAT: PoseFormat = PoseFormat {
    per_metre: 1_000,
    turn: Turning::Fixed,
    motion: Some(MotionFormat { linear: 200, angular: 1 }),
};

/// What clients register to simulate the game.
pub const PHYSICS: GamePhysics = GamePhysics {
    game: BouncingBalls::INFO.name,
    kinds: &[
        SimulatedKind { kind: BALL, format: FORMAT, held_controls: &[] },
        SimulatedKind { kind: PLAYER, format: FORMAT, held_controls: &HELD_CONTROLS },
    ],
    // Balls do not touch each other.
    reach_m: 1.0,
    create: |_, arena| Box::new(BallPhysics::new(arena)),
};

const RADIUS_M: f32 = 0.25;
const GRAVITY_M_PER_S2: f32 = 9.81;
const FRAME_S: f32 = 1.0 / FRAMES_PER_S as f32;
/// Share of the speed that is left after a bounce.
const RESTITUTION: f32 = 0.7;
/// A slower bounce ends: the ball rolls.
const MIN_BOUNCE_M_PER_S: f32 = 0.5;
/// A rolling ball slows down by this along each axis.
const ROLLING_LOSS_M_PER_S2: f32 = 0.6;
const REST_BELOW_M_PER_S: f32 = 0.1;
const PUSH_M_PER_S2: f32 = 6.0;
const MAX_PUSH_M_PER_S: f32 = 4.0;
const HOP_M_PER_S: f32 = 4.0;
const UPRIGHT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// The physics that host and clients run.
#[derive(Debug)]
pub struct BallPhysics {
    arena: Arena,
    obstacles: Vec<StaticObstacle>,
    /// By slot.
    balls: Vec<Option<SimulatedBall>>,
    added: u32,
    changed: Vec<BodyId>,
}

#[derive(Clone, Copy, Debug)]
struct SimulatedBall {
    body: BodyId,
    pose: Pose,
    keys: Keys,
}

impl BallPhysics {
    fn new(arena: Arena) -> Self {
        Self { arena, obstacles: Vec::new(), balls: Vec::new(), added: 0, changed: Vec::new() }
    }

    fn ball_mut(&mut self, body: BodyId) -> &mut SimulatedBall {
        let ball = self.balls[body.slot()].as_mut();
        ball.filter(|ball| ball.body == body).expect("the ball exists")
    }
}

impl SharedPhysics for BallPhysics {
    fn add(&mut self, _kind: u8, pose: &Pose) -> BodyId {
        let free = self.balls.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            self.balls.push(None);
            self.balls.len() - 1
        });
        self.added += 1;
        let body = BodyId::new(slot as u32, self.added);
        self.balls[slot] = Some(SimulatedBall { body, pose: *pose, keys: Keys::default() });
        body
    }

    fn remove(&mut self, body: BodyId) {
        self.balls[body.slot()] = None;
        self.changed.retain(|changed| *changed != body);
    }

    fn pose(&self, body: BodyId) -> Pose {
        self.balls[body.slot()].expect("the ball exists").pose
    }

    fn set_pose(&mut self, body: BodyId, pose: &Pose) {
        self.ball_mut(body).pose = *pose;
    }

    fn set_keys(&mut self, body: BodyId, keys: Keys) {
        self.ball_mut(body).keys = keys;
    }

    fn step(&mut self) {
        let arena = self.arena;
        let obstacles = &self.obstacles;
        self.changed.clear();
        for ball in self.balls.iter_mut().flatten() {
            if !ball.pose.flag || ball.keys.current != Keymap::default() {
                ball.pose = next_pose(&ball.pose, ball.keys.current, arena, obstacles);
                self.changed.push(ball.body);
            }
            ball.keys.advance(ball.keys.current);
        }
    }

    fn changed_bodies(&self) -> &[BodyId] {
        &self.changed
    }

    fn set_map(&mut self, map: &StaticMap) {
        self.obstacles.clone_from(&map.obstacles);
    }

    /// Exactly, but for the keys: balls do not touch each other.
    fn extrapolate(&self, _kind: &SimulatedKind, pose: &Pose, frames: u64) -> Pose {
        (0..frames.min(FRAMES_PER_S)).fold(*pose, |pose, _| {
            if pose.flag {
                pose
            } else {
                next_pose(&pose, Keymap::default(), self.arena, &self.obstacles)
            }
        })
    }
}

/// The pose of a ball one frame later.
fn next_pose(pose: &Pose, keys: Keymap, arena: Arena, obstacles: &[StaticObstacle]) -> Pose {
    let Position { x, y, z } = FORMAT.position(pose);
    let (mut at, (mut velocity, _)) = ([x, y, z], FORMAT.velocities(pose));
    let lies = z <= ground_m(at, obstacles) + RADIUS_M && velocity[2] == 0.0;
    if keys.down(PUSH) && velocity[0] < MAX_PUSH_M_PER_S {
        velocity[0] += PUSH_M_PER_S2 * FRAME_S;
    }
    if keys.down(HOP) && lies {
        velocity[2] = HOP_M_PER_S;
    } else if !lies {
        velocity[2] -= GRAVITY_M_PER_S2 * FRAME_S;
    }
    for axis in 0..3 {
        at[axis] += velocity[axis] * FRAME_S;
    }
    for (axis, size) in [arena.width_m, arena.height_m].into_iter().enumerate() {
        let low = RADIUS_M;
        let high = size - RADIUS_M;
        if at[axis] < low && velocity[axis] < 0.0 || at[axis] > high && velocity[axis] > 0.0 {
            velocity[axis] *= -RESTITUTION;
        }
        at[axis] = at[axis].clamp(low, high);
    }
    let lowest = ground_m(at, obstacles) + RADIUS_M;
    if at[2] <= lowest && velocity[2] <= 0.0 {
        at[2] = lowest;
        let bounce = -RESTITUTION * velocity[2];
        velocity[2] = if bounce < MIN_BOUNCE_M_PER_S { 0.0 } else { bounce };
    }
    if at[2] == lowest && velocity[2] == 0.0 {
        for speed in &mut velocity[..2] {
            *speed -=
                speed.clamp(-ROLLING_LOSS_M_PER_S2 * FRAME_S, ROLLING_LOSS_M_PER_S2 * FRAME_S);
        }
    }
    let rests = at[2] == lowest
        && keys == Keymap::default()
        && velocity.iter().all(|speed| speed.abs() < REST_BELOW_M_PER_S);
    let velocities = (!rests).then_some((velocity, [0.0; 3]));
    FORMAT.moving(Position::new(at[0], at[1], at[2]), UPRIGHT, velocities)
}

/// Height of the floor or of the highest obstacle below a ball.
fn ground_m([x, y, _]: [f32; 3], obstacles: &[StaticObstacle]) -> f32 {
    let at = Position::on_ground(x, y);
    let below = obstacles.iter().filter(|each| each.ground_distance(at) == 0.0);
    below.map(|each| each.centre.z + each.shape.half()[2]).fold(0.0, f32::max)
}

/// The game: the host's half.
#[derive(Debug)]
pub struct BouncingBalls {
    balls: u32,
    kicks_until: GameTime,
    kicked_at: GameTime,
    physics: BallPhysics,
    /// By the slot of the body.
    objects: Vec<ObjectId>,
    players: BTreeMap<PlayerId, (BodyId, ObjectId)>,
    frame: u64,
}

const PARAMETERS: &[Parameter] = &[
    Parameter {
        key: "balls",
        label: "",
        default: "30",
        allowed: Allowed::Whole { min: 1, max: 100 },
        about: "balls that roll by themselves",
    },
    Parameter {
        key: "kicks",
        label: "",
        default: "20",
        allowed: Allowed::Whole { min: 0, max: 600 },
        about: "seconds in which the host kicks balls, twice a second",
    },
];

impl BouncingBalls {
    pub const INFO: GameInfo =
        GameInfo::new("bouncing_balls", "Balls that fall and bounce.").parameters(PARAMETERS);

    pub fn create(parameters: &Parameters) -> Result<Box<dyn Game>, BadParameter> {
        let (width_m, height_m) = parameters.size("size");
        Ok(Box::new(BouncingBalls {
            balls: parameters.whole("balls") as u32,
            kicks_until: GameTime::from_millis(1_000 * parameters.whole("kicks")),
            kicked_at: GameTime::ZERO,
            physics: BallPhysics::new(Arena { width_m, height_m }),
            objects: Vec::new(),
            players: BTreeMap::new(),
            frame: 0,
        }))
    }

    fn drop_ball(&mut self, world: &mut World, kind: u8, pose: Pose) -> (BodyId, ObjectId) {
        let body = self.physics.add(kind, &pose);
        let mut components = vec![Component::Pose(pose)];
        if kind == PLAYER {
            components.extend(HELD_CONTROLS.map(|_| Component::flag(world.now(), false)));
        }
        let object = world.spawn(kind, components);
        self.objects.resize(self.objects.len().max(body.slot() + 1), object);
        self.objects[body.slot()] = object;
        (body, object)
    }

    /// Runs the frames up to the horizon.
    fn catch_up(&mut self, world: &mut World) {
        while self.frame < frame_at(world.now()) {
            self.physics.step();
            self.frame += 1;
            for &body in self.physics.changed_bodies() {
                world.replace_pose(self.objects[body.slot()], self.physics.pose(body));
            }
        }
    }

    /// Throws a random ball up.
    fn kick(&mut self, world: &mut World) {
        let slot = world.rng().usize(..self.balls as usize);
        let [x, y] = [0, 1].map(|_| 8.0 * (world.rng().f32() - 0.5));
        let body = self.physics.balls[slot].expect("balls stay").body;
        let position = FORMAT.position(&self.physics.pose(body));
        let velocities = Some(([x, y, 4.0 + 4.0 * world.rng().f32()], [0.0; 3]));
        let pose = FORMAT.moving(position, UPRIGHT, velocities);
        self.physics.set_pose(body, &pose);
        world.replace_pose(self.objects[slot], pose);
    }
}

impl Game for BouncingBalls {
    fn schema(&self) -> Schema {
        let kind = |name: &str, flags: &[&str]| {
            let pose = ComponentSpec::public("pose", Codec::Pose(FORMAT));
            let flags = flags.iter().map(|&name| ComponentSpec::public(name, Codec::Flag));
            ObjectKind {
                name: name.into(),
                components: [pose].into_iter().chain(flags).collect(),
                presentation: PosePresentation::Simulated,
                ..ObjectKind::default()
            }
        };
        Schema {
            game: Self::INFO.name.into(),
            kinds: vec![kind("ball", &[]), kind("player", &["push", "hop"])],
            ..Schema::default()
        }
    }

    fn start(&mut self, world: &mut World) {
        let width = world.grid().width();
        let height = world.grid().height();
        let (x, y) = (width / 2.0, height / 2.0);
        world.statics_mut().add(Obstacle::on_ground(x, y, width / 4.0, height / 8.0, 1.0));
        let turned = Obstacle::on_ground(x, y, width / 4.0, height / 8.0, 1.5).turned(1.0);
        world.statics_mut().add(turned);
        world.statics_mut().add(Obstacle::round(x, y, width / 6.0, 2.0));
        let block = world.statics().encode();
        self.physics.set_map(&StaticMap::decode(&block).expect("its own encoding"));
        self.frame = frame_at(world.now());
        for _ in 0..self.balls {
            let [x, y, z] = [width, height, 6.0].map(|size| size * world.rng().f32());
            let at = Position::new(x, y, 2.0 + z);
            self.drop_ball(world, BALL, FORMAT.moving(at, UPRIGHT, Some(Default::default())));
        }
    }

    fn join(&mut self, world: &mut World, player: PlayerId, _name: &str) -> ObjectId {
        self.catch_up(world);
        let at = Position::new(2.0, 2.0 + self.players.len() as f32, 3.0);
        let pose = FORMAT.moving(at, UPRIGHT, Some(Default::default()));
        let (body, object) = self.drop_ball(world, PLAYER, pose);
        self.players.insert(player, (body, object));
        object
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
        self.catch_up(world);
        if let Some((body, object)) = self.players.remove(&player) {
            self.physics.remove(body);
            world.despawn(object);
        }
    }

    /// The keys act in the steps after the frame in which their flags change.
    fn input(&mut self, world: &mut World, player: PlayerId, keys: Keymap) {
        self.catch_up(world);
        let Some(&(body, object)) = self.players.get(&player) else {
            return;
        };
        self.physics.ball_mut(body).keys.current = keys;
        for (flag, control) in HELD_CONTROLS {
            world.set_flag(object, flag, world.now(), keys.down(control));
        }
    }

    fn step(&mut self, world: &mut World, _dt: Duration) {
        self.catch_up(world);
        let now = world.now();
        if now < self.kicks_until && now.since(self.kicked_at) >= Duration::from_millis(500) {
            self.kicked_at = now;
            self.kick(world);
        }
    }
}
