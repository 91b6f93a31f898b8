//! A client against a scripted lobby and host.

mod game;
mod harness;
mod lobby;
mod poses;
mod reconnects;
