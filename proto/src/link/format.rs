//! What a link writes before a body: the header and the messages, as the parent module describes
//! them bit by bit.

use bytes::Bytes;

use super::{MAX_MESSAGE, MESSAGE_WINDOW};
use crate::wire::{Coder, Measure, Wire, WireError};

/// Everything present: number, request, acknowledgement, ping, pong, and the flags of the parts
/// after the messages.
pub(super) const MAX_HEADER_BITS: usize = 14 + 1 + (3 + 14 + 32) + 1 + 1 + (1 + 86) + 2;

/// The same in whole bytes, for a datagram of nothing else.
pub(super) const MAX_HEADER_BYTES: usize = (MAX_HEADER_BITS + 1).div_ceil(8);

/// Width of a datagram's number on the wire. At 20 a second the numbers wrap after 13 minutes; at
/// 800 a second half of them still last longer than the 10 s after which the connection below is
/// closed.
const NUMBER_BITS: u32 = 14;

/// Width of a receive time: microseconds for nine years.
pub(super) const RECEIVED_BITS: u32 = 48;

/// Width of a holding time: microseconds for 16 seconds.
pub(super) const HELD_BITS: u32 = 24;

/// The lowest bits of a datagram's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ShortNumber(u16);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct DatagramHeader {
    pub(crate) number: ShortNumber,
    pub(crate) asks_for_ack: bool,
    pub(crate) ack: Option<Ack>,
    /// Absent in a datagram of a body and nothing else; the messages and the parts after them are
    /// then absent, too.
    pub(crate) extras: Option<HeaderExtras>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct HeaderExtras {
    pub(crate) ping: bool,
    pub(crate) pong: Option<Pong>,
}

/// The newest datagram received, and which of the 32 before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ack {
    pub(crate) latest: ShortNumber,
    /// Bit `i`, from the lowest: the one `i + 1` before `latest`.
    pub(crate) earlier: u32,
}

/// Answer to a ping. The sending time is sent as the time since the arrival, which is short.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pong {
    pub(crate) pinged: ShortNumber,
    pub(crate) received_us: u64,
    pub(crate) held_us: u64,
}

/// The messages of a datagram, in ascending order of their ids, which are within one window.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Messages(pub(crate) Vec<Message>);

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Message {
    pub(crate) id: u32,
    pub(crate) bytes: Bytes,
}

impl ShortNumber {
    const MASK: u64 = (1 << NUMBER_BITS) - 1;

    pub(super) fn from_number(number: u64) -> Self {
        Self((number & Self::MASK) as u16)
    }

    /// The number with these lowest bits that is nearest to `known`: half of the candidates are
    /// older. `None` for a number before 0.
    pub(super) fn near(self, known: u64) -> Option<u64> {
        let ahead = u64::from(self.0).wrapping_sub(known) & Self::MASK;
        if ahead < 1 << (NUMBER_BITS - 1) {
            Some(known + ahead)
        } else {
            (known + ahead).checked_sub(Self::MASK + 1)
        }
    }

    /// The newest number before `next` with these lowest bits.
    pub(super) fn before(self, next: u64) -> Option<u64> {
        let back = next.wrapping_sub(1).wrapping_sub(u64::from(self.0)) & Self::MASK;
        next.checked_sub(1 + back)
    }

    /// The number when no other is known: one of the first.
    pub(super) fn first(self) -> u64 {
        self.0.into()
    }
}

impl Wire for ShortNumber {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let mut bits = u64::from(self.0);
        coder.bits(&mut bits, NUMBER_BITS)?;
        self.0 = bits as u16;
        Ok(())
    }
}

/// Sets the bit in a datagram that was written without it: whether there is a body is known last.
pub(super) fn ask_for_ack(datagram: &mut [u8]) {
    datagram[NUMBER_BITS as usize / 8] |= 1 << (NUMBER_BITS % 8);
}

/// 31 bits when nothing is missing and the body follows the header directly.
impl Wire for DatagramHeader {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.number.wire(coder)?;
        coder.flag(&mut self.asks_for_ack)?;
        wire_ack(&mut self.ack, coder)?;
        coder.option(&mut self.extras)
    }
}

