//! What operators see of players, and what they do while the server runs.
//!
//! An operator acts from outside of the lobby, so nothing here counts against a player's limits.
//! Who may do what, the shell decides.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_store::{BanTarget, BanTerm, ServerBan};
use ambit_transport::address::SourceNetwork;

use crate::Lobby;
use crate::operator_orders::{
    OperatedMap, OperatedPlayer, OperatedRoom, OperatorAudience, OperatorOrder, OperatorProblem,
    bad_text, read_reason, server_line,
};
use crate::output::HostId;
use crate::refusal::LobbyRefusal;
use crate::rooms::room::LobbyRoom;
use crate::sessions::players::LobbyPlayer;
use crate::text::ChatText;

impl Lobby {
    /// All players, by their ids. Cost: visits each player.
    pub fn operated_players(&self, now: LocalTime) -> Vec<OperatedPlayer> {
        self.sessions.players().iter().map(|player| self.operated(now, player)).collect()
    }

    /// A player, as operators see it.
    pub fn operated_player(
        &self,
        now: LocalTime,
        player: PlayerId,
    ) -> Result<OperatedPlayer, OperatorProblem> {
        let known =
            self.sessions.players().get(player).ok_or(OperatorProblem::NoSuchPlayer(player))?;
        Ok(self.operated(now, known))
    }

    fn operated(&self, now: LocalTime, player: &LobbyPlayer) -> OperatedPlayer {
        let connection = player.conn.and_then(|conn| self.sessions.connections().get(conn));
        let place = player.room.and_then(|room| self.rooms.avatar_place(room, player.id));
        let place = place.map_or(player.room, |(place, _)| Some(place));
        let place = place.and_then(|place| self.rooms.get(place));
        OperatedPlayer {
            id: player.id,
            name: player.name().as_str().to_owned(),
            account: player.account,
            address: connection.map(|connection| connection.address),
            conn: player.conn,
            agent: connection.map(|connection| connection.agent.clone()).unwrap_or_default(),
            since: player.origin.since,
            room: player.room,
            map: place.map(LobbyRoom::map),
            host: place.and_then(LobbyRoom::game_host),
            role: self.sessions.role_of(player.account),
            mute: self.sessions.mute_of(now, player.id, &self.config).cloned(),
        }
    }

    /// How many players these bans concern now.
    pub fn reached_by(&self, now: LocalTime, bans: Vec<ServerBan>) -> usize {
        self.sessions.reached_by(now, bans, &self.config)
    }

    /// Whom a ban of this player is for: its account, and where it comes from.
    pub fn ban_targets(&self, player: PlayerId) -> Result<Vec<BanTarget>, OperatorProblem> {
        let known =
            self.sessions.players().get(player).ok_or(OperatorProblem::NoSuchPlayer(player))?;
        let network = self.sessions.network_of(player).map(SourceNetwork::first_address);
        let account = known.account.map(BanTarget::Account);
        Ok(account.into_iter().chain(network.map(BanTarget::of_address)).collect())
    }

    /// All rooms that players can come into, by their ids. Cost: visits each room.
    pub fn operated_rooms(&self) -> Vec<OperatedRoom> {
        let worlds = self.rooms.iter().filter(|room| room.map_identity.is_none());
        let rooms = worlds.map(|room| OperatedRoom {
            shown: room.listing(),
            is_locked: room.door.is_locked,
            host: room.game_host(),
            maps: room.all_maps().count(),
        });
        rooms.collect()
    }

    /// All maps, first ones, too, by their ids. Cost: visits each room.
    pub fn operated_maps(&self) -> Vec<OperatedMap> {
        let maps = self.rooms.iter().map(|room| OperatedMap {
            id: room.id,
            room: room.world_id(),
            map: room.map(),
            host: room.game_host(),
            players: if room.map_identity.is_some() {
                self.rooms.players_on_map(room.id).len() as u32
            } else {
                room.player_count()
            },
            is_running: room.is_running(),
        });
        maps.collect()
    }

    /// The host that runs a map.
    pub fn host_of_map(&self, map: RoomId) -> Result<HostId, OperatorProblem> {
        let room = self.rooms.get(map).ok_or(OperatorProblem::NoSuchRoom(map))?;
        room.game_host().ok_or(OperatorProblem::NotRunning(map))
    }

