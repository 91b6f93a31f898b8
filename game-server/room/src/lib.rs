//! A room: world, game rules, and what each client is sent. Deterministic, without I/O.
//!
//! From the inside out: [`logic`] (objects, statics, the [`Game`](logic::game::Game) trait),
//! [`network`] (which client is sent what), [`room`], both in step, and [`recording`] to run it
//! again. [`digest`] compares such a run with the first one.

pub mod config;
pub mod digest;
pub mod journal;
pub mod logic;
pub mod network;
pub mod questions;
pub mod recording;
pub mod room;
pub mod room_limits;
pub mod saved;
pub mod stats;
pub mod tick_schedule;
pub mod token_bucket;
