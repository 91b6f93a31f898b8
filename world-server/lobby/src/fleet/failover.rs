//! Failover of rooms whose host was lost: another host resumes them.
//!
//! The shell has the checkpoint of a room (`LobbyRoom::has_checkpoint`) and sends it to the next
//! host. Members keep their seats and get a ticket for the new host. If no host has capacity, a
//! room waits for one until the time for an opening is over.
//!
//! A room that may have crashed its hosts is closed, or gets a host of its own
//! ([`suspicion`](super::suspicion)).
//!
//! Parts of the lobby, not of the fleet: rooms move with their players, who get tickets, and those
//! that cannot move are closed.

use ambit_host_protocol::messages::RoomMember;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::Error;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::Lobby;
use crate::fleet::heartbeats::SilenceCheck;
use crate::fleet::room_placement::quarantined_hosts;
use crate::fleet::suspicion::{LossVerdict, SUSPECT_WINDOW, culprit, judge_loss};
use crate::output::{HostId, LobbyAction};
use crate::refusal::LobbyRefusal;
use crate::rooms::room::RoomPhase;
use crate::rooms::running::sanitized;
use crate::timers::Timer;

impl Lobby {
    /// Records that the shell has a checkpoint of the room.
    pub(crate) fn mark_checkpointed(&mut self, from: HostId, id: RoomId) {
        if let Some(room) = self.rooms.get_mut(id).filter(|room| room.game_host() == Some(from)) {
            room.run.has_checkpoint = true;
            if self.config.keeps_rooms {
                self.rooms.note_first_checkpoint_kept(id);
            }
        }
    }

    /// A host was asked to end: its end raises no suspicion against its rooms, and it gets no more.
    pub(crate) fn note_hand_over(&mut self, host: HostId) {
        self.fleet.retire(host);
        let its = self.rooms.iter().filter(|room| room.game_host() == Some(host));
        for id in its.map(|room| room.id).collect::<Vec<_>>() {
            self.rooms.at_mut(id).run.resumed_at = None;
        }
    }

    /// The silence timer of a host that was due at `due` has expired: if the host is given up, its
    /// rooms move.
    pub(crate) fn check_silence(&mut self, now: LocalTime, id: HostId, due: LocalTime) {
        match self.fleet.check_silence(now, id, due) {
            None => {}
            Some(SilenceCheck::Again(at)) => self.effects.timers.set(Timer::HostSilence(id), at),
            Some(SilenceCheck::GivenUp { build, reason }) => {
                self.effects.outbox.push(LobbyAction::DisconnectHost { host: id });
                self.move_rooms_of(now, id, &build, &reason);
                if self.fleet.is_absent(id) {
                    self.fleet.forget_host(id);
                }
            }
        }
    }

    /// Moves the rooms of a lost host, or returns their players to the lobby with the reason.
    /// `build` was the host's.
    pub(crate) fn move_rooms_of(
        &mut self,
        now: LocalTime,
        host: HostId,
        build: &str,
        reason: &str,
    ) {
        let lost =
            self.rooms.iter().filter(|room| room.game_host() == Some(host)).map(|room| room.id);
        let lost: Vec<RoomId> = lost.collect();
        let mut fresh = Vec::new();
        for &id in &lost {
            let room = self.rooms.at_mut(id);
            let was_resuming = room.run.phase == RoomPhase::Moving { host: Some(host) };
            room.run.failed_resumes += u32::from(was_resuming);
            match judge_loss(now, room, build, was_resuming) {
                LossVerdict::Harmless => {}
                LossVerdict::MayCrashHosts => fresh.push(id),
                LossVerdict::Misfit => {
                    self.note_misfit(now, id, build.to_owned(), "it seems to crash its hosts");
                }
            }
        }
        let culprit = culprit(self.rooms.all(), &lost, &fresh);
        for id in lost {
            // The end of a world removes its other maps, and the last player on a map its world.
            let Some(room) = self.rooms.get_mut(id) else {
                continue;
            };
            let end = if culprit == Some(id) {
                ". It is the second one in a row that this room alone can have killed, so the \
                 room is closed"
            } else {
                ""
            };
            let message =
                format!("the game server that ran room {id} is gone: {}{end}", sanitized(reason));
            if culprit == Some(id)
                || !room.run.has_checkpoint
                || !room.is_running()
                || self.end.is_draining()
            {
                if culprit == Some(id) {
                    tracing::error!(
                        room = id.0,
                        game = room.game,
                        "room closed: it seems to crash its hosts"
                    );
                    self.effects.counters.rooms.condemned += 1;
                    let grace_ms = self.config.grace_ms();
                    let header = room.assignment().into_header(grace_ms);
                    self.effects.outbox.push(LobbyAction::SaveCondemned { header });
                }
                self.close_room_by_host(now, id, LobbyRefusal::new(ErrorCode::HostDied, message));
            } else {
                room.run.suspect |= fresh.contains(&id);
                (room.run.phase, room.run.resumed_at) = (RoomPhase::Moving { host: None }, None);
                room.run.release.stop_asking();
                self.effects.timers.cancel(Timer::Quarantine(id));
                self.effects.timers.set(Timer::Opening(id), now + self.config.open_timeout);
                self.effects.counters.rooms.moved += 1;
            }
        }
        self.place_hostless_rooms(now);
    }

