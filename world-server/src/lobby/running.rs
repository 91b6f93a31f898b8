//! Rooms on hosts: start, tickets, and what hosts have to say.
//!
//! A start is answered when the host has spoken: `Done` when the room runs, an error when it does
//! not.

use ambit_game_server::ticket::{LIFETIME_S, Ticket};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::host::{
    Drain, HostReady, OpenRoom, PlayerOut, Resume, RoomClosed, RoomOpened, world_to_host,
};
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use super::hosts::Host;
use super::membership::{must_be_ready, room_left};
use super::output::{Caller, HostId};
use super::refusal::Refusal;
use super::room::{Phase, Room};
use super::timers::Timer;
use super::{Answer, Lobby, output};

/// Longest text of a host that players are shown, in characters.
const MAX_HOST_MESSAGE: usize = 500;

impl Lobby {
    /// Has the room opened where it is to run.
    pub(super) fn start_room(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        from: Caller,
    ) -> Result<Answer, Refusal> {
        let id = self.room_of(player)?;
        self.check_start(player, self.rooms.at(id))?;
        self.check_directory()?;
        let host = self.place_new(id).ok_or_else(|| {
            Refusal::new(
                ErrorCode::NoHostAvailable,
                "no game server takes another room at the moment; try again later",
            )
        })?;
        let seed = u64::from_be_bytes(
            *self
                .players
                .entropy()
                .first_chunk()
                .expect("16 bytes hold 8"),
        );
        let room = self.rooms.at_mut(id);
        room.phase = Phase::Opening {
            host,
            starter: Some(from),
        };
        room.seed = seed;
        self.order_open(now, id, host, None);
        Ok(Answer::Later)
    }

    /// Tells a host to open a room, or to go on with it.
    pub(super) fn order_open(
        &mut self,
        now: LocalTime,
        id: RoomId,
        host: HostId,
        resume: Option<Resume>,
    ) {
        let build = self
            .hosts
            .get(host)
            .map(|host| host.build.clone())
            .unwrap_or_default();
        let room = self.rooms.at_mut(id);
        (room.incarnation, room.build) = (room.incarnation + 1, build);
        let open = self.order_of(id, resume);
        self.pool_changed = true;
        self.outbox.host(host, world_to_host::Body::OpenRoom(open));
        self.timers
            .set(Timer::Opening(id), now + self.config.open_within);
    }

    /// What a host has to know of a room.
    pub(super) fn order_of(&self, id: RoomId, resume: Option<Resume>) -> OpenRoom {
        let room = self.rooms.at(id);
        OpenRoom {
            room: id.0,
            game: room.game.clone(),
            parameters: room.parameters_of_map(),
            seed: room.seed,
            capacity: room.map_seats(),
            resume,
            incarnation: room.incarnation,
        }
    }

    pub(super) fn request_ticket(
        &mut self,
        now: LocalTime,
        player: PlayerId,
    ) -> Result<Answer, Refusal> {
        let room = self.room_of(player)?;
        let ticket = self.ticket(now, player).ok_or_else(|| {
            let message = if self.rooms.at(room).has_started() {
                format!("the way into the game of room {room} follows in a moment")
            } else {
                format!("room {room} does not run; its host may start it")
            };
            Refusal::new(ErrorCode::RoomNotRunning, message)
        })?;
        Ok(Answer::Now(Body::Ticket(ticket)))
    }

    /// News for a player: the way into the game, if there is one.
    pub(super) fn send_ticket(&mut self, now: LocalTime, player: PlayerId) {
        if let Some(conn) = self.players.at(player).conn
            && let Some(ticket) = self.ticket(now, player)
        {
            self.outbox.news(conn, Body::Ticket(ticket));
        }
    }

    /// The answer to a request that had to wait; nobody gets it when the connection is gone.
    pub(super) fn answer_later(&mut self, to: Caller, body: Body) {
        if self.connections.live(to.conn).is_some() {
            self.outbox.answer(to.conn, to.request, body);
        }
    }

