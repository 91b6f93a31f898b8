//! What both ends know of all objects while a section is coded.

use super::neighbours::CodedNeighbours;
use super::reference::ReferenceObject;
use super::weights::PreparedWeights;
use crate::pose::trained::fine::{FLAG_CONTEXTS, FineWeights, MEMBERSHIP_CONTEXTS};

/// The state of the fine level within one section. Each section starts from the same state; the
/// value is reused so that its buffers are not allocated again.
#[derive(Debug)]
pub struct FineState {
    pub(super) weights: &'static PreparedWeights,
    /// Positions are relative to this: the reference's baseline.
    pub(super) origin: [i32; 3],
    pub(super) reference: ReferenceObject,
    pub(super) neighbours: CodedNeighbours,
    /// Probabilities that adapt.
    pub(super) membership: [u16; MEMBERSHIP_CONTEXTS],
    pub(super) flag: [u16; FLAG_CONTEXTS],
    /// The flag of the object before.
    pub(super) last_flag: bool,
    /// How much larger the last errors were than predicted, as a power of two: position and turn.
    pub(super) excess: [f32; 2],
}

impl Default for FineState {
    fn default() -> Self {
        Self::of(PreparedWeights::in_use())
    }
}

impl FineState {
    /// With other weights, for training: these are never freed.
    pub(in crate::pose) fn with_weights(weights: FineWeights) -> Self {
        Self::of(Box::leak(Box::new(PreparedWeights::new(weights))))
    }

    fn of(weights: &'static PreparedWeights) -> Self {
        Self {
            weights,
            origin: [0; 3],
            reference: ReferenceObject::default(),
            neighbours: CodedNeighbours::default(),
            membership: weights.trained.membership,
            flag: weights.trained.flag,
            last_flag: false,
            excess: [0.0; 2],
        }
    }

    /// Forgets the section before.
    pub(super) fn clear(&mut self) {
        self.origin = [0; 3];
        self.reference.clear();
        self.neighbours.clear();
        self.membership = self.weights.trained.membership;
        self.flag = self.weights.trained.flag;
        self.last_flag = false;
        self.excess = [0.0; 2];
    }
}
