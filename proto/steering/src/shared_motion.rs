//! What host and clients of a game run alike.

use ambit_proto::physics::{Arena, GamePhysics, SharedPhysics, SimulatedKind};
use ambit_proto::pose::PoseFormat;

use crate::{SteerFunction, SteeredPhysics, Steering};

/// The part of a game that clients run, too: what a program registers to draw its players' avatars
/// without a wait.
#[derive(Clone, Copy, Debug, derive_more::From)]
pub enum SharedMotion {
    /// Physics, of many objects that touch each other.
    Physics(GamePhysics),
    /// A function that steers avatars.
    Steering(Steering),
}

/// The physics of a game, with the kinds that a client simulates by it.
#[derive(Clone, Debug)]
pub struct MotionModel {
    kinds: Vec<SimulatedKind>,
    reach_m: f32,
    source: ModelSource,
}

#[derive(Clone, Copy, Debug)]
enum ModelSource {
    Physics(GamePhysics),
    Steering(SteerFunction, PoseFormat),
}

impl SharedMotion {
    /// The game's name in its schema.
    pub const fn game(&self) -> &'static str {
        match self {
            Self::Physics(physics) => physics.game,
            Self::Steering(steering) => steering.game,
        }
    }
}

impl MotionModel {
    /// A function that steers the objects of one kind, by its index in the schema.
    pub fn steered(kind: u8, format: PoseFormat, steer: SteerFunction) -> Self {
        let kinds = vec![SimulatedKind { kind, format, held_controls: &[] }];
        Self { kinds, reach_m: 0.0, source: ModelSource::Steering(steer, format) }
    }

    /// Whether only the player's own avatar is simulated, and nothing that it could touch.
    pub const fn is_steered(&self) -> bool {
        matches!(self.source, ModelSource::Steering(..))
    }

    /// The kind with this index in the schema, if it is simulated.
    pub fn kind(&self, kind: u8) -> Option<SimulatedKind> {
        self.kinds.iter().find(|simulated| simulated.kind == kind).copied()
    }

    /// Bodies farther than this from a player's own do not matter to it, in metres
    /// ([`GamePhysics::reach_m`]).
    pub const fn reach_m(&self) -> f32 {
        self.reach_m
    }

    /// A physics without bodies.
    pub fn create(&self, arena: Arena) -> Box<dyn SharedPhysics> {
        match &self.source {
            ModelSource::Physics(physics) => (physics.create)(physics, arena),
            ModelSource::Steering(steer, format) => {
                Box::new(SteeredPhysics::new(*format, *steer, arena))
            }
        }
    }
}

impl From<GamePhysics> for MotionModel {
    fn from(physics: GamePhysics) -> Self {
        let GamePhysics { kinds, reach_m, .. } = physics;
        // A simulation continues from velocities.
        let with_motion = kinds.iter().filter(|kind| kind.format.motion.is_some());
        let kinds = with_motion.copied().collect();
        Self { kinds, reach_m, source: ModelSource::Physics(physics) }
    }
}
