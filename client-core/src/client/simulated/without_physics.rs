//! The module `simulated` of a build without the feature `physics`: nothing is simulated.

#![expect(
    clippy::unused_self,
    reason = "the functions are those of the module that simulates"
)]

use ambit_proto::time::GameTime;

use crate::client::own_inputs::PressedKeys;
use crate::client::rules::Rules;
use crate::client::simulation_clocks::SimulationClocks;
use crate::client::stats::SimulationStats;
use crate::replica::Replica;

/// Stands in for the simulated objects.
#[derive(Debug)]
pub(crate) struct SimulatedObjects;

impl SimulatedObjects {
    /// No simulation: `predict` has no effect.
    pub(crate) fn new<V>(_rules: &Rules, _predict: bool, _replica: &mut Replica<V>) -> Self {
        SimulatedObjects
    }

    /// Always false.
    pub(crate) fn predicts(&self) -> bool {
        false
    }

    /// Does nothing.
    pub(crate) fn advance<V>(
        &mut self,
        _clocks: SimulationClocks,
        _presses: Option<&PressedKeys>,
        _replica: &mut Replica<V>,
    ) {
    }

    /// When the next simulation step is due, in shown time: never.
    pub(crate) fn next_due(&self) -> Option<GameTime> {
        None
    }

    /// Always 0.
    pub(crate) fn bodies(&self) -> usize {
        0
    }

    /// Always empty.
    pub(crate) fn stats(&self) -> SimulationStats {
        SimulationStats::default()
    }
}
