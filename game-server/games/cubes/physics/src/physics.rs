//! The simulation step that both ends share: cubes on a floor between four walls, pushed by
//! players' keys.
//!
//! Input: bodies, poses and keys. Output: poses. After each step every awake body is quantised to
//! the grid of [`POSE_FORMAT`], and the simulation continues from there, so the simulated state
//! equals the sent state (G. Fiedler, "State Synchronization"). Only the players' keys and these
//! poses drive it; there is no clock and no randomness.
//!
//! Invariants:
//! 1. The same calls in the same order give the same bits on every machine (rapier's
//!    `enhanced-determinism`; slots are assigned in the order of calls).
//! 2. A pose lies on the grid and fits [`POSE_FORMAT`]. A pose at rest keeps its exact bits until
//!    something touches, pulls or moves the body.
//! 3. A body at rest costs nothing in a step.
//!
//! Some state of a step is not part of the poses (warm-start impulses of contacts, how long a body
//! has been still) and is not sent. Two simulations with the same poses and different histories
//! therefore diverge slowly, and corrections bring them together. Units: metres, seconds, radians.
//! Cost: proportional to the awake bodies.

mod forces;
mod rest;
#[cfg(test)]
mod tests;

use rapier3d::dynamics::{RigidBodyBuilder, RigidBodyHandle};
use rapier3d::geometry::{ColliderBuilder, ColliderHandle};
use rapier3d::math::{Pose as Isometry, Rotation, Vector};
use rapier3d::pipeline::PhysicsWorld;

use self::rest::SleepState;
use super::{PLAYER, POSE_FORMAT, edge_m, extrapolation};
use ambit_proto::keymap::Keys;
use ambit_proto::physics::{Arena, BodyId, FRAMES_PER_S, SharedPhysics, SimulatedKind};
use ambit_proto::pose::Pose;
use ambit_proto::space::Position;

const GRAVITY_M_PER_S2: f32 = 9.81;
/// No body gets over a wall, even when it is thrown: that takes 35 m/s upwards.
const WALL_HEIGHT_M: f32 = 64.0;
/// Floor and walls are thick enough that no body passes through them in one step.
const WALL_THICKNESS_M: f32 = 4.0;
/// The highest speed of a body: well within the range of the grid, and slow enough not to tunnel
/// through another body.
const MAX_SPEED_M_PER_S: f32 = 30.0;
/// Cubes stick enough to roll when they are pushed, and slide when they are hit.
const FRICTION: f32 = 0.6;
const RESTITUTION: f32 = 0.1;
/// A rolling cube loses this share of its spin in a second, and half of that of its speed.
const DAMPING: f32 = 0.2;
/// Density of the small cubes, in tonnes per cubic metre.
const DENSITY: f32 = 1.0;
/// A player's cube is heavier than its size suggests, so that it can push through a crowd of cubes.
const PLAYER_DENSITY: f32 = 4.0;

/// The state of a body that rapier does not hold.
#[derive(Debug)]
struct BodyState {
    body: BodyId,
    collider: ColliderHandle,
    kind: u8,
    /// The authoritative pose.
    pose: Pose,
    keys: Keys,
    sleep: SleepState,
}

/// The simulation; see the module.
pub struct Physics {
    world: PhysicsWorld,
    /// By slot.
    states: Vec<Option<BodyState>>,
    /// In ascending order.
    players: Vec<BodyId>,
    /// The bodies awake after the last step, in ascending order.
    active: Vec<BodyId>,
    /// The same, and the bodies that came to rest in the last step.
    changed: Vec<BodyId>,
    /// Whether a body was added, moved, removed or woken since the last step.
    is_disturbed: bool,
    /// Kept for its storage.
    scratch: Vec<BodyId>,
}

impl std::fmt::Debug for Physics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Physics").field("active", &self.active.len()).finish_non_exhaustive()
    }
}

impl Physics {
    /// A floor with its walls and no bodies.
    pub fn new(arena: Arena) -> Self {
        let mut world = PhysicsWorld {
            gravity: Vector::new(0.0, 0.0, -GRAVITY_M_PER_S2),
            ..PhysicsWorld::default()
        };
        let parameters = &mut world.integration_parameters;
        parameters.dt = 1.0 / FRAMES_PER_S as f32;
        parameters.normalized_max_linear_velocity = MAX_SPEED_M_PER_S;
        // Softer than the default: bodies that rounding has pushed into each other separate without
        // a jolt.
        parameters.normalized_max_corrective_velocity = 1.0;
        add_walls(&mut world, arena);
        Self {
            world,
            states: Vec::new(),
            players: Vec::new(),
            active: Vec::new(),
            changed: Vec::new(),
            is_disturbed: true,
            scratch: Vec::new(),
        }
    }

