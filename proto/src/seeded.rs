//! Random numbers that server and clients draw from a shared seed: a burst of particles, the shape
//! of an asteroid.
//!
//! A seed goes in, the same numbers come out on every machine and in every language. So an event
//! carries one number of 16 bits, and not each particle. The generator is `SplitMix64` (Steele, Lea
//! and Flood, "Fast splittable pseudorandom number generators"): with all additions and
//! multiplications modulo 2^64, each step adds 0x9e3779b97f4a7c15 to the state, which begins at the
//! seed; z = state; z = (z xor z >> 30) 0xbf58476d1ce4e5b9; z = (z xor z >> 27)
//! 0x94d049bb133111eb; the number is z xor z >> 31.
//!
//! Nothing that decides may come from it: clients know what comes next.

use crate::space::Position;

/// The highest seed: 16 bits on the wire.
pub const MAX_SEED: u16 = u16::MAX;

/// What each step adds.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The numbers of a seed.
#[derive(Clone, Debug)]
pub struct SeededNumbers {
    state: u64,
}

impl SeededNumbers {
    /// The numbers of a seed; other seeds give unrelated ones.
    pub const fn new(seed: u16) -> Self {
        Self { state: seed as u64 }
    }

    /// The numbers of what is at a place for ever, such as an obstacle: none needs to be sent.
    pub fn of_place(place: Position) -> Self {
        let [x, y] = [place.x, place.y].map(|metres| (metres * 16.0).round() as i32 as u32);
        let mut numbers = Self { state: u64::from(x) << 32 | u64::from(y) };
        Self { state: numbers.next_u64() }
    }

    /// The next one, of 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        let number = mix_bits(self.state);
        self.state = self.state.wrapping_add(STEP);
        number
    }

    /// From 0 to below 1, in steps of 2^-24.
    pub fn unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1 << 24) as f32
    }

    /// From `low` to below `high`.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + self.unit() * (high - low)
    }
}

/// The first number of a seed of 64 bits: neighbouring seeds give unrelated ones.
pub const fn mix_bits(seed: u64) -> u64 {
    let z = seed.wrapping_add(STEP);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_numbers_of_the_reference() {
        // The first of SplitMix64 with the seed 0, and with 1,234.
        let mut zero = SeededNumbers::new(0);
        assert_eq!(zero.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(zero.next_u64(), 0x6e78_9e6a_a1b9_65f4);
        // As the test of the page's.
        let mut numbers = SeededNumbers::new(1_234);
        let steps: Vec<u32> = (0..3).map(|_| (numbers.unit() * (1 << 24) as f32) as u32).collect();
        assert_eq!(steps, [12_258_550, 9_947_041, 3_391_226]);
        assert_ne!(SeededNumbers::new(1_234).next_u64(), SeededNumbers::new(1_235).next_u64());
    }

    #[test]
    fn units_are_below_one_and_spread() {
        let mut numbers = SeededNumbers::new(7);
        let units: Vec<f32> = (0..10_000).map(|_| numbers.unit()).collect();
        assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));
        let mean = units.iter().sum::<f32>() / units.len() as f32;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        let between = numbers.between(2.0, 6.0);
        assert!((2.0..6.0).contains(&between));
    }

    #[test]
    fn a_place_has_its_own_numbers_on_the_grid_of_the_wire() {
        let of = |x: f32| SeededNumbers::of_place(Position::on_ground(x, 20.0)).next_u64();
        assert_eq!(of(10.0), of(10.01));
        assert_ne!(of(10.0), of(10.1));
        assert_ne!(of(10.0), of(-10.0));
    }
}