/// 1: all earlier ones were received. 01: all but one, 5 bits say which. 001: 32 bits. 000: nothing
/// was received yet. Writes the shortest form, and reads each form of any set.
fn wire_ack(ack: &mut Option<Ack>, coder: &mut impl Coder) -> Result<(), WireError> {
    let missing = ack.map_or(0, |ack| ack.earlier.count_zeros());
    let mut all = ack.is_some() && missing == 0;
    let mut all_but_one = ack.is_some() && missing == 1;
    let mut some = ack.is_some();
    let mut value = ack.unwrap_or_default();
    coder.flag(&mut all)?;
    if all {
        value.earlier = u32::MAX;
    } else {
        coder.flag(&mut all_but_one)?;
        if all_but_one {
            let mut place = u64::from(value.earlier.trailing_ones() % 32);
            coder.bits(&mut place, 5)?;
            value.earlier = !(1 << place);
        } else {
            coder.flag(&mut some)?;
            if !some {
                *ack = None;
                return Ok(());
            }
            coder.u32(&mut value.earlier)?;
        }
    }
    value.latest.wire(coder)?;
    *ack = Some(value);
    Ok(())
}

impl Wire for HeaderExtras {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.flag(&mut self.ping)?;
        coder.option(&mut self.pong)
    }
}

impl Wire for Pong {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.pinged.wire(coder)?;
        coder.bits(&mut self.received_us, RECEIVED_BITS)?;
        coder.bits(&mut self.held_us, HELD_BITS)
    }
}

/// A flag before each and after the last. The length of the datagram bounds their number.
impl Wire for Messages {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let mut previous = None;
        if !coder_reads(coder) {
            for message in &mut self.0 {
                coder.flag(&mut true)?;
                message.wire_after(previous, coder)?;
                previous = Some(message.id);
            }
            return coder.flag(&mut false);
        }
        self.0.clear();
        let mut more = false;
        loop {
            coder.flag(&mut more)?;
            if !more {
                return Ok(());
            }
            let mut message = Message::default();
            message.wire_after(previous, coder)?;
            previous = Some(message.id);
            self.0.push(message);
        }
    }
}

fn coder_reads<C: Coder>(_: &C) -> bool {
    C::READS
}

impl Messages {
    /// Length of a list with one message of that length.
    pub(super) fn bits_of_one(length: usize) -> usize {
        1 + 32 + 15 + 8 * length + 1
    }
}

impl Message {
    /// Length of this message in a list after `previous`, its flag included.
    pub(super) fn bits_after(&mut self, previous: Option<u32>) -> usize {
        let mut measure = Measure::new();
        self.wire_after(previous, &mut measure).expect("measuring cannot fail");
        1 + measure.bits()
    }

    fn wire_after(
        &mut self,
        previous: Option<u32>,
        coder: &mut impl Coder,
    ) -> Result<(), WireError> {
        self.wire_id(previous, coder)?;
        let mut length = self.bytes.len();
        wire_length(&mut length, coder)?;
        self.wire_bytes(length, coder)
    }

    fn wire_id(&mut self, previous: Option<u32>, coder: &mut impl Coder) -> Result<(), WireError> {
        let Some(previous) = previous else {
            return coder.u32(&mut self.id);
        };
        let expected = previous.wrapping_add(1);
        let mut left_out = u64::from(self.id.wrapping_sub(expected));
        coder.varint(&mut left_out)?;
        if left_out >= u64::from(MESSAGE_WINDOW) {
            return Err(WireError::OutOfRange { what: "message id" });
        }
        self.id = expected.wrapping_add(left_out as u32);
        Ok(())
    }

    /// [`Coder::bytes`] needs a vector; this way messages to many clients share their bytes.
    fn wire_bytes<C: Coder>(&mut self, length: usize, coder: &mut C) -> Result<(), WireError> {
        if !C::READS {
            return write_bytes(&self.bytes, coder);
        }
        let mut bytes = Vec::with_capacity(length);
        read_bytes(&mut bytes, length, coder)?;
        self.bytes = bytes.into();
        Ok(())
    }
}

/// Most messages are short.
fn wire_length(length: &mut usize, coder: &mut impl Coder) -> Result<(), WireError> {
    let mut value = *length as u64;
    coder.varint(&mut value)?;
    if value > MAX_MESSAGE as u64 {
        return Err(WireError::OutOfRange { what: "length of a message" });
    }
    *length = value as usize;
    Ok(())
}

/// Eight bytes at a time.
pub(super) fn write_bytes(bytes: &[u8], coder: &mut impl Coder) -> Result<(), WireError> {
    bytes.chunks(8).try_for_each(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        coder.bits(&mut u64::from_le_bytes(word), 8 * chunk.len() as u32)
    })
}

