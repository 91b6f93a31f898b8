//! Nothing is simulated: this build has no physics. See `simulated`.

use std::time::Duration;

use ambit_proto::time::GameTime;

use super::own_inputs::PressedKeys;
use super::rules::Rules;
use super::stats::SimulationStats;
use crate::replica::Replica;

/// What is known of the time.
#[derive(Clone, Copy, Debug)]
pub struct SimulationClocks {
    /// The estimated room time.
    pub now: GameTime,
    /// What the host's datagrams take, at best.
    pub one_way: Duration,
    /// Round trip to the host.
    pub rtt: Duration,
    /// Stamp of the newest datagram.
    pub newest_stamp: GameTime,
}

/// See the module.
#[derive(Debug)]
pub struct SimulatedObjects;

impl SimulatedObjects {
    /// Nothing.
    pub fn new<V>(_: &Rules, _: bool, _: &mut Replica<V>) -> Self {
        SimulatedObjects
    }

    /// It does not.
    pub fn predicts(&self) -> bool {
        false
    }

    /// Nothing is drawn.
    pub fn advance<V>(&mut self, _: SimulationClocks, _: Option<&PressedKeys>, _: &mut Replica<V>) {
    }

    /// Never.
    pub fn next_due(&self) -> Option<GameTime> {
        None
    }

    /// None.
    pub fn bodies(&self) -> usize {
        0
    }

    /// Nothing.
    pub fn stats(&self) -> SimulationStats {
        SimulationStats::default()
    }
}
