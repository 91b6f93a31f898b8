//! The messages of the control streams, as prost generates them from `proto/ambit/*.proto`.
//!
//! The `.proto` files are the contract: carrier, order, bounds and meaning of each field stand
//! there, and from there in the documentation of these types. Nothing here is checked beyond the
//! encoding; a core sees a message only after `TryFrom` has made a value of it that is valid
//! (`schema::Schema` is an example).

/// Version of the lobby's protocol: `HelloRequest.version`, `Welcome.version`.
pub const WORLD_VERSION: u32 = 2;

/// Between a client and the WorldServer (ALPN `ambit-world/1`).
#[allow(
    missing_docs,
    unused_qualifications,
    clippy::pedantic,
    reason = "generated"
)]
pub mod world {
    include!(concat!(env!("OUT_DIR"), "/ambit.world.rs"));
}

/// Between a client and the host of its room (ALPN `ambit-game/1`).
#[allow(
    missing_docs,
    unused_qualifications,
    clippy::pedantic,
    reason = "generated"
)]
pub mod game {
    include!(concat!(env!("OUT_DIR"), "/ambit.game.rs"));
}

/// Between the WorldServer and a process that hosts rooms (pipe, or ALPN `ambit-host/1`).
#[allow(
    missing_docs,
    unused_qualifications,
    clippy::pedantic,
    clippy::large_enum_variant,
    reason = "generated; a report comes once a second"
)]
pub mod host {
    include!(concat!(env!("OUT_DIR"), "/ambit.host.rs"));
}

/// What the WorldServers of a cluster keep in their directory, and what they say to each other
/// (ALPN `ambit-peer/1`).
#[allow(
    missing_docs,
    unused_qualifications,
    clippy::pedantic,
    reason = "generated"
)]
pub mod directory {
    include!(concat!(env!("OUT_DIR"), "/ambit.directory.rs"));
}
