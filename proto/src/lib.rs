//! What both ends of an Ambit connection must agree on, and nothing else.
//!
//! No I/O, no clock, no thread, no randomness of its own: times and seeds are arguments. The one
//! module that knows a network library is `quic`, behind the feature of that name; the one that
//! knows a physics library is that of the game `cubes`, behind the feature `physics`. With the
//! feature `serde` values can be saved.
//!
//! From the bottom up: [`time`], [`ids`] and [`space`] are the words; [`wire`] is the bit stream
//! and the list of all formats; [`timeline`] and [`history`] hold values over time, and [`pose`]
//! what nobody can foretell, in the bits of [`entropy`]; [`map`] is what never moves, [`cell`] is
//! the geometry of interest and [`keymap`] the controls a player holds; [`schema`] declares what a
//! game's objects are made of and [`message`] what travels in datagrams about them; [`link`] gets
//! datagrams across a lossy path and [`clock`] estimates the room's clock; [`control`], [`codes`],
//! [`frame`] and [`host`] are the ordered streams of the lobby, the join and the hosts; [`impair`]
//! is the bad weather, the same for `--impair` and for the simulated network; [`games`] is what
//! clients of a shipped game simulate themselves.
//!
//! Units everywhere: metres, seconds, radians; microseconds in the time types, milliseconds on the
//! wire.

pub mod cell;
pub mod clock;
pub mod codes;
pub mod control;
#[cfg(feature = "serde")]
pub mod dice;
pub mod entropy;
pub mod frame;
pub mod games;
pub mod history;
pub mod host;
pub mod ids;
pub mod impair;
pub mod keymap;
pub mod link;
pub mod map;
pub mod message;
pub mod pose;
#[cfg(feature = "quic")]
pub mod quic;
pub mod schema;
pub mod space;
pub mod time;
pub mod timeline;
pub mod wire;
