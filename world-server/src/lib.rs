//! The lobby server.
//!
//! [`lobby`] decides; everything else carries.

pub mod lobby;

mod actor;
mod admin;
mod client_connection;
mod cluster;
pub mod config;
mod hosts;
mod identity;
mod server;
mod session;

pub use hosts::room_checkpoints;
pub use server::{Addresses, Server, run};
