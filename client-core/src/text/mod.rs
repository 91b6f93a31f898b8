//! What people and scripts type, and what they read: shared by the console and the bots (feature
//! `bins`).
//!
//! [`command`] turns a line into a [`command::Line`]; [`json`] turns a view event into one JSON
//! object. Both are pure, and both are a contract that scripts rely on: a name keeps its meaning.
//! [`flags`] are the command-line flags that the two have in common.

pub mod command;
pub mod flags;
pub mod json;
