//! Membership of rooms: create, join, leave, ready, kick, and the end of a room.

use std::time::Duration;

use ambit_host_protocol::messages::{RoomOrder, WorldOrder};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PartyId, PlayerId, RoomId};
use ambit_proto::standing::Standing;
use ambit_proto::time::LocalTime;
use ambit_room::config::MAX_CAPACITY;

use crate::lobby::Lobby;
use crate::lobby::config::LobbyGame;
use crate::lobby::operator_event::OperatorEvent;
use crate::lobby::output::{self, ConnId, DONE, RequestOutcome};
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::request::{CreateRoomRequest, DEFAULT_CAPACITY, JoinRoomRequest};
use crate::lobby::rooms::bans::{Ban, BarredBy};
use crate::lobby::rooms::parameters::{READY, check_parameters, ready_parameter};
use crate::lobby::rooms::password_guesses::FREE_OF_SESSION;
use crate::lobby::rooms::room::{LobbyRoom, NO_PLAYER, RoomLife, RoomMaker, RoomPhase};
use crate::lobby::rooms::stored_password::StoredPassword;
use crate::lobby::timers::Timer;

/// A world of the operator's list that has ended is opened again after this time.
const REOPEN_AFTER: Duration = Duration::from_secs(5);

impl Lobby {
    /// Creates a room; its creator joins it as the room's host. A repeated request gets the room of
    /// the first one in its current state. If that room was closed, or the player has left it, the
    /// answer is an error, not a second room.
    pub(in crate::lobby) fn create_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        create: CreateRoomRequest,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        if let Some(room) = create
            .key
            .and_then(|key| self.sessions.player_mut(player).creations.room_for_key(now, key))
        {
            // The answer tells the creator that it is a member.
            let made =
                self.rooms.get(room).filter(|_| self.sessions.player(player).room == Some(room));
            let made = made.ok_or_else(|| {
                let message = format!(
                    "room {room}, which this key made, is gone, or you have left it; use a new key"
                );
                LobbyRefusal::new(ErrorCode::NoSuchRoom, message)
            })?;
            return Ok(room_created(made));
        }
        let id = self.make_room(now, player, create)?;
        let answer = room_created(self.rooms.at(id));
        let joined = self.room_joined(id);
        self.notify(player, Body::RoomJoined(joined));
        self.bring_party(now, player, id);
        Ok(answer)
    }

    /// Creates a room, and gives the player its first seat.
    pub(in crate::lobby) fn make_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        create: CreateRoomRequest,
    ) -> Result<RoomId, LobbyRefusal> {
        self.check_in_no_room(player)?;
        self.check_end_is_far(now)?;
        self.check_creation(&create)?;
        self.sessions.check_party_seats(player, create.capacity)?;
        self.check_room_limits(now, player)?;
        self.check_directory()?;

        let key = create.key;
        let network = self.sessions.player(player).network;
        let salt = self.sessions.random_bytes();
        let secret = self.config.server_secret.as_ref();
        let password = create.password.as_ref();
        let password = password.map(|password| StoredPassword::new(secret, salt, password));
        let is_lasting = self.game(&create.game).is_some_and(|game| game.is_lasting);
        let room = self.rooms.add(RoomMaker { player, network }, create);
        room.password = password;
        if is_lasting {
            room.life = RoomLife::Lasting;
        }
        let id = room.id;
        let maker = self.sessions.player_mut(player);
        maker.room = Some(id);
        maker.creations.add(now, key, id);
        self.effects.counters.rooms_made += 1;
        self.effects.report(self.rooms.at(id).made_event());
        self.report_room_joined(id, player);
        self.mark_room_changed(now, id);
        Ok(id)
    }

    /// Gives the player a seat. A member of the room gets the same answer again, and a new ticket
    /// if the room runs.
    pub(in crate::lobby) fn join_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &JoinRoomRequest,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        if self.sessions.player(player).room != Some(join.room) {
            self.check_in_no_room(player)?;
            self.check_join(now, player, join)?;
            self.free_waiting_seat(now, join.room);
            self.check_first_map(join.room)?;
            self.sessions.check_party_seats(player, self.rooms.at(join.room).free_places())?;
            self.take_seat(now, player, join.room)?;
            self.bring_party(now, player, join.room);
            self.start_by_itself(now, join.room);
        }
        self.send_ticket(now, player);
        self.tell_that_it_waits(player, join.room);
        Ok(RequestOutcome::Immediate(Body::RoomJoined(self.room_joined(join.room))))
    }

    /// Gives the player, who is in no room, a seat that is free.
    pub(in crate::lobby) fn take_seat(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        id: RoomId,
    ) -> Result<(), LobbyRefusal> {
        let room = self.rooms.at_mut(id);
        room.seats.take(player).map_err(|_| {
            let message = format!("all {} seats of room {id} are taken", room.seats.capacity());
            LobbyRefusal::new(ErrorCode::RoomFull, message)
        })?;
        if room.host == NO_PLAYER && room.life == RoomLife::Lasting {
            room.host = player;
        }
        self.sessions.player_mut(player).room = Some(id);
        self.unplayed.forget(id);
        self.report_room_joined(id, player);
        self.mark_roster_changed(now, id);
        self.mark_room_changed(now, id);
        Ok(())
    }

    /// Accepts an invitation. The player comes into the room of the party's leader, if it is in
    /// none.
    pub(in crate::lobby) fn join_party(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        party: PartyId,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let joined = self.sessions.join_party(player, party, &mut self.effects.outbox)?;
        if let Some((leader, room)) = joined {
            self.bring_party(now, leader, room);
        }
        Ok(DONE)
    }

    /// Gives seats in the leader's room to those of its party who are in no room. Who was put out
    /// of the room does not get one, and none does if the room is locked.
    pub(in crate::lobby) fn bring_party(&mut self, now: LocalTime, leader: PlayerId, id: RoomId) {
        for member in self.sessions.who_joins(leader).into_iter().skip(1) {
            let room = self.rooms.at(id);
            if room.free_places() == 0 || room.is_locked || self.check_bans(member, room).is_err() {
                continue;
            }
            if self.take_seat(now, member, id).is_err() {
                continue;
            }
            let joined = self.room_joined(id);
            self.notify(member, Body::RoomJoined(joined));
            self.send_ticket(now, member);
        }
    }

    /// What a player is in a room, or in the world that begins with it.
    pub(in crate::lobby) fn standing_of(&self, room: RoomId, player: PlayerId) -> Standing {
        let maker = self.rooms.get(room).and_then(|room| room.maker);
        self.sessions.standing_of(player, maker.is_some_and(|maker| maker.player == player))
    }

    pub(in crate::lobby) fn leave_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let room = self.room_of(player)?;
        self.vacate_seat(now, player, ErrorCode::ErrorUnspecified);
        Ok(RequestOutcome::Immediate(room_left_body(
            room,
            LobbyRefusal::new(ErrorCode::ErrorUnspecified, "you left the room"),
        )))
    }

    pub(in crate::lobby) fn set_ready(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        ready: bool,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let room = self.room_of(player)?;
        self.rooms.at_mut(room).seats.set_ready(player, ready);
        self.mark_roster_changed(now, room);
        self.start_by_itself(now, room);
        Ok(DONE)
    }

    /// Removes a member from the room and bans it; see `bans`.
    pub(in crate::lobby) fn kick(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        target: PlayerId,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let id = self.room_of(player)?;
        let room = self.rooms.at(id);
        if room.host != player {
            return Err(LobbyRefusal::new(ErrorCode::NotHost, "only the room's host may kick"));
        }
        if target == player || !room.seats.contains(target) {
            return Err(LobbyRefusal::new(
                ErrorCode::NoSuchPlayer,
                format!("no other member of room {id} has the id {target}"),
            ));
        }
        let ban = Ban {
            player: target,
            name: self.sessions.player(target).name().clone(),
            account: self.sessions.player(target).account,
            network: self.sessions.network_of(target),
            newest_session: PlayerId(self.sessions.players().last_id()),
            bars_network: false,
        };
        let bars_network = self.rooms.at_mut(id).bans.add(now, ban);
        let barred = if bars_network {
            "your session, your name and your address are barred from this room"
        } else {
            "your session and your name are barred from this room, and, unless other players share \
             it, your address"
        };
        let name = self.sessions.player(target).name().as_str().to_owned();
        let (room, by) = (id.0, player.0);
        self.effects.report(OperatorEvent::RoomKicked { room, player: target.0, name, by });
        let message = format!("the room's host put you out; {barred}");
        let why = LobbyRefusal::new(ErrorCode::Kicked, message);
        self.remove_player(now, target, why);
        Ok(DONE)
    }

    /// Removes the player from its room and notifies it of the reason.
    pub(in crate::lobby) fn remove_player(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        why: LobbyRefusal,
    ) {
        if let Some(room) = self.sessions.player(player).room {
            self.vacate_seat(now, player, why.code);
            self.notify(player, room_left_body(room, why));
        }
    }

    /// Frees the player's seat, if it has one. Notifies the game host of a running room, gives the
    /// room a new host if needed, and closes an empty room.
    pub(in crate::lobby) fn vacate_seat(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        reason: ErrorCode,
    ) {
        let Some(id) = self.sessions.player(player).room else {
            return;
        };
        self.leave_maps(now, player, id, reason);
        self.free_seat(now, player, id, reason);
        let room = self.rooms.at_mut(id);
        if room.has_started() {
            room.note_departure(now, player);
        }
        self.remove_from_game(player, id, reason);
        self.settle_after_leave(now, id);
    }

    /// Notifies the host of a running game that a player has left and that the player's tickets are
    /// revoked.
    pub(in crate::lobby) fn remove_from_game(
        &mut self,
        player: PlayerId,
        id: RoomId,
        reason: ErrorCode,
    ) {
        if let Some(host) = self.reachable_host(id) {
            let revoked_until = self.effects.counters.tickets;
            let remove = RoomOrder::RemovePlayer { player, reason, revoked_until };
            self.effects.outbox.send_to_room(host, id, remove);
        }
    }

    /// As `vacate_seat`, when the game host reported that the player left. The host is notified
    /// too, since the player may still hold tickets.
    pub(in crate::lobby) fn vacate_seat_by_host(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        id: RoomId,
        reason: ErrorCode,
    ) {
        self.leave_maps(now, player, id, reason);
        self.free_seat(now, player, id, reason);
        self.remove_from_game(player, id, reason);
        self.settle_after_leave(now, id);
    }

    /// Closes a room and notifies its members and its game host.
    pub(in crate::lobby) fn close_room(&mut self, now: LocalTime, id: RoomId, why: LobbyRefusal) {
        if let Some(host) = self.reachable_host(id) {
            let close = WorldOrder::CloseRoom { room: id, reason: why.code };
            self.effects.outbox.send_to_host(host, close);
            self.note_closed_room(id, host);
        }
        self.close_room_by_host(now, id, why);
    }

    /// As `close_room`, when the game host has closed the room or was lost. Members who are away
    /// receive the reason when they come back.
    pub(in crate::lobby) fn close_room_by_host(
        &mut self,
        now: LocalTime,
        id: RoomId,
        why: LobbyRefusal,
    ) {
        if self.rooms.get(id).is_some_and(|room| room.map_identity.is_some()) {
            return self.handle_map_lost(now, id, &why);
        }
        self.set_aside_unrestored(id, &why);
        let Some(room) = self.rooms.remove(id) else {
            return;
        };
        self.effects.report(OperatorEvent::RoomEnded {
            room: id.0,
            name: room.name().as_str().to_owned(),
            why: codes::name(why.code),
            message: why.message.clone(),
        });
        if room.life == RoomLife::Operated {
            self.effects.timers.set_if_unset(Timer::Worlds, now + REOPEN_AFTER);
        }
        self.close_maps(&room, &why);
        self.fleet.note_change();
        if room.has_started() {
            self.effects.outbox.push(output::LobbyAction::ForgetRoom { room: id });
            self.forget_store_jobs(id);
        }
        if let RoomPhase::Opening { starter: Some(starter), .. } = room.phase {
            self.effects.counters.count_refused(why.code);
            self.send_deferred_answer(starter, output::error_body(why.clone()));
        }
        let conns = self.room_conns(&room, None);
        for player in room.seats.players() {
            self.sessions.return_to_lobby(now, player);
            let known = self.sessions.player_mut(player);
            if known.conn.is_none() {
                known.lost_room = Some((id, why.clone()));
            }
        }
        self.effects.outbox.broadcast(conns, room_left_body(id, why));
        self.effects.timers.cancel(Timer::Opening(id));
        self.effects.timers.cancel(Timer::Quarantine(id));
        self.effects.timers.cancel(Timer::Roster(id));
        self.clear_restored(id);
        self.mark_room_changed(now, id);
    }

    pub(in crate::lobby) fn room_of(&self, player: PlayerId) -> Result<RoomId, LobbyRefusal> {
        let refusal = || {
            LobbyRefusal::new(ErrorCode::NotInRoom, "you are in no room; join or create one first")
        };
        self.sessions.player(player).room.ok_or_else(refusal)
    }

    pub(in crate::lobby) fn game(&self, name: &str) -> Option<&LobbyGame> {
        self.games.iter().find(|game| game.name == name)
    }

    pub(in crate::lobby) fn known_game(&self, name: &str) -> Result<&LobbyGame, LobbyRefusal> {
        self.game(name).ok_or_else(|| {
            let known: Vec<_> = self.games.iter().map(|game| game.name.as_str()).collect();
            let message = format!("there is no game of that name; there is: {}", known.join(", "));
            LobbyRefusal::new(ErrorCode::UnknownGame, message)
        })
    }

    /// Answers with what a room of a game can be created.
    pub(in crate::lobby) fn describe_game(
        &self,
        name: &str,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let game = self.known_game(name)?;
        let max_capacity = game.max_capacity.min(MAX_CAPACITY);
        Ok(RequestOutcome::Immediate(Body::GameDescription(world::GameDescription {
            game: game.name.clone(),
            parameters: [&game.parameters[..], &[ready_parameter()]].concat(),
            default_capacity: DEFAULT_CAPACITY.min(max_capacity),
            max_capacity,
            presentation: game.presentation.clone(),
            schema: game.schema.clone(),
        })))
    }

    /// The connections of the connected members, in the order of their joins.
    pub(in crate::lobby) fn member_conns(
        &self,
        room: RoomId,
        except: Option<PlayerId>,
    ) -> Vec<ConnId> {
        self.room_conns(self.rooms.at(room), except)
    }

    /// Sends an event to a player, unless it is away.
    pub(in crate::lobby) fn notify(&mut self, player: PlayerId, body: Body) {
        self.sessions.notify(player, body, &mut self.effects.outbox);
    }

    fn room_conns(&self, room: &LobbyRoom, except: Option<PlayerId>) -> Vec<ConnId> {
        let others = room.seats.players().filter(|player| Some(*player) != except);
        self.sessions.conns_of(others)
    }

    fn report_room_joined(&mut self, id: RoomId, player: PlayerId) {
        let name = self.sessions.name_of(player);
        self.effects.report(OperatorEvent::RoomJoined { room: id.0, player: player.0, name });
    }

    fn free_seat(&mut self, now: LocalTime, player: PlayerId, id: RoomId, why: ErrorCode) {
        let had_seat = self.rooms.at_mut(id).seats.free(player);
        assert!(had_seat, "a player in a room has a seat there");
        self.sessions.return_to_lobby(now, player);
        let (name, why) = (self.sessions.name_of(player), codes::name(why));
        self.effects.report(OperatorEvent::RoomLeft { room: id.0, player: player.0, name, why });
        self.mark_room_changed(now, id);
    }

    /// After a seat was freed: closes a room that is empty, and chooses a new host if the host has
    /// left.
    fn settle_after_leave(&mut self, now: LocalTime, id: RoomId) {
        let room = self.rooms.at(id);
        let Some(first) = room.seats.players().next() else {
            if room.is_lasting() && room.has_started() {
                self.rooms.at_mut(id).host = NO_PLAYER;
                return self.mark_roster_changed(now, id);
            }
            return self.close_room(
                now,
                id,
                LobbyRefusal::new(ErrorCode::RoomClosed, "everybody has left"),
            );
        };
        if room.life != RoomLife::Operated && !room.seats.contains(room.host) {
            let connected =
                room.seats.players().find(|player| self.sessions.player(*player).conn.is_some());
            self.rooms.at_mut(id).host = connected.unwrap_or(first);
        }
        self.mark_roster_changed(now, id);
    }

    fn check_in_no_room(&self, player: PlayerId) -> Result<(), LobbyRefusal> {
        match self.sessions.player(player).room {
            None => Ok(()),
            Some(room) => {
                let message = format!("you are in room {room}; leave it first");
                Err(LobbyRefusal::new(ErrorCode::AlreadyInRoom, message))
            }
        }
    }

    /// Checks whether such a room can be played.
    fn check_creation(&self, create: &CreateRoomRequest) -> Result<(), LobbyRefusal> {
        let game = self.known_game(&create.game)?;
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

    /// Checks whether rooms can be created and started: the other servers have to know what is
    /// confirmed.
    pub(in crate::lobby) fn check_directory(&self) -> Result<(), LobbyRefusal> {
        if self.records.are_stored_in_time() {
            return Ok(());
        }
        let message = "the servers' directory (NATS) can't be written at the moment; try again in \
            a few seconds";
        Err(LobbyRefusal::new(ErrorCode::TryAgain, message))
    }

    /// Checks whether the player may join, apart from free seats.
    fn check_join(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &JoinRoomRequest,
    ) -> Result<(), LobbyRefusal> {
        let Some(room) = self.rooms.get(join.room).filter(|room| room.map_identity.is_none())
        else {
            return Err(LobbyRefusal::new(
                ErrorCode::NoSuchRoom,
                format!("there is no room {}", join.room),
            ));
        };
        self.check_bans(player, room)?;
        if room.is_locked {
            let message = format!("an operator has locked room {}", room.id);
            return Err(LobbyRefusal::new(ErrorCode::RoomLocked, message));
        }
        self.check_password(now, player, join)?;
        let room = self.rooms.at(join.room);
        let may_join_running = self.game(&room.game).is_some_and(|game| game.join_running);
        if room.has_started() && !may_join_running {
            let message =
                format!("room {} has started, and {} can't be joined then", join.room, room.game);
            return Err(LobbyRefusal::new(ErrorCode::AlreadyRunning, message));
        }
        Ok(())
    }
}