    /// The kind of a body's cube.
    ///
    /// # Panics
    /// If there is no such body, as in every function that takes one.
    pub fn kind(&self, body: BodyId) -> u8 {
        self.state(body).kind
    }

    /// The keys that the player of a body holds; before a step, `previous` is the keymap of the
    /// step before.
    pub fn keys(&self, body: BodyId) -> Keys {
        self.state(body).keys
    }

    /// All bodies, in ascending order.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> {
        self.states.iter().flatten().map(|cube| cube.body)
    }

    /// Replaces `found` by the bodies that a body touches, and if its player attracts or repels,
    /// also by those within reach. In ascending order.
    pub fn bodies_within_influence(&self, body: BodyId, found: &mut Vec<BodyId>) {
        self.find_touching(body, found);
        if forces::attracts_or_repels(self.keys(body).current) {
            self.find_within_reach(body, found);
        }
        found.sort_unstable();
        found.dedup();
    }

    /// Whether a cube of a kind with this centre, in any orientation, would touch no other body.
    /// Cost: all bodies.
    pub fn is_space_free(&self, kind: u8, centre: Position) -> bool {
        // Half a cube's diagonal.
        let radius = |kind| edge_m(kind) * 0.75_f32.sqrt();
        self.states.iter().flatten().all(|cube| {
            POSE_FORMAT.position(&cube.pose).distance(centre) > radius(kind) + radius(cube.kind)
        })
    }

    /// Quantises the awake bodies to the grid, and records those that have fallen asleep.
    fn update_active(&mut self) {
        let before = std::mem::take(&mut self.active);
        self.changed.clear();
        for &body in &before {
            if self.world.bodies[handle_of(body)].is_sleeping() {
                let cube = self.state_mut(body);
                cube.pose =
                    Pose { flag: true, motion: ambit_proto::pose::Motion::default(), ..cube.pose };
                self.changed.push(body);
            }
        }
        self.active = before;
        self.active.clear();
        self.active.extend(self.world.islands.active_bodies().map(body_of));
        self.active.sort_unstable();
        for index in 0..self.active.len() {
            self.quantise(self.active[index]);
        }
        self.changed.extend_from_slice(&self.active);
        self.changed.sort_unstable();
    }

    fn quantise(&mut self, body: BodyId) {
        let simulated = &self.world.bodies[handle_of(body)];
        let at = simulated.translation();
        let turn = simulated.rotation();
        let velocities = (simulated.linvel().to_array(), simulated.angvel().to_array());
        let position = Position::new(at.x, at.y, at.z);
        let pose = POSE_FORMAT.moving(position, [turn.x, turn.y, turn.z, turn.w], Some(velocities));
        let cube = self.state_mut(body);
        cube.pose = pose;
        cube.sleep.observe(&pose);
        self.write_state(body, &pose);
    }

    /// Sets rapier's state of a body to that of a pose. Wakes no body.
    fn write_state(&mut self, body: BodyId, pose: &Pose) {
        let (linear, angular) = POSE_FORMAT.velocities(pose);
        let simulated = &mut self.world.bodies[handle_of(body)];
        simulated.set_position(isometry(pose), false);
        simulated.set_linvel(vector(linear), false);
        simulated.set_angvel(vector(angular), false);
    }

    fn state(&self, body: BodyId) -> &BodyState {
        let cube = self.states.get(body.slot()).and_then(Option::as_ref);
        cube.filter(|cube| cube.body == body).unwrap_or_else(|| panic!("there is no {body:?}"))
    }

    fn state_mut(&mut self, body: BodyId) -> &mut BodyState {
        let cube = self.states.get_mut(body.slot()).and_then(Option::as_mut);
        cube.filter(|cube| cube.body == body).unwrap_or_else(|| panic!("there is no {body:?}"))
    }

    /// Replaces `found` by the bodies that a body touches, in no particular order.
    fn find_touching(&self, body: BodyId, found: &mut Vec<BodyId>) {
        found.clear();
        let collider = self.state(body).collider;
        let touched =
            self.world.contact_pairs_with(collider).filter(|pair| pair.has_any_active_contact());
        let others = touched
            .map(|pair| if pair.collider1 == collider { pair.collider2 } else { pair.collider1 });
        found.extend(
            others.filter_map(|other| self.world.colliders.get(other)?.parent()).map(body_of),
        );
    }
}

