//! A slice, and the set of received slices, as the link's module describes them bit by bit.

use super::super::format::{read_bytes, write_bytes};
use super::{MAX_SLICES, SLICE_BYTES, SliceSet};
use crate::wire::{Coder, Wire, WireError, measure};

/// Length of a slice without its bytes; the last one of a chunk takes 16 bits more.
pub(in crate::link) const SLICE_HEADER_BITS: usize = 40;

/// Number and length of a chunk, the form, and a bit for each slice.
pub(in crate::link) const MAX_SET_BITS: usize = 8 + 8 + 2 + MAX_SLICES;

/// One slice of a chunk.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Slice {
    /// One higher with each chunk of a connection, from 0 on; wraps around.
    pub(crate) chunk: u8,
    pub(crate) index: u8,
    /// The chunk has one slice more than this.
    pub(crate) last_index: u8,
    /// How many slices of the block follow this chunk, in other chunks.
    pub(crate) slices_after_chunk: u16,
    /// [`SLICE_BYTES`] of them, unless it is the last slice.
    pub(crate) bytes: Vec<u8>,
}

/// The received slices of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ReceivedSet {
    pub(crate) chunk: u8,
    /// The chunk has one slice more than this.
    pub(crate) last_index: u8,
    pub(crate) slices: SliceSet,
}

/// A multiple of 8 bits, so that the bits after it keep their offset in a byte.
impl Wire for Slice {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let length = self.wire_header(coder)?;
        self.wire_bytes(length, coder)
    }
}

impl Slice {
    /// Its length in a datagram, in bytes.
    pub(in crate::link) fn length(&self) -> usize {
        let length_field = if self.index == self.last_index { 2 } else { 0 };
        SLICE_HEADER_BITS / 8 + length_field + self.bytes.len()
    }

    /// Returns how many bytes follow.
    fn wire_header(&mut self, coder: &mut impl Coder) -> Result<usize, WireError> {
        coder.u8(&mut self.chunk)?;
        coder.u8(&mut self.index)?;
        coder.u8(&mut self.last_index)?;
        coder.u16(&mut self.slices_after_chunk)?;
        if self.index > self.last_index
            || self.slices_after_chunk > 0 && usize::from(self.last_index) + 1 < MAX_SLICES
        {
            return Err(WireError::OutOfRange { what: "slice" });
        }
        if self.index < self.last_index {
            return Ok(SLICE_BYTES);
        }
        let mut length = self.bytes.len() as u16;
        coder.u16(&mut length)?;
        let is_whole = usize::from(length) == SLICE_BYTES;
        if length == 0
            || usize::from(length) > SLICE_BYTES
            || self.slices_after_chunk > 0 && !is_whole
        {
            return Err(WireError::OutOfRange { what: "length of a slice" });
        }
        Ok(length.into())
    }

    fn wire_bytes<C: Coder>(&mut self, length: usize, coder: &mut C) -> Result<(), WireError> {
        if !C::READS {
            return write_bytes(&self.bytes, coder);
        }
        self.bytes.clear();
        read_bytes(&mut self.bytes, length, coder)
    }
}

/// The forms of a set: all slices; runs (their number in 5 bits, then the length of each but the
/// last; the first is of received slices); or one bit for each slice. A writer uses the shortest
/// one, a reader accepts each.
const FORM_ALL: u64 = 0;
const FORM_RUNS: u64 = 1;
const FORM_BITS: u64 = 2;

/// More runs than this take more than one bit for each slice.
const MAX_RUNS: usize = 31;

impl Wire for ReceivedSet {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.u8(&mut self.chunk)?;
        coder.u8(&mut self.last_index)?;
        let mut form = self.shortest_form();
        coder.bits(&mut form, 2)?;
        match form {
            FORM_ALL => self.slices = SliceSet::first(self.count()),
            FORM_RUNS => self.wire_runs(coder)?,
            FORM_BITS => self.wire_bits(coder)?,
            _ => {
                return Err(WireError::OutOfRange { what: "form of a set" });
            }
        }
        Ok(())
    }
}

impl ReceivedSet {
    pub(super) fn count(&self) -> usize {
        usize::from(self.last_index) + 1
    }

    fn shortest_form(&self) -> u64 {
        if self.slices == SliceSet::first(self.count()) {
            return FORM_ALL;
        }
        let (runs, bits) =
            self.runs().fold((0, 5), |(runs, bits), length| (runs + 1, bits + bits_of_run(length)));
        // The last run needs no length.
        let last = self.runs().last().map_or(0, bits_of_run);
        if runs <= MAX_RUNS && bits - last < self.count() { FORM_RUNS } else { FORM_BITS }
    }

    /// Lengths of received, missing, received ... slices; only the first can be 0.
    fn runs(&self) -> impl Iterator<Item = usize> + use<> {
        let slices = self.slices;
        let count = self.count();
        let mut from = 0;
        let mut wanted = true;
        std::iter::from_fn(move || {
            let end =
                (from..count).find(|&index| slices.contains(index) != wanted).unwrap_or(count);
            let length = (from < count).then_some(end - from);
            (from, wanted) = (end, !wanted);
            length
        })
    }

