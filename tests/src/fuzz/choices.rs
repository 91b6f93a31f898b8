//! Interprets bytes as a sequence of decisions, for targets that are state machines.
//!
//! Bytes are taken from the front, so that a change late in an input changes only late steps: this
//! lets a fuzzer extend a sequence step by step. When the bytes are used up, every choice is 0.

pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub const fn new(data: &'a [u8]) -> Self {
        Choices(data)
    }

    /// Whether no byte is left.
    pub const fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    /// Two bytes, little-endian.
    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    pub fn below(&mut self, bound: u8) -> usize {
        usize::from(self.byte() % bound)
    }

    /// A byte string: its length in two bytes, then the bytes, or what is left.
    pub fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.word()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    /// All bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// Appends `bytes` in the form that [`Choices::bytes`] reads.
pub(super) fn put_bytes(input: &mut Vec<u8>, bytes: &[u8]) {
    input.extend_from_slice(&u16::try_from(bytes.len()).expect("a short input").to_le_bytes());
    input.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_taken_from_the_front_and_end_with_zeros() {
        let mut input = vec![7];
        put_bytes(&mut input, &[1, 2, 3]);
        input.extend([9, 9]);
        let mut choices = Choices::new(&input);
        assert_eq!(choices.below(4), 3);
        assert_eq!(choices.bytes(), [1, 2, 3]);
        assert_eq!((choices.word(), choices.is_over()), (0x0909, true));
        assert_eq!((choices.byte(), choices.bytes()), (0, &[][..]));
    }
}
