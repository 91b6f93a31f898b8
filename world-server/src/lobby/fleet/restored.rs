//! Rooms that an earlier process has kept, until they have run here for a moment.
//!
//! They wait for a host as long as they have members: that hosts come late, hang, or have another
//! build is no reason to end a room. One that ends before it has run here, or because it failed, is
//! set aside (`LobbyAction::SetAsideRoom`): the build that saved it may be able to read it.
//!
//! A room may end the process that restores it, and with an embedded host that is the WorldServer.
//! So the shell counts starts that did not finish. After one, rooms are tried one at a time: the
//! shell notes which (`LobbyAction::NoteTrial`), the room is placed, and the next one follows when
//! it has run for [`TRIAL_TIME`] or has ended. `LobbyAction::RestoreDone` says that all have.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::recording::Header;

use crate::lobby::output::LobbyAction;
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::rooms::room::RoomPhase;
use crate::lobby::timers::Timer;
use crate::lobby::{Lobby, to_millis};

/// A restored room that has run for this time is no danger to its host: what ends a host because of
/// the room's state happens when the room is restored, or in its first ticks.
pub(crate) const TRIAL_TIME: Duration = Duration::from_secs(3);

/// See the module.
#[derive(Debug, Default)]
pub(in crate::lobby) struct RestoredRooms {
    /// Those that have not run here for [`TRIAL_TIME`].
    unproven: BTreeSet<RoomId>,
    one_at_a_time: bool,
    /// The one that is tried.
    tried: Option<RoomId>,
    /// The one that the shell received last.
    noted: Option<RoomId>,
}

impl RestoredRooms {
    /// Whether the room may get a host now.
    pub(in crate::lobby) fn may_run(&self, room: RoomId) -> bool {
        !self.one_at_a_time || self.tried == Some(room) || !self.unproven.contains(&room)
    }

    /// Whether the room waits for a host as long as it has members.
    pub(in crate::lobby) fn waits_for_members(&self, room: RoomId) -> bool {
        self.unproven.contains(&room)
    }

    /// The tried room has no host, so another one can be tried meanwhile.
    pub(in crate::lobby) fn pause_trial(&mut self, room: RoomId) {
        self.tried = self.tried.filter(|tried| *tried != room);
    }
}

impl Lobby {
    /// To be called before [`Lobby::restore`] if an earlier start with the same rooms did not
    /// finish: it tries them one at a time.
    pub fn restore_one_at_a_time(&mut self) {
        self.restored.one_at_a_time = true;
    }

    /// Ends a restored room, which ended an earlier process. Returns what a recording of it begins
    /// with, and the build that saved it; `None` if there is no such room.
    pub fn set_aside_room(&mut self, now: LocalTime, id: RoomId) -> Option<(Header, String)> {
        let room = self.rooms.get(id).filter(|room| room.is_running())?;
        let build = room.build.clone();
        let why = LobbyRefusal::new(
            ErrorCode::ServerError,
            format!("room {id} was closed: the server ended when it went on with it"),
        );
        let header = self.room_assignment(id).into_header(to_millis(self.config.grace));
        // The caller sets it aside.
        self.clear_restored(id);
        self.close_room(now, id, why);
        self.advance(now);
        Some((header, build))
    }

    /// A room ends. If it was kept, and has not run here or has failed, the shell sets it aside; so
    /// it does with one that lasts and has failed.
    pub(in crate::lobby) fn set_aside_unrestored(&mut self, id: RoomId, why: &LobbyRefusal) {
        let keeps = self.config.keeps_rooms || self.config.stores_rooms;
        let kept = self.rooms.get(id).filter(|room| room.has_checkpoint);
        let has_failed = matches!(
            why.code,
            ErrorCode::RoomCrashed | ErrorCode::ServerError | ErrorCode::HostDied
        );
        let Some(room) = kept.filter(|room| {
            let has_lasted = room.is_lasting() && has_failed;
            self.restored.unproven.contains(&id)
                || keeps && (room.release.is_misfit() || has_lasted)
        }) else {
            return;
        };
        if matches!(room.phase, RoomPhase::Running { .. }) && !has_failed {
            // It was restored, and its players have left.
            return;
        }
        let build = room.build.clone();
        let header = self.room_assignment(id).into_header(to_millis(self.config.grace));
        let why = format!("it ended before it could go on here ({})", why.message);
        self.outbox.push(LobbyAction::SetAsideRoom { header, build, why });
    }

    /// Rooms were restored: those of which the shell has a checkpoint are watched.
    pub(in crate::lobby) fn watch_restored_rooms(&mut self) {
        let kept = self.rooms.iter().filter(|room| room.has_checkpoint);
        self.restored.unproven = kept.map(|room| room.id).collect();
        if self.restored.unproven.is_empty() {
            self.outbox.push(LobbyAction::RestoreDone);
        }
    }

    /// A host runs the room from now on.
    pub(in crate::lobby) fn begin_trial_time(&mut self, now: LocalTime, id: RoomId) {
        if self.restored.unproven.contains(&id) {
            self.timers.set(Timer::Trial(id), now + TRIAL_TIME);
        }
    }

    /// Clears a restored room that runs since the timer was set.
    pub(in crate::lobby) fn end_trial_time(&mut self, id: RoomId) {
        let room = self.rooms.get(id);
        if room.is_some_and(|room| matches!(room.phase, RoomPhase::Running { .. })) {
            self.clear_restored(id);
        }
    }

    /// The room is no danger any more: it has run, or has ended.
    pub(in crate::lobby) fn clear_restored(&mut self, id: RoomId) {
        self.timers.cancel(Timer::Trial(id));
        if !self.restored.unproven.remove(&id) {
            return;
        }
        self.restored.pause_trial(id);
        // The next one may be tried.
        self.pool_changed = true;
        if self.restored.unproven.is_empty() {
            self.outbox.push(LobbyAction::RestoreDone);
        }
    }

    /// Chooses the room that is tried next, if none is, and places it.
    pub(in crate::lobby) fn choose_trial(&mut self, now: LocalTime) {
        if !self.restored.one_at_a_time || self.restored.tried.is_some() {
            return;
        }
        let excluded = self.quarantined_hosts();
        let unproven = self.restored.unproven.iter().copied();
        let next = unproven
            .filter(|id| self.rooms.at(*id).phase == RoomPhase::Moving { host: None })
            .find(|id| self.place_room(*id, &excluded).is_some());
        self.restored.tried = next;
        if self.restored.noted != next {
            self.restored.noted = next;
            // Before the order to open it.
            self.outbox.push(LobbyAction::NoteTrial { room: next });
        }
        if next.is_some() {
            self.place_hostless_rooms(now);
        }
    }
}
