//! Input and output for people and scripts, shared by the console and the bots (feature `bins`).
//!
//! [`command`] turns a line into a [`command::ConsoleCommand`]; [`json`] turns a view event into
//! one JSON object. Both are pure, and both are a contract that scripts rely on: a name keeps its
//! meaning. [`completion`] says what may come next in a line that a person types. `flags` has the
//! shared command-line flags; it is a feature, on by default.

pub mod command;
pub mod completion;
#[cfg(feature = "flags")]
pub mod flags;
pub mod json;
pub mod schema_json;
