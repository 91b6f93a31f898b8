//! The Ambit client without rendering.
//!
//! [`client`] makes all decisions: connections, requests, the replica of the surroundings of the
//! avatar ([`replica`]), events for views. It does no I/O and reads no clock, so that a simulator
//! can run hundreds of clients in one thread. [`simulation`] runs a game's physics for objects that
//! the game declares as simulated, if the program has registered one
//! ([`ClientConfig::motions`](client::config::ClientConfig::motions)).
//!
//! The feature `shell`, on by default, adds what needs a network and files: [`shell`] does the I/O
//! (QUIC connections, timers, channels, sockets that simulate a bad network), [`trust`] is the
//! known-hosts file, [`account_file`] the player's account, [`resume_token`] the file of a session
//! that can be resumed, [`user_directory`] the place of such files. Without it the crate needs
//! neither threads, sockets nor a source of randomness, and compiles for `wasm32-unknown-unknown`.
//! [`command_words`] makes commands of any game from words and [`argument`]s, [`typed_command`]
//! those of a game that the program knows, and [`typed_reads`] reads what that one declares.
//!
//! A view (an engine, the console, a bot) starts a client with [`shell::start`], takes its events
//! and reads positions directly; it never sees a message or a packet.

#![warn(missing_docs, reason = "authors of clients import this crate")]

#[cfg(feature = "shell")]
pub mod account_file;
pub mod argument;
pub mod client;
pub mod command_words;
pub mod frame;
mod perception;
pub mod replica;
#[cfg(feature = "shell")]
pub mod resume_token;
mod rotation;
#[cfg(feature = "shell")]
pub mod shell;
pub mod simulation;
#[cfg(feature = "shell")]
pub mod trust;
pub mod typed_command;
pub mod typed_reads;
#[cfg(feature = "shell")]
pub mod user_directory;
