//! Positions.
//!
//! Metres; x and y are the ground plane, z is up. The wire's grid is 1/256 m on all three axes, x
//! and y in [0, 16,384) m (22 bits), z in [-64, 192) m (16 bits). Each of its points is exact in an
//! `f32`.
//!
//! Invariant: after [`Position::quantised`] a position keeps its exact bits across the wire, so
//! both ends compute with the same numbers. A writer asserts that a position is within the range;
//! `quantised` clamps it to the range.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use crate::wire::{self, Coder, Wire, WireError};

/// Points of the wire's grid per metre.
pub const UNITS_PER_METRE: f32 = 256.0;
/// Edge of the largest map: the wire has no x and y beyond it.
pub const MAX_MAP_METRES: f32 = 16_384.0;
/// The lowest z on the wire.
pub const MIN_Z: f32 = -64.0;
/// The highest x and y on the wire: the last point of the grid before [`MAX_MAP_METRES`].
pub const MAX_XY: f32 = MAX_MAP_METRES - 1.0 / UNITS_PER_METRE;
/// The highest z on the wire.
pub const MAX_Z: f32 = 192.0 - 1.0 / UNITS_PER_METRE;

/// A point in space, in metres.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Position {
    /// East, from the map's western edge.
    pub x: f32,
    /// North, from the map's southern edge.
    pub y: f32,
    /// Up, from the ground.
    pub z: f32,
}

impl Position {
    /// The point at (x, y, z).
    pub const fn new(x: f32, y: f32, z: f32) -> Self {
        Self { x, y, z }
    }

    /// The point at (x, y) on the ground.
    pub const fn on_ground(x: f32, y: f32) -> Self {
        Self::new(x, y, 0.0)
    }

    /// x and y.
    pub const fn on_the_ground(self) -> [f32; 2] {
        [self.x, self.y]
    }

    /// Metres to `other`.
    pub fn distance(self, other: Self) -> f32 {
        let (x, y, z) = (other.x - self.x, other.y - self.y, other.z - self.z);
        (x * x + y * y + z * z).sqrt()
    }

    /// Metres to `other` along the ground: z does not count.
    pub fn ground_distance(self, other: Self) -> f32 {
        let (x, y) = (other.x - self.x, other.y - self.y);
        (x * x + y * y).sqrt()
    }

    /// The point at `fraction` of the distance to `other`: 0 is here, 1 is there, both exactly;
    /// between two equal points there is no other.
    pub fn lerp(self, other: Self, fraction: f32) -> Self {
        if fraction == 1.0 {
            return other;
        }
        let mix = |from: f32, to: f32| from + (to - from) * fraction;
        Self::new(mix(self.x, other.x), mix(self.y, other.y), mix(self.z, other.z))
    }

    /// The nearest point of the wire's grid, within its range.
    ///
    /// # Panics
    /// If the position is not finite: a decoder or a game failed to check it.
    pub fn quantised(self) -> Self {
        Self::new(
            wire::quantise(self.x, 0.0, MAX_XY, UNITS_PER_METRE),
            wire::quantise(self.y, 0.0, MAX_XY, UNITS_PER_METRE),
            wire::quantise(self.z, MIN_Z, MAX_Z, UNITS_PER_METRE),
        )
    }

    /// Whether it is in the wire's space, so that [`Position::quantised`] moves it by less than one
    /// step of the grid. A writer takes only what is quantised: the last step of each axis is in
    /// the space, but not on the grid.
    pub fn is_on_wire(self) -> bool {
        const STEP: f32 = 1.0 / UNITS_PER_METRE;
        let on_axis = |value: f32, min: f32, max: f32| (min..max + STEP).contains(&value);
        on_axis(self.x, 0.0, MAX_XY)
            && on_axis(self.y, 0.0, MAX_XY)
            && on_axis(self.z, MIN_Z, MAX_Z)
    }

    /// Whether none of the coordinates is infinite or not a number.
    pub const fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }
}