    pub(super) fn add_host(&mut self, now: LocalTime, id: HostId, mut ready: HostReady) {
        let here = std::mem::take(&mut ready.rooms);
        match Host::try_from(ready) {
            Ok(host) if !self.draining => {
                let since = self.hosts.build_since(&host);
                let unheard = self.recognise(id, &host.instance);
                self.hosts
                    .know_build(&host.build, if since > 0 { since } else { id.0 });
                self.hosts.add(id, host);
                self.compare_rooms(now, id, &here);
                for room in unheard {
                    self.order_open(now, room, id, None);
                }
                self.pool_changed = true;
                self.watch_host(now, id);
                self.place_homeless(now);
            }
            Ok(_) => self.outbox.host(id, world_to_host::Body::Drain(Drain {})),
            Err(fault) => {
                tracing::warn!(host = id.0, fault, "a host was refused");
                self.counters.hosts_refused += 1;
                self.outbox.host(id, world_to_host::Body::Drain(Drain {}));
            }
        }
    }

    /// The host is gone, with all that ran in it; its rooms may go on elsewhere.
    pub(super) fn remove_host(&mut self, now: LocalTime, host: HostId, reason: &str) {
        self.hosts.remove(host);
        self.pool_changed = true;
        self.timers.cancel(Timer::Silent(host));
        self.lose_rooms_of(now, host, reason);
    }

    /// The answer to `OpenRoom`. About a room that is gone or not his, a host is not heard.
    pub(super) fn room_opened(&mut self, now: LocalTime, from: HostId, opened: RoomOpened) {
        let id = RoomId(opened.room);
        let Some(room) = self.rooms.get_mut(id) else {
            return;
        };
        let (Phase::Opening { host, starter }, true) = (room.phase, room.hosted_by() == Some(from))
        else {
            return self.taken_up(now, from, opened);
        };
        self.timers.cancel(Timer::Opening(id));
        match opened.error {
            None => self.run(now, id, host, starter),
            Some(error) if room.zone.is_some() => {
                let message = format!("no game server opened that map: {}", shown(&error.message));
                let code = ErrorCode::try_from(error.code).unwrap_or(ErrorCode::ServerError);
                self.dissolve_by_host(now, id, Refusal::new(code, message));
            }
            Some(error) => {
                room.phase = Phase::Waiting;
                self.pool_changed = true;
                let message = format!(
                    "the game server did not open the room: {}",
                    shown(&error.message)
                );
                let code = ErrorCode::try_from(error.code).unwrap_or(ErrorCode::ServerError);
                self.counters.refuse(code);
                if let Some(starter) = starter {
                    self.answer_later(starter, output::error(Refusal::new(code, message)));
                }
            }
        }
    }

    /// The room ended by itself.
    pub(super) fn room_closed(&mut self, now: LocalTime, from: HostId, closed: &RoomClosed) {
        let id = RoomId(closed.room);
        if self.rooms.get(id).and_then(Room::hosted_by) != Some(from) {
            return;
        }
        let code = match ErrorCode::try_from(closed.reason) {
            Ok(ErrorCode::ErrorUnspecified) | Err(_) => ErrorCode::RoomClosed,
            Ok(code) => code,
        };
        self.dissolve_by_host(now, id, Refusal::new(code, shown(&closed.message)));
    }

    /// A player is out of the game, so out of the room. Who has just left the room and come back is
    /// meant no more: that word was under way when the player left.
    pub(super) fn player_out(&mut self, now: LocalTime, from: HostId, out: &PlayerOut) {
        let (id, player) = (RoomId(out.room), PlayerId(out.player));
        let Some(room) = self.rooms.get(id) else {
            return;
        };
        let world = room.world_id();
        if room.hosted_by() != Some(from)
            || !self.is_on(player, id)
            || room.left_just_now(now, player)
        {
            return;
        }
        let code = ErrorCode::try_from(out.reason).unwrap_or(ErrorCode::ServerError);
        let message = match code {
            ErrorCode::ErrorUnspecified => "you left the game",
            _ => "the game server put you out of the game",
        };
        self.vacate_by_host(now, player, world, code);
        self.tell(player, room_left(world, Refusal::new(code, message)));
    }

