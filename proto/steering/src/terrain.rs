//! What stands in the way of whatever moves: static obstacles and the borders of the map.

use ambit_proto::physics::Arena;
use ambit_proto::space::Position;

use crate::statics::Statics;

/// The static obstacles and the size of a map.
#[derive(Clone, Copy, Debug)]
pub struct Terrain<'t> {
    /// The obstacles. A client gets them some time after its first frame of a map.
    pub statics: &'t Statics,
    /// The size of the map.
    pub arena: Arena,
}

impl Terrain<'_> {
    /// The position on the map that is nearest to this one. The centre if the position is not
    /// finite. The height stays.
    #[must_use]
    pub fn nearest_on_map(&self, position: Position) -> Position {
        let Arena { width_m, height_m } = self.arena;
        if !position.is_finite() {
            return Position::on_ground(width_m / 2.0, height_m / 2.0);
        }
        let (x, y) = (position.x.clamp(0.0, width_m), position.y.clamp(0.0, height_m));
        Position { x, y, ..position }
    }

    /// The last position on the straight way from a position on the map towards another one that is
    /// still on the map. (The one that is nearest to its end may lie beside the way.)
    #[must_use]
    pub fn end_on_map(&self, from: Position, to: Position) -> Position {
        let share = |from: f32, to: f32, size: f32| {
            let end = if to < 0.0 { 0.0 } else { size };
            if (0.0..=size).contains(&to) || to == from { 1.0 } else { (end - from) / (to - from) }
        };
        let Arena { width_m, height_m } = self.arena;
        let share = share(from.x, to.x, width_m).min(share(from.y, to.y, height_m));
        let between = |from: f32, to: f32| from + (to - from) * share;
        self.nearest_on_map(Position {
            x: between(from.x, to.x),
            y: between(from.y, to.y),
            z: between(from.z, to.z),
        })
    }
}
