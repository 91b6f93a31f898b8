//! `cubes`: small cubes on a floor between walls, and a larger one for each player, which pushes,
//! attracts and repels them.
//!
//! The goal is to have the most of them in one's ring at the end of a round.
//!
//! The physics is the one that clients run as well (`ambit_cubes_physics`): 60 frames a
//! second, whatever the tick rate. A tick runs the frames up to its horizon and sets the poses of
//! awake cubes. Keys that arrive at a tick act from its horizon on. The flags of a player's cube
//! publish its keys to all clients, so that their physics can continue with them.
//!
//! Invariants:
//! 1. The physics is in the frame of the world's horizon, and a published pose is the one after
//!    that frame's step.
//! 2. Keys act in the steps after the frame in which their flags change, and in no other. A jump
//!    has no flag; it counts once for each press, however short.
//! 3. The seed, the inputs and the frames in which they act decide everything; the tick rate does
//!    not matter.
//!
//! Cost: proportional to awake cubes. Sources: "Synchronisation par le reseau d'un monde virtuel
//! sur Unity" (the world and its controls); G. Fiedler, "State Synchronization".

mod layout;
mod players;
mod rounds;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ambit::physics::{Arena, BodyId, SharedPhysics, frame_at};
use ambit::prelude::*;
use ambit::saved::{self, BadState, Saved};
use ambit::schema::{PosePresentation, Schema};
use ambit::{Keymap, Keys, Pose};
use ambit_cubes_physics::{CUBE, CUBE_EDGE_M, PLAYER, POSE_FORMAT, Physics, control};

use self::layout::CubeLayout;
use self::players::{CubePlayers, SavedCubePlayers};
use self::rounds::CubeRounds;
use self::schema::{Cube, CubeRing, CubeScore, CubesRound, CubesRoundBegins, CubesRoundOver};

pub use self::schema::{CubesControl, PlayerCube};

/// The world of this game.
type CubesWorld = World<CubesGame>;

/// What a room of the game can be created with.
#[derive(Debug, Parameters)]
#[room(size = "32x32")]
pub struct CubesSettings {
    /// small cubes, in a square in the middle; more take more processor time, and more bytes when
    /// they move
    #[parameter(default = 100, range = 0..=10_000, label = "Small cubes")]
    cubes: u32,
    /// distance between the centres of neighbouring cubes, in metres
    #[parameter(default = 1.0, range = CUBE_EDGE_M..=100.0, label = "Distance of cubes")]
    spacing: f32,
    /// what clients show: interpolated, between received poses, on a grid of 2 mm; simulated, the
    /// state of their own physics, corrected by received poses
    #[parameter(default = Simulated, label = "What players see")]
    sync: CubesSync,
    /// what drives the players' cubes: keys of their players, or dice (random keys), for
    /// demonstrations and measurements
    #[parameter(default = Keys, label = "Who rolls the cubes")]
    drive: Drive,
    /// seconds of a round, at whose end the player with most cubes in its ring wins; 0 for none, as
    /// with dice
    #[parameter(default = 90, range = 0..=3_600, label = "Seconds of a round")]
    round: u32,
    #[parameter(of_room, range = 10.0..=MAX_SIDE_M)]
    size: (f32, f32),
}

#[derive(Debug, Choice)]
enum CubesSync {
    Interpolated,
    Simulated,
}

#[derive(Debug, PartialEq, Choice)]
enum Drive {
    Keys,
    Dice,
}

/// A player's forces act on cubes within 2 m; what flies is known from this distance.
const REACH_M: f32 = 9.0;
/// How far players see.
const VIEW_M: f32 = 29.0;
/// The largest side of the floor, in metres: beyond it coordinates are too coarse for the grid of
/// poses.
const MAX_SIDE_M: f32 = 4_096.0;
/// The most steps of a late tick: a quarter of a second. Further frames are skipped.
const MAX_STEPS_PER_TICK: u64 = 15;

/// The object of a body, its kind, pose and keys.
type SavedBody = (ObjectId, u8, Pose, Keys);
type SavedCubes = (Vec<SavedBody>, SavedCubePlayers, u64, GameTime, CubeRounds);

