//! Rooms on hosts: start, tickets, and messages of hosts.
//!
//! A start is answered when the host has responded: `Done` when the room runs, an error otherwise.
//!
//! The worlds of the operator's list are opened at the start, and stay open without players. A
//! world is the room that has its name and is the operator's. One that has ended, by its rules or
//! by a crash, is opened again as a new one after some seconds, and so is one that no host could
//! open.

use std::time::Duration;

use ambit_host_protocol::messages::{HostReady, RoomMember, RoomOrder, RoomResume, WorldOrder};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_transport::ticket::{LIFETIME_S, Ticket};

use crate::fleet::hosts::Host;
use crate::operator_event::OperatorEvent;
use crate::output::{HostId, LobbyAction, RequestOutcome, RequestSource};
use crate::refusal::LobbyRefusal;
use crate::rooms::room::{LobbyRoom, RoomPhase, room_left_body};
use crate::rooms::stored::{PLAYS_ALREADY, TAKES_OVER};
use crate::timers::Timer;
use crate::{Lobby, output};

/// Longest text of a host that is sent to players, in characters.
const MAX_HOST_MESSAGE_CHARS: usize = 500;
/// A world of the operator's list that no host has taken is tried again after this time.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The hosts of a process connect within this time.
const SIBLINGS_WITHIN: Duration = Duration::from_millis(200);

