//! A Bevy plugin: what a player of an Ambit game sees as entities.
//!
//! ```no_run
//! use ambit_bevy::{AmbitClient, AmbitObject, AmbitPlugin, SessionMessage};
//! use bevy_app::{App, Update};
//! use bevy_ecs::prelude::*;
//! use bevy_transform::components::Transform;
//!
//! fn main() {
//!     let server = ambit_client::connect("127.0.0.1:7777").name("ann");
//!     App::new()
//!         .add_plugins(AmbitPlugin::connect(server))
//!         .add_systems(Update, (enter, dress))
//!         .run();
//! }
//!
//! /// In the lobby: creates a room, and plays.
//! fn enter(client: Res<AmbitClient>, mut session: MessageReader<SessionMessage>) {
//!     for message in session.read() {
//!         if *message == SessionMessage::Connected {
//!             let _ = client.play(|lobby| async move {
//!                 lobby.create_room("meadow", "field").await?.start().await
//!             });
//!         }
//!     }
//! }
//!
//! /// Gives a mesh, a sprite, a name to what came into sight.
//! fn dress(client: Res<AmbitClient>, came: Query<(Entity, &AmbitObject), Added<AmbitObject>>) {
//!     for (entity, object) in &came {
//!         let Some(known) = client.object(object.id) else { continue };
//!         println!("{entity}: {}, {} m", known.kind(), known.look().size_m);
//!     }
//! }
//! ```
//!
//! - [`AmbitPlugin`] connects, on a thread of its own; no system of it waits.
//! - [`AmbitClient`] is the resource: requests to the lobby, commands and held controls, frames.
//! - Each object in sight is an entity with [`AmbitObject`] and a `Transform`, which changes only
//!   if the object moves; what is room-wide (the score, the table of the players) has no
//!   `Transform`. [`Own`] marks the player's own ones. What went out of sight is despawned.
//! - [`KindComponent`] makes a component of a kind that the client knows, and [`Happened`] a
//!   message of an event that it knows.
//! - [`SessionMessage`], [`LobbyMessage`] and [`GameMessage`] are what has happened.
//!
//! All of it happens in `PreUpdate`, in the order of [`AmbitSystems`].

#![warn(missing_docs, reason = "authors of clients import this crate")]

mod axes;
mod client;
mod events;
mod kinds;
mod network_thread;
mod objects;
mod plugin;
mod table;

pub use axes::WorldAxes;
pub use client::AmbitClient;
pub use events::{GameMessage, Happened, LobbyMessage, SessionMessage};
pub use kinds::KindComponent;
pub use objects::{AmbitObject, Own};
pub use plugin::{AmbitAppExt, AmbitPlugin, AmbitSystems};