/// Appends `length` bytes, eight at a time.
pub(super) fn read_bytes(
    bytes: &mut Vec<u8>,
    length: usize,
    coder: &mut impl Coder,
) -> Result<(), WireError> {
    let end = bytes.len() + length;
    while bytes.len() < end {
        let mut word = 0;
        let chunk = (end - bytes.len()).min(8);
        coder.bits(&mut word, 8 * chunk as u32)?;
        bytes.extend_from_slice(&word.to_le_bytes()[..chunk]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Reader, Writer, encode, measure};

    #[test]
    fn a_number_is_restored_from_its_lowest_bits() {
        for seed in 0..1_000 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let number = rng.u64(..1 << 20);
            let known = (number + rng.u64(..16_384)).saturating_sub(8_191);
            assert_eq!(
                ShortNumber::from_number(number).near(known),
                Some(number),
                "{number} near {known}"
            );
            let next = number + 1 + rng.u64(..16_384);
            assert_eq!(
                ShortNumber::from_number(number).before(next),
                Some(number),
                "{number} before {next}"
            );
        }
        assert_eq!(ShortNumber::from_number(16_383).near(3), None);
        assert_eq!(ShortNumber::from_number(16_383).before(3), None);
        assert_eq!(ShortNumber::from_number(0).before(0), None);
    }

    #[test]
    fn a_header_takes_31_bits_and_a_few_more_when_numbers_are_missing() {
        let bits = |earlier| {
            let ack = Some(Ack { latest: ShortNumber::from_number(70), earlier });
            measure(&mut DatagramHeader { ack, ..DatagramHeader::default() })
        };
        assert_eq!(
            [bits(u32::MAX), bits(!(1 << 31)), bits(!1), bits(!0b11), bits(0)],
            [31, 37, 37, 65, 65]
        );
        assert_eq!(measure(&mut DatagramHeader::default()), 19);
        let pong = Some(Pong::default());
        let ack = Some(Ack::default());
        let mut fullest = DatagramHeader {
            ack,
            extras: Some(HeaderExtras { ping: true, pong }),
            ..DatagramHeader::default()
        };
        assert_eq!(measure(&mut fullest) + 2, MAX_HEADER_BITS);
    }

    #[test]
    fn each_form_of_an_acknowledgement_is_read_for_any_set() {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let hole = rng.u32(..32);
            let earlier = [u32::MAX, !(1 << hole), 0, rng.u32(..)][rng.usize(..4)];
            let latest = ShortNumber::from_number(rng.u64(..));
            let expected = Some(Ack { latest, earlier });
            // The shortest form last: it is what a writer writes.
            let mut forms: Vec<Vec<(u64, u32)>> = vec![vec![(0b100, 3), (earlier.into(), 32)]];
            match earlier.count_zeros() {
                0 => forms.push(vec![(0b1, 1)]),
                1 => forms.push(vec![(0b10, 2), (earlier.trailing_ones().into(), 5)]),
                _ => {}
            }
            let shortest = written(|writer| wire_ack(&mut { expected }, writer));
            for (index, form) in forms.iter().enumerate() {
                let bytes = written_bits(form, latest);
                let mut read = None;
                assert_eq!(wire_ack(&mut read, &mut Reader::new(&bytes)), Ok(()));
                assert_eq!(read, expected, "seed {seed}, form {index}");
                assert_eq!(bytes == shortest, index + 1 == forms.len(), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_header_with_a_long_acknowledgement_reads_as_the_shortest_one() {
        let mut header = DatagramHeader {
            number: ShortNumber::from_number(9),
            asks_for_ack: true,
            ack: Some(Ack { latest: ShortNumber::from_number(70), earlier: u32::MAX }),
            extras: None,
        };
        let long = written(|writer| {
            header.number.wire(writer)?;
            writer.flag(&mut true)?;
            writer.bits(&mut 0b100, 3)?;
            writer.bits(&mut u32::MAX.into(), 32)?;
            ShortNumber::from_number(70).wire(writer)?;
            writer.flag(&mut false)
        });
        let mut read = DatagramHeader::default();
        assert_eq!(read.wire(&mut Reader::new(&long)), Ok(()));
        assert_eq!(read, header);
        assert!(encode(&mut read).len() < long.len());
        assert_eq!(encode(&mut read), encode(&mut header));
    }

    fn written(format: impl FnOnce(&mut Writer) -> Result<(), WireError>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        format(&mut writer).expect("writing cannot fail");
        writer.finish();
        bytes
    }

    fn written_bits(bits: &[(u64, u32)], mut latest: ShortNumber) -> Vec<u8> {
        written(|writer| {
            for &(mut value, width) in bits {
                writer.bits(&mut value, width)?;
            }
            latest.wire(writer)
        })
    }
}
