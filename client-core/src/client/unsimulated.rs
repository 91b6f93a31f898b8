//! Replaces `simulated` in a build without physics: nothing is simulated.

use std::time::Duration;

use ambit_proto::time::GameTime;

use super::own_inputs::PressedKeys;
use super::rules::Rules;
use super::stats::SimulationStats;
use crate::replica::Replica;

/// Times that the simulation needs.
#[derive(Clone, Copy, Debug)]
pub struct SimulationClocks {
    /// The estimated room time.
    pub now: GameTime,
    /// Minimum delay from the host to the client.
    pub one_way: Duration,
    /// Round-trip time to the host.
    pub rtt: Duration,
    /// Stamp of the newest datagram.
    pub newest_stamp: GameTime,
}

/// Stands in for the simulated objects.
#[derive(Debug)]
pub struct SimulatedObjects;

impl SimulatedObjects {
    /// Does nothing.
    pub fn new<V>(_: &Rules, _: bool, _: &mut Replica<V>) -> Self {
        SimulatedObjects
    }

    /// Always false.
    pub fn predicts(&self) -> bool {
        false
    }

    /// Does nothing.
    pub fn advance<V>(&mut self, _: SimulationClocks, _: Option<&PressedKeys>, _: &mut Replica<V>) {
    }

    /// Always `None`.
    pub fn next_due(&self) -> Option<GameTime> {
        None
    }

    /// Always 0.
    pub fn bodies(&self) -> usize {
        0
    }

    /// Always empty.
    pub fn stats(&self) -> SimulationStats {
        SimulationStats::default()
    }
}
