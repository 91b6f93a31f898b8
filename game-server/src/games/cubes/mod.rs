//! `cubes`: small cubes on a floor between walls, and a larger one for each player, which pushes,
//! attracts and repels them.
//!
//! The physics is the one that clients run as well (`ambit_proto::games::cubes`): 60 frames a
//! second, whatever the tick. A tick takes the frames up to its horizon, and tells the poses of
//! what is awake. Keys that are heard at a tick act from its horizon on, and the flags of a
//! player's cube tell them to all, so that others' physics goes on with them.
//!
//! Invariants:
//! 1. The world is in the frame of its horizon, and a pose that is told is the one after that
//!    frame's step.
//! 2. Keys act in the steps after the frame in which their flags change, and in no other. A jump,
//!    which has no flag, counts once for each press, however short.
//! 3. The seed, the inputs and the frames in which they act decide all that happens; at how many
//!    ticks they are taken does not.
//!
//! Cost: what is awake. Sources: reference 000 (the world and its controls), 002 (state
//! synchronisation of such a world).

mod layout;
mod players;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::games::cubes::{Arena, Body, CUBE, EDGE_M, FORMAT, Physics, control, frame_at};
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::keymap::{Keymap, Keys};
use ambit_proto::message::Action;
use ambit_proto::pose::Pose;
use ambit_proto::schema::{Schema, Sync};
use ambit_proto::time::GameTime;

use self::layout::Layout;
use self::players::{Players, SavedPlayers};
use crate::config::{Allowed, BadParameter, Parameter, Parameters, own_default};
use crate::logic::game::{Game, GameInfo, Refusal};
use crate::logic::world::World;
use crate::saved::{self, BadState};

const PARAMETERS: &[Parameter] = &[
    own_default("size", "32x32"),
    // All of the usual floor is followed from anywhere on it.
    own_default("inner", "3"),
    own_default("outer", "4"),
    Parameter {
        key: "cubes",
        default: "100",
        allowed: Allowed::Whole {
            min: 0,
            max: 10_000,
        },
        about: "small cubes, in a square in the middle; more take more processor time and bytes when they are stirred",
    },
    Parameter {
        key: "spacing",
        default: "1",
        allowed: Allowed::Decimal {
            min: EDGE_M,
            max: 100.0,
        },
        about: "from the middle of one of them to the middle of the next, in metres",
    },
    Parameter {
        key: "sync",
        default: "simulated",
        allowed: Allowed::Word(&["interpolated", "simulated"]),
        about: "what clients show: interpolated, between the poses that they were told, on a grid of 2 mm; \
                simulated, what their own physics makes of them",
    },
    Parameter {
        key: "drive",
        default: "keys",
        allowed: Allowed::Word(&["keys", "dice"]),
        about: "who drives the players' cubes: their players' keys, or dice, for demonstrations and measurements",
    },
];

/// Where coordinates have no room for the grid's steps any more, in metres.
const FARTHEST_M: f32 = 4_096.0;
/// Steps of a tick that comes late, at most: a quarter of a second. What is beyond is left out.
const MOST_STEPS: u64 = 15;

/// The object of a body, its kind, pose and keys.
type SavedBody = (ObjectId, u8, Pose, Keys);

/// See the module.
#[derive(Debug)]
pub struct Cubes {
    layout: Layout,
    sync: Sync,
    with_dice: bool,
    physics: Physics,
    /// By the slot of the body.
    objects: Vec<ObjectId>,
    players: Players,
    frame: u64,
    /// The horizon up to which all is done.
    settled: GameTime,
    /// Bodies whose pose is yet to be told, and reused.
    stirred: Vec<Body>,
    found: Vec<Body>,
}

impl Cubes {
    /// What the lobby knows of it.
    pub const INFO: GameInfo = GameInfo {
        name: ambit_proto::games::cubes::GAME,
        description: "Roll a cube about among small ones: push, jump, attract, repel.",
        min_players: 1,
        join_running: true,
        parameters: PARAMETERS,
    };

    /// As the parameters say.
    pub fn make(parameters: &Parameters) -> Result<Box<dyn Game>, BadParameter> {
        Ok(Box::new(Self::with(parameters)?))
    }

    fn with(parameters: &Parameters) -> Result<Self, BadParameter> {
        let (width_m, height_m) = parameters.size("size");
        if width_m.max(height_m) > FARTHEST_M {
            let problem = format!("the floor of cubes has at most {FARTHEST_M} m on each side");
            return Err(BadParameter::Conflict {
                key: "size",
                problem,
            });
        }
        let arena = Arena { width_m, height_m };
        let layout = Layout::new(
            arena,
            parameters.whole("cubes") as u32,
            parameters.decimal("spacing"),
        )?;
        let sync = if parameters.word("sync") == "simulated" {
            Sync::Simulated
        } else {
            Sync::Interpolated
        };
        Ok(Self {
            physics: Physics::new(arena),
            layout,
            sync,
            with_dice: parameters.word("drive") == "dice",
            objects: Vec::new(),
            players: Players::default(),
            frame: 0,
            settled: GameTime::ZERO,
            stirred: Vec::new(),
            found: Vec::new(),
        })
    }

    /// The physics, for checks from outside.
    pub fn physics(&self) -> &Physics {
        &self.physics
    }

