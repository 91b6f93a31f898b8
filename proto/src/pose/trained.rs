//! The constants of the pose coder.
//!
//! - [`symbol_weights`]: symbol probabilities of both levels' sections, chosen by hand.
//! - [`WalkerTables`]: the shared level's distributions for objects with a heading, computed from a
//!   simulated walk.
//! - [`FineWeights`]: the fine level's regression weights and probabilities, fitted to a recording.
//!
//! The crate `ambit-pose-training` makes the latter two; a game never trains. Both ends must use
//! the same numbers, so every change of them is a new version of the protocol. How they were made:
//! `docs/pose-coding.md`. The numbers are in `proto/src/pose/trained/walker.rs` and
//! `proto/src/pose/trained/fine.rs`.

pub(super) mod fine;
#[doc(hidden)]
pub mod internals;
pub mod symbol_weights;
pub(super) mod walker;

pub use self::fine::FineWeights;
pub use self::walker::WalkerTables;
