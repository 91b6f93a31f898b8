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
use super::{Lobby, Output};

/// How many children the server keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Children {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: u32,
    /// Idle ones that are kept ready, if there may be so many.
    pub spares: u32,
    /// How long one too many is kept.
    pub reap_after: Duration,
}

impl Default for Children {
    fn default() -> Self {
        Self {
            min: 0,
            max: 0,
            spares: 1,
            reap_after: Duration::from_secs(30),
        }
    }
}

impl Children {
    fn wanted(self, in_use: u32) -> u32 {
        in_use.saturating_add(self.spares).clamp(self.min, self.max)
    }
}

impl Lobby {
    /// Sees to it that there are as many children as are wanted.
    pub(super) fn tend_pool(&mut self, now: LocalTime) {
        let children = self.config.children;
        if !std::mem::take(&mut self.pool_changed) || children.min == children.max || self.draining
        {
            return;
        }
        let wanted = children.wanted(self.children_in_use());
        if wanted > self.children {
            self.children = wanted;
            self.outbox.push(Output::Children(wanted));
        }
        if wanted < self.children {
            self.timers
                .set_if_unset(Timer::Reap, now + children.reap_after);
        } else {
            self.timers.cancel(Timer::Reap);
        }
    }

    /// Some children have been too many for a while.
    pub(super) fn reap(&mut self) {
        let wanted = self.config.children.wanted(self.children_in_use());
        let idle: Vec<HostId> = self.children_that_are(|rooms| rooms == 0).collect();
        let excess = self.children.saturating_sub(wanted) as usize;
        self.children = wanted;
        self.outbox.push(Output::Children(wanted));
        for &host in idle.iter().rev().take(excess) {
            self.hosts.retire(host);
            self.outbox.host(host, world_to_host::Body::Drain(Drain {}));
        }
    }

    fn children_in_use(&self) -> u32 {
        self.children_that_are(|rooms| rooms > 0).count() as u32
    }

    fn children_that_are(
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
                .set(Timer::Silent(id), now + self.config.host_silence);
        }
    }

    /// The host was due to be heard at `due`. If it was not, it hangs, or the way to it does: its
    /// rooms are lost to it, and so that nobody meets them any more the link is cut and a child
    /// killed.
    pub(super) fn check_silence(&mut self, now: LocalTime, id: HostId, due: LocalTime) {
        let Some(heard_at) = self.hosts.heard_at(id) else {
            return;
        };
        let silence = self.config.host_silence;
        let again_at = if now.since(due) > STALLED {
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
            return self.timers.set(Timer::Silent(id), again_at);
        }
        let reason = format!(
            "it gave no sign of life for {} ms",
            now.since(heard_at).as_millis()
        );
        tracing::warn!(host = id.0, "a host is given up: {reason}");
        self.hosts.retire(id);
        self.outbox.push(Output::Forsake { host: id });
        self.lose_rooms_of(now, id, &reason);
        if self.hosts.is_absent(id) {
            self.hosts.remove(id);
        }
    }

    /// A host is told which of its signs of life has come: its lease begins anew.
    pub(super) fn hear_beat(&mut self, id: HostId, beat: Beat) {
        if self.hosts.origin(id) == Origin::Remote {
            self.outbox.host(
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
pub(super) fn lease_for(silence: Duration) -> Duration {
    silence * 3 / 4
}

/// A timer that comes so late says that this process was stopped or starved.
const STALLED: Duration = Duration::from_millis(500);