    /// The frame that the physics is in.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Takes the steps up to now, and tells what they have moved.
    fn settle(&mut self, world: &mut World) {
        let now = world.now();
        if self.settled >= now {
            return;
        }
        let target = frame_at(now);
        self.frame = self.frame.max(target.saturating_sub(MOST_STEPS));
        while self.frame < target {
            self.players.throw_dice(
                world,
                &mut self.physics,
                self.layout.arena(),
                self.frame,
                self.settled,
            );
            self.physics.step();
            self.players.end_taps(&mut self.physics);
            self.frame += 1;
            self.stirred.extend(self.physics.awake());
        }
        self.stirred.sort_unstable();
        self.stirred.dedup();
        for body in self.stirred.drain(..) {
            let pose = table::told(self.sync, self.physics.pose(body));
            world.replace_pose(self.objects[body.slot()], pose);
        }
        self.players
            .engage(world, &self.physics, &self.objects, &mut self.found);
        self.settled = now;
    }

    /// From now on a player holds these keys. `tapped`: some of them have gone down just now,
    /// though they may be what was held before, too.
    fn hold(&mut self, world: &mut World, player: PlayerId, keys: Keymap, tapped: Keymap) {
        self.settle(world);
        let Some(seat) = self.players.driven_by_keys(player) else {
            return;
        };
        let before = self.physics.keys(seat.body);
        // A jump that no step has seen yet is not over, even if it was but a tap.
        let waits = before.pressed(control::JUMP);
        seat.ends_tap = waits && !keys.down(control::JUMP);
        let jumps = waits || tapped.down(control::JUMP);
        let previous = if jumps {
            before.previous.with(control::JUMP, false)
        } else {
            before.previous
        };
        let current = if jumps {
            keys.with(control::JUMP, true)
        } else {
            keys
        };
        self.physics.steer(seat.body, Keys { previous, current });
        table::tell_keys(world, seat.avatar, world.now(), keys);
    }

    fn keep(&mut self, body: Body, object: ObjectId) {
        if body.slot() >= self.objects.len() {
            self.objects.resize(body.slot() + 1, object);
        }
        self.objects[body.slot()] = object;
    }
}

impl Game for Cubes {
    fn schema(&self) -> Schema {
        table::schema(self.sync)
    }

    fn start(&mut self, world: &mut World) {
        for pose in self.layout.poses() {
            let body = self.physics.add(CUBE, &pose);
            let object = table::spawn_cube(world, table::told(self.sync, pose));
            self.keep(body, object);
        }
        self.frame = frame_at(world.now());
        self.settled = world.now();
    }

    fn join(&mut self, world: &mut World, player: PlayerId, name: &str) -> ObjectId {
        self.settle(world);
        let pose = self.layout.free_pose(&self.physics);
        let body = self.physics.add(ambit_proto::games::cubes::PLAYER, &pose);
        let avatar = table::spawn_player(world, table::told(self.sync, pose), name);
        self.keep(body, avatar);
        self.players
            .join(world, player, body, avatar, self.with_dice);
        avatar
    }

    fn rename(&mut self, world: &mut World, player: PlayerId, name: &str) {
        if let Some(seat) = self.players.seat(player) {
            world.set_text(
                seat.avatar,
                ambit_proto::games::cubes::component::NAME,
                name,
            );
        }
    }

    fn leave(&mut self, world: &mut World, player: PlayerId) {
        self.settle(world);
        if let Some(seat) = self.players.leave(player) {
            self.physics.remove(seat.body);
            world.despawn(seat.avatar);
        }
    }

    /// There are none: keys that come as a command are the room's business.
    fn command(&mut self, _: &mut World, _: PlayerId, _: &Action) -> Result<(), Refusal> {
        Err(Refusal(ErrorCode::UnknownCommand))
    }

    fn input(&mut self, world: &mut World, player: PlayerId, keys: Keymap) {
        let tapped = world.strokes(player).just_pressed();
        self.hold(world, player, keys, tapped);
    }

    fn step(&mut self, world: &mut World, _dt: Duration) {
        self.settle(world);
    }

    /// Bodies in the order of their slots. What contacts remember is not saved: what touches goes
    /// on a little differently, and clients are told so like of anything else.
    fn save(&self) -> Option<Vec<u8>> {
        let body = |body: Body| {
            let (object, physics) = (self.objects[body.slot()], &self.physics);
            (
                object,
                physics.kind(body),
                physics.pose(body),
                physics.keys(body),
            )
        };
        let bodies: Vec<SavedBody> = self.physics.bodies().map(body).collect();
        Some(saved::of(&(
            bodies,
            self.players.to_save(),
            self.frame,
            self.settled,
        )))
    }

    fn restore(&mut self, world: &mut World, saved: &[u8]) -> Result<(), BadState> {
        let (bodies, players, frame, settled): (Vec<SavedBody>, SavedPlayers, u64, GameTime) =
            saved::all(saved)?;
        self.physics = Physics::new(self.layout.arena());
        self.objects.clear();
        let mut by_object = BTreeMap::new();
        for (object, kind, pose, keys) in bodies {
            let fits = kind == CUBE || kind == ambit_proto::games::cubes::PLAYER;
            if !fits || !FORMAT.fits(&pose) || !world.contains(object) {
                return Err(BadState::Malformed);
            }
            let body = self.physics.add(kind, &pose);
            self.physics.steer(body, keys);
            self.keep(body, object);
            by_object.insert(object, body);
        }
        self.players = Players::from_saved(players, |object| by_object.get(&object).copied())
            .ok_or(BadState::Malformed)?;
        (self.frame, self.settled) = (frame, settled);
        self.stirred.clear();
        Ok(())
    }
}
