//! A seat in any room of a game, or in a new one that starts by itself.
//!
//! Of the rooms that a player may join, the fullest one is chosen, so that players meet; of
//! several, the oldest. A room that was made in this way starts as soon as
//! [`LobbyGame::min_players`] are there, and are ready if its parameters say so; its host may start
//! it as well, like any other.
//!
//! Cost: proportional to the number of rooms.

use std::cmp::Reverse;

use ambit_proto::ids::{PlayerId, RoomId};
use ambit_room::config::MAX_CAPACITY;

use crate::config::LobbyGame;
use crate::refusal::LobbyRefusal;
use crate::request::{CreateRoomRequest, DEFAULT_CAPACITY, QuickJoinRequest};
use crate::rooms::Rooms;
use crate::rooms::room::LobbyRoom;
use crate::sessions::Sessions;
use crate::text::LobbyRoomName;

impl Rooms {
    /// The rooms of the game that the player may come into with its party, the best one first; its
    /// own one if it is in one.
    pub(crate) fn open_to(
        &self,
        player: PlayerId,
        game: &LobbyGame,
        join: &QuickJoinRequest,
        sessions: &Sessions,
    ) -> Vec<RoomId> {
        let mut open: Vec<&LobbyRoom> = if let Some(own) = sessions.player(player).room {
            vec![self.at(own)]
        } else {
            let needed = sessions.who_joins(player).len();
            self.iter().filter(|room| is_open(game, room, needed)).collect()
        };
        open.retain(|room| fits(game, room, join));
        open.sort_by_key(|room| (Reverse(room.seats.taken()), room.id));
        open.into_iter().map(|room| room.id).collect()
    }
}

impl QuickJoinRequest {
    /// The room that is made for a player of this name, if there is none.
    pub(crate) fn new_room(
        &self,
        game: &LobbyGame,
        player: &str,
    ) -> Result<CreateRoomRequest, LobbyRefusal> {
        let mut parameters = game.quick_start.clone();
        parameters.extend(self.parameters.clone());
        let name = format!("{player}'s {}", game.name);
        let name = LobbyRoomName::parse(&name).or_else(|_| LobbyRoomName::parse(&game.name))?;
        let capacity = DEFAULT_CAPACITY.min(game.max_capacity.min(MAX_CAPACITY));
        Ok(CreateRoomRequest {
            name,
            game: game.name.clone(),
            capacity: capacity.max(game.min_players),
            parameters,
            password: None,
            key: None,
        })
    }
}

/// Whether as many players may come into the room.
fn is_open(game: &LobbyGame, room: &LobbyRoom, needed: usize) -> bool {
    room.map_identity.is_none()
        && room.door.password.is_none()
        && !room.door.is_locked
        && room.free_places() as usize >= needed
        && (game.join_running || !room.has_started())
}

/// Whether the room is of the game, and was made with what is asked for.
fn fits(game: &LobbyGame, room: &LobbyRoom, join: &QuickJoinRequest) -> bool {
    let parameters = room.public_parameters();
    let default_of = |key: &str| {
        let known = game.parameters.iter().find(|parameter| parameter.key == key);
        known.map_or("", |parameter| &parameter.default_value)
    };
    let has = |key: &String| parameters.get(key).map_or_else(|| default_of(key), String::as_str);
    room.game == join.game && join.parameters.iter().all(|(key, value)| has(key) == value)
}
