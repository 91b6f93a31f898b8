//! A game's steering as the physics that its clients run.

use ambit_proto::axes::Axes;
use ambit_proto::keymap::Keys;
use ambit_proto::map::StaticMap;
use ambit_proto::physics::{Arena, BodyId, SharedPhysics};
use ambit_proto::pose::{Pose, PoseFormat};

use crate::statics::Statics;
use crate::steering::run_frame;
use crate::{ControlState, Movement, SteerFunction, Terrain};

/// Avatars that a function steers. They do not touch each other.
///
/// A body that has once been given a pose goes on from it, and not from its rounded pose after each
/// frame, as the host's: the differences stay below a step of the grid.
#[derive(Debug)]
pub struct SteeredPhysics {
    format: PoseFormat,
    steer: SteerFunction,
    arena: Arena,
    statics: Statics,
    /// By slot.
    bodies: Vec<Option<SteeredBody>>,
    generation: u32,
    /// Those whose pose the last step has changed.
    changed: Vec<BodyId>,
}

#[derive(Clone, Copy, Debug)]
struct SteeredBody {
    id: BodyId,
    movement: Movement,
    pose: Pose,
    held: ControlState,
}

impl SteeredPhysics {
    /// Without bodies and without obstacles, for a kind whose poses have this format.
    pub fn new(format: PoseFormat, steer: SteerFunction, arena: Arena) -> Self {
        Self {
            format,
            steer,
            arena,
            statics: Statics::default(),
            bodies: Vec::new(),
            generation: 0,
            changed: Vec::new(),
        }
    }

    fn body(&self, id: BodyId) -> &SteeredBody {
        self.bodies[id.slot()].as_ref().expect("the body exists")
    }

    fn body_mut(&mut self, id: BodyId) -> &mut SteeredBody {
        self.bodies[id.slot()].as_mut().expect("the body exists")
    }
}

impl SharedPhysics for SteeredPhysics {
    fn add(&mut self, _: u8, pose: &Pose) -> BodyId {
        let slot = self.bodies.iter().position(Option::is_none).unwrap_or(self.bodies.len());
        if slot == self.bodies.len() {
            self.bodies.push(None);
        }
        self.generation += 1;
        let id = BodyId::new(slot as u32, self.generation);
        let movement = Movement::of_pose(&self.format, pose);
        self.bodies[slot] =
            Some(SteeredBody { id, movement, pose: *pose, held: ControlState::default() });
        id
    }

    fn remove(&mut self, body: BodyId) {
        self.bodies[body.slot()] = None;
        self.changed.retain(|changed| *changed != body);
    }

    fn pose(&self, body: BodyId) -> Pose {
        self.body(body).pose
    }

    fn set_pose(&mut self, body: BodyId, pose: &Pose) {
        let format = self.format;
        let body = self.body_mut(body);
        if body.pose != *pose {
            (body.movement, body.pose) = (Movement::of_pose(&format, pose), *pose);
        }
    }

    fn set_keys(&mut self, body: BodyId, keys: Keys) {
        self.body_mut(body).held.keys = keys.current;
    }

    fn set_axes(&mut self, body: BodyId, axes: Axes) {
        self.body_mut(body).held.axes = axes;
    }

    fn step(&mut self) {
        self.changed.clear();
        let terrain = Terrain { statics: &self.statics, arena: self.arena };
        for body in self.bodies.iter_mut().flatten() {
            run_frame(self.steer, &mut body.movement, body.held, terrain);
            // A function that gives no number moves nothing.
            let Some(pose) = body.movement.to_pose(&self.format) else {
                body.movement = Movement::of_pose(&self.format, &body.pose);
                continue;
            };
            if pose != body.pose {
                body.pose = pose;
                self.changed.push(body.id);
            }
        }
    }

    fn changed_bodies(&self) -> &[BodyId] {
        &self.changed
    }

    fn set_map(&mut self, map: &StaticMap) {
        self.statics = Statics::of_map(map);
    }
}
