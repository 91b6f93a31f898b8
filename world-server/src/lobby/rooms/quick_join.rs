//! A seat in any room of a game, or in a new one that starts by itself.
//!
//! Of the rooms that a player may join, the fullest one is chosen, so that players meet; of
//! several, the oldest. A room that was made in this way starts as soon as
//! [`LobbyGame::min_players`] are there, and are ready if its parameters say so; its host may start
//! it as well, like any other.
//!
//! Cost: proportional to the number of rooms.

use std::cmp::Reverse;

use ambit_proto::control::world::world_to_client::Body;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_room::config::MAX_CAPACITY;

use crate::lobby::Lobby;
use crate::lobby::config::LobbyGame;
use crate::lobby::output::RequestOutcome;
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::request::{
    CreateRoomRequest, DEFAULT_CAPACITY, JoinRoomRequest, QuickJoinRequest,
};
use crate::lobby::rooms::room::LobbyRoom;
use crate::lobby::rooms::running::no_host_available;
use crate::lobby::text::LobbyRoomName;

impl Lobby {
    /// Gives the player a seat in a room of the game with these parameters. A repeated request gets
    /// the room of the first one.
    pub(in crate::lobby) fn quick_join(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &QuickJoinRequest,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let game = self.known_game(&join.game)?;
        let mut open: Vec<&LobbyRoom> = if let Some(own) = self.sessions.player(player).room {
            vec![self.rooms.at(own)]
        } else {
            let needed = self.sessions.who_joins(player).len();
            self.rooms.iter().filter(|room| is_open(game, room, needed)).collect()
        };
        open.retain(|room| fits(game, room, join));
        open.sort_by_key(|room| (Reverse(room.seats.taken()), room.id));
        let open: Vec<RoomId> = open.into_iter().map(|room| room.id).collect();
        for room in open {
            let room = JoinRoomRequest { room, password: None };
            // One that is closed to this player is passed over.
            if let Ok(joined) = self.join_room(now, player, &room) {
                return Ok(joined);
            }
        }
        let id = self.make_quick_room(now, player, join)?;
        self.bring_party(now, player, id);
        self.start_by_itself(now, id);
        Ok(RequestOutcome::Immediate(Body::RoomJoined(self.room_joined(id))))
    }

    fn make_quick_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &QuickJoinRequest,
    ) -> Result<RoomId, LobbyRefusal> {
        let game = self.known_game(&join.game)?;
        let mut parameters = game.quick_start.clone();
        parameters.extend(join.parameters.clone());
        let name = format!("{}'s {}", self.sessions.player(player).name().as_str(), game.name);
        let name = LobbyRoomName::parse(&name).or_else(|_| LobbyRoomName::parse(&game.name))?;
        let capacity = DEFAULT_CAPACITY.min(game.max_capacity.min(MAX_CAPACITY));
        let create = CreateRoomRequest {
            name,
            game: game.name.clone(),
            capacity: capacity.max(game.min_players),
            parameters,
            password: None,
            key: None,
        };
        let id = self.make_room(now, player, create)?;
        if self.fleet.place_new_room(&self.rooms, id).is_none() {
            let why = no_host_available();
            self.vacate_seat(now, player, why.code);
            return Err(why);
        }
        self.rooms.at_mut(id).starts_itself = true;
        Ok(id)
    }

    /// Starts a room that was made by a quick join, once it can start. What prevents it now may be
    /// over when the next player comes.
    pub(in crate::lobby) fn start_by_itself(&mut self, now: LocalTime, id: RoomId) {
        let room = self.rooms.at(id);
        if room.starts_itself && self.check_start(room.host, room).is_ok() {
            // The host of the room can start it, too, and is told what prevents it.
            let _ = self.begin_start(now, id, None);
        }
    }
}

/// Whether as many players may come into the room.
fn is_open(game: &LobbyGame, room: &LobbyRoom, needed: usize) -> bool {
    room.map_identity.is_none()
        && room.password.is_none()
        && !room.is_locked
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
