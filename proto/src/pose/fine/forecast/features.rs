//! What a forecast is made from: the numbers that the weights of the model belong to, in their
//! order.

use super::Features;
use crate::pose::fine::model::{PLACE_FEATURES, SPREAD_FEATURES};
use crate::pose::fine::neighbours::Around;
use crate::pose::fine::past::{Movement, Past};
use crate::pose::fine::scene::Scene;
use crate::pose::fine::space::{Vector, add, dot, length, log2, scale, sub};

/// How much more an error lies along a direction of movement than across.
const ALONG: f32 = 2.0;

/// How far the error probably goes along a direction, from the coordinates that are known.
pub(super) fn along(direction: Vector, errors: &[f32]) -> f32 {
    let (mut sum, mut weight) = (0.0, 1.0);
    for (error, part) in errors.iter().zip(direction) {
        sum += error * part;
        weight += ALONG * part * part;
    }
    ALONG * sum / weight
}

/// Directions of movement and towards the reference, not quite of length 1 if short.
pub(super) fn directions(past: &Past) -> [Vector; 2] {
    let way = scale(add(past.own[0].way, past.own[2].way), 0.5);
    [
        scale(way, 1.0 / (length(way) + 4.0)),
        scale(past.inwards, 1.0 / (length(past.inwards) + 40.0)),
    ]
}

/// What a coordinate is foretold from. 16 and 17 depend on the coordinates before it, 18 on the
/// turn.
pub(super) fn place_features(past: &Past, around: &Around) -> Features {
    let pull = scale(
        past.inwards,
        20.0 * past.age2 / (length(past.inwards) + 50.0),
    );
    let mut all = [[0.0; PLACE_FEATURES]; 3];
    for (axis, features) in all.iter_mut().enumerate() {
        for span in 0..4 {
            features[span] = past.own[span].way[axis];
            features[6 + span] = past.slip[span].way[axis];
        }
        features[4] = past.rigid.way[axis];
        features[5] = past.reference[0].way[axis];
        features[10] = around.mean.slip[axis];
        features[11] = around.mean.error[axis];
        features[12] = pull[axis];
        features[14] = past.reference[1].way[axis];
        features[15] = past.reference[2].way[axis];
        features[19] = around.close_slip[axis];
    }
    all[2][13] = 50.0 * past.age2; // What falls.
    all
}

/// What a spread is foretold from: `index` 0 for the place, 1 for the turn, which is the part of
/// movements to look at. 12 depends on what is already known.
pub(super) fn spread_features(
    scene: &Scene,
    past: &Past,
    around: &Around,
    flag: bool,
    index: usize,
    part: impl Fn(&Movement) -> Vector,
) -> [f32; SPREAD_FEATURES] {
    // About the logarithm of the length.
    let size = |way: Vector| 0.5 * log2(dot(way, way) + 1.0);
    let is = |yes: bool| if yes { 1.0 } else { 0.0 };
    let own = [
        part(&past.own[0]),
        part(&past.own[1]),
        part(&past.own[2]),
        part(&past.own[3]),
    ];
    let slip = [
        part(&past.slip[0]),
        part(&past.slip[1]),
        part(&past.slip[2]),
        part(&past.slip[3]),
    ];
    // A place would move with the reference as a whole, a turn as the reference turns.
    let with = part(if index == 0 {
        &past.rigid
    } else {
        &past.reference[0]
    });
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
        log2(past.metres + 0.1),
        0.0,
        size(sub(own[0], own[1])),
        scene.excess[index],
        size(sub(own[1], own[3])),
    ]
}
