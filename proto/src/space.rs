//! Positions.
//!
//! Metres; x and y are the ground plane, z is up. The wire's grid is 1/256 m on all three axes, x
//! and y in [0, 16,384) m (22 bits), z in [-64, 192) m (16 bits). Each of its points is exact in an
//! `f32`.
//!
//! Most maps are far smaller than that, most things stand on the ground, and the points of a way
//! are near each other. So x and y take as many bits as the larger of them needs, a later point of
//! a way is relative to the one before it, and a z of 0, or as before, takes one bit.
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
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
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

    /// The point at `fraction` of the distance to `other`: 0 gives exactly `self`, 1 exactly
    /// `other`. Between two equal points the result is that point.
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

/// Bits of the steps of x or y, at most and at least.
const XY_BITS: u32 = 22;
const LEAST_XY_BITS: u32 = XY_BITS - ((1 << WIDTH_BITS) - 1);
/// Bits of how many bits more than the least x and y have.
const WIDTH_BITS: u32 = 4;
/// The steps of x and of y, and of the differences between them, are counted modulo 2^22.
const XY_MASK: u64 = (1 << XY_BITS) - 1;

/// How many bits x and y have, less 7: 4 bits; x and y; whether z is 0: 1; if not: z, 16. So 65
/// bits at most, and 33 on the ground of a map of 64 m.
impl Wire for Position {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.wire_relative([0; 2], coder, |step, _| step, |step, _| step)?;
        self.wire_z(0.0, coder)
    }
}

impl Position {
    /// A later point of a way, after `before`: as [`Position::wire`], but x and y are differences,
    /// in zigzag, and z is not sent if it is as before. Each difference is possible: it is modulo
    /// 2^22.
    pub(crate) fn wire_after(
        &mut self,
        before: Self,
        coder: &mut impl Coder,
    ) -> Result<(), WireError> {
        self.wire_relative(before.xy_steps(), coder, zigzag_difference, add_zigzag)?;
        self.wire_z(before.z, coder)
    }

    /// x, y and z in 22, 22 and 16 bits, wherever it is: it has one encoding.
    pub(crate) fn wire_whole(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.quantised(&mut self.x, 0.0, MAX_XY, UNITS_PER_METRE)?;
        coder.quantised(&mut self.y, 0.0, MAX_XY, UNITS_PER_METRE)?;
        coder.quantised(&mut self.z, MIN_Z, MAX_Z, UNITS_PER_METRE)
    }

    /// x and y, each as the number that `number_of` makes of its step and that of `base`.
    fn wire_relative<C: Coder>(
        &mut self,
        base: [u64; 2],
        coder: &mut C,
        number_of: impl Fn(u64, u64) -> u64,
        step_of: impl Fn(u64, u64) -> u64,
    ) -> Result<(), WireError> {
        let mut numbers = [0; 2];
        if !C::READS {
            let steps = self.xy_steps();
            numbers = [number_of(steps[0], base[0]), number_of(steps[1], base[1])];
        }
        let mut width = (numbers[0] | numbers[1]).checked_ilog2().map_or(0, |highest| highest + 1);
        let mut more = u64::from(width.saturating_sub(LEAST_XY_BITS));
        coder.bits(&mut more, WIDTH_BITS)?;
        width = LEAST_XY_BITS + more as u32;
        for number in &mut numbers {
            coder.bits(number, width)?;
        }
        if C::READS {
            let metres = |number, base| step_of(number, base) as f32 / UNITS_PER_METRE;
            (self.x, self.y) = (metres(numbers[0], base[0]), metres(numbers[1], base[1]));
        }
        Ok(())
    }

    fn wire_z(&mut self, before: f32, coder: &mut impl Coder) -> Result<(), WireError> {
        let mut is_as_before = self.z == before;
        coder.flag(&mut is_as_before)?;
        if is_as_before {
            self.z = before;
            return Ok(());
        }
        coder.quantised(&mut self.z, MIN_Z, MAX_Z, UNITS_PER_METRE)
    }

    /// x and y in steps of the grid.
    fn xy_steps(self) -> [u64; 2] {
        [self.x, self.y].map(|metres| {
            assert!((0.0..=MAX_XY).contains(&metres), "{metres} is not within 0 to {MAX_XY}");
            // The cast rounds down.
            (f64::from(metres) * f64::from(UNITS_PER_METRE) + 0.5) as u64
        })
    }
}

