//! The static world, as one block that each client receives when it joins.
//!
//! Input: boxes. Output: bytes, and back. A block travels once, in slices beside the game
//! ([`crate::link`]).
//!
//! Format: the number of boxes, `0..=65536` (17 bits); for each its centre, a position (60 bits),
//! and its half extents on x, y and z, each in 14 bits as 1/64 m: 102 bits a box. Types as in
//! [`crate::message`]; zeros up to a whole byte.
//!
//! Units: metres. Limit: [`MAX_BOXES`]; a reader allocates for the boxes that are present, not for
//! the announced number.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use crate::space::Position;
use crate::wire::{self, Coder, Wire, WireError};

/// The highest number of boxes in a map.
pub const MAX_BOXES: usize = 65_536;
/// Steps of a half extent per metre.
pub const HALF_PER_METRE: f32 = 64.0;
/// The largest half extent: the last step that 14 bits hold.
pub const MAX_HALF: f32 = 256.0 - 1.0 / HALF_PER_METRE;

/// All objects that never move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StaticMap {
    /// At most [`MAX_BOXES`].
    pub boxes: Vec<StaticBox>,
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StaticBox {
    /// In metres.
    pub centre: Position,
    /// Half of its extents on x, y and z, in metres.
    pub half: [f32; 3],
}

impl StaticBox {
    /// The box as the other end will read it.
    ///
    /// # Panics
    /// If it is not finite.
    pub fn quantised(self) -> Self {
        let half = self.half.map(|half| wire::quantise(half, 0.0, MAX_HALF, HALF_PER_METRE));
        Self { centre: self.centre.quantised(), half }
    }
}

impl Wire for StaticBox {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.centre.wire(coder)?;
        self.half
            .iter_mut()
            .try_for_each(|half| coder.quantised(half, 0.0, MAX_HALF, HALF_PER_METRE))
    }
}

impl Wire for StaticMap {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.list(&mut self.boxes, MAX_BOXES)
    }
}

impl StaticMap {
    /// The block; values between two steps are rounded to the nearest one.
    ///
    /// # Panics
    /// If there are more than [`MAX_BOXES`], or one is not finite.
    pub fn encode(&self) -> Vec<u8> {
        let boxes = self.boxes.iter().map(|each| each.quantised()).collect();
        wire::encode(&mut Self { boxes })
    }

    /// The map in a block.
    pub fn decode(block: &[u8]) -> Result<Self, WireError> {
        wire::decode(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_takes_thirteen_bytes() {
        let boxes = vec![StaticBox::default(); 1_000];
        assert_eq!(StaticMap { boxes }.encode().len(), (17_usize + 102_000).div_ceil(8));
    }

    #[test]
    fn both_ends_hold_the_same_map() {
        let half = [1.0, 300.0, 0.126];
        let map =
            StaticMap { boxes: vec![StaticBox { centre: Position::new(5.001, 6.0, 1.5), half }] };
        let read = StaticMap::decode(&map.encode()).expect("the encoding is valid");
        assert_eq!(read.boxes, [map.boxes[0].quantised()]);
        assert_eq!(read.boxes[0].half, [1.0, MAX_HALF, 0.125]);
    }

    #[test]
    fn an_announced_count_reserves_no_memory() {
        assert_eq!(StaticMap::decode(&[0xff, 0xff, 0]), Err(WireError::Truncated));
        assert_eq!(
            StaticMap::decode(&[0xff; 20]),
            Err(WireError::TooLong { length: 0x1_ffff, max: 65_536 })
        );
    }

    #[test]
    fn the_largest_map_fits_into_the_block_queue() {
        let boxes = vec![StaticBox::default(); MAX_BOXES];
        assert!(StaticMap { boxes }.encode().len() < 1 << 20);
    }
}
