//! What the poses of a tick are coded from.

use ambit_proto::pose::{Extrapolation, PoseFormat};
use ambit_proto::time::GameTime;

use super::pose_table::PoseTable;

/// The input of the coder at one tick.
#[derive(Clone, Copy, Debug)]
pub struct PoseSource<'b> {
    /// The recent poses of all objects.
    pub table: &'b PoseTable,
    /// By kind; a placeholder for a kind without poses.
    pub formats: &'b [PoseFormat],
    /// By kind: how poses are extrapolated, if the kind says so.
    pub reckoned: &'b [Option<Extrapolation>],
    /// Stamp of this tick.
    pub stamp: GameTime,
    pub tick_hz: u64,
}

impl PoseSource<'_> {
    /// The grid of the poses of `slot`.
    pub fn format(&self, slot: u32) -> &PoseFormat {
        &self.formats[usize::from(self.table.kind(slot))]
    }

    /// How the poses of `slot` are extrapolated, if the kind says so.
    pub fn rule(&self, slot: u32) -> Option<Extrapolation> {
        self.reckoned.get(usize::from(self.table.kind(slot))).copied().flatten()
    }
}