/// 22 + 22 + 16 bits.
impl Wire for Position {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.quantised(&mut self.x, 0.0, MAX_XY, UNITS_PER_METRE)?;
        coder.quantised(&mut self.y, 0.0, MAX_XY, UNITS_PER_METRE)?;
        coder.quantised(&mut self.z, MIN_Z, MAX_Z, UNITS_PER_METRE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn somewhere(rng: &mut fastrand::Rng) -> Position {
        Position::new(
            rng.f32() * 20_000.0 - 1_000.0,
            rng.f32() * 20_000.0 - 1_000.0,
            rng.f32() * 400.0 - 200.0,
        )
    }

    #[test]
    fn both_ends_hold_the_same_bits_of_a_quantised_position() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..10_000 {
            let sent = somewhere(&mut rng).quantised();
            let received: Position =
                wire::decode(&wire::encode(&mut { sent })).expect("the encoding is valid");
            for (ours, theirs) in [(sent.x, received.x), (sent.y, received.y), (sent.z, received.z)]
            {
                assert_eq!(ours.to_bits(), theirs.to_bits(), "{sent:?}");
            }
            assert_eq!(sent.quantised(), sent);
        }
    }

    #[test]
    fn quantising_moves_a_position_by_less_than_four_millimetres() {
        let mut rng = fastrand::Rng::with_seed(2);
        for _ in 0..10_000 {
            let position =
                Position::new(rng.f32() * MAX_XY, rng.f32() * MAX_XY, MIN_Z + rng.f32() * 255.0);
            assert!(position.distance(position.quantised()) < 0.004, "{position:?}");
        }
    }

    #[test]
    fn each_position_of_the_wires_space_can_be_written_once_it_is_quantised() {
        let edges = [
            Position::new(0.0, 0.0, MIN_Z),
            Position::new(MAX_XY, MAX_XY, MAX_Z),
            Position::new(16_383.999, 16_383.999, 191.999),
        ];
        for edge in edges {
            assert!(edge.is_on_wire(), "{edge:?}");
            assert!(edge.distance(edge.quantised()) < 0.01, "{edge:?}");
            wire::encode(&mut edge.quantised());
        }
        for (x, y, z) in [
            (-0.001, 0.0, 0.0),
            (MAX_MAP_METRES, 0.0, 0.0),
            (0.0, MAX_MAP_METRES, 0.0),
            (0.0, 0.0, -64.001),
            (0.0, 0.0, 192.0),
            (f32::NAN, 0.0, 0.0),
            (0.0, f32::INFINITY, 0.0),
        ] {
            assert!(!Position::new(x, y, z).is_on_wire(), "{x} {y} {z}");
        }
    }

    #[test]
    fn a_position_out_of_range_is_clamped_to_the_edge() {
        let far = Position::new(-5.0, 1e9, -1_000.0).quantised();
        assert_eq!(far, Position::new(0.0, MAX_XY, MIN_Z));
    }

    #[test]
    #[should_panic(expected = "finite")]
    fn a_position_that_is_not_finite_panics() {
        let _ = Position::on_ground(f32::NAN, 0.0).quantised();
    }

    #[test]
    fn a_position_takes_sixty_bits() {
        assert_eq!(wire::measure(&mut Position::on_ground(23.0, 12.0)), 60);
    }

    #[test]
    fn the_ends_of_a_straight_line_are_exact() {
        let (from, to) = (Position::new(0.1, 12_345.67, 3.0), Position::new(7.3, 0.003, -9.0));
        assert_eq!(from.lerp(to, 0.0), from);
        assert_eq!(from.lerp(to, 1.0), to);
        assert_eq!(
            Position::on_ground(2.0, 0.0).lerp(Position::on_ground(4.0, 8.0), 0.5),
            Position::on_ground(3.0, 4.0)
        );
    }

    #[test]
    fn the_distance_along_the_ground_ignores_height() {
        let (a, b) = (Position::new(1.0, 1.0, 0.0), Position::new(4.0, 5.0, 12.0));
        assert_eq!(a.ground_distance(b), 5.0);
        assert_eq!(a.distance(b), 13.0);
    }
}
