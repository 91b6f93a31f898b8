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

use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::fleet::Fleet;
use crate::fleet::placement::HostCandidate;
use crate::fleet::suspicion::SUSPECT_WINDOW;
use crate::output::HostId;
use crate::rooms::room::{LobbyRoom, LobbyRooms, RoomPhase};

/// How often rooms are asked to move, and how many at a time: sixteen a second. Each one is read
/// and restored by its next host, which has players of other rooms.
pub(crate) const ASK_EVERY: Duration = Duration::from_millis(250);
const ASKED_AT_ONCE: usize = 4;

impl Fleet {
    /// Leaves the hosts whose build may run the room. A new room prefers the newest build if that
    /// has capacity, a further map its world's, since players bring what that build has saved. A
    /// room that has run needs the build that saved it; if it was handed over, the newest build may
    /// read it, and any other if there is no host of its own.
    pub(super) fn retain_builds(&self, room: &LobbyRoom, hosts: &mut Vec<HostCandidate>) {
        let newest = self.hosts.newest_build();
        let has_own = hosts.iter().any(|host| self.hosts.has_build(host.host, &room.run.build));
        let (prefers_newest, stays_with_own) = if room.has_started() {
            (newest.is_some_and(|newest| room.run.release.may_try(newest)), true)
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
        if has_own || !room.run.release.is_whole {
            return hosts.retain(|host| self.hosts.has_build(host.host, &room.run.build));
        }
        let build_of = |host: &HostCandidate| self.hosts.get(host.host).map(|host| &host.build[..]);
        hosts.retain(|host| build_of(host).is_some_and(|build| room.run.release.may_try(build)));
    }

    /// Whether rooms may have to move: hosts of several builds are there, or drained ones.
    pub(crate) fn may_ask_rooms(&self) -> bool {
        self.hosts.has_several_builds() || self.hosts.is_any_drained()
    }

    /// The rooms that are to be asked to move now, with their hosts: some of older builds, if the
    /// newest build has capacity, and some of drained hosts. `None` if no room has to move now;
    /// otherwise the next ones are asked after [`ASK_EVERY`].
    pub(crate) fn rooms_to_ask(
        &self,
        now: LocalTime,
        rooms: &LobbyRooms,
    ) -> Option<Vec<(HostId, RoomId)>> {
        let newest = self.hosts.newest_build();
        let is_old = |room: &LobbyRoom| {
            let newest = newest.filter(|newest| room.run.build != *newest);
            newest.is_some_and(|newest| !room.run.release.is_misfit_of(newest))
        };
        let mut old = Vec::new();
        let mut drained = Vec::new();
        for room in rooms.iter().filter(|room| !room.run.release.is_asked) {
            match room.run.phase {
                RoomPhase::Running { .. } if is_old(room) => old.push(room),
                RoomPhase::Running { host } if self.hosts.is_drained(host) => drained.push(room),
                _ => {}
            }
        }
        if old.is_empty() && drained.is_empty() {
            return None;
        }
        let candidates = self.hosts.candidates(rooms);
        let free = |build: &str| -> usize {
            let of_build = candidates.iter().filter(|at| self.hosts.has_build(at.host, build));
            of_build.map(|host| host.capacity.saturating_sub(host.rooms) as usize).sum()
        };
        let asked = rooms.iter().filter(|room| room.run.release.is_asked).count();
        let most = newest.map_or(0, free).saturating_sub(asked).min(ASKED_AT_ONCE);
        let ready = old.into_iter().filter_map(|room| self.host_to_ask(now, room, rooms));
        let mut chosen: Vec<(HostId, RoomId)> = ready.take(most).collect();
        for room in drained {
            let room_for_more = free(&room.run.build) > asked + chosen.len();
            if chosen.len() < ASKED_AT_ONCE && room_for_more {
                chosen.extend(self.host_to_ask(now, room, rooms));
            }
        }
        Some(chosen)
    }

    /// The host of a room that may be asked to move, with the room. One that has just moved, or
    /// through whose gates players go now, is asked later.
    fn host_to_ask(
        &self,
        now: LocalTime,
        room: &LobbyRoom,
        rooms: &LobbyRooms,
    ) -> Option<(HostId, RoomId)> {
        let host = room.game_host()?;
        let has_settled = room.run.resumed_at.is_none_or(|at| now.since(at) >= SUSPECT_WINDOW);
        let may_be_asked = room.run.has_checkpoint
            && !room.run.suspect
            && has_settled
            && !self.waits_for_members(room.id)
            && self.is_reachable(host)
            && !self.hosts.is_leaving(host)
            && !rooms.at(room.world_id()).world.has_transfer_of(room.id);
        may_be_asked.then_some((host, room.id))
    }

    /// Whether the room waits for a host of its build: one that lasts for good, if the shell has a
    /// checkpoint of it; another one as long as it has members.
    pub(crate) fn waits_for_host(&self, room: &LobbyRoom) -> bool {
        let is_moving = matches!(room.run.phase, RoomPhase::Moving { .. });
        let is_kept = room.is_lasting() && room.run.has_checkpoint;
        room.waits_for_build() || is_moving && (is_kept || self.waits_for_members(room.id))
    }

    /// Whether the host that is to resume the room is of another build than saved it.
    pub(crate) fn tries_other_build(&self, room: &LobbyRoom) -> bool {
        match room.run.phase {
            RoomPhase::Moving { host: Some(host) } => !self.hosts.has_build(host, &room.run.build),
            _ => false,
        }
    }
}
