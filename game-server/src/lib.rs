//! Rooms with physics and interest management, and the process that hosts them.
//!
//! From the inside out: [`logic`] (objects, statics, the [`Game`](logic::game::Game) trait) and
//! [`games`]; [`network`] (who is told what); [`room`], both in step, deterministic, with
//! [`recording`] to run it again; [`ticket`], the way in. All of that is pure. Around it the shells:
//! [`host`] accepts players and carries for the rooms, one actix actor each.

pub mod config;
pub mod games;
pub mod host_core;
pub mod journal;
pub mod logic;
pub mod network;
pub mod recording;
pub mod room;
pub mod saved;
pub mod stats;
pub mod ticket;

pub mod accept;
mod actor;
pub mod admission;
mod agones;
pub mod carrier;
pub mod cli;
pub mod clock_thread;
mod dial;
pub mod endpoint;
pub mod host;
pub mod identity;
pub mod process;
mod room_files;

pub use process::run;
