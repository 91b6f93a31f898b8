//! Limits of rooms: how many a player and an address may have made, and how many of an address run.
//!
//! A room counts for the player who made it and for the network where that player's session was
//! opened ([`RoomMaker`]), until the room is closed. It counts there also when the maker leaves the
//! room, quits, or resumes the session from elsewhere. So a room cannot be passed on to make place
//! for another one. Further maps of a world do not count.
//!
//! Cost: proportional to the rooms that were made from the same network.

use ambit_proto::codes::ErrorCode;
use ambit_proto::time::LocalTime;

use crate::config::LobbyConfig;
use crate::refusal::LobbyRefusal;
use crate::rooms::room::{LobbyRoom, LobbyRooms, RoomMaker};
use crate::sessions::players::LobbyPlayer;

impl LobbyRooms {
    /// Checks whether the player may make another room.
    pub(crate) fn check_limits(
        &self,
        now: LocalTime,
        player: &mut LobbyPlayer,
        config: &LobbyConfig,
    ) -> Result<(), LobbyRefusal> {
        if self.len() >= config.max_rooms {
            return Err(too_many(format!(
                "the server has its {} rooms; join one of them",
                config.max_rooms
            )));
        }
        if player.allowances.creations.count_recent(now) >= config.rooms_per_minute {
            return Err(too_many(format!(
                "a player may make {} rooms a minute; wait a little",
                config.rooms_per_minute
            )));
        }
        let Some(network) = player.origin.network else {
            return Ok(());
        };
        let made_there = self.made_from(network);
        let made_by_player = made_there
            .filter(|room| room.settings.maker.is_some_and(|maker| maker.player == player.id))
            .count();
        if made_by_player >= config.max_rooms_per_player {
            return Err(too_many(format!(
                "a player may have {} rooms, and all that you made still exist; a room ends when \
                 all its players have left",
                config.max_rooms_per_player
            )));
        }
        if self.made_from(network).count() >= config.max_rooms_per_address {
            return Err(too_many(format!(
                "players at one address may have {} rooms, and yours have made that many; join \
                 one of them, or wait until one ends",
                config.max_rooms_per_address
            )));
        }
        Ok(())
    }

    /// Checks whether another room that was made where this one was may run.
    pub(crate) fn check_running_limit(
        &self,
        room: &LobbyRoom,
        config: &LobbyConfig,
    ) -> Result<(), LobbyRefusal> {
        let Some(RoomMaker { network: Some(network), .. }) = room.settings.maker else {
            return Ok(());
        };
        let made_there = self.made_from(network);
        let running = made_there.filter(|room| room.has_started()).count();
        if running < config.max_running_rooms_per_address {
            return Ok(());
        }
        Err(too_many(format!(
            "of the rooms that were made at one address {} may run, and that many do; wait until \
             one ends",
            config.max_running_rooms_per_address
        )))
    }
}

fn too_many(message: String) -> LobbyRefusal {
    LobbyRefusal::new(ErrorCode::TooManyRooms, message)
}
