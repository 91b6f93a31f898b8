//! Tests with real processes and real sockets, for what the simulator cannot show. They wait for
//! events, never for a fixed time.

mod accounts;
mod agones;
mod bad_input;
mod bots;
mod brokers;
mod browsers;
mod clients;
mod cluster;
mod consoles;
mod deploy;
mod engines;
mod failover;
mod firefox;
mod heroes;
mod http;
mod kept;
mod late_rooms;
mod memory;
mod nats_tls;
mod operators;
mod pages;
mod pilots;
mod plain_client;
mod processes;
mod restarts;
mod rows;
mod server;
mod shooters;
mod sidecar;
mod strangers;
mod subcommands;
mod terminal;
mod trace;
mod usage;
mod worlds;
