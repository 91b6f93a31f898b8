//! Rotations as quaternions in plain `f32`, for both ends.
//!
//! Only additions, multiplications, divisions and square roots, each rounded separately in a fixed
//! order: every machine computes the same bits. (`glam` adds in another order on each platform's
//! SIMD unit.)

/// x, y, z and w.
pub type Quaternion = [f32; 4];

/// First `b`, then `a`.
pub fn compose(a: Quaternion, b: Quaternion) -> Quaternion {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}

/// The inverse of a unit quaternion.
pub fn inverse(a: Quaternion) -> Quaternion {
    [-a[0], -a[1], -a[2], a[3]]
}

/// Normalised; upright if the length is close to 0.
pub fn unit(a: Quaternion) -> Quaternion {
    let length = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]).sqrt();
    if length < 1e-6 {
        [0.0, 0.0, 0.0, 1.0]
    } else {
        [a[0] / length, a[1] / length, a[2] / length, a[3] / length]
    }
}

/// The heading of an orientation, in radians counter-clockwise from x. Other machines may compute
/// other last bits: for what is shown, and what is rounded.
pub fn heading([x, y, z, w]: Quaternion) -> f32 {
    (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z))
}

/// Rotates for some time at an angular velocity in radians a second: accurate for small rotations.
pub fn rotate(quaternion: Quaternion, angular: [f32; 3], seconds: f32) -> Quaternion {
    let [x, y, z] = angular.map(|part| part * seconds / 2.0);
    let [qx, qy, qz, qw] = quaternion;
    unit([
        qx + x * qw + y * qz - z * qy,
        qy - x * qz + y * qw + z * qx,
        qz + x * qy - y * qx + z * qw,
        qw - x * qx - y * qy - z * qz,
    ])
}
