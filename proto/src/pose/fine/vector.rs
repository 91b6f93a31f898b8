//! Vectors and rotations in plain `f32`, computed as in [`quaternion`](crate::pose::quaternion):
//! every machine computes the same bits, so that both ends predict the same. Angles are in radians.

use crate::pose::quaternion::{Quaternion, compose, inverse, unit};

pub(in crate::pose) type Vector = [f32; 3];

pub(in crate::pose) fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(in crate::pose) fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(in crate::pose) fn scale(a: Vector, by: f32) -> Vector {
    [a[0] * by, a[1] * by, a[2] * by]
}

pub(in crate::pose) fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(in crate::pose) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(in crate::pose) fn length(a: Vector) -> f32 {
    dot(a, a).sqrt()
}

pub(in crate::pose) fn rotate(by: Quaternion, v: Vector) -> Vector {
    let axis = [by[0], by[1], by[2]];
    let twice = scale(cross(axis, v), 2.0);
    add(add(v, scale(twice, by[3])), cross(axis, twice))
}

/// The rotation from `a` to `b` as axis times angle, close for angles below a right one.
pub(in crate::pose) fn turn_between(a: Quaternion, b: Quaternion) -> Vector {
    let d = compose(b, inverse(a));
    let sign = if d[3] < 0.0 { -1.0 } else { 1.0 };
    let axis = [d[0] * sign, d[1] * sign, d[2] * sign];
    let s2 = dot(axis, axis);
    // 2 asin(s) / s.
    scale(axis, 2.0 + s2 * (1.0 / 3.0 + s2 * (0.15 + s2 * (5.0 / 56.0))))
}

/// The rotation about an axis by an angle, given as their product.
pub(in crate::pose) fn rotation(turn: Vector) -> Quaternion {
    let half = scale(turn, 0.5);
    let t = dot(half, half).min(9.0);
    let sine = 1.0 - t * (1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5_040.0)));
    let cosine = 1.0 - t * (0.5 - t * (1.0 / 24.0 - t * (1.0 / 720.0)));
    unit([half[0] * sine, half[1] * sine, half[2] * sine, cosine])
}

/// The height of the centre of a cube of edge 2 above the ground, if it is turned like this.
pub(in crate::pose) fn support(q: Quaternion) -> f32 {
    let [x, y, z, w] = q;
    (2.0 * (x * z - w * y)).abs()
        + (2.0 * (y * z + w * x)).abs()
        + (1.0 - 2.0 * (x * x + y * y)).abs()
}

/// log2 within 0.01, for arguments above zero.
pub(in crate::pose) fn log2(value: f32) -> f32 {
    let bits = value.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let mantissa = f32::from_bits(bits & 0x7f_ffff | 0x3f80_0000);
    exponent as f32 + (mantissa * (2.0 - mantissa * (1.0 / 3.0)) - 5.0 / 3.0)
}

/// 2 to the power of `value` within 0.3 %, for arguments from -100 to 100.
pub(in crate::pose) fn exp2(value: f32) -> f32 {
    let whole = floor(value);
    let part = value - whole as f32;
    f32::from_bits(((whole + 127) as u32) << 23) * (1.0 + part * (0.657 + part * 0.343))
}

/// The largest whole number that is not above `value`; `f32::floor` may be a function call.
#[inline]
pub(in crate::pose) fn floor(value: f32) -> i32 {
    let toward_zero = value as i32;
    toward_zero - i32::from(toward_zero as f32 > value)
}
