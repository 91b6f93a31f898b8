//! How many children there are, and which of them end.
//!
//! A child with rooms is in use; `spares` more are kept ready, so that a room that needs one, or
//! that has lost its own, does not wait; all of them between `min` and `max`. More are wanted at
//! once; those too many are ended when they have been too many for `reap_after`, idle ones only,
//! the youngest first.

use std::time::Duration;

use ambit_proto::control::host::{Beat, Drain, Heard, world_to_host};
use ambit_proto::time::LocalTime;

use super::hosts::Origin;
use super::output::HostId;
use super::timers::Timer;
use super::{Lobby, LobbyAction};

/// How many children the server keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildPoolConfig {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: u32,
    /// Idle ones that are kept ready, if there may be so many.
    pub spares: u32,
    /// How long one too many is kept.
    pub reap_after: Duration,
}

impl Default for ChildPoolConfig {
    fn default() -> Self {
        Self {
            min: 0,
            max: 0,
            spares: 1,
            reap_after: Duration::from_secs(30),
        }
    }
}

impl ChildPoolConfig {
    fn wanted_children(self, in_use: u32) -> u32 {
        in_use.saturating_add(self.spares).clamp(self.min, self.max)
    }
}

impl Lobby {
    /// Sees to it that there are as many children as are wanted.
    pub(super) fn update_pool(&mut self, now: LocalTime) {
        let children = self.config.children;
        if !std::mem::take(&mut self.pool_changed) || children.min == children.max || self.draining
        {
            return;
        }
        let wanted = children.wanted_children(self.children_in_use());
        if wanted > self.child_count {
            self.child_count = wanted;
            self.outbox.push(LobbyAction::SetChildCount(wanted));
        }
        if wanted < self.child_count {
            self.timers
                .set_if_unset(Timer::EndIdleChildren, now + children.reap_after);
        } else {
            self.timers.cancel(Timer::EndIdleChildren);
        }
    }

    /// Some children have been too many for a while.
    pub(super) fn end_idle_children(&mut self) {
        let wanted = self.config.children.wanted_children(self.children_in_use());
        let idle: Vec<HostId> = self.children_by_room_count(|rooms| rooms == 0).collect();
        let excess = self.child_count.saturating_sub(wanted) as usize;
        self.child_count = wanted;
        self.outbox.push(LobbyAction::SetChildCount(wanted));
        for &host in idle.iter().rev().take(excess) {
            self.hosts.retire(host);
            self.outbox
                .send_to_host(host, world_to_host::Body::Drain(Drain {}));
        }
    }

    fn children_in_use(&self) -> u32 {
        self.children_by_room_count(|rooms| rooms > 0).count() as u32
    }

    fn children_by_room_count(
        &self,
        fits: impl Fn(u32) -> bool,
    ) -> impl DoubleEndedIterator<Item = HostId> {
        let hosts = self.hosts.candidates(&self.rooms).into_iter();
        let fitting =
            hosts.filter(|host| self.hosts.origin(host.host) == Origin::Child && fits(host.rooms));
        fitting
            .map(|host| host.host)
            .collect::<Vec<_>>()
            .into_iter()
    }
}

/// A host that has said nothing for too long.
impl Lobby {
    /// From now on the host has to be heard.
    pub(super) fn watch_host(&mut self, now: LocalTime, id: HostId) {
        if self.hosts.origin(id) != Origin::Embedded {
            self.timers
                .set(Timer::HostSilence(id), now + self.config.host_silence);
        }
    }

    /// The host was due to be heard at `due`. If it was not, it hangs, or the way to it does: its
    /// rooms are lost to it, and so that nobody meets them any more the link is cut and a child
    /// killed.
    pub(super) fn check_silence(&mut self, now: LocalTime, id: HostId, due: LocalTime) {
        let Some(heard_at) = self.hosts.received_at(id) else {
            return;
        };
        let silence = self.config.host_silence;
        let again_at = if now.since(due) > STALL_THRESHOLD {
            // Nobody asked this lobby anything for a while: it was stopped itself, and what hosts
            // said waits to be heard.
            now + silence
        } else if self.hosts.is_absent(id) {
            // It had until now to come back.
            now
        } else {
            heard_at + silence
        };
        if again_at > now {
            return self.timers.set(Timer::HostSilence(id), again_at);
        }
        let reason = format!(
            "it gave no sign of life for {} ms",
            now.since(heard_at).as_millis()
        );
        tracing::warn!(host = id.0, "a host is given up: {reason}");
        self.hosts.retire(id);
        self.outbox.push(LobbyAction::DisconnectHost { host: id });
        self.move_rooms_of(now, id, &reason);
        if self.hosts.is_absent(id) {
            self.hosts.remove(id);
        }
    }

    /// A host is told which of its signs of life has come: its lease begins anew.
    pub(super) fn acknowledge_heartbeat(&mut self, id: HostId, beat: Beat) {
        if self.hosts.origin(id) == Origin::Remote {
            self.outbox.send_to_host(
                id,
                world_to_host::Body::Heard(Heard {
                    number: beat.number,
                }),
            );
        }
    }
}

/// How long a host may serve players after a sign of life that was heard: it stops before its rooms
/// are given away, also if clocks drift.
pub(super) fn serving_lease(silence: Duration) -> Duration {
    silence * 3 / 4
}

/// A timer that comes so late says that this process was stopped or starved.
const STALL_THRESHOLD: Duration = Duration::from_millis(500);
