//! The step that both ends share: cubes on a floor between four walls, pushed about by players'
//! keys.
//!
//! Bodies, poses and keys go in, poses come out. After each step what is awake is put on the grid
//! of [`FORMAT`], and the simulation goes on from there: what is told is what is simulated
//! (reference 002). What drives it are the keys that players hold and these poses, nothing else: no
//! clock and no dice.
//!
//! Invariants:
//! 1. The same calls in the same order give the same bits, on every machine (rapier's
//!    `enhanced-determinism`; slots are given away in the order of calls).
//! 2. A pose lies on the grid and fits [`FORMAT`]. One at rest stays what it is, bit for bit, until
//!    something touches, pulls or moves the body.
//! 3. What rests costs nothing in a step.
//!
//! What a step remembers beyond poses (impulses that contacts began with, how long a body has been
//! still) is not told: two simulations with the same poses and different pasts drift apart, slowly,
//! and corrections bring them together. Units: metres, seconds, radians. Cost: what is awake.

mod forces;
mod rest;
#[cfg(test)]
mod tests;

use rapier3d::dynamics::{RigidBodyBuilder, RigidBodyHandle};
use rapier3d::geometry::{ColliderBuilder, ColliderHandle};
use rapier3d::math::{Pose as Isometry, Rotation, Vector};
use rapier3d::pipeline::PhysicsWorld;

use self::rest::Rest;
use super::{Arena, FORMAT, FRAMES_PER_S, PLAYER, edge_m};
use crate::keymap::Keys;
use crate::pose::Pose;
use crate::space::Position;

const GRAVITY_M_PER_S2: f32 = 9.81;
/// Nobody gets over a wall, not even thrown: 35 m/s up are needed for that.
const WALL_M: f32 = 64.0;
/// Floor and walls are so thick that nothing gets through them in a step.
const THICK_M: f32 = 4.0;
/// The fastest a body can be: well within what the grid tells, and slow enough not to jump through
/// another one.
const FASTEST_M_PER_S: f32 = 30.0;
/// Cubes stick enough to roll when they are pushed, and slide when they are hit.
const FRICTION: f32 = 0.6;
const RESTITUTION: f32 = 0.1;
/// A rolling cube loses this share of its spin in a second, and half of that of its speed.
const DAMPING: f32 = 0.2;
/// Of the small cubes, as that of water in thousands.
const DENSITY: f32 = 1.0;
/// A player's cube is heavier than its size says, so that it makes its way with a crowd around it.
const PLAYER_DENSITY: f32 = 4.0;

/// A body of [`Physics`]. In the order of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Body {
    slot: u32,
    generation: u32,
}

impl Body {
    /// The number of its place, to keep arrays by: less than there ever were bodies at once, its
    /// own as long as it is there, and after that another one's.
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    fn of(handle: RigidBodyHandle) -> Self {
        let (slot, generation) = handle.into_raw_parts();
        Self { slot, generation }
    }

    fn handle(self) -> RigidBodyHandle {
        RigidBodyHandle::from_raw_parts(self.slot, self.generation)
    }
}

/// What is known of a body beside what rapier knows.
#[derive(Debug)]
struct Cube {
    body: Body,
    collider: ColliderHandle,
    kind: u8,
    /// The truth.
    pose: Pose,
    keys: Keys,
    rest: Rest,
}

/// See the module.
pub struct Physics {
    world: PhysicsWorld,
    /// By slot.
    cubes: Vec<Option<Cube>>,
    /// In order.
    players: Vec<Body>,
    /// What was awake after the last step, in order.
    active: Vec<Body>,
    /// The same, and what came to rest in it.
    stirred: Vec<Body>,
    /// Whether something was put, taken away or woken since the last step.
    disturbed: bool,
    /// Reused.
    found: Vec<Body>,
}

impl std::fmt::Debug for Physics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Physics")
            .field("active", &self.active.len())
            .finish_non_exhaustive()
    }
}

impl Physics {
    /// A floor and its walls, and nothing on it.
    pub fn new(arena: Arena) -> Self {
        let mut world = PhysicsWorld {
            gravity: Vector::new(0.0, 0.0, -GRAVITY_M_PER_S2),
            ..PhysicsWorld::default()
        };
        let parameters = &mut world.integration_parameters;
        parameters.dt = 1.0 / FRAMES_PER_S as f32;
        parameters.normalized_max_linear_velocity = FASTEST_M_PER_S;
        // Softer than the default: what rounding has pushed into each other comes apart without a
        // jolt (reference 002).
        parameters.normalized_max_corrective_velocity = 1.0;
        enclose(&mut world, arena);
        Self {
            world,
            cubes: Vec::new(),
            players: Vec::new(),
            active: Vec::new(),
            stirred: Vec::new(),
            disturbed: true,
            found: Vec::new(),
        }
    }