    fn wire_runs<C: Coder>(&mut self, coder: &mut C) -> Result<(), WireError> {
        let mut number = if C::READS { 0 } else { self.runs().count() as u64 };
        coder.bits(&mut number, 5)?;
        if number == 0 {
            return Err(WireError::OutOfRange { what: "number of runs" });
        }
        let mut lengths = self.runs();
        let mut read = SliceSet::default();
        let mut from = 0;
        let mut received = true;
        for run in 0..number {
            let mut length =
                if C::READS { 0 } else { lengths.next().expect("they were counted") as u64 };
            if run + 1 == number {
                length = (self.count() - from) as u64;
            } else {
                coder.varint(&mut length)?;
            }
            if length > (self.count() - from) as u64 {
                return Err(WireError::OutOfRange { what: "run of slices" });
            }
            let end = from + length as usize;
            (from..end).filter(|_| received).for_each(|index| read.insert(index));
            (from, received) = (end, !received);
        }
        if C::READS {
            self.slices = read;
        }
        Ok(())
    }

    fn wire_bits(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        for (word, bits) in self.slices.0.iter_mut().enumerate() {
            let width = (usize::from(self.last_index) + 1).saturating_sub(64 * word).min(64);
            coder.bits(bits, width as u32)?;
        }
        Ok(())
    }
}

fn bits_of_run(length: usize) -> usize {
    measure(&mut RunLength(length as u64))
}

struct RunLength(u64);

impl Wire for RunLength {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.varint(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Example;
    use crate::wire::{Writer, decode, encode};

    #[test]
    fn each_form_of_a_set_is_read() {
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut set = ReceivedSet::example(&mut rng);
            let mut forms = vec![FORM_BITS];
            let runs = set.runs().count();
            forms.extend((runs <= MAX_RUNS).then_some(FORM_RUNS));
            forms.extend((set.slices == SliceSet::first(set.count())).then_some(FORM_ALL));
            for form in forms {
                let mut bytes = Vec::new();
                let mut writer = Writer::new(&mut bytes);
                write_form(&mut set, form, &mut writer).expect("writing cannot fail");
                writer.finish();
                assert_eq!(decode(&bytes), Ok(set), "seed {seed}, form {form}");
                assert_eq!(bytes == encode(&mut set), form == set.shortest_form());
            }
        }
    }

    #[test]
    fn empty_runs_are_read_and_no_run_at_all_is_refused() {
        let read = |runs: u64, lengths: &[u64]| {
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes);
            for (mut value, width) in [(7, 8), (9, 8), (FORM_RUNS, 2), (runs, 5)] {
                writer.bits(&mut value, width).expect("writing cannot fail");
            }
            for mut length in lengths.iter().copied() {
                writer.varint(&mut length).expect("writing cannot fail");
            }
            writer.finish();
            decode::<ReceivedSet>(&bytes).map(|set| set.slices)
        };
        assert_eq!(read(1, &[]), Ok(SliceSet::first(10)));
        assert_eq!(read(4, &[3, 0, 2]), read(2, &[5]));
        assert_eq!(read(2, &[10]), Ok(SliceSet::first(10)));
        assert!(read(0, &[]).is_err() && read(2, &[11]).is_err());
    }

    #[test]
    fn a_last_slice_is_shorter_than_others_only_at_the_end_of_a_block() {
        let read = |slices_after_chunk: u64, length: usize| {
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes);
            let last = (MAX_SLICES - 1) as u64;
            let fields = [(7, 8), (last, 8), (last, 8), (slices_after_chunk, 16)];
            for (mut value, width) in fields.into_iter().chain([(length as u64, 16)]) {
                writer.bits(&mut value, width).expect("writing cannot fail");
            }
            write_bytes(&vec![7; length], &mut writer).expect("writing cannot fail");
            writer.finish();
            decode::<Slice>(&bytes).is_ok()
        };
        let at_the_end = [0, 1, SLICE_BYTES, SLICE_BYTES + 1].map(|length| read(0, length));
        assert_eq!(at_the_end, [false, true, true, false]);
        let before_it = [0, 1, SLICE_BYTES, SLICE_BYTES + 1].map(|length| read(1, length));
        assert_eq!(before_it, [false, false, true, false]);
    }

    fn write_form(set: &mut ReceivedSet, form: u64, writer: &mut Writer) -> Result<(), WireError> {
        writer.u8(&mut set.chunk)?;
        writer.u8(&mut set.last_index)?;
        writer.bits(&mut { form }, 2)?;
        match form {
            FORM_RUNS => set.wire_runs(writer),
            FORM_BITS => set.wire_bits(writer),
            _ => Ok(()),
        }
    }

    #[test]
    fn a_slice_is_a_whole_number_of_bytes_and_a_set_takes_few_bits() {
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut slice = Slice::example(&mut rng);
            assert_eq!(measure(&mut slice), 8 * slice.length());
            assert!(measure(&mut ReceivedSet::example(&mut rng)) <= MAX_SET_BITS);
        }
        let bits = |slices| measure(&mut ReceivedSet { chunk: 7, last_index: 255, slices });
        assert_eq!(bits(SliceSet::first(256)), 18);
        assert!(bits(SliceSet::first(100)) <= 33 && bits(SliceSet::default()) <= 28);
        let mut holes = SliceSet::first(200);
        for index in [20, 90, 91, 150] {
            holes.remove(index);
        }
        assert!(bits(holes) < 100, "{}", bits(holes));
    }
}
