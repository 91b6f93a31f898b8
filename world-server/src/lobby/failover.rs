//! Rooms whose host is gone: they go on at another one.
//!
//! Of a room that is kept (`Room::kept`) the shell holds all that the next host has to know, and
//! adds it to the order. Members keep their seats and get a ticket to the new place. Without a host
//! that takes it, a room waits for one until the time for an opening is over.
//!
//! A room that loses its host again soon after it was taken up, or twice before it was, may be what
//! kills them. If it was alone there, it is: it is closed, so that it does not take all the others
//! along for ever. (What kills a host by the room's own doing does so again at the same place, and
//! that is where the next host begins.) If there were others, any of these rooms may be the one:
//! each of them is a *suspect*, and gets a host that no other suspect has and that takes no other
//! room for a while, an idle one if there is one. Those for which there is none wait. The suspect
//! that loses that host too is closed; the others are none any more, once they have run there for
//! long enough.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::host::{Member, Members, Resume, RoomOpened};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use super::Lobby;
use super::output::{HostId, LobbyAction};
use super::placement::HostCandidate;
use super::refusal::LobbyRefusal;
use super::room::{LobbyRoom, RoomPhase};
use super::running::sanitized;
use super::timers::Timer;

/// Who loses a second host within that time after it was taken up may be what kills them.
const SUSPECT_WINDOW: Duration = Duration::from_secs(3);
/// As may be who has lost so many before they could go on with it: one may have been as good as
/// dead when it was told to.
const MAX_FAILED_RESUMES: u32 = 2;

impl Lobby {
    /// A host has said enough of a room for it to go on elsewhere.
    pub(super) fn mark_checkpointed(&mut self, from: HostId, id: RoomId) {
        if let Some(room) = self
            .rooms
            .get_mut(id)
            .filter(|room| room.game_host() == Some(from))
        {
            room.has_checkpoint = true;
        }
    }

    /// A host is gone: its rooms go on elsewhere, or their players are in the lobby, with the
    /// reason.
    pub(super) fn move_rooms_of(&mut self, now: LocalTime, host: HostId, reason: &str) {
        let lost = self
            .rooms
            .iter()
            .filter(|room| room.game_host() == Some(host))
            .map(|room| room.id);
        let lost: Vec<RoomId> = lost.collect();
        let mut fresh = Vec::new();
        for &id in &lost {
            let room = self.rooms.at_mut(id);
            room.failed_resumes += u32::from(room.phase == RoomPhase::Moving { host: Some(host) });
            let too_soon = room
                .resumed_at
                .is_some_and(|at| now.since(at) < SUSPECT_WINDOW);
            if too_soon || room.failed_resumes >= MAX_FAILED_RESUMES {
                fresh.push(id);
            }
        }
        let guilty = match fresh[..] {
            [only] if lost.len() == 1 || self.rooms.at(only).suspect => Some(only),
            _ => None,
        };
        for id in lost {
            // A world that ends takes its other maps along, and the last player on a map its world.
            let Some(room) = self.rooms.get_mut(id) else {
                continue;
            };
            let end = if guilty == Some(id) {
                ". It is the second one in a row that this room alone can have killed, so the room is closed"
            } else {
                ""
            };
            let message = format!(
                "the game server that ran room {id} is gone: {}{end}",
                sanitized(reason)
            );
            if guilty == Some(id) || !room.has_checkpoint || !room.is_running() || self.draining {
                if guilty == Some(id) {
                    tracing::error!(
                        room = id.0,
                        game = room.game,
                        "a room seems to kill its hosts; it is closed"
                    );
                    self.counters.rooms_condemned += 1;
                    self.report_condemned(id);
                }
                self.close_room_by_host(now, id, LobbyRefusal::new(ErrorCode::HostDied, message));
            } else {
                room.suspect |= fresh.contains(&id);
                (room.phase, room.resumed_at) = (RoomPhase::Moving { host: None }, None);
                self.timers.cancel(Timer::Trial(id));
                self.timers
                    .set(Timer::Opening(id), now + self.config.open_timeout);
                self.counters.rooms_moved += 1;
            }
        }
        self.place_hostless_rooms(now);
    }

    /// What is known of a room that seems to kill its hosts is to be looked at.
    fn report_condemned(&mut self, id: RoomId) {
        let order = self.open_order(id, Some(self.resume_order(id)));
        self.outbox.push(LobbyAction::SaveCondemned { order });
    }

