//! Releases and drained hosts: running rooms move to hosts of a newer build, and away from hosts
//! that an operator wants empty, a few at a time.
//!
//! A host of a build that came later has capacity, so the lobby asks rooms of older builds to move
//! (`MoveRoom`). A room that its game lets go is *handed over* (`RoomHandedOver`): the shell has
//! its last snapshot and no journal after it, so that any build may read it. It is placed like a
//! room that has lost its host, at a host of the newest build. If that cannot read it, the room is
//! a *misfit* of that build: it goes back to a host of the build that saved it, and is not asked
//! again for this build. Without such a host it waits for one as long as it has players.
//!
//! A room of which the shell has a journal after the snapshot stays with its build: other rules
//! would make another room of it, and undo what was confirmed.
//!
//! Rooms of a drained host are asked in the same way, as many as hosts of their own build have
//! capacity for.

use std::time::Duration;

use ambit_host_protocol::messages::{RoomOrder, WorldOrder};
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::lobby::Lobby;
use crate::lobby::fleet::failover::SUSPECT_WINDOW;
use crate::lobby::fleet::hosts::Origin;
use crate::lobby::fleet::placement::HostCandidate;
use crate::lobby::output::HostId;
use crate::lobby::rooms::room::{LobbyRoom, RoomPhase};
use crate::lobby::rooms::running::sanitized;
use crate::lobby::timers::Timer;

/// How often rooms are asked to move, and how many at a time: sixteen a second. Each one is read
/// and restored by its next host, which has players of other rooms.
const ASK_EVERY: Duration = Duration::from_millis(250);
const ASKED_AT_ONCE: usize = 4;

impl Lobby {
    /// Leaves the hosts whose build may run the room. A new room prefers the newest build if that
    /// has capacity, a further map its world's, since players bring what that build has saved. A
    /// room that has run needs the build that saved it; if it was handed over, the newest build may
    /// read it, and any other if there is no host of its own.
    pub(in crate::lobby) fn retain_builds(&self, room: &LobbyRoom, hosts: &mut Vec<HostCandidate>) {
        let newest = self.hosts.newest_build();
        let has_own = hosts.iter().any(|host| self.hosts.has_build(host.host, &room.build));
        let (prefers_newest, stays_with_own) = if room.has_started() {
            (newest.is_some_and(|newest| room.release.may_try(newest)), true)
        } else {
            let is_map = room.map_identity.is_some();
            (!is_map || !has_own, is_map && has_own)
        };
        if prefers_newest && let Some(newest) = newest {
            let is_newest = |host: &HostCandidate| self.hosts.has_build(host.host, newest);
            if hosts.iter().any(|host| is_newest(host) && host.has_capacity()) {
                return hosts.retain(is_newest);
            }
        }
        if !stays_with_own {
            return;
        }
        if has_own || !room.release.is_whole {
            return hosts.retain(|host| self.hosts.has_build(host.host, &room.build));
        }
        let build_of = |host: &HostCandidate| self.hosts.get(host.host).map(|host| &host.build[..]);
        hosts.retain(|host| build_of(host).is_some_and(|build| room.release.may_try(build)));
    }

    /// Rooms or hosts have changed: rooms of older builds may have to move.
    pub(in crate::lobby) fn watch_builds(&mut self, now: LocalTime) {
        if self.hosts.has_several_builds() || self.hosts.is_any_drained() {
            self.timers.set_if_unset(Timer::Releases, now + ASK_EVERY);
        }
    }

    /// Asks some rooms of older builds to move, if the newest build has capacity, and rooms of
    /// drained hosts. Called again as long as others may have to.
    pub(in crate::lobby) fn ask_rooms_to_move(&mut self, now: LocalTime) {
        let newest = self.hosts.newest_build().map(str::to_owned);
        let is_old = |room: &LobbyRoom| {
            let newest = newest.as_ref().filter(|newest| room.build != **newest);
            newest.is_some_and(|newest| !room.release.is_misfit_of(newest))
        };
        let mut old = Vec::new();
        let mut drained = Vec::new();
        for room in self.rooms.iter().filter(|room| !room.release.is_asked) {
            match room.phase {
                RoomPhase::Running { .. } if is_old(room) => old.push(room.id),
                RoomPhase::Running { host } if self.hosts.is_drained(host) => drained.push(room.id),
                _ => {}
            }
        }
        if old.is_empty() && drained.is_empty() {
            return;
        }
        self.timers.set(Timer::Releases, now + ASK_EVERY);
        let candidates = self.hosts.candidates(&self.rooms);
        let free = |build: &str| -> usize {
            let of_build = candidates.iter().filter(|at| self.hosts.has_build(at.host, build));
            of_build.map(|host| host.capacity.saturating_sub(host.rooms) as usize).sum()
        };
        let asked = self.rooms.iter().filter(|room| room.release.is_asked).count();
        let of_newest = newest.as_ref().map_or(0, |newest| free(newest));
        let most = of_newest.saturating_sub(asked).min(ASKED_AT_ONCE);
        let ready = old.into_iter().filter(|id| self.may_be_asked(now, *id));
        let mut chosen: Vec<RoomId> = ready.take(most).collect();
        for id in drained {
            let room_for_more = free(&self.rooms.at(id).build) > asked + chosen.len();
            if chosen.len() < ASKED_AT_ONCE && room_for_more && self.may_be_asked(now, id) {
                chosen.push(id);
            }
        }
        for id in chosen {
            if let Some(host) = self.reachable_host(id) {
                self.rooms.at_mut(id).release.is_asked = true;
                self.outbox.send_to_room(host, id, RoomOrder::Move);
            }
        }
    }

