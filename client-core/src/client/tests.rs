//! A client against a lobby and a host that say what the tests want.

mod game;
mod lobby;
mod poses;
mod scene;
