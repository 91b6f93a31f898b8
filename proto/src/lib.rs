//! Everything that both ends of an Ambit connection must agree on, and nothing else.
//!
//! There is no I/O, no clock, no thread and no source of randomness: times and seeds are arguments.
//! Values can be saved; with the feature `dice`, random number generators, too.
//!
//! The modules, from the bottom up:
//! - [`time`], [`ids`] and [`space`]: basic types;
//! - [`wire`]: the bit stream;
//! - [`timeline`]: values over time;
//! - [`pose`]: poses of objects whose motion cannot be predicted, in the range coder of
//!   [`entropy`];
//! - [`decimal`]: half floats and angles in few bits;
//! - [`map`]: the static world; [`cell`]: the geometry of the area of interest; [`keymap`] and
//!   [`axes`]: a player's controls;
//! - [`schema`]: the declaration of a game's objects; [`presentation`]: what a game tells players
//!   about them; [`message`]: the contents of datagrams;
//! - [`physics`]: what host and client share of a game's physics;
//! - [`link`]: datagrams across a lossy path; [`clock`]: the estimate of the room's clock;
//! - [`account_proof`]: what a client signs to prove its account;
//! - [`control`], [`codes`]: the messages of the lobby and of the join, and error codes;
//!   [`frame`]: where a message begins and ends on a stream;
//! - `examples`: the list of all formats, with random values of each, for tests;
//! - `dice`: how saved state keeps random number generators.
//!
//! Units everywhere: metres, seconds, radians; microseconds in the time types, milliseconds on the
//! wire.

// The link's own tests run over the impairments of the transport kit, which stands on this crate.
#[cfg(test)]
extern crate self as ambit_proto;
#[cfg(test)]
#[allow(unreachable_pub, unused_imports, reason = "it is public in the transport kit")]
#[path = "../transport/src/impair/mod.rs"]
mod impair;

pub mod account_proof;
pub mod axes;
pub mod cell;
pub mod clock;
pub mod codes;
pub mod control;
pub mod counts;
pub mod decimal;
#[cfg(feature = "dice")]
pub mod dice;
pub mod entropy;
#[cfg(any(test, feature = "dev-tools"))]
pub mod examples;
pub mod field_value;
pub mod frame;
pub mod ids;
pub mod keymap;
pub mod link;
pub mod map;
pub mod message;
pub mod physics;
pub mod pose;
pub mod presentation;
pub mod rows;
pub mod schema;
pub mod seeded;
pub mod space;
pub mod standing;
pub mod time;
pub mod timeline;
pub mod wire;
pub mod wishes;

#[cfg(test)]
mod tests;
