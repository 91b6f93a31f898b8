//! Rooms that go to hosts of another build, or away from hosts that an operator wants empty
//! ([`releases`](super::releases)).
//!
//! Parts of the lobby, not of the fleet: the orders go to hosts by the lobby's outputs and wait by
//! its timers, and the rooms have players, who follow.

use ambit_host_protocol::messages::{RoomOrder, WorldOrder};
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::Lobby;
use crate::fleet::releases::ASK_EVERY;
use crate::output::HostId;
use crate::rooms::room::RoomPhase;
use crate::rooms::running::sanitized;
use crate::timers::Timer;

impl Lobby {
    /// Rooms or hosts have changed: rooms of older builds may have to move.
    pub(crate) fn watch_builds(&mut self, now: LocalTime) {
        if self.fleet.may_ask_rooms() {
            self.effects.timers.set_if_unset(Timer::Releases, now + ASK_EVERY);
        }
    }

    /// Asks some rooms of older builds and of drained hosts to move. Called again as long as others
    /// may have to.
    pub(crate) fn ask_rooms_to_move(&mut self, now: LocalTime) {
        let Some(asked) = self.fleet.rooms_to_ask(now, self.rooms.all()) else {
            return;
        };
        self.effects.timers.set(Timer::Releases, now + ASK_EVERY);
        for (host, id) in asked {
            self.rooms.at_mut(id).run.release.is_asked = true;
            self.effects.outbox.send_to_room(host, id, RoomOrder::Move);
        }
    }

    /// An operator wants a host empty, or not any more. Returns how many rooms it has.
    pub(crate) fn set_host_drained(
        &mut self,
        now: LocalTime,
        host: HostId,
        is_drained: bool,
    ) -> Option<usize> {
        if !self.fleet.set_drained(host, is_drained) {
            return None;
        }
        self.effects.timers.set_if_unset(Timer::Releases, now);
        if !is_drained {
            self.place_hostless_rooms(now);
        }
        Some(self.rooms.iter().filter(|room| room.game_host() == Some(host)).count())
    }

    /// Of these rooms, which were restored, the shell has a snapshot and no journal after it.
    pub fn mark_whole(&mut self, rooms: impl IntoIterator<Item = RoomId>) {
        for id in rooms {
            if let Some(room) = self.rooms.get_mut(id) {
                room.run.release.is_whole = true;
            }
        }
    }

    /// This server ends, and the next one goes on with the rooms: hosts that end with it hand
    /// theirs over, so that any build may go on with them.
    pub fn end_own_hosts(&mut self) {
        for host in self.fleet.own_hosts() {
            self.effects.outbox.send_to_host(host, WorldOrder::HandOver);
        }
    }

    /// The rooms that wait for a host of the build that saved them, with that build. Cost: visits
    /// each room.
    pub fn waiting_rooms(&self) -> Vec<(RoomId, String)> {
        let waiting = self.rooms.iter().filter(|room| self.fleet.waits_for_host(room));
        waiting.map(|room| (room.id, room.run.build.clone())).collect()
    }

    /// Handles a room that its host runs no more, and of which the shell has all.
    pub(crate) fn handle_room_handed_over(&mut self, now: LocalTime, from: HostId, id: RoomId) {
        let Some(room) = self.rooms.get_mut(id) else {
            return;
        };
        if room.run.phase != (RoomPhase::Running { host: from }) {
            return;
        }
        room.run.release.is_whole = true;
        if !room.run.release.is_asked {
            // The host is about to end. When it has, the room moves with all others.
            return;
        }
        room.run.release.is_asked = false;
        (room.run.phase, room.run.resumed_at) = (RoomPhase::Moving { host: None }, None);
        self.effects.outbox.send_to_host(from, WorldOrder::RoomTaken(id));
        self.fleet.note_change();
        self.effects.timers.set(Timer::Opening(id), now + self.config.open_timeout);
        self.effects.counters.rooms.moved += 1;
        self.place_hostless_rooms(now);
    }

    /// A host of this build could not go on with the room, which goes back to its own build.
    pub(crate) fn note_misfit(&mut self, now: LocalTime, id: RoomId, build: String, why: &str) {
        let room = self.rooms.at_mut(id);
        tracing::warn!(
            room = id.0,
            game = room.game,
            saved_by = room.run.build,
            build,
            "a build cannot go on with a room, which goes back to the build that saved it: {}",
            sanitized(why)
        );
        room.run.release.add_misfit(build);
        (room.run.phase, room.run.failed_resumes) = (RoomPhase::Moving { host: None }, 0);
        self.effects.counters.rooms.misfit += 1;
        self.fleet.note_change();
        self.effects.timers.set(Timer::Opening(id), now + self.config.open_timeout);
    }

    /// A host of another build does not answer. It may still open the room, and has to close it.
    pub(crate) fn give_up_other_build(&mut self, now: LocalTime, id: RoomId) {
        if let Some(host) = self.reachable_host(id) {
            let close = WorldOrder::CloseRoom { room: id, reason: ErrorCode::RoomClosed };
            self.effects.outbox.send_to_host(host, close);
        }
        let host = self.rooms.at(id).game_host();
        let build = host.map(|host| self.fleet.build_of(host)).unwrap_or_default();
        self.note_misfit(now, id, build, "its host does not answer");
        self.place_hostless_rooms(now);
    }
}
