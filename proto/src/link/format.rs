//! What a link puts in front of a body: the header and the messages, as the module above describes them bit by bit.

use bytes::Bytes;

use super::{MAX_MESSAGE, MESSAGE_WINDOW};
use crate::ids::Seq;
use crate::wire::formats::Example;
use crate::wire::{Coder, Measure, Wire, WireError};

/// Everything present: sequence, acknowledgement, ping, pong.
pub(super) const MAX_HEADER_BITS: usize = 16 + (1 + 48) + 1 + (1 + 88);

/// Width of a receive time: microseconds for nine years.
pub(super) const RECEIVED_BITS: u32 = 48;

/// Width of a waiting time: microseconds for 16 seconds.
pub(super) const HELD_BITS: u32 = 24;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Header {
    pub(crate) seq: Seq,
    pub(crate) ack: Option<Ack>,
    pub(crate) ping: bool,
    pub(crate) pong: Option<Pong>,
}

/// The newest datagram received, and which of the 32 before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ack {
    pub(crate) latest: Seq,
    /// Bit `i`, from the lowest: the one `i + 1` before `latest`.
    pub(crate) earlier: u32,
}

/// Answer to a ping. The sending time is told as the time since the arrival, which is short.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pong {
    pub(crate) pinged: Seq,
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

impl Ack {
    /// What is acknowledged, the oldest first.
    pub(super) fn received(self) -> impl Iterator<Item = Seq> {
        let earlier = (0..32).rev().filter(move |bit| self.earlier >> bit & 1 == 1);
        earlier.map(move |bit| Seq(self.latest.0.wrapping_sub(bit + 1))).chain([self.latest])
    }
}

/// 16 bits, and 48, 0 and 88 bits for what is present, each behind a flag.
impl Wire for Header {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.seq.wire(coder)?;
        coder.option(&mut self.ack)?;
        coder.flag(&mut self.ping)?;
        coder.option(&mut self.pong)
    }
}

impl Wire for Ack {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.latest.wire(coder)?;
        coder.u32(&mut self.earlier)
    }
}

impl Wire for Pong {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.pinged.wire(coder)?;
        coder.bits(&mut self.received_us, RECEIVED_BITS)?;
        coder.bits(&mut self.held_us, HELD_BITS)
    }
}

/// A flag before each and after the last. How many there can be follows from the length of the datagram.
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
    /// What a list of one message of that length takes.
    pub(super) fn bits_of_one(length: usize) -> usize {
        1 + 32 + 10 + 8 * length + 1
    }
}

impl Message {
    /// What this takes in a list behind `previous`, its flag included.
    pub(super) fn bits_after(&mut self, previous: Option<u32>) -> usize {
        let mut measure = Measure::new();
        self.wire_after(previous, &mut measure).expect("a measure refuses nothing");
        1 + measure.bits()
    }

    fn wire_after(&mut self, previous: Option<u32>, coder: &mut impl Coder) -> Result<(), WireError> {
        self.wire_id(previous, coder)?;
        let mut length = self.bytes.len();
        coder.count(&mut length, MAX_MESSAGE)?;
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

    /// Eight bytes at a time. [`Coder::bytes`] wants a vector; what is sent to many stays shared this way.
    fn wire_bytes<C: Coder>(&mut self, length: usize, coder: &mut C) -> Result<(), WireError> {
        if !C::READS {
            return self.bytes.chunks(8).try_for_each(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                coder.bits(&mut u64::from_le_bytes(word), 8 * chunk.len() as u32)
            });
        }
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let mut word = 0;
            let chunk = (length - bytes.len()).min(8);
            coder.bits(&mut word, 8 * chunk as u32)?;
            bytes.extend_from_slice(&word.to_le_bytes()[..chunk]);
        }
        self.bytes = bytes.into();
        Ok(())
    }
}

impl Example for Header {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let seq = Seq(rng.u16(..));
        let ack = rng.bool().then(|| Ack { latest: Seq(rng.u16(..)), earlier: rng.u32(..) });
        let pong = rng.bool().then(|| Pong {
            pinged: Seq(rng.u16(..)),
            received_us: rng.u64(..) >> rng.u32(64 - RECEIVED_BITS..64),
            held_us: rng.u64(..) >> rng.u32(64 - HELD_BITS..64),
        });
        Self { seq, ack, ping: rng.bool(), pong }
    }
}

impl Example for Messages {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let mut id = rng.u32(..);
        let messages = (0..rng.usize(0..5)).map(|_| {
            let length = [0, 7, rng.usize(..=MAX_MESSAGE), MAX_MESSAGE][rng.usize(0..4)];
            let bytes = (0..length).map(|_| rng.u8(..)).collect();
            id = id.wrapping_add(1 + (rng.u32(..MESSAGE_WINDOW) >> rng.u32(..10)));
            Message { id, bytes }
        });
        Self(messages.collect())
    }
}
