//! The game logic: what happens in a room, independent of who receives it.
//!
//! [`World`](world::World) holds the objects and reports what has changed;
//! [`Statics`](statics::Statics) holds the static obstacles; a [`Game`](game::Game) is the rules;
//! the [`Registry`](registry::Registry) finds games by name. Commands and ticks go in, changes come
//! out ("this happened, in that cell"). Nothing here knows packets, clients or the area of
//! interest. Source: "Architectures de developpement adaptees aux MMOGs" (Project Deus).

#![warn(missing_docs, reason = "authors of games import this module")]

pub mod contact;
pub mod controls;
pub(crate) mod executed_commands;
pub mod game;
pub mod gate;
pub mod player_values;
pub mod registry;
pub mod share;
pub mod sight;
pub mod sound;
pub mod store;
pub mod world;

pub use ambit_steering::statics;
