//! Ambit's axes and Godot's.
//!
//! Ambit: metres, x to the east, y to the north, z up. Godot in 3D: metres, x to the east, y up, z
//! to the south. Godot in 2D: pixels, x to the east, y to the south. An object that faces the east
//! has no rotation in all of them.

use godot::builtin::{Quaternion, Vector2, Vector3};

/// Ambit's position or velocity in a 3D scene.
pub(crate) fn to_3d([x, y, z]: [f32; 3]) -> Vector3 {
    Vector3::new(x, z, -y)
}

/// The reverse of [`to_3d`].
pub(crate) fn from_3d(at: Vector3) -> Vector3 {
    Vector3::new(at.x, -at.z, at.y)
}

/// The same turn in a 3D scene: its axis is converted like a position.
pub(crate) fn turn_to_3d([x, y, z, w]: [f32; 4]) -> Quaternion {
    Quaternion::new(x, z, -y, w)
}

/// Ambit's position in a 2D scene.
pub(crate) fn to_2d([x, y, _]: [f32; 3], pixels_per_metre: f32) -> Vector2 {
    Vector2::new(x, -y) * pixels_per_metre
}

/// The reverse of [`to_2d`], on the ground.
pub(crate) fn from_2d(at: Vector2, pixels_per_metre: f32) -> Vector3 {
    let at = at / pixels_per_metre;
    Vector3::new(at.x, -at.y, 0.0)
}

/// The heading in a 2D scene: radians clockwise, as Godot counts there.
pub(crate) fn turn_to_2d([x, y, z, w]: [f32; 4]) -> f32 {
    let heading = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
    -heading
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use super::*;

    const NORTH: [f32; 4] = [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2];
    const FRAC_1_SQRT_2: f32 = std::f32::consts::FRAC_1_SQRT_2;

    #[test]
    fn places_and_turns_agree() {
        let at = [1.0, 2.0, 3.0];
        assert_eq!(to_3d(at), Vector3::new(1.0, 3.0, -2.0));
        assert_eq!(from_3d(to_3d(at)), Vector3::new(1.0, 2.0, 3.0));
        assert_eq!(to_2d(at, 10.0), Vector2::new(10.0, -20.0));
        assert_eq!(from_2d(to_2d(at, 10.0), 10.0), Vector3::new(1.0, 2.0, 0.0));
        // What faces the north faces away from Godot's z, and up on a screen.
        let turned = turn_to_3d(NORTH) * Vector3::RIGHT;
        assert!(turned.distance_to(to_3d([0.0, 1.0, 0.0])) < 1e-6, "{turned}");
        assert!((turn_to_2d(NORTH) + FRAC_PI_2).abs() < 1e-6);
    }
}
