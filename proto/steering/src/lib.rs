//! How avatars are steered: the part of a game that its host and its clients run alike, so that a
//! client can draw its own avatar without waiting for the host.
//!
//! A game writes one pure function ([`Steer::steer`]): a movement, the controls that are held and
//! what stands in the way ([`Terrain`]) go in, the movement a sixtieth of a second later comes out.
//! The host runs it ([`run_frames`]) and sends the poses. A client runs the same for its own avatar
//! ([`SteeredPhysics`]), ahead of what the host has sent, and corrects it by the poses that arrive.
//!
//! Units: metres, radians, seconds; z is up.

#![warn(missing_docs, reason = "authors of games and clients import it")]

mod movement;
mod shared_motion;
mod shots;
pub mod statics;
mod steered_physics;
mod steering;
mod terrain;
#[cfg(test)]
mod tests;

pub use self::movement::Movement;
pub use self::shared_motion::{MotionModel, SharedMotion};
pub use self::shots::{ShotRule, Shots};
pub use self::steered_physics::SteeredPhysics;
pub use self::steering::{
    ControlState, Held, Steer, SteerFunction, SteerFunctions, SteeredKind, Steering, functions_of,
    run_frames,
};
pub use self::terrain::Terrain;
