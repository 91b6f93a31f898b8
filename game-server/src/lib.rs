//! Rooms with physics and interest management, and the process that hosts them.
//!
//! From the inside out: [`logic`] (objects, statics, the [`Game`](logic::game::Game) trait) and
//! [`games`]; [`network`] (which client receives what); [`room`], which runs both in lockstep, with
//! [`record`] to replay it; [`ticket`], the admission of players. All of these are deterministic
//! and free of I/O. Around them are the shells: [`host`] accepts players and does the I/O of the
//! rooms, one actix actor for each.

pub mod config;
pub mod games;
pub mod logic;
pub mod network;
pub mod record;
pub mod room;
pub mod saved;
pub mod stats;
pub mod ticket;

pub mod accept;
mod actor;
mod agones;
pub mod carrier;
pub mod cli;
pub mod clock_thread;
mod dial;
pub mod endpoint;
pub mod fence;
pub mod host;
pub mod identity;
pub mod keeper;
pub mod places;
pub mod process;
mod room_files;
pub mod token_bucket;

pub use process::run;
