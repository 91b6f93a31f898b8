//! The lobby server: the shell around [`ambit_lobby`], which decides.

mod accounts;
mod actor;
mod admin;
mod client_connection;
mod cluster;
pub mod config;
mod contended_places;
mod data_lock;
mod hosts;
mod identity;
mod keep;
mod operator_log;
mod outgoing;
mod peer_door;
mod server;
mod session;

pub use accounts::carry_out_for_room;
pub use admin::page_files::page_files;
pub use hosts::room_checkpoints;
pub use keep::log as kept_log;
pub use server::{Addresses, Server, Subcommand, run, run_with};
