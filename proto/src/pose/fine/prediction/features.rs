//! The features of a prediction, in the order of their weights.

use super::PositionFeatures;
use crate::pose::fine::movement::{MovementHistory, RecentMovement};
use crate::pose::fine::neighbours::NeighbourMeans;
use crate::pose::fine::state::FineState;
use crate::pose::fine::vector::{Vector, add, dot, length, log2, scale, sub};
use crate::pose::trained::fine::{POSITION_FEATURES, SPREAD_FEATURES};

/// How much larger errors are along a direction of movement than across it.
const ALONG: f32 = 2.0;

/// The probable error along a direction, from the errors of the coordinates that are known.
pub(super) fn along(direction: Vector, errors: &[f32]) -> f32 {
    let mut sum = 0.0;
    let mut weight = 1.0;
    for (error, part) in errors.iter().zip(direction) {
        sum += error * part;
        weight += ALONG * part * part;
    }
    ALONG * sum / weight
}

/// Directions of movement and towards the reference; shorter than 1 for short distances.
pub(super) fn directions(movement: &MovementHistory) -> [Vector; 2] {
    let displacement = scale(add(movement.own[0].displacement, movement.own[2].displacement), 0.5);
    [
        scale(displacement, 1.0 / (length(displacement) + 4.0)),
        scale(movement.inwards, 1.0 / (length(movement.inwards) + 40.0)),
    ]
}

/// The features of each coordinate. 16 and 17 are set when the coordinates before it are known, 18
/// when the turn is.
pub(super) fn position_features(
    movement: &MovementHistory,
    around: &NeighbourMeans,
) -> PositionFeatures {
    let pull = scale(movement.inwards, 20.0 * movement.age2 / (length(movement.inwards) + 50.0));
    let mut all = [[0.0; POSITION_FEATURES]; 3];
    for (axis, features) in all.iter_mut().enumerate() {
        for span in 0..4 {
            features[span] = movement.own[span].displacement[axis];
            features[6 + span] = movement.slip[span].displacement[axis];
        }
        features[4] = movement.rigid.displacement[axis];
        features[5] = movement.reference[0].displacement[axis];
        features[10] = around.mean.slip[axis];
        features[11] = around.mean.error[axis];
        features[12] = pull[axis];
        features[14] = movement.reference[1].displacement[axis];
        features[15] = movement.reference[2].displacement[axis];
        features[19] = around.close_slip[axis];
    }
    all[2][13] = 50.0 * movement.age2; // Free fall.
    all
}

/// The features of a spread: of the position (`index` 0, `part` the displacement of a movement) or
/// of the turn (1). [`KNOWN_ERRORS`] is set when parts of the pose are coded.
pub(super) fn spread_features(
    state: &FineState,
    movement: &MovementHistory,
    around: &NeighbourMeans,
    flag: bool,
    index: usize,
    part: impl Fn(&RecentMovement) -> Vector,
) -> [f32; SPREAD_FEATURES] {
    // About the logarithm of the length.
    let size = |displacement: Vector| 0.5 * log2(dot(displacement, displacement) + 1.0);
    let is = |yes: bool| if yes { 1.0 } else { 0.0 };
    let own = [
        part(&movement.own[0]),
        part(&movement.own[1]),
        part(&movement.own[2]),
        part(&movement.own[3]),
    ];
    let slip = [
        part(&movement.slip[0]),
        part(&movement.slip[1]),
        part(&movement.slip[2]),
        part(&movement.slip[3]),
    ];
    // A position moves with the reference as a rigid body, a turn as the reference turns.
    let with = part(if index == 0 { &movement.rigid } else { &movement.reference[0] });
    [
        1.0,
        size(sub(slip[0], slip[1])),
        size(sub(slip[1], slip[3])),
        around.mean.sizes[index],
        is(around.is_any),
        size(own[2]),
        size(slip[2]),
        size(sub(own[0], own[2])),
        size(sub(slip[0], slip[2])),
        size(sub(with, own[2])),
        is(flag),
        log2(movement.metres + 0.1),
        0.0, // KNOWN_ERRORS
        size(sub(own[0], own[1])),
        state.excess[index],
        size(sub(own[1], own[3])),
    ]
}
