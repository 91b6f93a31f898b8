//! A client against a scripted lobby and host.

mod frames;
mod game;
mod harness;
mod lobby;
mod poses;
mod reconnects;
mod typescript;