/// Who may not join.
impl Lobby {
    /// Checks that no ban of the room applies to the player. The network alone does not bar people
    /// from a network that is known to be shared: a trusted one, or one that another member comes
    /// from, unless too many of its players were put out.
    pub(in crate::lobby) fn check_bans(
        &self,
        player: PlayerId,
        room: &LobbyRoom,
    ) -> Result<(), LobbyRefusal> {
        let network = self.sessions.network_of(player);
        let known = self.sessions.player(player);
        let id = room.id;
        let message = match room.bans.check(player, (known.name(), known.account), network) {
            None => return Ok(()),
            Some(BarredBy::Session | BarredBy::Account) => {
                format!("the host of room {id} put you out")
            }
            Some(BarredBy::Name) => format!(
                "the host of room {id} put out a player with your name, or one that looks like it"
            ),
            Some(BarredBy::Network) => {
                let is_shared =
                    room.seats.players().any(|member| self.sessions.network_of(member) == network);
                if is_shared || self.sessions.is_trusted(player) {
                    return Ok(());
                }
                format!("the host of room {id} put out a player who came from your address")
            }
            Some(BarredBy::WholeNetwork) => {
                if self.sessions.is_trusted(player) {
                    return Ok(());
                }
                format!("the host of room {id} put out several players who came from your address")
            }
        };
        Err(LobbyRefusal::new(ErrorCode::Kicked, message))
    }

