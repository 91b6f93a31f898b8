//! A small generator (splitmix64), so that a failing seed stays the same test with any library
//! version.

pub(in crate::tests) struct RandomSource(u64);

impl RandomSource {
    pub(in crate::tests) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(in crate::tests) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(in crate::tests) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(in crate::tests) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(in crate::tests) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let index = self.next() as usize;
        if items.is_empty() { None } else { items.get(index % items.len()) }
    }
}