    /// Places the rooms without a host, as far as hosts have capacity.
    pub(crate) fn place_hostless_rooms(&mut self, now: LocalTime) {
        let hostless =
            self.rooms.iter().filter(|room| room.run.phase == RoomPhase::Moving { host: None });
        let hostless = hostless.map(|room| room.id);
        let hostless = hostless.filter(|id| self.fleet.may_run(*id));
        for id in hostless.collect::<Vec<_>>() {
            let excluded = quarantined_hosts(self.rooms.all());
            let Some(host) = self.fleet.place_room(self.rooms.all(), id, &excluded) else {
                self.fleet.pause_trial(id);
                if !excluded.is_empty() {
                    // It waits for quarantined hosts.
                    self.effects.timers.set(Timer::Opening(id), now + self.config.open_timeout);
                }
                continue;
            };
            // The last host may have been lost before it handled leaves and renames: send the
            // members again.
            let members = self.members_on_map(id);
            self.rooms.at_mut(id).run.phase = RoomPhase::Moving { host: Some(host) };
            self.send_open_room(now, id, host, Some(members));
        }
    }

    /// The players on a map with their current names.
    pub(crate) fn members_on_map(&self, id: RoomId) -> Vec<RoomMember> {
        let member = |player| RoomMember {
            player,
            name: self.sessions.player(player).name().as_str().to_owned(),
        };
        self.rooms.players_on_map(id).into_iter().map(member).collect()
    }

    /// Clears a suspect room that has run on its host for long enough.
    pub(crate) fn end_quarantine(&mut self, now: LocalTime, id: RoomId) {
        if let Some(room) = self.rooms.get_mut(id) {
            room.run.suspect = false;
            self.place_hostless_rooms(now);
        }
    }

    /// Handles a host's answer to the order to resume a room.
    pub(crate) fn handle_room_resumed(
        &mut self,
        now: LocalTime,
        from: HostId,
        id: RoomId,
        error: Option<Error>,
    ) {
        let Some(room) = self.rooms.get_mut(id) else {
            return;
        };
        if room.run.phase != (RoomPhase::Moving { host: Some(from) }) {
            return;
        }
        self.effects.timers.cancel(Timer::Opening(id));
        if let Some(error) = error {
            if self.fleet.tries_other_build(room) {
                let build = self.fleet.build_of(from);
                self.note_misfit(now, id, build, &error.message);
                return self.place_hostless_rooms(now);
            }
            let message = format!(
                "no other game server could resume room {id}: {}",
                sanitized(&error.message)
            );
            return self.close_room_by_host(
                now,
                id,
                LobbyRefusal::new(ErrorCode::HostDied, message),
            );
        }
        if let Some(host) = self.fleet.host(from) {
            room.run.build.clone_from(&host.build);
        }
        room.run.release.note_running();
        (room.run.phase, room.run.resumed_at, room.run.failed_resumes) =
            (RoomPhase::Running { host: from }, Some(now), 0);
        // It may have come to an older build than the newest.
        self.fleet.note_change();
        let room = self.rooms.at(id);
        if room.map_identity.is_none() {
            self.effects.report(room.runs_event(from, true));
        }
        self.begin_trial_time(now, id);
        if self.rooms.at(id).run.suspect {
            self.effects.timers.set(Timer::Quarantine(id), now + SUSPECT_WINDOW);
        }
        if self.fleet.waits_for_members(id) {
            self.rooms.repeat_arrivals(id);
        }
        for player in self.rooms.players_on_map(id) {
            self.send_ticket(now, player);
        }
        self.resend_transfer_orders(id);
    }
}
