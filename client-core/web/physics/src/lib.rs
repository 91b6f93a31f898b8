//! Physics of games in a WebAssembly module of its own, so that a page downloads them only for a
//! game that is simulated.
//!
//! The client's module and the physics module have separate memories. JavaScript copies words
//! (`u32`) between them (`client-core/web/ts/physics.ts`):
//! - [`RemotePhysics`], in the client's module, is a [`SharedPhysics`]. It collects orders and
//!   sends them with the next step, so that a step costs one call, whatever the number of bodies.
//!   It knows all poses itself: they change by its own orders and by steps alone.
//! - [`PhysicsModule`], in the physics module, executes the orders by the game's own physics.
//!
//! `orders` has the format. Both ends trust each other like two halves of a program; a module of
//! another version is refused ([`description::read`]).
//!
//! Invariant: `RemotePhysics` returns the same bits as the physics behind it. Cost: a step copies
//! the orders since the last step, and a pose for each body that moves.
//!
//! [`SharedPhysics`]: ambit_proto::physics::SharedPhysics

pub mod description;
mod orders;
mod physics_module;
mod remote_physics;
#[cfg(test)]
mod tests;

pub use physics_module::PhysicsModule;
pub use remote_physics::{ModuleFailed, PhysicsLink, RemotePhysics};
