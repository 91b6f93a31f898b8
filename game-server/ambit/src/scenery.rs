//! How simple viewers draw the map of a game.

use ambit_proto::presentation::{Camera, Ground, ObstacleLook, ScenerySpec};

/// How simple viewers, such as the page, draw the map of a game: camera, ground, obstacles. For
/// [`Game::SCENERY`](crate::Game::SCENERY):
///
/// ```
/// # use ambit::prelude::*;
/// const ROCK: ObstacleLook = ObstacleLook::new('O', 0x90_7860);
/// const WALL: ObstacleLook = ObstacleLook::new('#', 0x60_7080);
///
/// const SCENERY: Scenery =
///     Scenery::new().camera(Camera::Above).ground(0x10_1820).obstacles(&[ROCK, WALL]);
/// ```
///
/// An obstacle names its look by
/// [`Obstacle::with_look`](crate::statics::Obstacle::with_look).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenery {
    camera: Camera,
    place: Ground,
    ground: Option<u32>,
    is_without_grid: bool,
    has_party: bool,
    obstacles: &'static [ObstacleLook],
}

impl Scenery {
    /// The camera is [`Camera::Around`]; ground, the grid on it and obstacles are as the viewer
    /// draws them.
    pub const fn new() -> Self {
        let (camera, obstacles): (_, &[_]) = (Camera::Around, &[]);
        Self {
            camera,
            place: Ground::Open,
            ground: None,
            is_without_grid: false,
            has_party: false,
            obstacles,
        }
    }

    /// Where players look from.
    #[must_use]
    pub const fn camera(self, camera: Camera) -> Self {
        Self { camera, ..self }
    }

    /// What kind of ground it is; land otherwise.
    #[must_use]
    pub const fn place(self, place: Ground) -> Self {
        Self { place, ..self }
    }

    /// The colour of the ground, as 0xRRGGBB.
    #[must_use]
    pub const fn ground(self, colour: u32) -> Self {
        Self { ground: Some(colour), ..self }
    }

    /// No lines on the ground.
    #[must_use]
    pub const fn without_grid(self) -> Self {
        Self { is_without_grid: true, ..self }
    }

    /// Players are on one side: viewers list those of the avatar's kind in sight, with bar and
    /// name.
    #[must_use]
    pub const fn party(self) -> Self {
        Self { has_party: true, ..self }
    }

    /// The looks that obstacles may have: at most 15 (`schema::MAX_OBSTACLE_LOOKS`).
    #[must_use]
    pub const fn obstacles(self, looks: &'static [ObstacleLook]) -> Self {
        Self { obstacles: looks, ..self }
    }

    pub(crate) fn declaration(self) -> ScenerySpec {
        let Self { camera, place, ground, is_without_grid, has_party, obstacles } = self;
        ScenerySpec {
            camera,
            place,
            ground,
            is_without_grid,
            has_party,
            obstacles: obstacles.to_vec(),
        }
    }
}

impl Default for Scenery {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenery_is_declared_as_it_was_built() {
        const LOOKS: &[ObstacleLook] = &[ObstacleLook::new('#', 0x60_7080)];
        let all = Scenery::new()
            .camera(Camera::Above)
            .ground(7)
            .without_grid()
            .party()
            .place(Ground::Court);
        let all = all.obstacles(LOOKS);
        let expected = ScenerySpec {
            camera: Camera::Above,
            place: Ground::Court,
            ground: Some(7),
            is_without_grid: true,
            has_party: true,
            obstacles: LOOKS.to_vec(),
        };
        assert_eq!(all.declaration(), expected);
        assert_eq!(Scenery::new().declaration(), ScenerySpec::default());
    }
}
