//! Over real sockets, with real processes: what only they can show. The tests wait for events,
//! never for a time.

mod agones;
mod bad_input;
mod bots;
mod cluster;
mod consoles;
mod deploy;
mod failover;
mod processes;
mod server;
mod sidecar;
mod trace;
mod worlds;
