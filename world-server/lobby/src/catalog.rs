//! The games that rooms may play, and with what parameters.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world;
use ambit_room::config::MAX_CAPACITY;

use crate::config::{CheckParameters, LobbyGame};
use crate::refusal::LobbyRefusal;
use crate::request::{CreateRoomRequest, DEFAULT_CAPACITY};
use crate::rooms::parameters::{READY, check_parameters, ready_parameter};

/// See the module.
pub(super) struct GameCatalog {
    games: Vec<LobbyGame>,
    check_parameters: CheckParameters,
}

impl GameCatalog {
    pub(super) fn new(games: Vec<LobbyGame>, check_parameters: CheckParameters) -> Self {
        Self { games, check_parameters }
    }

    /// Replaces the check of parameters.
    #[cfg(test)]
    pub(super) fn check_with(&mut self, check_parameters: CheckParameters) {
        self.check_parameters = check_parameters;
    }

    /// The game of a room; `None` if this server has it no longer.
    pub(super) fn get(&self, name: &str) -> Option<&LobbyGame> {
        self.games.iter().find(|game| game.name == name)
    }

    /// The game that a client has named.
    pub(super) fn known(&self, name: &str) -> Result<&LobbyGame, LobbyRefusal> {
        self.get(name).ok_or_else(|| {
            let known: Vec<_> = self.games.iter().map(|game| game.name.as_str()).collect();
            let message = format!("there is no game of that name; there is: {}", known.join(", "));
            LobbyRefusal::new(ErrorCode::UnknownGame, message)
        })
    }

    /// All games, as a welcome tells them.
    pub(super) fn infos(&self) -> Vec<world::GameInfo> {
        let infos = self.games.iter().map(|game| world::GameInfo {
            name: game.name.clone(),
            description: game.description.clone(),
            min_players: game.min_players,
            join_running: game.join_running,
            quick_start: game.quick_start.clone(),
        });
        infos.collect()
    }

    /// With what a room of a game can be created.
    pub(super) fn describe(&self, name: &str) -> Result<world::GameDescription, LobbyRefusal> {
        let game = self.known(name)?;
        let max_capacity = game.max_capacity.min(MAX_CAPACITY);
        Ok(world::GameDescription {
            game: game.name.clone(),
            parameters: [&game.parameters[..], &[ready_parameter()]].concat(),
            default_capacity: DEFAULT_CAPACITY.min(max_capacity),
            max_capacity,
            presentation: game.presentation.clone(),
            schema: game.schema.clone(),
        })
    }

    /// Checks whether such a room can be played.
    pub(super) fn check_creation(&self, create: &CreateRoomRequest) -> Result<(), LobbyRefusal> {
        let game = self.known(&create.game)?;
        let bad = |message| LobbyRefusal::new(ErrorCode::BadParameter, message);
        if create.capacity < game.min_players {
            let message = format!(
                "{} takes {} players, {} seats are too few",
                game.name, game.min_players, create.capacity
            );
            return Err(bad(message));
        }
        check_parameters(&create.parameters).map_err(bad)?;
        let mut of_room = create.parameters.clone();
        of_room.remove(READY);
        (self.check_parameters)(&game.name, create.capacity, &of_room).map_err(bad)
    }
}
