//! Random parts of datagrams: test support.

use super::chunk::SliceSet;
use super::format::{Ack, HELD_BITS, HeaderExtras, Message, Pong, RECEIVED_BITS, ShortNumber};
use super::{
    DatagramHeader, MAX_MESSAGE, MESSAGE_WINDOW, Messages, ReceivedSet, SLICE_BYTES, Slice,
};
use crate::examples::Example;

impl Example for DatagramHeader {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let ack = rng.bool().then(|| Ack {
            latest: ShortNumber::from_number(rng.u64(..)),
            earlier: [u32::MAX, !(1 << rng.u32(..32)), rng.u32(..), 0][rng.usize(0..4)],
        });
        let pong = rng.bool().then(|| Pong {
            pinged: ShortNumber::from_number(rng.u64(..)),
            received_us: rng.u64(..) >> rng.u32(64 - RECEIVED_BITS..64),
            held_us: rng.u64(..) >> rng.u32(64 - HELD_BITS..64),
        });
        let extras = rng.bool().then(|| HeaderExtras { ping: rng.bool(), pong });
        Self {
            number: ShortNumber::from_number(rng.u64(..)),
            asks_for_ack: rng.bool(),
            ack,
            extras,
        }
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

impl Example for Slice {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let left = if rng.bool() { 0 } else { rng.u16(..) };
        let last = if left > 0 { u8::MAX } else { rng.u8(..) };
        let index = if rng.bool() { last } else { rng.u8(..=last) };
        let is_whole = left > 0 || index < last;
        let length = if is_whole { SLICE_BYTES } else { rng.usize(1..=SLICE_BYTES) };
        Self {
            chunk: rng.u8(..),
            index,
            last_index: last,
            slices_after_chunk: left,
            bytes: (0..length).map(|_| rng.u8(..)).collect(),
        }
    }
}

impl Example for ReceivedSet {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let last = rng.u8(..);
        let missing_of_256 = [0, 1, 5, 60, 128, 256][rng.usize(..6)];
        let mut slices = SliceSet::default();
        (0..=usize::from(last))
            .filter(|_| rng.u32(..256) >= missing_of_256)
            .for_each(|index| slices.insert(index));
        Self { chunk: rng.u8(..), last_index: last, slices }
    }
}
