//! GameLogic: what happens in a room, without a thought of who is told.
//!
//! [`World`](world::World) holds the objects and says what has changed;
//! [`Statics`](statics::Statics) is what stands in the way; a [`Game`](game::Game) makes the rules;
//! the [`Registry`](registry::Registry) knows the games by name. Commands and ticks go in, changes
//! come out ("this happened, in that cell"). Nothing here knows packets, clients or who follows
//! what. PoseSource: reference 003.

pub mod contact;
pub mod controls;
pub mod executed_commands;
pub mod game;
pub mod gate;
pub mod registry;
pub mod statics;
pub mod world;