/// The game `cubes`. See the module. The fields are `unsaved`, because it saves its bodies instead.
#[derive(Debug, Declare)]
#[declare(kinds(Cube, PlayerCube, CubeRing, CubesRound, CubeScore))]
#[declare(events(CubesRoundBegins, CubesRoundOver))]
#[declare(controls = CubesControl, parameters = CubesSettings, unsaved)]
pub struct CubesGame {
    layout: CubeLayout,
    sync: PosePresentation,
    is_driven_by_dice: bool,
    /// Of a round; 0 without any.
    round_s: u32,
    rounds: CubeRounds,
    physics: Physics,
    /// By the slot of the body.
    objects: Vec<ObjectId>,
    players: CubePlayers,
    frame: u64,
    /// The horizon up to which everything is done.
    settled_until: GameTime,
    /// Scratch buffer: bodies whose new pose is not set yet.
    moved: Vec<BodyId>,
    near_bodies: Vec<BodyId>,
}

impl CubesGame {
    fn new(layout: CubeLayout, sync: PosePresentation, is_driven_by_dice: bool) -> Self {
        Self {
            physics: Physics::new(layout.arena()),
            layout,
            sync,
            is_driven_by_dice,
            round_s: 0,
            rounds: CubeRounds::default(),
            objects: Vec::new(),
            players: CubePlayers::default(),
            frame: 0,
            settled_until: GameTime::ZERO,
            moved: Vec::new(),
            near_bodies: Vec::new(),
        }
    }

    /// Runs the steps up to now and sets the poses of the bodies that they moved.
    fn catch_up(&mut self, world: &mut CubesWorld) {
        let now = world.now();
        if self.settled_until >= now {
            return;
        }
        let target = frame_at(now);
        self.frame = self.frame.max(target.saturating_sub(MAX_STEPS_PER_TICK));
        while self.frame < target {
            self.players.drive_by_dice(
                world,
                &mut self.physics,
                self.layout.arena(),
                self.frame,
                self.settled_until,
            );
            self.physics.step();
            self.players.release_tapped_jumps(&mut self.physics);
            self.frame += 1;
            self.moved.extend(self.physics.changed_bodies());
        }
        self.moved.sort_unstable();
        self.moved.dedup();
        for body in self.moved.drain(..) {
            let pose = schema::pose_to_send(self.sync, self.physics.pose(body));
            world.replace_pose(self.objects[body.slot()], pose);
        }
        self.players.engage(world, &self.physics, &self.objects, &mut self.near_bodies);
        self.settled_until = now;
    }

    /// Sets the keys that a player holds from now on. `tapped` are keys that were pressed just now,
    /// perhaps after a release that no step has seen.
    fn hold_keys(
        &mut self,
        world: &mut CubesWorld,
        player: PlayerId,
        keys: Keymap,
        tapped: Keymap,
    ) {
        self.catch_up(world);
        let Some(seat) = self.players.key_driven_mut(player) else {
            return;
        };
        let before = self.physics.keys(seat.body);
        // A jump stays pressed until a step has seen it, even if the key was only tapped.
        let waits = before.pressed(control::JUMP);
        seat.releases_jump = waits && !keys.down(control::JUMP);
        let jumps = waits || tapped.down(control::JUMP);
        let previous =
            if jumps { before.previous.with(control::JUMP, false) } else { before.previous };
        let current = if jumps { keys.with(control::JUMP, true) } else { keys };
        self.physics.set_keys(seat.body, Keys { previous, current });
        schema::set_key_flags(world, seat.avatar, world.now(), keys);
    }

    fn set_object(&mut self, body: BodyId, object: ObjectId) {
        if body.slot() >= self.objects.len() {
            self.objects.resize(body.slot() + 1, object);
        }
        self.objects[body.slot()] = object;
    }
}

/// An empty floor, until `configure` knows the parameters of the room.
impl Default for CubesGame {
    fn default() -> Self {
        Self::new(CubeLayout::EMPTY, PosePresentation::Simulated, false)
    }
}

impl Game for CubesGame {
    const INFO: GameInfo = GameInfo::new(
        ambit_cubes_physics::GAME,
        "Gather more cubes into your ring than the others: roll, push, pull; 90 seconds a round.",
    );
    /// Pale: a court of tiles.
    const SCENERY: Scenery = Scenery::new().place(Ground::Court).ground(0xdc_e6ee);
    type Avatar = PlayerCube;
    no_commands!();
    type Refusal = NoRefusal;

