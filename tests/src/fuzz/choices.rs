//! Bytes as a row of decisions, for targets that are state machines.
//!
//! The bytes are taken from the front, so a change late in an input changes only what happens late:
//! that is what lets a fuzzer build a long story step by step. When they are used up, every choice
//! is the first one.

/// See the module.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// All of `data` is still to be decided by.
    pub const fn new(data: &'a [u8]) -> Self {
        Choices(data)
    }

    /// Whether nothing is left.
    pub const fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// One byte.
    pub fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    /// Two bytes, little end first.
    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u8) -> usize {
        usize::from(self.byte() % bound)
    }

    /// Some bytes: as many as two bytes say, or what is left.
    pub fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.word()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// Appends `bytes` so that [`Choices::bytes`] takes them.
pub(super) fn put_bytes(story: &mut Vec<u8>, bytes: &[u8]) {
    story.extend_from_slice(
        &u16::try_from(bytes.len())
            .expect("a short input")
            .to_le_bytes(),
    );
    story.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_taken_from_the_front_and_end_with_zeros() {
        let mut story = vec![7];
        put_bytes(&mut story, &[1, 2, 3]);
        story.extend([9, 9]);
        let mut choices = Choices::new(&story);
        assert_eq!(choices.below(4), 3);
        assert_eq!(choices.bytes(), [1, 2, 3]);
        assert_eq!((choices.word(), choices.is_over()), (0x0909, true));
        assert_eq!((choices.byte(), choices.bytes()), (0, &[][..]));
    }
}
