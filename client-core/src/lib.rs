//! The Ambit client without rendering.
//!
//! [`client`] is all that decides: connections, requests, the replica of what lies around the
//! avatar ([`replica`]), events for views. It does no I/O and reads no clock, so that a simulator
//! can run hundreds of it in one thread. Feature `physics`: `simulation`, the client's own physics
//! of what the host has it simulate. [`shell`] carries: QUIC connections, timers, channels;
//! [`trust`] is the known-hosts file, [`impaired`] a socket with bad weather in it.
//!
//! A view (an engine, the console, a bot) starts a client with [`shell::start`], takes its events
//! and reads positions directly; it never sees a message or a packet.

pub mod client;
pub mod impaired;
pub mod replica;
mod rotation;
pub mod shell;
#[cfg(feature = "physics")]
pub mod simulation;
#[cfg(feature = "bins")]
pub mod text;
pub mod trust;
