//! Who may join a room, and who may start it.

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::PlayerId;
use ambit_proto::time::LocalTime;

use crate::catalog::GameCatalog;
use crate::config::LobbyConfig;
use crate::refusal::LobbyRefusal;
use crate::request::JoinRoomRequest;
use crate::rooms::Rooms;
use crate::rooms::bans::BarredBy;
use crate::rooms::parameters::requires_ready;
use crate::rooms::password_guesses::FREE_OF_SESSION;
use crate::rooms::room::LobbyRoom;
use crate::sessions::Sessions;
use crate::stats::LobbyCounters;

impl Rooms {
    /// Checks whether the player may join, apart from the password and free seats.
    pub(crate) fn check_join(
        &self,
        player: PlayerId,
        join: &JoinRoomRequest,
        sessions: &Sessions,
    ) -> Result<&LobbyRoom, LobbyRefusal> {
        let Some(room) = self.get(join.room).filter(|room| room.map_identity.is_none()) else {
            return Err(LobbyRefusal::new(
                ErrorCode::NoSuchRoom,
                format!("there is no room {}", join.room),
            ));
        };
        room.check_bans(player, sessions)?;
        if room.door.is_locked {
            let message = format!("an operator has locked room {}", room.id);
            return Err(LobbyRefusal::new(ErrorCode::RoomLocked, message));
        }
        Ok(room)
    }

    /// Checks the password, and counts wrong ones; see `password_guesses`.
    pub(crate) fn check_password(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &JoinRoomRequest,
        config: &LobbyConfig,
        sessions: &mut Sessions,
        counters: &mut LobbyCounters,
    ) -> Result<(), LobbyRefusal> {
        let id = join.room;
        // People share a trusted network: there only sessions are limited.
        let network = sessions.network_of(player).filter(|_| !sessions.is_trusted(player));
        let room = self.at(id);
        let Some(password) = &room.door.password else {
            return Ok(());
        };
        let wrong = format!("that is not the password of room {id}");
        let wrong = LobbyRefusal::new(ErrorCode::WrongPassword, wrong);
        let Some(shown) = &join.password else {
            // Not a guess: a client asks without one first.
            return Err(wrong);
        };
        let of_session = sessions.player(player).allowances.password_guesses;
        let of_network = network.and_then(|network| room.door.guesses.pause_left(now, &network));
        if let Some(pause) = of_session.pause_left(now, FREE_OF_SESSION).max(of_network) {
            counters.password_guesses_refused += 1;
            let seconds = pause.as_millis().div_ceil(1_000);
            let message = format!("too many wrong passwords; try again in {seconds} s");
            return Err(LobbyRefusal::new(ErrorCode::TryAgain, message));
        }
        if password.is(config.server_secret.as_ref(), shown) {
            return Ok(());
        }
        sessions.player_mut(player).allowances.password_guesses.note_wrong(now);
        if let Some(network) = network {
            self.at_mut(id).door.guesses.note_wrong(now, network);
        }
        Err(wrong)
    }
}

impl LobbyRoom {
    /// Checks that no ban of the room applies to the player. The network alone does not bar people
    /// from a network that is known to be shared: a trusted one, or one that another member comes
    /// from, unless too many of its players were put out.
    pub(crate) fn check_bans(
        &self,
        player: PlayerId,
        sessions: &Sessions,
    ) -> Result<(), LobbyRefusal> {
        let network = sessions.network_of(player);
        let known = sessions.player(player);
        let id = self.id;
        let message = match self.door.bans.check(player, (known.name(), known.account), network) {
            None => return Ok(()),
            Some(BarredBy::Session | BarredBy::Account) => {
                format!("the host of room {id} put you out")
            }
            Some(BarredBy::Name) => format!(
                "the host of room {id} put out a player with your name, or one that looks like it"
            ),
            Some(BarredBy::Network) => {
                let is_shared =
                    self.seats.players().any(|member| sessions.network_of(member) == network);
                if is_shared || sessions.is_trusted(player) {
                    return Ok(());
                }
                format!("the host of room {id} put out a player who came from your address")
            }
            Some(BarredBy::WholeNetwork) => {
                if sessions.is_trusted(player) {
                    return Ok(());
                }
                format!("the host of room {id} put out several players who came from your address")
            }
        };
        Err(LobbyRefusal::new(ErrorCode::Kicked, message))
    }

    /// Checks that a player may come into a room that has started.
    pub(crate) fn check_joinable(&self, games: &GameCatalog) -> Result<(), LobbyRefusal> {
        if !self.has_started() || games.get(&self.game).is_some_and(|game| game.join_running) {
            return Ok(());
        }
        let message =
            format!("room {} has started, and {} can't be joined then", self.id, self.game);
        Err(LobbyRefusal::new(ErrorCode::AlreadyRunning, message))
    }

    /// Checks for a free seat on the first map, where new members begin.
    pub(crate) fn check_first_map(&self) -> Result<(), LobbyRefusal> {
        if self.player_count() < self.map_seats() || self.seats.taken() >= self.seats.capacity() {
            return Ok(()); // Other checks report what is wrong with the room itself.
        }
        let message = format!(
            "all {} seats of the first map of room {} are taken; try again",
            self.map_seats(),
            self.id
        );
        Err(LobbyRefusal::new(ErrorCode::RoomFull, message))
    }

    /// Checks whether the player may start the room now.
    pub(crate) fn check_start(
        &self,
        player: PlayerId,
        games: &GameCatalog,
        sessions: &Sessions,
    ) -> Result<(), LobbyRefusal> {
        if self.host != player {
            return Err(LobbyRefusal::new(ErrorCode::NotHost, "only the room's host may start it"));
        }
        if self.has_started() {
            return Err(LobbyRefusal::new(
                ErrorCode::AlreadyRunning,
                format!("room {} has started already", self.id),
            ));
        }
        let seats = self.seats.iter();
        let there: Vec<_> =
            seats.filter(|seat| sessions.player(seat.player).conn.is_some()).collect();
        let needed = games.get(&self.game).map_or(1, |game| game.min_players);
        if (there.len() as u32) < needed {
            let message =
                format!("{} takes {needed} players, {} are there", self.game, there.len());
            return Err(LobbyRefusal::new(ErrorCode::NotEnoughPlayers, message));
        }
        let waiting_for = there.iter().filter(|seat| seat.player != player && !seat.ready).count();
        if requires_ready(&self.settings.parameters) && waiting_for > 0 {
            return Err(LobbyRefusal::new(
                ErrorCode::NotReady,
                format!("{waiting_for} players are not ready"),
            ));
        }
        Ok(())
    }
}
