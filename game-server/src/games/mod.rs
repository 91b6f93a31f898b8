//! The games that come with Ambit. A user's own live in the user's own crate: see `logic::game`.

pub mod cubes;
pub mod field;
