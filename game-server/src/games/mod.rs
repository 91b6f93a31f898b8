//! The games that come with Ambit. Users put their own games in their own crates: see
//! `logic::game`.

pub mod cubes;
pub mod field;