    /// Puts a cube of a kind there, asleep if the pose is one of rest.
    pub fn add(&mut self, kind: u8, pose: &Pose) -> Body {
        let half = edge_m(kind) / 2.0;
        let (linear, angular) = FORMAT.velocities(pose);
        let body = RigidBodyBuilder::dynamic()
            .pose(isometry(pose))
            .linvel(vector(linear))
            .angvel(vector(angular))
            .linear_damping(DAMPING / 2.0)
            .angular_damping(DAMPING)
            .sleeping(pose.flag);
        let collider = ColliderBuilder::cuboid(half, half, half)
            .density(if kind == PLAYER {
                PLAYER_DENSITY
            } else {
                DENSITY
            })
            .friction(FRICTION)
            .restitution(RESTITUTION);
        let (handle, collider) = self.world.insert(body, collider);
        let body = Body::of(handle);
        let slot = body.slot as usize;
        if slot >= self.cubes.len() {
            self.cubes.resize_with(slot + 1, || None);
        }
        let rest = Rest::new(pose);
        self.cubes[slot] = Some(Cube {
            body,
            collider,
            kind,
            pose: *pose,
            keys: Keys::default(),
            rest,
        });
        if kind == PLAYER {
            self.players.push(body);
            self.players.sort_unstable();
        }
        self.allow_sleep(body, pose.flag);
        body
    }

    /// Takes a body away; what leaned on it wakes up.
    ///
    /// # Panics
    /// When there is no such body, as in every function that takes one.
    pub fn remove(&mut self, body: Body) {
        let mut leaning = std::mem::take(&mut self.found);
        self.touching(body, &mut leaning);
        for &other in &leaning {
            self.wake(other);
        }
        self.found = leaning;
        self.world.remove_body(body.handle());
        self.disturbed = true;
        self.cubes[body.slot as usize] = None;
        for list in [&mut self.players, &mut self.active, &mut self.stirred] {
            list.retain(|&other| other != body);
        }
    }

    /// What a body is.
    pub fn kind(&self, body: Body) -> u8 {
        self.cube(body).kind
    }

    /// Where a body is and how it goes on, on the grid: what is simulated is what is told.
    pub fn pose(&self, body: Body) -> Pose {
        self.cube(body).pose
    }

    /// Puts a body elsewhere, hard: asleep if the pose is one of rest, else awake. What it touches
    /// is not disturbed: whoever is told where one body is, is told of the others as well. To set a
    /// pose that the body has is no change.
    pub fn set_pose(&mut self, body: Body, pose: &Pose) {
        let cube = self.cube_mut(body);
        if cube.pose == *pose {
            return;
        }
        cube.pose = *pose;
        cube.rest = Rest::new(pose);
        self.write(body, pose);
        self.allow_sleep(body, pose.flag);
        if !pose.flag {
            self.world.bodies[body.handle()].wake_up(true);
        }
    }

    /// What the player of a body holds in the steps to come; what has just been pressed counts in
    /// the next one.
    pub fn steer(&mut self, body: Body, keys: Keys) {
        self.cube_mut(body).keys = keys;
    }

    /// What the player of a body holds; before a step, `previous` is what that of the step before
    /// went by.
    pub fn keys(&self, body: Body) -> Keys {
        self.cube(body).keys
    }

    /// A frame goes by.
    pub fn step(&mut self) {
        self.drive();
        if self.active.is_empty() && !self.disturbed {
            return self.stirred.clear();
        }
        self.disturbed = false;
        self.world.step();
        self.settle();
        self.let_sleep();
    }

    /// What is awake after the last step, and what has come to rest in it: no other pose has
    /// changed. In order.
    pub fn awake(&self) -> impl ExactSizeIterator<Item = Body> {
        self.stirred.iter().copied()
    }

    /// All bodies, in order.
    pub fn bodies(&self) -> impl Iterator<Item = Body> {
        self.cubes.iter().flatten().map(|cube| cube.body)
    }