impl Lobby {
    /// Chooses a host for the room and has it opened there.
    pub(crate) fn start_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        from: RequestSource,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let id = self.room_of(player)?;
        self.rooms.at(id).check_start(player, &self.games, &self.sessions)?;
        self.begin_start(now, id, Some(from))?;
        Ok(RequestOutcome::Deferred)
    }

    /// The same for a room that may be started. `starter` waits for the answer, if a player does.
    pub(crate) fn begin_start(
        &mut self,
        now: LocalTime,
        id: RoomId,
        starter: Option<RequestSource>,
    ) -> Result<(), LobbyRefusal> {
        let rooms = self.rooms.all();
        rooms.check_running_limit(rooms.at(id), &self.config)?;
        self.check_directory()?;
        let host = self.fleet.place_new_room(self.rooms.all(), id).ok_or_else(no_host_available)?;
        let random = self.random_seed();
        let room = self.rooms.at_mut(id);
        room.run.phase = RoomPhase::Opening { host, starter };
        room.choose_seed(self.config.server_secret.as_ref(), random);
        self.send_open_room(now, id, host, None);
        let players: Vec<PlayerId> = self.rooms.at(id).seats.players().collect();
        if !players.is_empty() {
            self.effects.outbox.send_to_room(host, id, RoomOrder::ExpectPlayers(players));
        }
        Ok(())
    }

    /// Starts a room that was made by a quick join, once it can start. What prevents it now may be
    /// over when the next player comes.
    pub(crate) fn start_by_itself(&mut self, now: LocalTime, id: RoomId) {
        let room = self.rooms.at(id);
        let can_start = || room.check_start(room.host, &self.games, &self.sessions).is_ok();
        if room.settings.starts_itself && can_start() {
            // The host of the room can start it, too, and is told what prevents it.
            let _ = self.begin_start(now, id, None);
        }
    }

    /// Opens the worlds of the operator's list that are not open.
    pub(crate) fn open_worlds(&mut self, now: LocalTime) {
        if self.end.is_draining() {
            return;
        }
        let mut are_open = true;
        for index in 0..self.config.worlds.len() {
            are_open &= self.open_world(now, index);
        }
        if !are_open {
            self.effects.timers.set(Timer::Worlds, now + TRY_AGAIN_AFTER);
        }
    }

    /// Returns whether the world is open, or about to be.
    fn open_world(&mut self, now: LocalTime, index: usize) -> bool {
        let Some(id) = self.operated_room(index) else {
            return false;
        };
        if self.rooms.at(id).run.phase != RoomPhase::Waiting {
            return true;
        }
        self.begin_start(now, id, None).is_ok()
    }

    /// The room of this world. It is added if there is none, and the other servers can be told.
    fn operated_room(&mut self, index: usize) -> Option<RoomId> {
        let create = &self.config.worlds[index].create;
        if let Some(known) = self.rooms.operated(create) {
            return Some(known);
        }
        self.check_directory().ok()?;
        self.effects.counters.rooms.made += 1;
        Some(self.rooms.add_operated(create.clone()))
    }

    pub(crate) fn random_seed(&mut self) -> u64 {
        let bytes = self.sessions.random_bytes();
        u64::from_be_bytes(*bytes.first_chunk().expect("16 bytes hold 8"))
    }

    /// Orders a host to open a room, or to resume it with these members.
    pub(crate) fn send_open_room(
        &mut self,
        now: LocalTime,
        id: RoomId,
        host: HostId,
        resume_with: Option<Vec<RoomMember>>,
    ) {
        let build = self.fleet.build_of(host);
        let room = self.rooms.at_mut(id);
        room.run.incarnation += 1;
        if resume_with.is_none() {
            room.run.build = build;
        }
        let resume = resume_with
            .map(|members| RoomResume { members: Some(members), ..RoomResume::default() });
        let order = WorldOrder::OpenRoom(self.rooms.at(id).assignment(), resume);
        self.fleet.note_change();
        self.effects.outbox.push(LobbyAction::Host { host, order });
        self.effects.timers.set(Timer::Opening(id), now + self.config.open_timeout);
    }

    pub(crate) fn request_ticket(
        &mut self,
        now: LocalTime,
        player: PlayerId,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let room = self.room_of(player)?;
        let ticket = self.issue_ticket(now, player);
        let ticket = ticket.ok_or_else(|| self.why_no_ticket(room, player))?;
        Ok(RequestOutcome::Immediate(Body::Ticket(ticket)))
    }

    /// A kept room may wait for a long time: its players ask again until it goes on.
    fn why_no_ticket(&self, world: RoomId, player: PlayerId) -> LobbyRefusal {
        let map = self.rooms.avatar_place(world, player).map_or(world, |(map, _)| map);
        let room = self.rooms.at(map);
        if self.fleet.waits_for_host(room) {
            let message = format!(
                "room {world} waits for a game server of build `{}`, and goes on as soon as there \
                 is one",
                sanitized(&room.run.build)
            );
            return LobbyRefusal::new(ErrorCode::TryAgain, message);
        }
        let message = if self.rooms.at(world).has_started() {
            format!("the ticket for room {world} follows in a moment")
        } else {
            format!("room {world} does not run; its host may start it")
        };
        LobbyRefusal::new(ErrorCode::RoomNotRunning, message)
    }

    /// A player has come into a room: if no host may run it, the player reads what it waits for.
    pub(crate) fn tell_that_it_waits(&mut self, player: PlayerId, world: RoomId) {
        let room = self.rooms.at(world);
        if room.run.phase == (RoomPhase::Moving { host: None }) && self.fleet.waits_for_host(room) {
            let why = self.why_no_ticket(world, player);
            self.notify(player, output::error_body(why));
        }
    }

    /// Sends a player a ticket for the game, if the game runs.
    pub(crate) fn send_ticket(&mut self, now: LocalTime, player: PlayerId) {
        if let Some(conn) = self.sessions.player(player).conn
            && let Some(ticket) = self.issue_ticket(now, player)
        {
            self.effects.outbox.notify(conn, Body::Ticket(ticket));
        }
    }

    /// Answers a deferred request, unless its connection was lost.
    pub(crate) fn send_deferred_answer(&mut self, to: RequestSource, body: Body) {
        if self.sessions.stage_of(to.conn).is_some() {
            self.effects.outbox.answer(to.conn, to.request, body);
        }
    }

    pub(crate) fn add_host(&mut self, now: LocalTime, id: HostId, mut ready: HostReady) {
        let here = std::mem::take(&mut ready.rooms);
        let ticket_time = ready.ticket_time_unix_s;
        match Host::try_from(ready) {
            Ok(host) if !self.end.is_draining() => {
                let instance = host.instance.clone();
                let own_time = self.config.unix_time(now);
                self.fleet.add_host(now, id, host, ticket_time, own_time);
                let unopened = self.reattach_host(id, &instance);
                self.reconcile_rooms(now, id, &here);
                for room in unopened {
                    self.send_open_room(now, room, id, None);
                }
                if let Some(Host { label, address, build, .. }) = self.fleet.host(id).cloned() {
                    let event = OperatorEvent::HostReady { host: id.0, label, address, build };
                    self.effects.report(event);
                }
                if let Some(at) = self.fleet.first_silence_check(now, id) {
                    self.effects.timers.set(Timer::HostSilence(id), at);
                }
                self.place_rooms_on_new_host(now, id);
            }
            Ok(_) => self.effects.outbox.send_to_host(id, WorldOrder::Drain),
            Err(fault) => {
                tracing::warn!(host = id.0, fault, "host refused; it is told to end");
                self.effects.counters.hosts_refused += 1;
                self.effects.outbox.send_to_host(id, WorldOrder::Drain);
            }
        }
    }

    /// Rooms that wait for a host get this one; but if it is one of several in its process, they
    /// wait a moment for the others: otherwise the first one would get them all.
    fn place_rooms_on_new_host(&mut self, now: LocalTime, id: HostId) {
        if self.fleet.host(id).is_some_and(|host| !host.process.is_empty()) {
            self.effects.timers.set_if_unset(Timer::Siblings, now + SIBLINGS_WITHIN);
        } else {
            self.place_hostless_rooms(now);
        }
    }

    /// Removes a lost host; its rooms may resume elsewhere.
    pub(crate) fn remove_host(&mut self, now: LocalTime, host: HostId, reason: &str) {
        // A server that shuts down has asked its hosts to end.
        if !self.end.is_draining() {
            let its = self.rooms.on_host(host);
            let (rooms, reason) = (its.count() as u64, sanitized(reason));
            self.effects.report(OperatorEvent::HostLost { host: host.0, rooms, reason });
        }
        self.order_gate.forget_host(host);
        let build = self.fleet.lose_host(host);
        self.effects.timers.cancel(Timer::HostSilence(host));
        self.move_rooms_of(now, host, &build, reason);
    }

    /// Handles the answer to `OpenRoom`. Messages about a room that is closed or belongs to another
    /// host are ignored.
    pub(crate) fn handle_room_opened(
        &mut self,
        now: LocalTime,
        from: HostId,
        id: RoomId,
        error: Option<world::Error>,
    ) {
        let Some(room) = self.rooms.get_mut(id) else {
            return;
        };
        let (RoomPhase::Opening { host, starter }, true) =
            (room.run.phase, room.game_host() == Some(from))
        else {
            return self.handle_room_resumed(now, from, id, error);
        };
        self.effects.timers.cancel(Timer::Opening(id));
        match error {
            None => self.mark_running(now, id, host, starter),
            Some(error) if room.map_identity.is_some() => {
                let message =
                    format!("no game server opened that map: {}", sanitized(&error.message));
                let code = ErrorCode::try_from(error.code).unwrap_or(ErrorCode::ServerError);
                self.close_room_by_host(now, id, LobbyRefusal::new(code, message));
            }
            Some(error) => {
                room.run.phase = RoomPhase::Waiting;
                self.fleet.note_change();
                let message =
                    format!("the game server did not open the room: {}", sanitized(&error.message));
                let code = ErrorCode::try_from(error.code).unwrap_or(ErrorCode::ServerError);
                self.effects.counters.count_refused(code);
                if let Some(starter) = starter {
                    self.send_deferred_answer(
                        starter,
                        output::error_body(LobbyRefusal::new(code, message)),
                    );
                }
            }
        }
    }

    /// Handles a room that ended by itself.
    pub(crate) fn handle_room_closed(
        &mut self,
        now: LocalTime,
        from: HostId,
        id: RoomId,
        why: &LobbyRefusal,
    ) {
        if self.rooms.get(id).and_then(LobbyRoom::game_host) != Some(from) {
            return;
        }
        let code = match why.code {
            ErrorCode::ErrorUnspecified => ErrorCode::RoomClosed,
            code => code,
        };
        self.close_room_by_host(now, id, LobbyRefusal::new(code, sanitized(&why.message)));
    }

    /// Handles a player who left the game: it leaves the room too. The message is ignored if the
    /// player has just left the room and come back: it was under way then.
    pub(crate) fn handle_player_out(
        &mut self,
        now: LocalTime,
        from: HostId,
        (id, player): (RoomId, PlayerId),
        why: &LobbyRefusal,
    ) {
        let Some(room) = self.rooms.get(id) else {
            return;
        };
        let world = room.world_id();
        if room.game_host() != Some(from)
            || !self.rooms.is_on_map(player, id)
            || room.left_recently(now, player)
        {
            return;
        }
        let code = why.code;
        let message = match code {
            ErrorCode::ErrorUnspecified => "you left the game".to_owned(),
            ErrorCode::PutOut if !why.message.is_empty() => sanitized(&why.message),
            ErrorCode::AlreadyInRoom => PLAYS_ALREADY.to_owned(),
            ErrorCode::TakenOver => TAKES_OVER.to_owned(),
            _ => "the game server put you out of the game".to_owned(),
        };
        self.vacate_seat_by_host(now, player, world, code);
        self.notify(player, room_left_body(world, LobbyRefusal::new(code, message)));
    }

    /// Handles a host that does not answer an order in time. The host may still open the room, so
    /// the room is closed and cannot wait for another start.
    pub(crate) fn handle_opening_timeout(&mut self, now: LocalTime, id: RoomId) {
        let Some(room) = self.rooms.get(id) else {
            return;
        };
        if room.is_running() && self.check_directory().is_err() {
            // The next host gets its order only after the directory has stored it.
            return self.effects.timers.set(Timer::Opening(id), now + self.config.open_timeout);
        }
        if self.fleet.tries_other_build(room) {
            return self.give_up_other_build(now, id);
        }
        if room.waits_for_build() {
            self.effects.timers.set(Timer::Opening(id), now + self.config.open_timeout);
            return self.place_hostless_rooms(now);
        }
        if self.fleet.waits_for_host(room) {
            return self.go_on_waiting(now, id);
        }
        let within = self.config.open_timeout.as_secs();
        let message = match room.run.phase {
            RoomPhase::Moving { host: None } => {
                format!(
                    "within {within} s no other game server of build `{}` could resume room {id}",
                    sanitized(&room.run.build)
                )
            }
            _ => format!("the game server did not open the room within {within} s"),
        };
        self.close_room(now, id, LobbyRefusal::new(ErrorCode::ServerError, message));
    }

    /// A restored or lasting room has no host after a while, or one that does not answer. It waits
    /// as long as it has members, or for good if it lasts; another one may be tried meanwhile.
    fn go_on_waiting(&mut self, now: LocalTime, id: RoomId) {
        let room = self.rooms.at(id);
        tracing::warn!(
            room = id.0,
            build = room.run.build,
            host = room.game_host().map(|host| host.0),
            "a kept room does not go on yet: no host of its build is there, or its host does not \
             answer; it waits as long as it has players, or for good if its game lasts"
        );
        self.fleet.pause_trial(id);
        self.choose_trial(now);
    }

    fn mark_running(
        &mut self,
        now: LocalTime,
        id: RoomId,
        host: HostId,
        starter: Option<RequestSource>,
    ) {
        let room = self.rooms.at_mut(id);
        room.run.phase = RoomPhase::Running { host };
        // It may be of an older build than the newest.
        self.fleet.note_change();
        if room.map_identity.is_some() {
            return self.resend_transfer_orders(id);
        }
        self.effects.report(room.runs_event(host, false));
        if let Some(starter) = starter {
            self.send_deferred_answer(starter, Body::Done(world::Done {}));
        }
        for player in self.rooms.players_on_map(id) {
            self.send_ticket(now, player);
        }
        self.effects.counters.rooms.started += 1;
        self.rooms.mark_changed(now, id, &mut self.effects.timers);
    }

    /// Issues a ticket for the player's room, if it runs.
    fn issue_ticket(&mut self, now: LocalTime, player: PlayerId) -> Option<world::Ticket> {
        let nonce = self.sessions.random_bytes();
        let known = self.sessions.player(player);
        let world = known.room?;
        let (id, incarnation) = self.rooms.avatar_place(world, player)?;
        let room = self.rooms.at(id);
        let RoomPhase::Running { host } = room.run.phase else {
            return None;
        };
        let map = room.map();
        let host = self.fleet.host(host).expect("a running room has a known host");
        let host_time = host.clock.ticket_time.map(|time| time.at(now));
        let host_time = host_time.unwrap_or_else(|| self.config.unix_time(now));
        self.effects.counters.tickets += 1;
        let ticket = Ticket {
            room: id,
            player,
            name: known.name().as_str().to_owned(),
            account: known.account,
            standing: self.sessions.standing_of(player, self.rooms.is_maker(world, player)),
            wishes: known.wishes.clone(),
            host: host.address.clone(),
            expires_unix_s: host_time.as_secs().saturating_add(LIFETIME_S),
            serial: self.effects.counters.tickets,
            nonce,
        };
        Some(world::Ticket {
            room: world.0,
            address: ticket.host.clone(),
            certificate_sha256: host.certificate_sha256.clone(),
            ticket: self.signer.sign(&ticket),
            incarnation,
            map,
            web_certificates_sha256: host.web_certificates().to_vec(),
        })
    }
}

pub(crate) fn no_host_available() -> LobbyRefusal {
    let message = "no game server takes another room at the moment; try again later";
    LobbyRefusal::new(ErrorCode::NoHostAvailable, message)
}

/// Removes control characters from a host's text and limits its length.
pub(crate) fn sanitized(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_HOST_MESSAGE_CHARS).collect()
}