    /// A host that does not answer may open the room yet; so the room can't just wait for another
    /// start.
    pub(super) fn opening_overdue(&mut self, now: LocalTime, id: RoomId) {
        let Some(room) = self.rooms.get(id) else {
            return;
        };
        if room.is_running() && self.check_directory().is_err() {
            // Who is to go on with it is not told before that is written.
            return self
                .timers
                .set(Timer::Opening(id), now + self.config.open_within);
        }
        let within = self.config.open_within.as_secs();
        let message = match room.phase {
            Phase::Moving { host: None } => {
                format!(
                    "within {within} s no other game server of build `{}` could go on with room {id}",
                    shown(&room.build)
                )
            }
            _ => format!("the game server did not open the room within {within} s"),
        };
        self.dissolve(now, id, Refusal::new(ErrorCode::ServerError, message));
    }

    fn run(&mut self, now: LocalTime, id: RoomId, host: HostId, starter: Option<Caller>) {
        let room = self.rooms.at_mut(id);
        room.phase = Phase::Running { host };
        let Some(starter) = starter else {
            return self.go_on_with_transfers(id);
        };
        self.answer_later(starter, Body::Done(world::Done {}));
        for player in self.who_is_on(id) {
            self.send_ticket(now, player);
        }
        self.counters.rooms_started += 1;
        self.mark_listing(now, id);
    }

    fn check_start(&self, player: PlayerId, room: &Room) -> Result<(), Refusal> {
        if room.host != player {
            return Err(Refusal::new(
                ErrorCode::NotHost,
                "only the room's host may start it",
            ));
        }
        if room.has_started() {
            return Err(Refusal::new(
                ErrorCode::AlreadyRunning,
                format!("room {} has started already", room.id),
            ));
        }
        let there: Vec<_> = room
            .seats
            .iter()
            .filter(|seat| self.players.at(seat.player).conn.is_some())
            .collect();
        let needed = self.game(&room.game).map_or(1, |game| game.min_players);
        if (there.len() as u32) < needed {
            let message = format!(
                "{} takes {needed} players, {} are there",
                room.game,
                there.len()
            );
            return Err(Refusal::new(ErrorCode::NotEnoughPlayers, message));
        }
        let waiting_for = there
            .iter()
            .filter(|seat| seat.player != player && !seat.ready)
            .count();
        if must_be_ready(room) && waiting_for > 0 {
            return Err(Refusal::new(
                ErrorCode::NotReady,
                format!("{waiting_for} players are not ready"),
            ));
        }
        Ok(())
    }

    /// A ticket for the room that the player is in, if it runs.
    fn ticket(&mut self, now: LocalTime, player: PlayerId) -> Option<world::Ticket> {
        let nonce = self.players.entropy();
        let known = self.players.at(player);
        let world = known.room?;
        let (id, incarnation) = self.place_of(world, player)?;
        let room = self.rooms.at(id);
        let Phase::Running { host } = room.phase else {
            return None;
        };
        let map = room.map();
        let host = self
            .hosts
            .get(host)
            .expect("a room runs on a host that is there");
        self.counters.tickets += 1;
        let ticket = Ticket {
            room: id,
            player,
            name: known.name().as_str().to_owned(),
            host: host.address.clone(),
            expires_unix_s: (self.config.epoch_unix + now.since(LocalTime::ZERO)).as_secs()
                + LIFETIME_S,
            serial: self.counters.tickets,
            nonce,
        };
        Some(world::Ticket {
            room: world.0,
            address: ticket.host.clone(),
            certificate_sha256: host.certificate_sha256.clone(),
            ticket: self.signer.sign(&ticket),
            incarnation,
            map,
        })
    }
}

/// A host's words, fit to be shown.
pub(super) fn shown(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(MAX_HOST_MESSAGE)
        .collect()
}
