//! What the programs that make the constants need of the coder.
//!
//! Only for the crate `ambit-pose-training` (`proto/training`): nothing here is an interface, and
//! all of it may change at any time. Games, clients and servers use [`crate::pose`].

pub use super::fine::{
    CLASSES, CLOSE_SUPPORTED, FINE_WEIGHTS, FLAG_CONTEXTS, LARGEST_CONTEXTS, MEMBERSHIP_CONTEXTS,
    PIECES, POSITION_FEATURES, SHAPES, SPREAD_FEATURES, SPREADS, TURN_FEATURES, TailShape,
    UNCHANGED_CONTEXTS, WEIGHT_ONE,
};
pub use super::walker::{COLUMNS, ROWS, WALKER_TABLES};
pub use crate::pose::fine::decision_coder::{BitCategory, DecisionCoder, TOTAL};
pub use crate::pose::shared::walker::prediction::{
    STEP_MS, WalkerPrediction, lateral_column, yaw_difference, yaw_rounding,
};

use super::FineWeights;
use crate::pose::Pose;
use crate::pose::fine::section_coder::{FineSectionCoder, Membership};
use crate::pose::fine::{FineState, KnownObject, tail_curve};
use crate::wire::WRITE_CANNOT_FAIL;

/// A state that predicts by these weights, which are never freed.
pub fn fine_state(weights: FineWeights) -> FineState {
    FineState::with_weights(weights)
}

/// A snapshot as [`FineEncoder`](crate::pose::fine::FineEncoder) writes it, without its end; the
/// decisions go to `C`, which is no reader.
pub struct SampledSnapshot<'s, C>(FineSectionCoder<'s, C>);

impl<'s, C: DecisionCoder> SampledSnapshot<'s, C> {
    /// Starts a section with a clear state.
    pub fn new(coder: C, state: &'s mut FineState) -> Self {
        Self(FineSectionCoder::new(coder, state, Membership::Coded))
    }

    /// The object that others move with: it comes first.
    pub fn code_reference(&mut self, known: &KnownObject<'_>, pose: Option<&Pose>) {
        self.0.code_reference(known, pose).expect(WRITE_CANNOT_FAIL);
    }

    /// A candidate, and its pose if that is in.
    pub fn code_object(&mut self, known: &KnownObject<'_>, pose: Option<&Pose>) {
        self.0.code_object(known, pose).expect(WRITE_CANNOT_FAIL);
    }
}

/// The piece of a shape in which what lies `t` spreads above the middle is counted.
pub fn shape_piece(t: f32) -> usize {
    tail_curve::shape_piece(tail_curve::student_tail(t)).0
}

/// The shape for a spread, by its logarithm.
pub fn shape_index(log_spread: f32) -> usize {
    tail_curve::shape_index(log_spread)
}
