//! Restored rooms ([`restored`](super::restored)) begin, run and end.
//!
//! Parts of the lobby, not of the fleet: what ends or goes on here are rooms with their players,
//! timers and records, and the shell gets what a recording of the room begins with.

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::recording::Header;

use crate::Lobby;
use crate::output::LobbyAction;
use crate::refusal::LobbyRefusal;
use crate::rooms::room::RoomPhase;
use crate::timers::Timer;

/// A restored room that has run for this time is no danger to its host: what ends a host because of
/// the room's state happens when the room is restored, or in its first ticks.
const TRIAL_TIME: Duration = Duration::from_secs(3);

impl Lobby {
    /// To be called before [`Lobby::restore`] if an earlier start with the same rooms did not
    /// finish: it tries them one at a time.
    pub fn restore_one_at_a_time(&mut self) {
        self.fleet.restore_one_at_a_time();
    }

    /// Ends a restored room, which ended an earlier process. Returns what a recording of it begins
    /// with, and the build that saved it; `None` if there is no such room.
    pub fn set_aside_room(&mut self, now: LocalTime, id: RoomId) -> Option<(Header, String)> {
        let room = self.rooms.get(id).filter(|room| room.is_running())?;
        let build = room.run.build.clone();
        let why = LobbyRefusal::new(
            ErrorCode::ServerError,
            format!("room {id} was closed: the server ended when it went on with it"),
        );
        let header = room.assignment().into_header(self.config.grace_ms());
        // The caller sets it aside.
        self.clear_restored(id);
        self.close_room(now, id, why);
        self.advance(now);
        Some((header, build))
    }

    /// A room ends. If it was kept, and has not run here or has failed, the shell sets it aside; so
    /// it does with one that lasts and has failed.
    pub(crate) fn set_aside_unrestored(&mut self, id: RoomId, why: &LobbyRefusal) {
        let keeps = self.config.keeps_rooms || self.config.stores_rooms;
        let kept = self.rooms.get(id).filter(|room| room.run.has_checkpoint);
        let has_failed = matches!(
            why.code,
            ErrorCode::RoomCrashed | ErrorCode::ServerError | ErrorCode::HostDied
        );
        let Some(room) = kept.filter(|room| {
            let has_lasted = room.is_lasting() && has_failed;
            self.fleet.waits_for_members(id)
                || keeps && (room.run.release.is_misfit() || has_lasted)
        }) else {
            return;
        };
        if matches!(room.run.phase, RoomPhase::Running { .. }) && !has_failed {
            // It was restored, and its players have left.
            return;
        }
        let build = room.run.build.clone();
        let header = room.assignment().into_header(self.config.grace_ms());
        let why = format!("it ended before it could go on here ({})", why.message);
        self.effects.outbox.push(LobbyAction::SetAsideRoom { header, build, why });
    }

    /// Rooms were restored: those of which the shell has a checkpoint are watched.
    pub(crate) fn watch_restored_rooms(&mut self) {
        let kept = self.rooms.iter().filter(|room| room.run.has_checkpoint);
        if !self.fleet.watch_restored(kept.map(|room| room.id)) {
            self.effects.outbox.push(LobbyAction::RestoreDone);
        }
    }

    /// A host runs the room from now on.
    pub(crate) fn begin_trial_time(&mut self, now: LocalTime, id: RoomId) {
        if self.fleet.waits_for_members(id) {
            self.effects.timers.set(Timer::Trial(id), now + TRIAL_TIME);
        }
    }

    /// Clears a restored room that runs since the timer was set.
    pub(crate) fn end_trial_time(&mut self, id: RoomId) {
        let room = self.rooms.get(id);
        if room.is_some_and(|room| matches!(room.run.phase, RoomPhase::Running { .. })) {
            self.clear_restored(id);
        }
    }

    /// The room is no danger any more: it has run, or has ended.
    pub(crate) fn clear_restored(&mut self, id: RoomId) {
        self.effects.timers.cancel(Timer::Trial(id));
        if self.fleet.clear_restored(id) {
            self.effects.outbox.push(LobbyAction::RestoreDone);
        }
    }

    /// Chooses the room that is tried next, if none is, and places it.
    pub(crate) fn choose_trial(&mut self, now: LocalTime) {
        if self.fleet.choose_trial(self.rooms.all(), &mut self.effects.outbox) {
            self.place_hostless_rooms(now);
        }
    }
}
