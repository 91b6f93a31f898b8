//! Membership of rooms: create, join, leave, ready, kick, and the end of a room.

use std::time::Duration;

use ambit_host_protocol::messages::{RoomOrder, WorldOrder};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PartyId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use crate::Lobby;
use crate::operator_event::OperatorEvent;
use crate::output::{self, DONE, RequestOutcome};
use crate::refusal::LobbyRefusal;
use crate::request::{CreateRoomRequest, JoinRoomRequest, QuickJoinRequest};
use crate::rooms::bans::Ban;
use crate::rooms::room::{LobbyRoom, NO_PLAYER, RoomLife, RoomMaker, RoomPhase, room_left_body};
use crate::rooms::running::no_host_available;
use crate::rooms::stored_password::StoredPassword;
use crate::timers::Timer;

/// A world of the operator's list that has ended is opened again after this time.
const REOPEN_AFTER: Duration = Duration::from_secs(5);

impl Lobby {
    /// Creates a room; its creator joins it as the room's host. A repeated request gets the room of
    /// the first one in its current state. If that room was closed, or the player has left it, the
    /// answer is an error, not a second room.
    pub(crate) fn create_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        create: CreateRoomRequest,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        if let Some(room) = create.key.and_then(|key| {
            self.sessions.player_mut(player).allowances.creations.room_for_key(now, key)
        }) {
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
        let joined = self.rooms.joined(id, &self.sessions);
        self.notify(player, joined);
        self.bring_party(now, player, id);
        Ok(answer)
    }

