//! A client against a scripted lobby and host.

mod game;
mod lobby;
mod poses;
mod scene;
