//! The Ambit client as a library with a C interface, for engines and other languages.
//!
//! A skin on [`ambit_client_boundary`] and the client on a real network
//! ([`ambit_client_core::shell`]). The header `include/ambit_client.h` is made from this crate;
//! `library` makes `libambit_client` from it. A game of one's own that shares how its avatars are
//! steered makes a library of its own: see [`share`].
//!
//! What can go wrong at this border and what happens then:
//!
//! | misuse | answer |
//! | --- | --- |
//! | a handle of a closed client, or none | [`Status::NoClient`] |
//! | two threads at a time | [`Status::Busy`] |
//! | null, unaligned, an absurd length | [`Status::BadPointer`], [`Status::BadLength`] |
//! | no UTF-8 | [`Status::BadText`] |
//! | a structure of an unknown size | [`Status::BadSize`] |
//! | a fault of the library | [`Status::Panicked`]; the client is closed |
//!
//! `unsafe` is in `memory` and `steering` alone, each with its reason; `exports` has plain names.

mod driver;
mod exports;
mod instance;
mod log;
mod memory;
mod registry;
mod sight;
mod status;
mod steering;
mod structs;

pub use ambit_client_boundary::frame_arrays::{ObjectRow, ValueRow};
pub use ambit_client_boundary::share;
pub use exports::*;
pub use instance::{
    Description, Instance, Kept, KeptEvent, Measured, PlayerState, SchemaItem, Setup,
};
pub use sight::SightChanges;
pub use status::{Failure, Status};
pub use structs::*;
