//! The trained weights, prepared for use: as `f32`, and with the curves worked out.

use std::sync::LazyLock;

use super::tail_curve::TailCurves;
use crate::pose::trained::fine::{
    CLASSES, FINE_WEIGHTS, FineWeights, POSITION_FEATURES, SPREAD_FEATURES, SPREADS, TURN_FEATURES,
    WEIGHT_ONE,
};

/// A row of weights for each class.
type ClassWeights<const N: usize> = [[f32; N]; CLASSES];

#[derive(Debug)]
pub(super) struct PreparedWeights {
    /// As they were trained: the probabilities are used like this.
    pub(super) trained: FineWeights,
    pub(super) position: [ClassWeights<POSITION_FEATURES>; 2],
    pub(super) turn: ClassWeights<TURN_FEATURES>,
    pub(super) spread: [ClassWeights<SPREAD_FEATURES>; SPREADS],
    pub(super) curves: TailCurves,
}

impl PreparedWeights {
    /// The weights that both ends use.
    pub(super) fn in_use() -> &'static Self {
        static IN_USE: LazyLock<PreparedWeights> =
            LazyLock::new(|| PreparedWeights::new(FINE_WEIGHTS.clone()));
        &IN_USE
    }

    pub(super) fn new(trained: FineWeights) -> Self {
        Self {
            position: trained.position.each_ref().map(to_f32),
            turn: to_f32(&trained.turn),
            spread: trained.spread.each_ref().map(to_f32),
            curves: TailCurves::new(&trained.shapes),
            trained,
        }
    }
}

fn to_f32<const N: usize>(rows: &[[i16; N]; CLASSES]) -> ClassWeights<N> {
    rows.map(|row| row.map(|weight| f32::from(weight) / WEIGHT_ONE))
}

/// Sums that run side by side.
const LANES: usize = 4;

/// The weighted sum of features: in four lanes that are added up at the end, so that every machine
/// rounds the same.
#[inline]
pub(super) fn weighted_sum<const N: usize>(weights: &[f32; N], features: &[f32; N]) -> f32 {
    const { assert!(N.is_multiple_of(LANES)) };
    let mut lanes = [0.0; LANES];
    for (weights, features) in weights.chunks_exact(LANES).zip(features.chunks_exact(LANES)) {
        for lane in 0..LANES {
            lanes[lane] += weights[lane] * features[lane];
        }
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}
