//! The profiles of bots: what each decides to do in its game.

pub(crate) mod crowd;
pub(crate) mod cubes;
