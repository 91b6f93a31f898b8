//! What operators see of players, and what they do while the server runs.
//!
//! An operator acts from outside of the lobby, so nothing here counts against a player's limits.
//! Who may do what, the shell decides: see `admin::operators`.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use crate::lobby::Lobby;
use crate::lobby::operator_orders::{
    OperatedPlayer, OperatorAudience, OperatorOrder, OperatorProblem,
};
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::text::ChatText;

/// The sender of an operator's message. No player can have this name: brackets are not allowed.
const SENDER: &str = "[server]";

impl Lobby {
    /// All players, by their ids.
    pub(crate) fn operated_players(&self) -> Vec<OperatedPlayer> {
        let players = self.players.iter().map(|player| OperatedPlayer {
            id: player.id,
            name: player.name().as_str().to_owned(),
            account: player.account,
            address: player
                .conn
                .and_then(|conn| self.connections.get(conn))
                .map(|connection| connection.address),
            room: player.room,
            role: player.account.and_then(|account| self.sign_ins.roles.get(&account).copied()),
        });
        let mut players: Vec<_> = players.collect();
        players.sort_unstable_by_key(|player| player.id);
        players
    }

    /// Carries out an order. Returns how many players it has reached.
    pub(crate) fn carry_out(
        &mut self,
        now: LocalTime,
        order: OperatorOrder,
    ) -> Result<usize, OperatorProblem> {
        self.advance(now);
        let done = match order {
            OperatorOrder::Kick { player, reason } => self.kick_by_operator(now, player, &reason),
            OperatorOrder::Say { to, text } => self.say_as_operator(to, &text),
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
        let known = self.players.get(player).ok_or(OperatorProblem::NoSuchPlayer(player))?;
        if let Some(conn) = known.conn {
            self.close_connection(now, conn, why);
        }
        self.end_session(now, player, ErrorCode::Kicked);
        Ok(1)
    }

    fn say_as_operator(
        &mut self,
        to: OperatorAudience,
        text: &str,
    ) -> Result<usize, OperatorProblem> {
        let text = ChatText::parse(text).map_err(bad_text)?;
        let (channel, conns, player) = match to {
            OperatorAudience::All => (world::Channel::Lobby, self.players.connected(), 0),
            OperatorAudience::Room(room) => {
                self.rooms.get(room).ok_or(OperatorProblem::NoSuchRoom(room))?;
                (world::Channel::Room, self.member_conns(room, None), 0)
            }
            OperatorAudience::Player(player) => {
                let known =
                    self.players.get(player).ok_or(OperatorProblem::NoSuchPlayer(player))?;
                (world::Channel::Whisper, known.conn.into_iter().collect(), player.0)
            }
        };
        let chat = world::Chat {
            channel: channel.into(),
            from: 0,
            from_name: SENDER.to_owned(),
            text: text.into_string(),
            to: player,
        };
        let reached = conns.len();
        self.outbox.broadcast(conns, Body::Chat(chat));
        Ok(reached)
    }

    fn close_by_operator(
        &mut self,
        now: LocalTime,
        id: RoomId,
        reason: &str,
    ) -> Result<usize, OperatorProblem> {
        let why = refusal(ErrorCode::RoomClosed, "an operator closed the room", reason)?;
        // Players know the first map of a world alone.
        let room = self.rooms.get(id).filter(|room| room.map_identity.is_none());
        let members = room.ok_or(OperatorProblem::NoSuchRoom(id))?.seats.players().count();
        self.close_room(now, id, why);
        Ok(members)
    }
}

/// For players; a reason may be missing.
fn refusal(code: ErrorCode, what: &str, reason: &str) -> Result<LobbyRefusal, OperatorProblem> {
    if reason.trim().is_empty() {
        return Ok(LobbyRefusal::new(code, what));
    }
    let reason = ChatText::parse(reason).map_err(bad_text)?.into_string();
    Ok(LobbyRefusal::new(code, format!("{what}: {reason}")))
}

fn bad_text(refusal: LobbyRefusal) -> OperatorProblem {
    OperatorProblem::BadText(refusal.message)
}