    /// Replaces `found` by what a body touches, and if its player attracts or repels, by what that
    /// reaches as well. In order.
    pub fn company(&self, body: Body, found: &mut Vec<Body>) {
        self.touching(body, found);
        if forces::reaches_out(self.keys(body).current) {
            self.within_reach(body, found);
        }
        found.sort_unstable();
        found.dedup();
    }

    /// Whether a cube of a kind with this centre, however it is turned, would touch no other body.
    /// Cost: all bodies.
    pub fn is_free(&self, kind: u8, centre: Position) -> bool {
        // Half a cube's diagonal.
        let radius = |kind| edge_m(kind) * 0.75_f32.sqrt();
        self.cubes.iter().flatten().all(|cube| {
            FORMAT.position(&cube.pose).distance(centre) > radius(kind) + radius(cube.kind)
        })
    }

    /// Puts what is awake on the grid, and takes note of what has fallen asleep.
    fn settle(&mut self) {
        let before = std::mem::take(&mut self.active);
        self.stirred.clear();
        for &body in &before {
            if self.world.bodies[body.handle()].is_sleeping() {
                let cube = self.cube_mut(body);
                cube.pose = Pose {
                    flag: true,
                    motion: crate::pose::Motion::default(),
                    ..cube.pose
                };
                self.stirred.push(body);
            }
        }
        self.active = before;
        self.active.clear();
        self.active
            .extend(self.world.islands.active_bodies().map(Body::of));
        self.active.sort_unstable();
        for index in 0..self.active.len() {
            self.quantise(self.active[index]);
        }
        self.stirred.extend_from_slice(&self.active);
        self.stirred.sort_unstable();
    }

    fn quantise(&mut self, body: Body) {
        let simulated = &self.world.bodies[body.handle()];
        let (at, turn) = (simulated.translation(), simulated.rotation());
        let velocities = (simulated.linvel().to_array(), simulated.angvel().to_array());
        let position = Position::new(at.x, at.y, at.z);
        let pose = FORMAT.moving(position, [turn.x, turn.y, turn.z, turn.w], Some(velocities));
        let cube = self.cube_mut(body);
        cube.pose = pose;
        cube.rest.observe(&pose);
        self.write(body, &pose);
    }

    /// Gives rapier the state that a pose tells. Wakes nobody.
    fn write(&mut self, body: Body, pose: &Pose) {
        let (linear, angular) = FORMAT.velocities(pose);
        let simulated = &mut self.world.bodies[body.handle()];
        simulated.set_position(isometry(pose), false);
        simulated.set_linvel(vector(linear), false);
        simulated.set_angvel(vector(angular), false);
    }

    fn cube(&self, body: Body) -> &Cube {
        let cube = self.cubes.get(body.slot as usize).and_then(Option::as_ref);
        cube.filter(|cube| cube.body == body)
            .unwrap_or_else(|| panic!("there is no {body:?}"))
    }

    fn cube_mut(&mut self, body: Body) -> &mut Cube {
        let cube = self
            .cubes
            .get_mut(body.slot as usize)
            .and_then(Option::as_mut);
        cube.filter(|cube| cube.body == body)
            .unwrap_or_else(|| panic!("there is no {body:?}"))
    }

    /// Replaces `found` by the bodies that a body touches, in no order.
    fn touching(&self, body: Body, found: &mut Vec<Body>) {
        found.clear();
        let collider = self.cube(body).collider;
        let touched = self
            .world
            .contact_pairs_with(collider)
            .filter(|pair| pair.has_any_active_contact());
        let others = touched.map(|pair| {
            if pair.collider1 == collider {
                pair.collider2
            } else {
                pair.collider1
            }
        });
        found.extend(
            others
                .filter_map(|other| self.world.colliders.get(other)?.parent())
                .map(Body::of),
        );
    }
}

/// Floor and walls: colliders that belong to no body.
fn enclose(world: &mut PhysicsWorld, Arena { width_m, height_m }: Arena) {
    let (half_x, half_y, thick, high) =
        (width_m / 2.0, height_m / 2.0, THICK_M / 2.0, WALL_M / 2.0);
    let (wide_x, wide_y) = (half_x + THICK_M, half_y + THICK_M);
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

fn isometry(pose: &Pose) -> Isometry {
    let at = FORMAT.position(pose);
    let [x, y, z, w] = FORMAT.quaternion(pose);
    Isometry::from_parts(
        Vector::new(at.x, at.y, at.z),
        Rotation::from_xyzw(x, y, z, w),
    )
}

fn vector([x, y, z]: [f32; 3]) -> Vector {
    Vector::new(x, y, z)
}