    /// Checks the password, and counts wrong ones; see `password_guesses`.
    fn check_password(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &JoinRoomRequest,
    ) -> Result<(), LobbyRefusal> {
        let id = join.room;
        // People share a trusted network: there only sessions are limited.
        let network =
            self.sessions.network_of(player).filter(|_| !self.sessions.is_trusted(player));
        let room = self.rooms.at(id);
        let Some(password) = &room.password else {
            return Ok(());
        };
        let wrong = format!("that is not the password of room {id}");
        let wrong = LobbyRefusal::new(ErrorCode::WrongPassword, wrong);
        let Some(shown) = &join.password else {
            // Not a guess: a client asks without one first.
            return Err(wrong);
        };
        let of_session = self.sessions.player(player).password_guesses;
        let of_network = network.and_then(|network| room.guesses.pause_left(now, &network));
        if let Some(pause) = of_session.pause_left(now, FREE_OF_SESSION).max(of_network) {
            self.effects.counters.password_guesses_refused += 1;
            let seconds = pause.as_millis().div_ceil(1_000);
            let message = format!("too many wrong passwords; try again in {seconds} s");
            return Err(LobbyRefusal::new(ErrorCode::TryAgain, message));
        }
        if password.is(self.config.server_secret.as_ref(), shown) {
            return Ok(());
        }
        self.sessions.player_mut(player).password_guesses.note_wrong(now);
        if let Some(network) = network {
            self.rooms.at_mut(id).guesses.note_wrong(now, network);
        }
        Err(wrong)
    }
}

pub(in crate::lobby) fn room_left_body(room: RoomId, why: LobbyRefusal) -> Body {
    Body::RoomLeft(world::RoomLeft { room: room.0, reason: why.code.into(), message: why.message })
}

fn room_created(room: &LobbyRoom) -> RequestOutcome {
    RequestOutcome::Immediate(Body::RoomCreated(world::RoomCreated { room: Some(room.listing()) }))
}
