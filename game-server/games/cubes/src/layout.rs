//! Initial positions of the cubes, and spawn positions of the players' cubes.
//!
//! Small cubes lie in a square grid in the middle. A player's cube spawns at the free position
//! nearest to the middle: on the floor, or above other cubes, and then it falls.
//!
//! Units: metres.

use ambit::physics::Arena;
use ambit::{BadParameter, Pose, Position};
use ambit_cubes_physics::{CUBE_EDGE_M, PLAYER, PLAYER_EDGE_M, POSE_FORMAT, Physics};

const UPRIGHT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
/// Distance from the middle in which spawn positions are searched, in steps of [`PLACE_SPACING_M`]
/// each way.
const RINGS: i16 = 2;
/// Distance between spawn positions, horizontally and vertically: more than the diagonal of a
/// player's cube.
const PLACE_SPACING_M: f32 = 1.8 * PLAYER_EDGE_M;
/// Levels that are searched: up to 13 m. If none is free, the player spawns above them all.
const MAX_LEVELS: u8 = 8;

/// Number and spacing of the small cubes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CubeLayout {
    arena: Arena,
    cubes: u32,
    spacing_m: f32,
}

impl CubeLayout {
    /// No cubes on the floor of the default size.
    pub(super) const EMPTY: Self =
        Self { arena: Arena { width_m: 32.0, height_m: 32.0 }, cubes: 0, spacing_m: 1.0 };

    /// A layout of `cubes` cubes, if they fit.
    pub(super) fn new(arena: Arena, cubes: u32, spacing_m: f32) -> Result<Self, BadParameter> {
        let layout = Self { arena, cubes, spacing_m };
        let extent = spacing_m * layout.columns().saturating_sub(1) as f32 + CUBE_EDGE_M;
        if cubes > 0 && extent > arena.width_m.min(arena.height_m) {
            let Arena { width_m, height_m } = arena;
            let problem = format!(
                "{cubes} of them, {spacing_m} m apart, need a square of {extent} m, but the floor \
                 has {width_m}x{height_m} m: use a larger size or less spacing"
            );
            return Err(BadParameter::Conflict { key: "cubes", problem });
        }
        Ok(layout)
    }

    pub(super) fn cubes(&self) -> u32 {
        self.cubes
    }

    pub(super) fn arena(&self) -> Arena {
        self.arena
    }

    /// At rest on the floor, row by row.
    pub(super) fn poses(self) -> impl Iterator<Item = Pose> {
        let columns = self.columns();
        let first = self.spacing_m * columns.saturating_sub(1) as f32 / 2.0;
        let Arena { width_m, height_m } = self.arena;
        (0..self.cubes).map(move |number| {
            let column = (number % columns) as f32;
            let row = (number / columns) as f32;
            let x = width_m / 2.0 - first + column * self.spacing_m;
            let y = height_m / 2.0 - first + row * self.spacing_m;
            POSE_FORMAT.moving(Position::new(x, y, CUBE_EDGE_M / 2.0), UPRIGHT, None)
        })
    }

    /// The spawn pose of a player's cube, awake. Without a free position it is above all levels in
    /// the middle.
    pub(super) fn free_pose(&self, physics: &Physics) -> Pose {
        let free = self.places().find(|&place| physics.is_space_free(PLAYER, place));
        let place = free.unwrap_or_else(|| self.place(0, 0, MAX_LEVELS));
        POSE_FORMAT.moving(place, UPRIGHT, Some(([0.0; 3], [0.0; 3])))
    }

    /// All spawn positions, the best ones first: low ones, and of these the nearest to the middle.
    fn places(&self) -> impl Iterator<Item = Position> {
        let offsets = -RINGS..=RINGS;
        let mut columns: Vec<(i16, i16)> =
            offsets.clone().flat_map(|x| offsets.clone().map(move |y| (x, y))).collect();
        columns.sort_by_key(|(x, y)| x * x + y * y);
        let places = (0..MAX_LEVELS)
            .flat_map(move |height| columns.clone().into_iter().map(move |(x, y)| (x, y, height)));
        places.map(|(x, y, height)| self.place(x, y, height)).filter(|&place| self.is_inside(place))
    }

    fn place(&self, x: i16, y: i16, height: u8) -> Position {
        let Arena { width_m, height_m } = self.arena;
        let along = |extent: f32, offset: i16| extent / 2.0 + PLACE_SPACING_M * f32::from(offset);
        let z = PLAYER_EDGE_M / 2.0 + PLACE_SPACING_M * f32::from(height);
        Position::new(along(width_m, x), along(height_m, y), z)
    }

    fn is_inside(&self, place: Position) -> bool {
        let inside = |at: f32, extent: f32| (PLAYER_EDGE_M..=extent - PLAYER_EDGE_M).contains(&at);
        inside(place.x, self.arena.width_m) && inside(place.y, self.arena.height_m)
    }

    /// The side of the smallest square with room for all cubes.
    fn columns(&self) -> u32 {
        let root = self.cubes.isqrt();
        if root * root < self.cubes { root + 1 } else { root }
    }
}
