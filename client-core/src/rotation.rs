//! Rotations for drawing. As in [`ambit_proto::pose::quaternion`], all platforms compute the same
//! numbers.

pub(crate) use ambit_proto::pose::quaternion::rotate;
use ambit_proto::pose::quaternion::unit;

pub(crate) const IDENTITY: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Interpolates between two orientations, the shorter way round.
pub(crate) fn interpolate(from: [f32; 4], to: [f32; 4], share: f32) -> [f32; 4] {
    let sign = if dot(from, to) < 0.0 { -1.0 } else { 1.0 };
    unit(std::array::from_fn(|part| from[part] * (1.0 - share) + sign * to[part] * share))
}

/// The cosine of half the angle between two; negative for the longer way round.
pub(crate) fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::quaternion::{compose, inverse};

    use super::*;

    #[test]
    fn a_rotation_times_its_inverse_is_the_identity() {
        let turn = rotate(rotate(IDENTITY, [0.3, -0.5, 0.2], 1.0), [1.0, 0.0, 0.4], 0.5);
        assert!(dot(compose(turn, inverse(turn)), IDENTITY) > 0.999_999);
    }

    #[test]
    fn small_steps_add_up_to_a_quarter_turn() {
        let turn =
            (0..90).fold(IDENTITY, |turn, _| rotate(turn, [0.0, 0.0, 1.0_f32.to_radians()], 1.0));
        let half = std::f32::consts::FRAC_1_SQRT_2;
        assert!(dot(turn, [0.0, 0.0, half, half]) > 0.999_99);
    }

    #[test]
    fn interpolation_takes_the_shorter_way() {
        let turn = rotate(IDENTITY, [0.0, 0.0, 0.2], 1.0);
        let half = interpolate(IDENTITY, turn.map(|part| -part), 0.5);
        assert!(dot(half, rotate(IDENTITY, [0.0, 0.0, 0.1], 1.0)).abs() > 0.999_99);
    }
}
