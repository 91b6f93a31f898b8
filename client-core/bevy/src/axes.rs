//! Ambit's directions in those of a Bevy world.
//!
//! A game has x to the east, y to the north and z up. A transform of the client goes in, one of
//! Bevy comes out; metres stay metres. An object's front is its x axis, in both.

use bevy_transform::components::Transform;

/// Which way is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorldAxes {
    /// As in a 3D world of Bevy: y is up, and the north is -z, away from an unturned camera.
    #[default]
    YUp,
    /// As the game has them, for 2D: x to the right, y to the top, z nearer.
    ZUp,
}

impl WorldAxes {
    /// Puts `into` where the game has the object; its scale stays.
    pub(crate) fn place(self, shown: &ambit_client::Transform, into: &mut Transform) {
        let ambit_client::Transform { position, rotation: [x, y, z, w], .. } = *shown;
        let (translation, axis) = match self {
            WorldAxes::YUp => ([position.x, position.z, -position.y], [x, z, -y]),
            WorldAxes::ZUp => ([position.x, position.y, position.z], [x, y, z]),
        };
        into.translation = translation.into();
        [into.rotation.x, into.rotation.y, into.rotation.z] = axis;
        into.rotation.w = w;
    }

    /// A place of the Bevy world as a position of the game: for commands.
    pub fn position(self, [x, y, z]: [f32; 3]) -> ambit_client::Position {
        match self {
            WorldAxes::YUp => ambit_client::Position::new(x, -z, y),
            WorldAxes::ZUp => ambit_client::Position::new(x, y, z),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_4;

    use ambit_client::Position;

    use super::*;

    /// At 1 m east, 2 m north, 3 m up, and faces north.
    fn shown() -> ambit_client::Transform {
        ambit_client::Transform {
            position: Position::new(1.0, 2.0, 3.0),
            rotation: [0.0, 0.0, FRAC_PI_4.sin(), FRAC_PI_4.cos()],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
        }
    }

    #[test]
    fn the_front_of_an_object_points_where_the_game_has_it() {
        for (axes, place, north) in [
            (WorldAxes::YUp, [1.0, 3.0, -2.0], [0.0, 0.0, -1.0]),
            (WorldAxes::ZUp, [1.0, 2.0, 3.0], [0.0, 1.0, 0.0]),
        ] {
            let mut placed = Transform::IDENTITY;
            axes.place(&shown(), &mut placed);
            assert_eq!(placed.translation.to_array(), place, "{axes:?}");
            let front = placed.rotation * Transform::IDENTITY.local_x();
            let away = front.distance(north.into());
            assert!(away < 1e-6, "{axes:?}: {front:?}");
            assert_eq!(axes.position(place), Position::new(1.0, 2.0, 3.0));
        }
    }

    #[test]
    fn the_scale_is_the_program_s() {
        let mut placed = Transform::from_scale([2.0; 3].into());
        WorldAxes::YUp.place(&shown(), &mut placed);
        assert_eq!(placed.scale.to_array(), [2.0; 3]);
    }
}