/// # Panics
/// If there is no such body, as in every function that takes one. Removing a body wakes those that
/// leaned on it.
impl SharedPhysics for Physics {
    fn add(&mut self, kind: u8, pose: &Pose) -> BodyId {
        let half = edge_m(kind) / 2.0;
        let (linear, angular) = POSE_FORMAT.velocities(pose);
        let body = RigidBodyBuilder::dynamic()
            .pose(isometry(pose))
            .linvel(vector(linear))
            .angvel(vector(angular))
            .linear_damping(DAMPING / 2.0)
            .angular_damping(DAMPING)
            .sleeping(pose.flag);
        let collider = ColliderBuilder::cuboid(half, half, half)
            .density(if kind == PLAYER { PLAYER_DENSITY } else { DENSITY })
            .friction(FRICTION)
            .restitution(RESTITUTION);
        let (handle, collider) = self.world.insert(body, collider);
        let body = body_of(handle);
        let slot = body.slot();
        if slot >= self.states.len() {
            self.states.resize_with(slot + 1, || None);
        }
        let rest = SleepState::new(pose);
        self.states[slot] = Some(BodyState {
            body,
            collider,
            kind,
            pose: *pose,
            keys: Keys::default(),
            sleep: rest,
        });
        if kind == PLAYER {
            self.players.push(body);
            self.players.sort_unstable();
        }
        self.allow_sleep(body, pose.flag);
        body
    }

    fn remove(&mut self, body: BodyId) {
        let mut leaning = std::mem::take(&mut self.scratch);
        self.find_touching(body, &mut leaning);
        for &other in &leaning {
            self.wake(other);
        }
        self.scratch = leaning;
        self.world.remove_body(handle_of(body));
        self.is_disturbed = true;
        self.states[body.slot()] = None;
        for list in [&mut self.players, &mut self.active, &mut self.changed] {
            list.retain(|&other| other != body);
        }
    }

    fn pose(&self, body: BodyId) -> Pose {
        self.state(body).pose
    }

    fn set_pose(&mut self, body: BodyId, pose: &Pose) {
        let cube = self.state_mut(body);
        if cube.pose == *pose {
            return;
        }
        cube.pose = *pose;
        cube.sleep = SleepState::new(pose);
        self.write_state(body, pose);
        self.allow_sleep(body, pose.flag);
        if !pose.flag {
            self.world.bodies[handle_of(body)].wake_up(true);
        }
    }

    fn set_keys(&mut self, body: BodyId, keys: Keys) {
        self.state_mut(body).keys = keys;
    }

    fn step(&mut self) {
        self.apply_keys();
        if self.active.is_empty() && !self.is_disturbed {
            return self.changed.clear();
        }
        self.is_disturbed = false;
        self.world.step();
        self.update_active();
        self.update_sleep();
    }

    fn changed_bodies(&self) -> &[BodyId] {
        &self.changed
    }

    fn extrapolate(&self, kind: &SimulatedKind, pose: &Pose, frames: u64) -> Pose {
        extrapolation::extrapolate(kind.kind, pose, frames)
    }
}

/// Adds floor and walls: colliders that belong to no body.
fn add_walls(world: &mut PhysicsWorld, Arena { width_m, height_m }: Arena) {
    let (half_x, half_y, thick, high) =
        (width_m / 2.0, height_m / 2.0, WALL_THICKNESS_M / 2.0, WALL_HEIGHT_M / 2.0);
    let wide_x = half_x + WALL_THICKNESS_M;
    let wide_y = half_y + WALL_THICKNESS_M;
    let boxes = [
        ([wide_x, wide_y, thick], [half_x, half_y, -thick]),
        ([thick, wide_y, high], [-thick, half_y, high]),
        ([thick, wide_y, high], [width_m + thick, half_y, high]),
        ([wide_x, thick, high], [half_x, -thick, high]),
        ([wide_x, thick, high], [half_x, height_m + thick, high]),
    ];
    for ([x, y, z], centre) in boxes {
        let collider = ColliderBuilder::cuboid(x, y, z).translation(vector(centre));
        world.insert_collider(collider.friction(FRICTION).restitution(RESTITUTION), None);
    }
}

/// Our handle of rapier's body.
fn body_of(handle: RigidBodyHandle) -> BodyId {
    let (slot, generation) = handle.into_raw_parts();
    BodyId::new(slot, generation)
}

/// Rapier's handle of a body.
fn handle_of(body: BodyId) -> RigidBodyHandle {
    RigidBodyHandle::from_raw_parts(body.slot() as u32, body.generation())
}

fn isometry(pose: &Pose) -> Isometry {
    let at = POSE_FORMAT.position(pose);
    let [x, y, z, w] = POSE_FORMAT.quaternion(pose);
    Isometry::from_parts(Vector::new(at.x, at.y, at.z), Rotation::from_xyzw(x, y, z, w))
}

fn vector([x, y, z]: [f32; 3]) -> Vector {
    Vector::new(x, y, z)
}
