//! The profiles of bots: what each decides to do in its game.

pub(crate) mod crowd;
pub(crate) mod cubes;
pub(crate) mod monkey;

use clap::ValueEnum;

/// What bots do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// Walk between random points of the map, and sometimes cast a spell.
    Crowd,
    /// Hold a key and nothing else: 20 or 60 inputs a second (`--input-hz`).
    Hold,
    /// Push a cube around, gather other cubes, throw them off, jump: for `--game cubes`.
    Cubes,
    /// Play any game by its schema: valid, absurd and malformed commands, and random keys. Refusals
    /// are no faults.
    Monkey,
    /// Do nothing: to measure the cost of an idle client.
    Idle,
}

impl Profile {
    /// The default profile of a game.
    pub(crate) fn for_game(game: &str) -> Self {
        if game == ambit_cubes_physics::GAME { Self::Cubes } else { Self::Crowd }
    }
}