    /// Carries out an order. Returns how many players it has reached; for a host, how many rooms it
    /// has.
    pub fn carry_out(
        &mut self,
        now: LocalTime,
        order: OperatorOrder,
    ) -> Result<usize, OperatorProblem> {
        self.advance(now);
        let done = match order {
            OperatorOrder::Kick { player, reason } => self.kick_by_operator(now, player, &reason),
            OperatorOrder::Mute { player, term } => self.mute_by_operator(player, Some(term)),
            OperatorOrder::Unmute { player } => self.mute_by_operator(player, None),
            OperatorOrder::SetLock { room, is_locked } => self.lock_by_operator(room, is_locked),
            OperatorOrder::Say { to, text } => self.say_as_operator(to, &text),
            OperatorOrder::DrainHost { host, is_drained } => self
                .set_host_drained(now, host, is_drained)
                .ok_or(OperatorProblem::NoSuchHost(host.0)),
            OperatorOrder::End { minutes, reason } => {
                self.end.plan(now, minutes, &reason, &self.sessions, &mut self.effects)
            }
            OperatorOrder::CallOffEnd => self.end.call_off(&self.sessions, &mut self.effects),
            OperatorOrder::CloseRoom { room, reason } => self.close_by_operator(now, room, &reason),
        };
        self.advance(now);
        done
    }

    fn kick_by_operator(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        reason: &str,
    ) -> Result<usize, OperatorProblem> {
        let why = refusal(ErrorCode::Kicked, "an operator put you out", reason)?;
        let known =
            self.sessions.players().get(player).ok_or(OperatorProblem::NoSuchPlayer(player))?;
        if let Some(conn) = known.conn {
            self.close_connection(now, conn, why);
        }
        self.end_session(now, player, ErrorCode::Kicked);
        Ok(1)
    }

    fn mute_by_operator(
        &mut self,
        player: PlayerId,
        mute: Option<BanTerm>,
    ) -> Result<usize, OperatorProblem> {
        let known =
            self.sessions.players().get(player).ok_or(OperatorProblem::NoSuchPlayer(player))?;
        if mute.is_none() && known.mute.is_none() {
            return Err(OperatorProblem::NotMuted(player));
        }
        self.sessions.player_mut(player).mute = mute;
        Ok(1)
    }

    fn lock_by_operator(&mut self, id: RoomId, is_locked: bool) -> Result<usize, OperatorProblem> {
        self.first_map(id)?;
        let room = self.rooms.at_mut(id);
        room.door.is_locked = is_locked;
        Ok(room.seats.players().count())
    }

    /// Players know the first map of a world alone.
    fn first_map(&self, id: RoomId) -> Result<&LobbyRoom, OperatorProblem> {
        let room = self.rooms.get(id).filter(|room| room.map_identity.is_none());
        room.ok_or(OperatorProblem::NoSuchRoom(id))
    }

    fn say_as_operator(
        &mut self,
        to: OperatorAudience,
        text: &str,
    ) -> Result<usize, OperatorProblem> {
        let text = ChatText::parse(text).map_err(bad_text)?;
        let (channel, conns, player) = match to {
            OperatorAudience::All => {
                (world::Channel::Lobby, self.sessions.players().connected(), 0)
            }
            OperatorAudience::Room(room) => {
                self.rooms.get(room).ok_or(OperatorProblem::NoSuchRoom(room))?;
                (world::Channel::Room, self.rooms.member_conns(room, &self.sessions), 0)
            }
            OperatorAudience::Player(player) => {
                let known = self
                    .sessions
                    .players()
                    .get(player)
                    .ok_or(OperatorProblem::NoSuchPlayer(player))?;
                (world::Channel::Whisper, known.conn.into_iter().collect(), player.0)
            }
        };
        let chat = server_line(channel, player, text.into_string());
        let reached = conns.len();
        self.effects.outbox.broadcast(conns, Body::Chat(chat));
        Ok(reached)
    }

    fn close_by_operator(
        &mut self,
        now: LocalTime,
        id: RoomId,
        reason: &str,
    ) -> Result<usize, OperatorProblem> {
        let why = refusal(ErrorCode::RoomClosed, "an operator closed the room", reason)?;
        let members = self.first_map(id)?.seats.players().count();
        self.close_room(now, id, why);
        Ok(members)
    }
}

/// For players; a reason may be missing.
fn refusal(code: ErrorCode, what: &str, reason: &str) -> Result<LobbyRefusal, OperatorProblem> {
    let reason = read_reason(reason)?;
    let message = if reason.is_empty() { what.to_owned() } else { format!("{what}: {reason}") };
    Ok(LobbyRefusal::new(code, message))
}