    /// An operator wants a host empty, or not any more. Returns how many rooms it has.
    pub(in crate::lobby) fn set_host_drained(
        &mut self,
        now: LocalTime,
        host: HostId,
        is_drained: bool,
    ) -> Option<usize> {
        if !self.hosts.set_drained(host, is_drained) {
            return None;
        }
        self.pool_changed = true;
        self.timers.set_if_unset(Timer::Releases, now);
        if !is_drained {
            self.place_hostless_rooms(now);
        }
        Some(self.rooms.iter().filter(|room| room.game_host() == Some(host)).count())
    }

    /// A room that has just moved, or through whose gates players go now, is asked later.
    fn may_be_asked(&self, now: LocalTime, id: RoomId) -> bool {
        let room = self.rooms.at(id);
        let has_settled = room.resumed_at.is_none_or(|at| now.since(at) >= SUSPECT_WINDOW);
        room.has_checkpoint
            && !room.suspect
            && has_settled
            && !self.restored.waits_for_members(id)
            && self.reachable_host(id).is_some_and(|host| !self.hosts.is_leaving(host))
            && !self.rooms.at(room.world_id()).world.has_transfer_of(id)
    }

    /// Of these rooms, which were restored, the shell has a snapshot and no journal after it.
    pub fn mark_whole(&mut self, rooms: impl IntoIterator<Item = RoomId>) {
        for id in rooms {
            if let Some(room) = self.rooms.get_mut(id) {
                room.release.is_whole = true;
            }
        }
    }

    /// This server ends, and the next one goes on with the rooms: hosts that end with it hand
    /// theirs over, so that any build may go on with them.
    pub fn end_own_hosts(&mut self) {
        let own = self.hosts.iter().map(|(host, _)| host);
        let own = own.filter(|host| self.hosts.origin(*host) != Origin::Remote);
        for host in own.collect::<Vec<_>>() {
            self.outbox.send_to_host(host, WorldOrder::HandOver);
        }
    }

    /// The rooms that wait for a host of the build that saved them, with that build. Cost: visits
    /// each room.
    pub fn waiting_rooms(&self) -> Vec<(RoomId, String)> {
        let waiting = self.rooms.iter().filter(|room| self.waits_for_host(room));
        waiting.map(|room| (room.id, room.build.clone())).collect()
    }

    /// Whether the room waits for a host of its build: one that lasts for good, if the shell has a
    /// checkpoint of it; another one as long as it has members.
    pub(in crate::lobby) fn waits_for_host(&self, room: &LobbyRoom) -> bool {
        let is_moving = matches!(room.phase, RoomPhase::Moving { .. });
        let is_kept = room.is_lasting() && room.has_checkpoint;
        room.waits_for_build() || is_moving && (is_kept || self.restored.waits_for_members(room.id))
    }

    /// Handles a room that its host runs no more, and of which the shell has all.
    pub(in crate::lobby) fn handle_room_handed_over(
        &mut self,
        now: LocalTime,
        from: HostId,
        id: RoomId,
    ) {
        let Some(room) = self.rooms.get_mut(id) else {
            return;
        };
        if room.phase != (RoomPhase::Running { host: from }) {
            return;
        }
        room.release.is_whole = true;
        if !room.release.is_asked {
            // The host is about to end. When it has, the room moves with all others.
            return;
        }
        room.release.is_asked = false;
        (room.phase, room.resumed_at) = (RoomPhase::Moving { host: None }, None);
        self.outbox.send_to_host(from, WorldOrder::RoomTaken(id));
        self.pool_changed = true;
        self.timers.set(Timer::Opening(id), now + self.config.open_timeout);
        self.counters.rooms_moved += 1;
        self.place_hostless_rooms(now);
    }

    /// Whether the host that is to resume the room is of another build than saved it.
    pub(in crate::lobby) fn tries_other_build(&self, room: &LobbyRoom) -> bool {
        match room.phase {
            RoomPhase::Moving { host: Some(host) } => !self.hosts.has_build(host, &room.build),
            _ => false,
        }
    }

    /// A host of this build could not go on with the room, which goes back to its own build.
    pub(in crate::lobby) fn note_misfit(
        &mut self,
        now: LocalTime,
        id: RoomId,
        build: String,
        why: &str,
    ) {
        let room = self.rooms.at_mut(id);
        tracing::warn!(
            room = id.0,
            game = room.game,
            saved_by = room.build,
            build,
            "a build cannot go on with a room, which goes back to the build that saved it: {}",
            sanitized(why)
        );
        room.release.add_misfit(build);
        (room.phase, room.failed_resumes) = (RoomPhase::Moving { host: None }, 0);
        self.counters.rooms_misfit += 1;
        self.pool_changed = true;
        self.timers.set(Timer::Opening(id), now + self.config.open_timeout);
    }

    /// A host of another build does not answer. It may still open the room, and has to close it.
    pub(in crate::lobby) fn give_up_other_build(&mut self, now: LocalTime, id: RoomId) {
        if let Some(host) = self.reachable_host(id) {
            let close = WorldOrder::CloseRoom { room: id, reason: ErrorCode::RoomClosed };
            self.outbox.send_to_host(host, close);
        }
        let host = self.rooms.at(id).game_host();
        let build = host.map(|host| self.hosts.build_of(host)).unwrap_or_default();
        self.note_misfit(now, id, build, "its host does not answer");
        self.place_hostless_rooms(now);
    }
}
