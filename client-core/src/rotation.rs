//! Unit quaternions (x, y, z, w) for drawing. They use only the four operations and square roots,
//! so that all platforms compute the same numbers. `glam` adds in another order on each platform's
//! SIMD unit.

pub(crate) const IDENTITY: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// First `b`, then `a`.
pub(crate) fn product(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

pub(crate) fn inverse([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    [-x, -y, -z, w]
}

/// Interpolates between two orientations, the shorter way round.
pub(crate) fn interpolate(from: [f32; 4], to: [f32; 4], share: f32) -> [f32; 4] {
    let sign = if dot(from, to) < 0.0 { -1.0 } else { 1.0 };
    normal(std::array::from_fn(|part| {
        from[part] * (1.0 - share) + sign * to[part] * share
    }))
}

/// Rotates for some time at an angular velocity in radians a second: accurate for small rotations.
pub(crate) fn rotate(quaternion: [f32; 4], angular: [f32; 3], seconds: f32) -> [f32; 4] {
    let [x, y, z] = angular.map(|part| part * seconds / 2.0);
    let [qx, qy, qz, qw] = quaternion;
    normal([
        qx + x * qw + y * qz - z * qy,
        qy - x * qz + y * qw + z * qx,
        qz + x * qy - y * qx + z * qw,
        qw - x * qx - y * qy - z * qz,
    ])
}

/// The cosine of half the angle between two; negative for the longer way round.
pub(crate) fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn normal(quaternion: [f32; 4]) -> [f32; 4] {
    let length = dot(quaternion, quaternion).sqrt();
    if length > 1e-6 {
        quaternion.map(|part| part / length)
    } else {
        IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_times_its_inverse_is_the_identity() {
        let turn = rotate(
            rotate(IDENTITY, [0.3, -0.5, 0.2], 1.0),
            [1.0, 0.0, 0.4],
            0.5,
        );
        assert!(dot(product(turn, inverse(turn)), IDENTITY) > 0.999_999);
    }

    #[test]
    fn small_steps_add_up_to_a_quarter_turn() {
        let turn = (0..90).fold(IDENTITY, |turn, _| {
            rotate(turn, [0.0, 0.0, 1.0_f32.to_radians()], 1.0)
        });
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
