//! The pool of child processes: how many there are, and which of them end.
//!
//! A child with rooms is in use. `spares` more are kept ready, so that a new room, or one that lost
//! its host, does not wait; all of them between `min` and `max`. Missing children are started at
//! once. Surplus ones are ended after `reap_after`: idle ones only, the youngest first.

use std::cmp::Ordering;
use std::time::Duration;

use crate::output::HostId;

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

/// What follows for the children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildDemand {
    /// Children are missing: the shell keeps this number from now on.
    More(u32),
    /// There are as many as are needed.
    Met,
    /// Some are surplus, and end if they still are after this time.
    Fewer { after: Duration },
}

/// See the module.
#[derive(Debug)]
pub(super) struct ChildPool {
    config: ChildPoolConfig,
    /// The number of children that the shell keeps.
    count: u32,
}

impl ChildPool {
    pub(super) fn new(config: ChildPoolConfig) -> Self {
        Self { config, count: config.min }
    }

    /// Whether the number of children never changes.
    pub(super) fn is_fixed(&self) -> bool {
        self.config.min == self.config.max
    }

    /// Adjusts the number of children to what is needed, if this number of them have rooms.
    pub(super) fn adjust(&mut self, in_use: u32) -> ChildDemand {
        let wanted = self.config.wanted_children(in_use);
        match wanted.cmp(&self.count) {
            Ordering::Greater => {
                self.count = wanted;
                ChildDemand::More(wanted)
            }
            Ordering::Equal => ChildDemand::Met,
            Ordering::Less => ChildDemand::Fewer { after: self.config.reap_after },
        }
    }

    /// Ends surplus children. `idle` are those without rooms, the oldest first. Returns the number
    /// that the shell keeps from now on, and which ones end.
    pub(super) fn shrink(&mut self, in_use: u32, idle: &[HostId]) -> (u32, Vec<HostId>) {
        let wanted = self.config.wanted_children(in_use);
        let excess = self.count.saturating_sub(wanted) as usize;
        self.count = wanted;
        (wanted, idle.iter().rev().take(excess).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_children_are_wanted_at_once_and_surplus_ones_later() {
        let config = ChildPoolConfig { min: 1, max: 4, ..ChildPoolConfig::default() };
        let mut pool = ChildPool::new(config);
        assert_eq!(pool.adjust(0), ChildDemand::Met);
        assert_eq!(pool.adjust(2), ChildDemand::More(3));
        assert_eq!(pool.adjust(9), ChildDemand::More(4));
        assert_eq!(pool.adjust(3), ChildDemand::Met);
        assert_eq!(pool.adjust(1), ChildDemand::Fewer { after: config.reap_after });
    }

    #[test]
    fn the_youngest_idle_children_end() {
        let config = ChildPoolConfig { min: 1, max: 5, ..ChildPoolConfig::default() };
        let mut pool = ChildPool::new(config);
        pool.adjust(4);
        let idle = [2, 3, 5].map(HostId);
        assert_eq!(pool.shrink(2, &idle), (3, [5, 3].map(HostId).to_vec()));
        assert_eq!(pool.shrink(1, &[]), (2, Vec::new()), "none is idle yet");
    }

    #[test]
    fn a_pool_with_equal_bounds_is_fixed() {
        let fixed = |min, max| {
            ChildPool::new(ChildPoolConfig { min, max, ..ChildPoolConfig::default() }).is_fixed()
        };
        assert!(fixed(0, 0) && fixed(3, 3) && !fixed(0, 1));
    }
}
