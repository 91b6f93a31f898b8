//! The pool of child processes: how many there are, and which of them end.
//!
//! A child with rooms is in use. `spares` more are kept ready, so that a new room, or one that lost
//! its host, does not wait; all of them between `min` and `max`. Missing children are started at
//! once. Surplus ones are ended after `reap_after`: idle ones only, the youngest first.

use std::time::Duration;

use ambit_host_protocol::messages::WorldOrder;
use ambit_proto::time::LocalTime;

use crate::lobby::fleet::hosts::Origin;
use crate::lobby::output::HostId;
use crate::lobby::timers::Timer;
use crate::lobby::{Lobby, LobbyAction};

/// Limits for child processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildPoolConfig {
    pub min: u32,
    pub max: u32,
    /// Idle children that are kept ready, within the maximum.
    pub spares: u32,
    /// How long a surplus child is kept.
    pub reap_after: Duration,
}

impl Default for ChildPoolConfig {
    fn default() -> Self {
        Self { min: 0, max: 0, spares: 1, reap_after: Duration::from_secs(30) }
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
            self.timers.set_if_unset(Timer::EndIdleChildren, now + children.reap_after);
        } else {
            self.timers.cancel(Timer::EndIdleChildren);
        }
    }

    pub(in crate::lobby) fn end_idle_children(&mut self) {
        let wanted = self.config.children.wanted_children(self.children_in_use());
        let idle: Vec<HostId> = self.children_by_room_count(|rooms| rooms == 0).collect();
        let excess = self.child_count.saturating_sub(wanted) as usize;
        self.child_count = wanted;
        self.outbox.push(LobbyAction::SetChildCount(wanted));
        for &host in idle.iter().rev().take(excess) {
            self.hosts.retire(host);
            self.outbox.send_to_host(host, WorldOrder::Drain);
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
        fitting.map(|host| host.host).collect::<Vec<_>>().into_iter()
    }
}
