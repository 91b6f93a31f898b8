//! The lobby server.
//!
//! [`lobby`] decides; everything else carries.

pub mod lobby;

mod actor;
mod admin;
mod cluster;
pub mod config;
mod hosts;
mod identity;
mod line;
mod server;
mod session;

pub use hosts::kept;
pub use server::{Addresses, Server, run};
