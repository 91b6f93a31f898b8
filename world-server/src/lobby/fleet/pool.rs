//! The pool of child processes: how many there are, and which of them end.
//!
//! A child with rooms is in use. `spares` more are kept ready, so that a new room, or one that lost
//! its host, does not wait; all of them between `min` and `max`. Missing children are started at
//! once. Surplus ones are ended after `reap_after`: idle ones only, the youngest first.

use std::time::Duration;

use ambit_host::protocol::messages::{Beat, Drain, Heard, world_to_host};
use ambit_proto::time::LocalTime;

use crate::lobby::fleet::hosts::Origin;
use crate::lobby::output::HostId;
use crate::lobby::timers::Timer;
use crate::lobby::{Lobby, LobbyAction};

/// Limits for child processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildPoolConfig {
    /// Minimum.
    pub min: u32,
    /// Maximum.
    pub max: u32,
    /// Idle children that are kept ready, within the maximum.
    pub spares: u32,
    /// How long a surplus child is kept.
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
    /// Adjusts the number of children to what is needed.
    pub(in crate::lobby) fn update_pool(&mut self, now: LocalTime) {
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

    /// Ends surplus idle children.
    pub(in crate::lobby) fn end_idle_children(&mut self) {
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

/// Detection of silent hosts.
impl Lobby {
    /// Starts the silence timer of a host.
    pub(in crate::lobby) fn watch_host(&mut self, now: LocalTime, id: HostId) {
        if self.hosts.origin(id) != Origin::Embedded {
            self.timers
                .set(Timer::HostSilence(id), now + self.config.host_silence);
        }
    }

    /// The silence timer that was due at `due` has expired. If the host has sent nothing since, it
    /// hangs or its connection does: moves its rooms, closes the link, and kills a child, so that
    /// players cannot use the old rooms.
    pub(in crate::lobby) fn check_silence(&mut self, now: LocalTime, id: HostId, due: LocalTime) {
        let Some(heard_at) = self.hosts.received_at(id) else {
            return;
        };
        let silence = self.config.host_silence;
        let again_at = if now.since(due) > STALL_THRESHOLD {
            // This process was stopped or starved itself, and messages of hosts wait in its queues.
            now + silence
        } else if self.hosts.is_absent(id) {
            // Its time to reconnect is over.
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
        tracing::warn!(
            host = id.0,
            "host given up; its rooms resume on other hosts: {reason}"
        );
        self.hosts.retire(id);
        self.outbox.push(LobbyAction::DisconnectHost { host: id });
        self.move_rooms_of(now, id, &reason);
        if self.hosts.is_absent(id) {
            self.hosts.remove(id);
        }
    }

    /// Acknowledges a heartbeat: the host's serving lease starts again.
    pub(in crate::lobby) fn acknowledge_heartbeat(&mut self, id: HostId, beat: Beat) {
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

/// How long a host may serve players after an acknowledged heartbeat. It stops before its rooms are
/// given to another host, also if clocks drift.
pub(in crate::lobby) fn serving_lease(silence: Duration) -> Duration {
    silence * 3 / 4
}

/// A timer this late means that this process was stopped or starved.
const STALL_THRESHOLD: Duration = Duration::from_millis(500);