    /// Gives the rooms that have lost their host to others, as far as these take them.
    pub(super) fn place_hostless_rooms(&mut self, now: LocalTime) {
        let homeless = self
            .rooms
            .iter()
            .filter(|room| room.phase == RoomPhase::Moving { host: None });
        for id in homeless.map(|room| room.id).collect::<Vec<_>>() {
            let apart = self.quarantined_hosts();
            let Some(host) = self.place_room(id, &apart) else {
                if !apart.is_empty() {
                    // Its turn comes.
                    self.timers
                        .set(Timer::Opening(id), now + self.config.open_timeout);
                }
                continue;
            };
            let resume = self.resume_order(id);
            self.rooms.at_mut(id).phase = RoomPhase::Moving { host: Some(host) };
            self.send_open_room(now, id, host, Some(resume));
        }
    }

    /// The lobby's part of what the next host has to know. What was said to the last one of who has
    /// left, or is called otherwise, may have died with it.
    fn resume_order(&self, id: RoomId) -> Resume {
        Resume {
            members: Some(self.members_on_map(id)),
            ..Resume::default()
        }
    }

    /// Who sits there, and how they are called now.
    pub(super) fn members_on_map(&self, id: RoomId) -> Members {
        let name = |player| self.players.at(player).name().as_str().to_owned();
        let members = self.players_on_map(id).into_iter();
        Members {
            members: members
                .map(|player| Member {
                    player: player.0,
                    name: name(player),
                })
                .collect(),
        }
    }

    /// A host for a room: for one that has started elsewhere of the same build, for others of the
    /// newest one if that has a place; none of those that a suspect has, and for a suspect an idle
    /// one, if there is one.
    pub(super) fn place_room(&self, id: RoomId, apart: &BTreeSet<HostId>) -> Option<HostId> {
        let room = self.rooms.at(id);
        let mut hosts = self.hosts.candidates(&self.rooms);
        hosts.retain(|host| !apart.contains(&host.host));
        if room.is_build_bound() {
            hosts.retain(|host| self.hosts.has_build(host.host, &room.build));
        } else if let Some(newest) = self.hosts.newest_build() {
            let is_newest = |host: &HostCandidate| self.hosts.has_build(host.host, newest);
            if hosts
                .iter()
                .any(|host| is_newest(host) && host.has_capacity())
            {
                hosts.retain(is_newest);
            }
        }
        if room.suspect
            && hosts
                .iter()
                .any(|host| host.rooms == 0 && host.has_capacity())
        {
            hosts.retain(|host| host.rooms == 0);
        }
        self.placement.place(room.placement_request(), &hosts)
    }

    /// A host for a room that begins. Where there is no other, one that is to be left alone will
    /// do: nobody waits for long.
    pub(super) fn place_new_room(&self, id: RoomId) -> Option<HostId> {
        self.place_room(id, &self.quarantined_hosts())
            .or_else(|| self.place_room(id, &BTreeSet::new()))
    }

    /// The hosts that a suspect has.
    pub(super) fn quarantined_hosts(&self) -> BTreeSet<HostId> {
        self.rooms
            .iter()
            .filter(|room| room.suspect)
            .filter_map(LobbyRoom::game_host)
            .collect()
    }

    /// A suspect has run at its host for long enough.
    pub(super) fn end_trial(&mut self, now: LocalTime, id: RoomId) {
        if let Some(room) = self.rooms.get_mut(id) {
            room.suspect = false;
            self.place_hostless_rooms(now);
        }
    }

    /// A host goes on with a room, or can't.
    pub(super) fn handle_room_resumed(&mut self, now: LocalTime, from: HostId, opened: RoomOpened) {
        let id = RoomId(opened.room);
        let Some(room) = self.rooms.get_mut(id) else {
            return;
        };
        if room.phase != (RoomPhase::Moving { host: Some(from) }) {
            return;
        }
        self.timers.cancel(Timer::Opening(id));
        if let Some(error) = opened.error {
            let message = format!(
                "no other game server could go on with room {id}: {}",
                sanitized(&error.message)
            );
            return self.close_room_by_host(
                now,
                id,
                LobbyRefusal::new(ErrorCode::HostDied, message),
            );
        }
        (room.phase, room.resumed_at, room.failed_resumes) =
            (RoomPhase::Running { host: from }, Some(now), 0);
        if room.suspect {
            self.timers.set(Timer::Trial(id), now + SUSPECT_WINDOW);
        }
        for player in self.players_on_map(id) {
            self.send_ticket(now, player);
        }
        self.resend_transfer_orders(id);
    }
}