    fn configure(&mut self, settings: CubesSettings) -> Result<(), BadParameter> {
        let (width_m, height_m) = settings.size;
        let arena = Arena { width_m, height_m };
        let layout = CubeLayout::new(arena, settings.cubes, settings.spacing)?;
        let sync = match settings.sync {
            CubesSync::Simulated => PosePresentation::Simulated,
            CubesSync::Interpolated => PosePresentation::Interpolated,
        };
        *self = Self::new(layout, sync, settings.drive == Drive::Dice);
        self.round_s = if self.is_driven_by_dice { 0 } else { settings.round };
        Ok(())
    }

    /// Every cube on the default floor is followed from any position on it.
    fn surroundings(&self) -> Surroundings {
        Surroundings::new().reach_m(REACH_M).view_m(VIEW_M)
    }

    fn planned_objects(&self) -> u64 {
        self.layout.cubes().into()
    }

    fn schema(&self, schema: &mut Schema) {
        schema::present(schema, self.sync);
    }

    fn start(&mut self, world: &mut CubesWorld) {
        for pose in self.layout.poses() {
            let body = self.physics.add(CUBE, &pose);
            let pose = FreePose::exact(schema::pose_to_send(self.sync, pose));
            let object = world.spawn(Cube { pose }).object();
            self.set_object(body, object);
        }
        self.frame = frame_at(world.now());
        self.settled_until = world.now();
    }

    fn join(&mut self, world: &mut CubesWorld, newcomer: Newcomer) -> Id<PlayerCube> {
        self.catch_up(world);
        let pose = self.layout.free_pose(&self.physics);
        let body = self.physics.add(PLAYER, &pose);
        let pose = schema::pose_to_send(self.sync, pose);
        let avatar = world.spawn(PlayerCube::new(pose, newcomer.name));
        self.set_object(body, avatar.object());
        let driver = self.is_driven_by_dice.then(|| self.players.next_driver(world));
        self.players.join(newcomer.id, body, avatar, driver);
        if self.round_s > 0 {
            self.rounds.join(world, &newcomer, self.round_s, self.layout.arena());
        }
        avatar
    }

    fn leave(&mut self, world: &mut CubesWorld, player: Player<Self>, _: Left) {
        self.catch_up(world);
        if let Some(seat) = self.players.leave(player.id()) {
            self.physics.remove(seat.body);
        }
        self.rounds.leave(world, player.id());
    }

    fn input(&mut self, world: &mut CubesWorld, player: Player<Self>) {
        let edges = world.button_edges(player);
        self.hold_keys(world, player.id(), edges.pressed(), edges.just_pressed());
    }

    fn step(&mut self, world: &mut CubesWorld, _: Duration) {
        self.catch_up(world);
        self.rounds.step(world, self.round_s, self.layout.arena());
    }

    /// Bodies are in the order of their slots. The contact cache of the physics is not saved:
    /// touching cubes then move slightly differently, and clients receive that like any other
    /// change.
    fn save(&self) -> Option<Vec<u8>> {
        let body = |body: BodyId| {
            let object = self.objects[body.slot()];
            let physics = &self.physics;
            (object, physics.kind(body), physics.pose(body), physics.keys(body))
        };
        let bodies: Vec<SavedBody> = self.physics.bodies().map(body).collect();
        let players = self.players.to_saved();
        Some(saved::of(&(bodies, players, self.frame, self.settled_until, &self.rounds)))
    }

    fn restore(&mut self, world: &mut CubesWorld, saved: Saved<'_>) -> Result<(), BadState> {
        let (bodies, players, frame, settled, rounds): SavedCubes = saved.read()?;
        self.physics = Physics::new(self.layout.arena());
        self.objects.clear();
        let mut by_object = BTreeMap::new();
        for (object, kind, pose, keys) in bodies {
            let is_of_kind = match kind {
                CUBE => world.is::<Cube>(object),
                PLAYER => world.is::<PlayerCube>(object),
                _ => false,
            };
            if !is_of_kind || !POSE_FORMAT.fits(&pose) {
                return Err(BadState::Malformed);
            }
            let body = self.physics.add(kind, &pose);
            self.physics.set_keys(body, keys);
            self.set_object(body, object);
            by_object.insert(object, body);
        }
        self.players =
            CubePlayers::from_saved(players, |avatar| by_object.get(&avatar.object()).copied())
                .ok_or(BadState::Malformed)?;
        (self.frame, self.settled_until, self.rounds) = (frame, settled, rounds);
        self.moved.clear();
        Ok(())
    }
}
