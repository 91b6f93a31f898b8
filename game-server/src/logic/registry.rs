//! The games that a host offers, by name.
//!
//! A name and `key=value` parameters go in; a room's configuration and its game come out, or an
//! [`OpenRoomError`] that explains to the player what is wrong. One call registers a game
//! ([`Registry::with`]); lobby and hosts know nothing else of games.
//!
//! Invariant: [`Registry::prepare`] succeeds for everything that [`Registry::check`] accepts.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::ids::RoomId;

use super::game::Game;
use crate::config::{BadParameter, Parameters, ROOM_PARAMETERS, RoomConfig, override_default};
use crate::games::cubes::CubesGame;
use crate::games::field::FieldGame;
use crate::record::Header;
use crate::room::Room;

pub use super::game::GameInfo;

/// Creates a game from parameters that were checked against its table and the room's.
pub type MakeGame = fn(&Parameters) -> Result<Box<dyn Game>, BadParameter>;

/// The registered games. See the module.
#[derive(Clone)]
pub struct Registry {
    games: Vec<(GameInfo, MakeGame)>,
}

/// Why a room cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenRoomError {
    /// No game has this name.
    #[error("there is no game {game:?}; the known ones are {known}")]
    UnknownGame {
        /// The requested name, shortened.
        game: String,
        /// All names.
        known: String,
    },
    /// A parameter is invalid.
    #[error(transparent)]
    BadParameter(#[from] BadParameter),
}

impl Registry {
    /// The games that come with Ambit.
    pub fn standard() -> Self {
        Self { games: Vec::new() }
            .with(FieldGame::INFO, FieldGame::make)
            .with(CubesGame::INFO, CubesGame::make)
    }

    /// Adds a game.
    ///
    /// # Panics
    /// If a game of that name is registered already, or if the game redeclares a parameter that
    /// every room has and changes more than its default. Both are bugs of the game.
    #[must_use]
    pub fn with(mut self, info: GameInfo, make: MakeGame) -> Self {
        assert!(
            self.info(info.name).is_none(),
            "a game {:?} is registered already",
            info.name
        );
        for parameter in info.parameters {
            let common = ROOM_PARAMETERS
                .iter()
                .find(|common| common.key == parameter.key);
            let fits = common
                .is_none_or(|common| *parameter == override_default(common.key, parameter.default));
            assert!(
                fits,
                "{:?} is a parameter of every room; a game may only override its default",
                parameter.key
            );
        }
        self.games.push((info, make));
        self
    }

    /// The registered games, in the order of their registration.
    pub fn games(&self) -> impl Iterator<Item = &GameInfo> {
        self.games.iter().map(|(info, _)| info)
    }

    /// One registered game.
    pub fn info(&self, game: &str) -> Option<&GameInfo> {
        self.games().find(|info| info.name == game)
    }

    /// Whether a room of this game can be created with these parameters.
    pub fn check(
        &self,
        game: &str,
        parameters: &BTreeMap<String, String>,
    ) -> Result<(), OpenRoomError> {
        let header = Header {
            game: game.to_owned(),
            parameters: parameters.clone(),
            ..Header::default()
        };
        self.prepare(&header).map(|_| ())
    }

    /// The configuration and the game of the room that a header describes.
    pub fn prepare(&self, header: &Header) -> Result<(RoomConfig, Box<dyn Game>), OpenRoomError> {
        let (info, make) = self.find(&header.game)?;
        let parameters =
            Parameters::parse(&header.parameters, &[ROOM_PARAMETERS, info.parameters])?;
        let grace = Duration::from_millis(header.grace_ms.into());
        let config = RoomConfig::new(
            RoomId(header.room),
            header.seed,
            header.capacity,
            grace,
            &parameters,
        )?;
        Ok((config, make(&parameters)?))
    }

    /// The room that a header describes, before its first tick.
    pub fn create_room(&self, header: &Header) -> Result<Room, OpenRoomError> {
        self.prepare(header)
            .map(|(config, game)| Room::new(config, game))
    }

    fn find(&self, game: &str) -> Result<&(GameInfo, MakeGame), OpenRoomError> {
        self.games
            .iter()
            .find(|(info, _)| info.name == game)
            .ok_or_else(|| OpenRoomError::UnknownGame {
                game: game.chars().take(40).collect(),
                known: self
                    .games()
                    .map(|info| info.name)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.games().map(|info| info.name))
            .finish()
    }
}

impl OpenRoomError {
    /// The stable error code.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownGame { .. } => ErrorCode::UnknownGame,
            Self::BadParameter(_) => ErrorCode::BadParameter,
        }
    }
}

/// The error that the player receives.
impl From<OpenRoomError> for codes::Error {
    fn from(error: OpenRoomError) -> Self {
        codes::error(error.code(), error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_game_is_answered_with_the_known_ones() {
        let error = Registry::standard()
            .check("fjeld", &BTreeMap::new())
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnknownGame);
        assert_eq!(
            error.to_string(),
            "there is no game \"fjeld\"; the known ones are field, cubes"
        );
    }

    #[test]
    fn a_game_s_parameters_are_checked_with_the_room_s() {
        let check = |key: &str, value: &str| {
            Registry::standard().check(
                "field",
                &BTreeMap::from([(key.to_owned(), value.to_owned())]),
            )
        };
        assert_eq!(check("npcs", "20000"), Ok(()));
        assert_eq!(check("delay", "100"), Ok(()));
        assert_eq!(check("maps", "2"), Ok(()));
        assert_eq!(
            check("npcs", "20001").unwrap_err().code(),
            ErrorCode::BadParameter
        );
        let unknown = check("orcs", "1").unwrap_err().to_string();
        assert!(
            unknown.contains(
                "budget, cell, coding, delay, grace, inner, maps, margin, npcs, obstacles, outer, \
                 seed, size, tick"
            ),
            "{unknown}"
        );
    }

    #[test]
    fn a_header_creates_the_room_that_it_describes() {
        let header = Header {
            game: "field".into(),
            room: 7,
            seed: 9,
            capacity: 12,
            grace_ms: 4_000,
            parameters: BTreeMap::from([("size".into(), "60x50".into())]),
        };
        let (config, game) = Registry::standard()
            .prepare(&header)
            .expect("a good header");
        assert_eq!(
            (config.room, config.seed, config.capacity),
            (RoomId(7), 9, 12)
        );
        assert_eq!(
            (config.width, config.height, config.grace),
            (60.0, 50.0, Duration::from_secs(4))
        );
        assert_eq!(game.schema().game, "field");
    }

    #[test]
    #[should_panic(expected = "a game \"field\" is registered already")]
    fn two_games_of_one_name_are_a_mistake() {
        let _ = Registry::standard().with(FieldGame::INFO, FieldGame::make);
    }
}
