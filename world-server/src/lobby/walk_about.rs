//! Bots that walk about in a room, so that nobody has to walk alone.
//!
//! The request of a room's host goes in, [`LobbyAction::StartBot`] comes out for each bot. A bot is
//! a player whose session is opened here; the shell's client resumes it with its token. So it has
//! its name and its seat at once, and needs no password. What it does in the game is decided
//! elsewhere.
//!
//! Invariants:
//! 1. There are at most [`LobbyConfig::bots`] bots, and players from one address have a quarter of
//!    them at most, unless the operator trusts the address.
//! 2. A bot that loses its seat or its connection ends, whatever the reason: it never comes back.
//! 3. A room with bots has a player who is none, and its host is none: bots have no room of their
//!    own. While such a player is in the room, though, bots that play count as clients of its
//!    game: it is not abandoned (`rooms::unplayed`), even if that player is only in the lobby.
//! 4. A bot keeps nobody out: it gives its seat to a player who joins a full room.
//!
//! [`LobbyConfig::bots`]: crate::lobby::LobbyConfig::bots
//! [`LobbyAction::StartBot`]: crate::lobby::LobbyAction::StartBot

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_transport::address::SourceNetwork;

use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::text::PlayerName;
use crate::lobby::timers::Timer;
use crate::lobby::{Lobby, LobbyAction, RequestOutcome};

/// How long a bot may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Players from one address may have this part of all bots.
const SHARES: u32 = 4;

/// The bots of the lobby.
#[derive(Debug, Default)]
pub(in crate::lobby) struct InvitedBots {
    bots: BTreeMap<PlayerId, InvitedBot>,
    /// Those that have lost their seat or their connection; their sessions are about to end.
    lost: Vec<PlayerId>,
}

#[derive(Clone, Copy, Debug)]
struct InvitedBot {
    /// In its name.
    number: u32,
    /// Where the player was who invited it; `None` for a trusted address.
    invited_from: Option<SourceNetwork>,
}

impl InvitedBots {
    pub(in crate::lobby) fn contains(&self, player: PlayerId) -> bool {
        self.bots.contains_key(&player)
    }

    /// A player has lost its seat or its connection.
    pub(in crate::lobby) fn note_lost(&mut self, player: PlayerId) {
        if self.contains(player) {
            self.lost.push(player);
        }
    }

    #[cfg(test)]
    pub(in crate::lobby) fn iter(&self) -> impl Iterator<Item = PlayerId> {
        self.bots.keys().copied()
    }

    /// The number of further bots for a player from this network, of so many in the whole lobby.
    fn room_for(&self, network: Option<SourceNetwork>, most: u32) -> u32 {
        let left = |share: u32, used: usize| share.saturating_sub(used as u32);
        let of_all = left(most, self.bots.len());
        let Some(network) = network else {
            return of_all;
        };
        let same = |bot: &&InvitedBot| bot.invited_from == Some(network);
        let of_network = self.bots.values().filter(same).count();
        of_all.min(left(most.div_ceil(SHARES), of_network))
    }

    /// The lowest number that no bot has.
    fn free_number(&self) -> u32 {
        let is_taken = |number: u32| self.bots.values().any(|bot| bot.number == number);
        let mut number = 1;
        while is_taken(number) {
            number += 1;
        }
        number
    }
}

impl Lobby {
    /// Gives seats of the player's room to bots, as many as there are places for.
    pub(in crate::lobby) fn invite_bots(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        count: u32,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let id = self.room_of(player)?;
        let room = self.rooms.at(id);
        let refuse = |code, message| Err(LobbyRefusal::new(code, message));
        if room.host != player {
            return refuse(ErrorCode::NotHost, "only the room's host may invite bots");
        }
        if self.config.bots == 0 {
            return refuse(ErrorCode::Unsupported, "this server runs no bots");
        }
        let game = self.known_game(&room.game)?;
        if !game.has_walk {
            let message = "this game has no command to walk to a place, which is all that bots do";
            return refuse(ErrorCode::Unsupported, message);
        }
        if room.has_started() && !game.join_running {
            let message = "the game has started, and nobody can join it now";
            return refuse(ErrorCode::AlreadyRunning, message);
        }
        let on_map = room.map_seats().saturating_sub(room.player_count());
        let seats = room.seats.free_count().min(on_map);
        if seats == 0 {
            return refuse(ErrorCode::RoomFull, "all seats of the room are taken");
        }
        let conn = self.players.at(player).conn;
        let network = self.charged_network(conn);
        self.check_bot_starts(now, network)?;
        let places = self.bots.room_for(network, self.config.bots);
        if places == 0 {
            let message = "all bots that you may have are out; they return when the other players \
                of their room leave";
            return refuse(ErrorCode::TryAgain, message);
        }
        let count = count.min(seats).min(places);
        self.charge_bot_starts(now, network, count);
        for _ in 0..count {
            self.add_bot(now, id, network);
        }
        self.mark_roster_changed(now, id);
        self.mark_room_changed(now, id);
        let invited = world::BotsInvited { count };
        Ok(RequestOutcome::Immediate(Body::BotsInvited(invited)))
    }

    fn add_bot(&mut self, now: LocalTime, room: RoomId, invited_from: Option<SourceNetwork>) {
        let number = self.bots.free_number();
        let name = PlayerName::parse(&format!("bot-{number}")).expect("a valid name");
        let bot = self.players.add(Some(name), None, None, &self.config);
        let invited = InvitedBot { number, invited_from };
        self.bots.bots.insert(bot, invited);
        self.players.at_mut(bot).room = Some(room);
        let seats = &mut self.rooms.at_mut(room).seats;
        seats.take(bot).expect("there is a free seat");
        seats.set_ready(bot, true);
        self.timers.set(Timer::Grace(bot), now + CONNECT_TIMEOUT);
        let token = self.players.token(bot);
        self.outbox.push(LobbyAction::StartBot { player: bot, token });
    }

    /// Takes a bot out of a room that is full, or whose first map is, for a player who is about to
    /// join it.
    pub(in crate::lobby) fn free_bot_seat(&mut self, now: LocalTime, room: RoomId) {
        let room = self.rooms.at(room);
        let is_map_full = room.player_count() >= room.map_seats();
        if !is_map_full && room.seats.free_count() > 0 {
            return;
        }
        let bot = room.seats.players().find(|player| {
            let is_there = room.is_on_first_map(*player);
            self.bots.contains(*player) && (is_there || !is_map_full)
        });
        if let Some(bot) = bot {
            let why = LobbyRefusal::new(ErrorCode::RoomFull, "a player takes the seat");
            self.remove_player(now, bot, why);
        }
    }

    /// Ends the sessions of bots that have lost their seat or their connection.
    pub(in crate::lobby) fn end_bots(&mut self, now: LocalTime) {
        while let Some(bot) = self.bots.lost.pop() {
            self.bots.bots.remove(&bot);
            let Some(player) = self.players.get(bot) else {
                continue;
            };
            if let Some(conn) = player.conn {
                let why = LobbyRefusal::new(ErrorCode::RoomClosed, "the bot is not needed now");
                self.begin_close(conn, why);
            }
            self.end_session(now, bot);
        }
    }
}
