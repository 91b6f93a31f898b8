//! The profiles of bots: what each decides to do in its game.

pub(crate) mod crowd;
pub(crate) mod cubes;
pub(crate) mod monkey;
pub(crate) mod shooter;

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
    /// Fly a ship, aim ahead of the nearest one, and dodge missiles: for `--game shooter`.
    Shooter,
    /// Play any game by its schema: valid, absurd and malformed commands, and random keys. Refusals
    /// are no faults.
    Monkey,
    /// Do nothing: to measure the cost of an idle client.
    Idle,
}

impl Profile {
    /// The game that it plays, if it plays only one; its own name is the same.
    pub(crate) fn game(self) -> Option<&'static str> {
        match self {
            Self::Cubes => Some(ambit_cubes_physics::GAME),
            Self::Shooter => Some(shooter::GAME),
            Self::Crowd | Self::Hold | Self::Monkey | Self::Idle => None,
        }
    }

    /// The default profile of a game.
    pub(crate) fn for_game(game: &str) -> Self {
        match game {
            ambit_cubes_physics::GAME => Self::Cubes,
            shooter::GAME => Self::Shooter,
            _ => Self::Crowd,
        }
    }
}