/// The difference of two steps, modulo 2^22 and nearest to zero, as 0, -1, 1, -2, 2, ...
const fn zigzag_difference(step: u64, base: u64) -> u64 {
    let difference = step.wrapping_sub(base) & XY_MASK;
    if difference >> (XY_BITS - 1) == 0 {
        difference << 1
    } else {
        ((XY_MASK - difference) << 1) | 1
    }
}

/// The step that differs from `base` by this.
const fn add_zigzag(zigzag: u64, base: u64) -> u64 {
    let half = zigzag >> 1;
    let difference = if zigzag & 1 == 0 { half } else { XY_MASK - half };
    base.wrapping_add(difference) & XY_MASK
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
    fn a_later_point_reads_as_it_was_wherever_the_one_before_it_is() {
        let mut rng = fastrand::Rng::with_seed(4);
        let low = Position::new(0.0, 0.0, MIN_Z);
        let high = Position::new(MAX_XY, MAX_XY, MAX_Z);
        let ends = [low, high, Position::new(MAX_XY, 0.0, 0.0), Position::new(8_192.0, 0.0, 0.0)];
        for case in 0..10_000 {
            let any = |rng: &mut fastrand::Rng| match rng.usize(..8) {
                end @ 0..4 => ends[end],
                _ => somewhere(rng).quantised(),
            };
            let before = any(&mut rng);
            let mut sent = any(&mut rng);
            if case % 3 == 0 {
                let step = |rng: &mut fastrand::Rng| rng.f32() * 20.0 - 10.0;
                let (x, y) = (before.x + step(&mut rng), before.y + step(&mut rng));
                sent = Position::new(x, y, before.z).quantised();
            }
            let mut bytes = Vec::new();
            let mut writer = wire::Writer::new(&mut bytes);
            { sent }.wire_after(before, &mut writer).expect("writing cannot fail");
            assert!(writer.bits_written() <= 65, "{before:?}, {sent:?}");
            writer.finish();
            let mut read = Position::default();
            let result = read.wire_after(before, &mut wire::Reader::new(&bytes));
            assert_eq!((result, read), (Ok(()), sent), "after {before:?}");
        }
    }

    #[test]
    fn any_bits_read_as_a_position_of_the_grid() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..10_000 {
            let bytes: [u8; 9] = std::array::from_fn(|_| rng.u8(..));
            let before = somewhere(&mut rng).quantised();
            for before in [None, Some(before)] {
                let mut read = Position::default();
                let mut reader = wire::Reader::new(&bytes);
                let result = match before {
                    None => read.wire(&mut reader),
                    Some(before) => read.wire_after(before, &mut reader),
                };
                assert_eq!((result, read.quantised()), (Ok(()), read), "{bytes:?}");
            }
        }
    }

    #[test]
    fn a_position_takes_fewer_bits_on_a_small_map_and_after_another_one() {
        let bits = |x, y, z| wire::measure(&mut Position::new(x, y, z));
        assert_eq!(bits(0.0, 0.25, 0.0), 4 + 2 * 7 + 1);
        assert_eq!(bits(60.0, 5.0, 0.0), 4 + 2 * 14 + 1);
        assert_eq!(bits(60.0, 5.0, 1.0), 4 + 2 * 14 + 1 + 16);
        assert_eq!(bits(MAX_XY, 5.0, MIN_Z), 4 + 2 * 22 + 1 + 16);
        let after = |x, y, z| {
            let mut measure = wire::Measure::new();
            let before = Position::new(60.0, 5.0, 1.0);
            Position::new(x, y, z).wire_after(before, &mut measure).expect("measuring cannot fail");
            measure.bits()
        };
        assert_eq!(after(60.25, 4.75, 1.0), 4 + 2 * 8 + 1);
        assert_eq!(after(57.0, 9.0, 1.0), 4 + 2 * 12 + 1);
        assert_eq!(after(57.0, 9.0, 0.0), 4 + 2 * 12 + 1 + 16);
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
    fn the_ends_of_a_straight_line_are_exact() {
        let from = Position::new(0.1, 12_345.67, 3.0);
        let to = Position::new(7.3, 0.003, -9.0);
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
