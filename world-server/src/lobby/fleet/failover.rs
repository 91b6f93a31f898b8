//! Failover of rooms whose host was lost: another host resumes them.
//!
//! The shell has the checkpoint of a room (`LobbyRoom::has_checkpoint`) and sends it to the next
//! host. Members keep their seats and get a ticket for the new host. If no host has capacity, a
//! room waits for one until the time for an opening is over.
//!
//! A room that loses its host again soon after it was resumed, or twice before that, may crash its
//! hosts. If it was the only room there, it is closed, so that it cannot take down the other rooms
//! again and again. (What crashes a host because of the room's own state happens again in the same
//! place, and the next host starts there.) If there were other rooms, any of them may be the cause:
//! each becomes a *suspect* room and is quarantined, that is, it gets a host that no other suspect
//! has and that gets no other room for a while, an idle one if there is one. Suspects without a
//! free host wait. The suspect that loses that host too is closed; the others are cleared once they
//! have run there for long enough. A host that was asked to end says so and counts as no loss.

use std::time::Duration;

use ambit_host_protocol::messages::RoomMember;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::Error;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::lobby::output::{HostId, LobbyAction};
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::rooms::room::RoomPhase;
use crate::lobby::rooms::running::sanitized;
use crate::lobby::timers::Timer;
use crate::lobby::{Lobby, to_millis};

/// A room that loses a second host within this time after it was resumed may crash its hosts.
pub(in crate::lobby) const SUSPECT_WINDOW: Duration = Duration::from_secs(3);
/// So may a room that has lost this many hosts before they could resume it. One such loss is not
/// enough: the host may have been failing already.
const MAX_FAILED_RESUMES: u32 = 2;

impl Lobby {
    /// Records that the shell has a checkpoint of the room.
    pub(in crate::lobby) fn mark_checkpointed(&mut self, from: HostId, id: RoomId) {
        if let Some(room) = self.rooms.get_mut(id).filter(|room| room.game_host() == Some(from)) {
            room.has_checkpoint = true;
            self.note_first_checkpoint_kept(id);
        }
    }

    /// A host was asked to end: its end raises no suspicion against its rooms, and it gets no more.
    pub(in crate::lobby) fn note_hand_over(&mut self, host: HostId) {
        self.hosts.retire(host);
        let its = self.rooms.iter().filter(|room| room.game_host() == Some(host));
        for id in its.map(|room| room.id).collect::<Vec<_>>() {
            self.rooms.at_mut(id).resumed_at = None;
        }
    }

    /// Moves the rooms of a lost host, or returns their players to the lobby with the reason.
    /// `build` was the host's.
    pub(in crate::lobby) fn move_rooms_of(
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
            let was_resuming = room.phase == RoomPhase::Moving { host: Some(host) };
            room.failed_resumes += u32::from(was_resuming);
            if was_resuming && room.build != build && room.failed_resumes >= MAX_FAILED_RESUMES {
                self.note_misfit(now, id, build.to_owned(), "it seems to crash its hosts");
                continue;
            }
            let too_soon = room.resumed_at.is_some_and(|at| now.since(at) < SUSPECT_WINDOW);
            if too_soon || room.failed_resumes >= MAX_FAILED_RESUMES {
                fresh.push(id);
            }
        }
        let culprit = match fresh[..] {
            [only] if lost.len() == 1 || self.rooms.at(only).suspect => Some(only),
            _ => None,
        };
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
            if culprit == Some(id) || !room.has_checkpoint || !room.is_running() || self.draining {
                if culprit == Some(id) {
                    tracing::error!(
                        room = id.0,
                        game = room.game,
                        "room closed: it seems to crash its hosts"
                    );
                    self.counters.rooms_condemned += 1;
                    let grace_ms = to_millis(self.config.grace);
                    let header = self.room_assignment(id).into_header(grace_ms);
                    self.outbox.push(LobbyAction::SaveCondemned { header });
                }
                self.close_room_by_host(now, id, LobbyRefusal::new(ErrorCode::HostDied, message));
            } else {
                room.suspect |= fresh.contains(&id);
                (room.phase, room.resumed_at) = (RoomPhase::Moving { host: None }, None);
                room.release.stop_asking();
                self.timers.cancel(Timer::Quarantine(id));
                self.timers.set(Timer::Opening(id), now + self.config.open_timeout);
                self.counters.rooms_moved += 1;
            }
        }
        self.place_hostless_rooms(now);
    }

    /// Places the rooms without a host, as far as hosts have capacity.
    pub(in crate::lobby) fn place_hostless_rooms(&mut self, now: LocalTime) {
        let hostless =
            self.rooms.iter().filter(|room| room.phase == RoomPhase::Moving { host: None });
        let hostless = hostless.map(|room| room.id);
        let hostless = hostless.filter(|id| self.restored.may_run(*id));
        for id in hostless.collect::<Vec<_>>() {
            let excluded = self.quarantined_hosts();
            let Some(host) = self.place_room(id, &excluded) else {
                self.restored.pause_trial(id);
                if !excluded.is_empty() {
                    // It waits for quarantined hosts.
                    self.timers.set(Timer::Opening(id), now + self.config.open_timeout);
                }
                continue;
            };
            // The last host may have been lost before it handled leaves and renames: send the
            // members again.
            let members = self.members_on_map(id);
            self.rooms.at_mut(id).phase = RoomPhase::Moving { host: Some(host) };
            self.send_open_room(now, id, host, Some(members));
        }
    }

    /// The players on a map with their current names.
    pub(in crate::lobby) fn members_on_map(&self, id: RoomId) -> Vec<RoomMember> {
        let member = |player| RoomMember {
            player,
            name: self.players.at(player).name().as_str().to_owned(),
        };
        self.players_on_map(id).into_iter().map(member).collect()
    }

    /// Clears a suspect room that has run on its host for long enough.
    pub(in crate::lobby) fn end_quarantine(&mut self, now: LocalTime, id: RoomId) {
        if let Some(room) = self.rooms.get_mut(id) {
            room.suspect = false;
            self.place_hostless_rooms(now);
        }
    }

    /// Handles a host's answer to the order to resume a room.
    pub(in crate::lobby) fn handle_room_resumed(
        &mut self,
        now: LocalTime,
        from: HostId,
        id: RoomId,
        error: Option<Error>,
    ) {
        let Some(room) = self.rooms.get_mut(id) else {
            return;
        };
        if room.phase != (RoomPhase::Moving { host: Some(from) }) {
            return;
        }
        self.timers.cancel(Timer::Opening(id));
        if let Some(error) = error {
            if self.tries_other_build(self.rooms.at(id)) {
                let build = self.hosts.build_of(from);
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
        if let Some(host) = self.hosts.get(from) {
            room.build.clone_from(&host.build);
        }
        room.release.note_running();
        (room.phase, room.resumed_at, room.failed_resumes) =
            (RoomPhase::Running { host: from }, Some(now), 0);
        // It may have come to an older build than the newest.
        self.pool_changed = true;
        if self.rooms.at(id).map_identity.is_none() {
            self.report_room_runs(id, from, true);
        }
        self.begin_trial_time(now, id);
        if self.rooms.at(id).suspect {
            self.timers.set(Timer::Quarantine(id), now + SUSPECT_WINDOW);
        }
        if self.restored.waits_for_members(id) {
            self.repeat_arrivals(id);
        }
        for player in self.players_on_map(id) {
            self.send_ticket(now, player);
        }
        self.resend_transfer_orders(id);
    }
}