    /// Creates a room, and gives the player its first seat.
    fn make_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        create: CreateRoomRequest,
    ) -> Result<RoomId, LobbyRefusal> {
        self.check_in_no_room(player)?;
        self.end.check_is_far(now)?;
        self.games.check_creation(&create)?;
        self.sessions.check_party_seats(player, create.capacity)?;
        let maker = self.sessions.player_mut(player);
        self.rooms.all().check_limits(now, maker, &self.config)?;
        self.check_directory()?;

        let key = create.key;
        let network = self.sessions.player(player).origin.network;
        let salt = self.sessions.random_bytes();
        let secret = self.config.server_secret.as_ref();
        let password = create.password.as_ref();
        let password = password.map(|password| StoredPassword::new(secret, salt, password));
        let is_lasting = self.games.get(&create.game).is_some_and(|game| game.is_lasting);
        let room = self.rooms.add(RoomMaker { player, network }, create);
        room.door.password = password;
        if is_lasting {
            room.settings.life = RoomLife::Lasting;
        }
        let id = room.id;
        let maker = self.sessions.player_mut(player);
        maker.room = Some(id);
        maker.allowances.creations.add(now, key, id);
        self.effects.counters.rooms.made += 1;
        self.effects.report(self.rooms.at(id).made_event());
        self.report_room_joined(id, player);
        self.rooms.mark_changed(now, id, &mut self.effects.timers);
        Ok(id)
    }

    /// Gives the player a seat. A member of the room gets the same answer again, and a new ticket
    /// if the room runs.
    pub(crate) fn join_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &JoinRoomRequest,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        if self.sessions.player(player).room != Some(join.room) {
            self.check_in_no_room(player)?;
            self.check_join(now, player, join)?;
            self.free_waiting_seat(now, join.room);
            let room = self.rooms.at(join.room);
            room.check_first_map()?;
            self.sessions.check_party_seats(player, room.free_places())?;
            self.take_seat(now, player, join.room)?;
            self.bring_party(now, player, join.room);
            self.start_by_itself(now, join.room);
        }
        self.send_ticket(now, player);
        self.tell_that_it_waits(player, join.room);
        Ok(RequestOutcome::Immediate(self.rooms.joined(join.room, &self.sessions)))
    }

    /// Checks whether the player may join, apart from free seats.
    fn check_join(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &JoinRoomRequest,
    ) -> Result<(), LobbyRefusal> {
        self.rooms.check_join(player, join, &self.sessions)?;
        let counters = &mut self.effects.counters;
        let (config, sessions) = (&self.config, &mut self.sessions);
        self.rooms.check_password(now, player, join, config, sessions, counters)?;
        self.rooms.at(join.room).check_joinable(&self.games)
    }

    /// Gives the player a seat in a room of the game with these parameters. A repeated request gets
    /// the room of the first one.
    pub(crate) fn quick_join(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &QuickJoinRequest,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let game = self.games.known(&join.game)?;
        for room in self.rooms.open_to(player, game, join, &self.sessions) {
            let room = JoinRoomRequest { room, password: None };
            // One that is closed to this player is passed over.
            if let Ok(joined) = self.join_room(now, player, &room) {
                return Ok(joined);
            }
        }
        let id = self.make_quick_room(now, player, join)?;
        self.bring_party(now, player, id);
        self.start_by_itself(now, id);
        Ok(RequestOutcome::Immediate(self.rooms.joined(id, &self.sessions)))
    }

    fn make_quick_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        join: &QuickJoinRequest,
    ) -> Result<RoomId, LobbyRefusal> {
        let game = self.games.known(&join.game)?;
        let create = join.new_room(game, &self.sessions.name_of(player))?;
        let id = self.make_room(now, player, create)?;
        if self.fleet.place_new_room(self.rooms.all(), id).is_none() {
            let why = no_host_available();
            self.vacate_seat(now, player, why.code);
            return Err(why);
        }
        self.rooms.at_mut(id).settings.starts_itself = true;
        Ok(id)
    }

    /// Gives the player, who is in no room, a seat that is free.
    fn take_seat(
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
        if room.host == NO_PLAYER && room.settings.life == RoomLife::Lasting {
            room.host = player;
        }
        self.sessions.player_mut(player).room = Some(id);
        self.rooms.note_joined(id);
        self.report_room_joined(id, player);
        self.rooms.mark_roster_changed(now, id, &mut self.effects.timers);
        self.rooms.mark_changed(now, id, &mut self.effects.timers);
        Ok(())
    }

    /// Accepts an invitation. The player comes into the room of the party's leader, if it is in
    /// none.
    pub(crate) fn join_party(
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
    fn bring_party(&mut self, now: LocalTime, leader: PlayerId, id: RoomId) {
        for member in self.sessions.who_joins(leader).into_iter().skip(1) {
            let room = self.rooms.at(id);
            if room.free_places() == 0
                || room.door.is_locked
                || room.check_bans(member, &self.sessions).is_err()
            {
                continue;
            }
            if self.take_seat(now, member, id).is_err() {
                continue;
            }
            let joined = self.rooms.joined(id, &self.sessions);
            self.notify(member, joined);
            self.send_ticket(now, member);
        }
    }

    pub(crate) fn leave_room(
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

    pub(crate) fn set_ready(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        ready: bool,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let room = self.room_of(player)?;
        self.rooms.at_mut(room).seats.set_ready(player, ready);
        self.rooms.mark_roster_changed(now, room, &mut self.effects.timers);
        self.start_by_itself(now, room);
        Ok(DONE)
    }

    /// Removes a member from the room and bans it; see `bans`.
    pub(crate) fn kick(
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
        let bars_network = self.rooms.at_mut(id).door.bans.add(now, ban);
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
    pub(crate) fn remove_player(&mut self, now: LocalTime, player: PlayerId, why: LobbyRefusal) {
        if let Some(room) = self.sessions.player(player).room {
            self.vacate_seat(now, player, why.code);
            self.notify(player, room_left_body(room, why));
        }
    }

    /// Frees the player's seat, if it has one. Notifies the game host of a running room, gives the
    /// room a new host if needed, and closes an empty room.
    pub(crate) fn vacate_seat(&mut self, now: LocalTime, player: PlayerId, reason: ErrorCode) {
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
    pub(crate) fn remove_from_game(&mut self, player: PlayerId, id: RoomId, reason: ErrorCode) {
        if let Some(host) = self.reachable_host(id) {
            let revoked_until = self.effects.counters.tickets;
            let remove = RoomOrder::RemovePlayer { player, reason, revoked_until };
            self.effects.outbox.send_to_room(host, id, remove);
        }
    }

    /// As `vacate_seat`, when the game host reported that the player left. The host is notified
    /// too, since the player may still hold tickets.
    pub(crate) fn vacate_seat_by_host(
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
    pub(crate) fn close_room(&mut self, now: LocalTime, id: RoomId, why: LobbyRefusal) {
        if let Some(host) = self.reachable_host(id) {
            let close = WorldOrder::CloseRoom { room: id, reason: why.code };
            self.effects.outbox.send_to_host(host, close);
            self.rooms.note_closed(id, host);
        }
        self.close_room_by_host(now, id, why);
    }

    /// As `close_room`, when the game host has closed the room or was lost. Members who are away
    /// receive the reason when they come back.
    pub(crate) fn close_room_by_host(&mut self, now: LocalTime, id: RoomId, why: LobbyRefusal) {
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
        if room.settings.life == RoomLife::Operated {
            self.effects.timers.set_if_unset(Timer::Worlds, now + REOPEN_AFTER);
        }
        self.close_maps(&room, &why);
        self.fleet.note_change();
        if room.has_started() {
            self.effects.outbox.push(output::LobbyAction::ForgetRoom { room: id });
            self.forget_stored(id);
        }
        if let RoomPhase::Opening { starter: Some(starter), .. } = room.run.phase {
            self.effects.counters.count_refused(why.code);
            self.send_deferred_answer(starter, output::error_body(why.clone()));
        }
        let conns = self.sessions.conns_of(room.seats.players());
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
        self.rooms.mark_changed(now, id, &mut self.effects.timers);
    }

    /// Frees a seat of a full room for a player who is about to join it; see `waiting_members`. The
    /// member receives the reason when it comes back.
    fn free_waiting_seat(&mut self, now: LocalTime, id: RoomId) {
        let timers = &self.effects.timers;
        let Some(member) = self.rooms.member_who_gives_way(id, &self.sessions, timers) else {
            return;
        };
        let message =
            format!("you were away, and room {id} was full: another player has your seat");
        let why = LobbyRefusal::new(ErrorCode::Idle, message);
        self.vacate_seat(now, member, why.code);
        self.sessions.player_mut(member).lost_room = Some((id, why));
    }

    pub(crate) fn room_of(&self, player: PlayerId) -> Result<RoomId, LobbyRefusal> {
        let refusal = || {
            LobbyRefusal::new(ErrorCode::NotInRoom, "you are in no room; join or create one first")
        };
        self.sessions.player(player).room.ok_or_else(refusal)
    }

    /// Closes a world that no player has played for this time.
    pub(crate) fn close_abandoned(&mut self, now: LocalTime, world: RoomId, limit: Duration) {
        tracing::info!(
            room = world.0,
            "room closed: nobody has played it for {} s",
            limit.as_secs()
        );
        self.effects.counters.rooms.abandoned += 1;
        let message = format!("nobody has been connected to the game for {} s", limit.as_secs());
        self.close_room(now, world, LobbyRefusal::new(ErrorCode::RoomClosed, message));
    }

    /// A room is gone: nothing that it has asked of the store comes again.
    pub(crate) fn forget_stored(&mut self, id: RoomId) {
        self.rooms.forget_store_jobs(id);
        if let Some(lineage) = self.records.lineage() {
            let action = output::LobbyAction::ForgetStoreJobs { lineage, room: id };
            self.effects.outbox.push(action);
        }
    }

    /// Sends an event to a player, unless it is away.
    pub(crate) fn notify(&mut self, player: PlayerId, body: Body) {
        self.sessions.notify(player, body, &mut self.effects.outbox);
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
        self.rooms.mark_changed(now, id, &mut self.effects.timers);
    }

    /// After a seat was freed: closes a room that is empty, and chooses a new host if the host has
    /// left.
    fn settle_after_leave(&mut self, now: LocalTime, id: RoomId) {
        let room = self.rooms.at(id);
        let Some(first) = room.seats.players().next() else {
            if room.is_lasting() && room.has_started() {
                self.rooms.at_mut(id).host = NO_PLAYER;
                return self.rooms.mark_roster_changed(now, id, &mut self.effects.timers);
            }
            return self.close_room(
                now,
                id,
                LobbyRefusal::new(ErrorCode::RoomClosed, "everybody has left"),
            );
        };
        if room.settings.life != RoomLife::Operated && !room.seats.contains(room.host) {
            let connected =
                room.seats.players().find(|player| self.sessions.player(*player).conn.is_some());
            self.rooms.at_mut(id).host = connected.unwrap_or(first);
        }
        self.rooms.mark_roster_changed(now, id, &mut self.effects.timers);
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

    /// Checks whether rooms can be created and started: the other servers have to know what is
    /// confirmed.
    pub(crate) fn check_directory(&self) -> Result<(), LobbyRefusal> {
        if self.records.are_stored_in_time() {
            return Ok(());
        }
        let message = "the servers' directory (NATS) can't be written at the moment; try again in \
            a few seconds";
        Err(LobbyRefusal::new(ErrorCode::TryAgain, message))
    }
}

fn room_created(room: &LobbyRoom) -> RequestOutcome {
    RequestOutcome::Immediate(Body::RoomCreated(world::RoomCreated { room: Some(room.listing()) }))
}
