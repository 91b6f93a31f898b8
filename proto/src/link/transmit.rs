//! Writing a datagram, part by part, and paying for it from the budget.
//!
//! A slice joins a body only if both fit, and the body's length is known only after it is written.
//! So while slices are due, the body is first written to a separate buffer, at the bit offset
//! within a byte that it will have in the end. A slice is a whole number of bytes, so a body that
//! aligns to bytes stays aligned with or without a slice before it.

use super::budget::{Budget, TrafficClass};
use super::chunk::{MAX_SET_BITS, ReceivedSet, SLICE_BYTES, SLICE_HEADER_BITS, Slice, SliceId};
use super::format::{
    self, DatagramHeader, HeaderExtras, MAX_HEADER_BITS, MAX_HEADER_BYTES, Messages, ShortNumber,
};
use super::sent_packets::{PacketContents, SentPackets};
use super::{Link, LinkConfig, LocalTime, MIN_BODY_BITS, MIN_BODY_BYTES, Writer, WrittenDatagram};
use crate::wire::{Coder, Reader, WRITE_CANNOT_FAIL, Wire, measure};

/// The longest datagram with a slice and no body, in bytes.
pub(super) const MAX_SLICE_DATAGRAM: usize =
    MAX_HEADER_BYTES + SLICE_HEADER_BITS / 8 + 2 + SLICE_BYTES;

/// The length of what was written before the slice, of the slice, and of the body.
struct WrittenBits {
    prefix_bits: usize,
    slice_bytes: usize,
    body_bits: usize,
}

/// The parts before the body, except the messages and the slice.
pub(super) struct DatagramPrefix {
    pub(super) header: DatagramHeader,
    pub(super) set: Option<ReceivedSet>,
}

/// The most bits that messages may take, with the flag after them.
pub(super) fn max_message_bits(config: &LinkConfig) -> usize {
    8 * (config.max_datagram - MIN_BODY_BYTES) - MAX_HEADER_BITS - MAX_SET_BITS
}

impl<P: Copy + Default> Link<P> {
    pub(super) fn write(
        &mut self,
        now: LocalTime,
        out: &mut Vec<u8>,
        body_wants_ack: bool,
        body: impl FnOnce(&mut Writer<'_>, &SentPackets<P>) -> P,
    ) -> WrittenDatagram {
        self.handle_timeout(now);
        let seq = self.sent_packets.next_seq();
        let start = out.len();
        self.pick_messages(now);
        let mut prefix = self.prefix(now);
        let slice_due = self.slice_due_at().is_some_and(|due| due <= now);
        let mut payload = P::default();
        let body = |writer: &mut Writer<'_>, sent: &SentPackets<P>| payload = body(writer, sent);
        let WrittenBits { prefix_bits, slice_bytes, body_bits } = if slice_due {
            self.write_with_slice(now, &mut prefix, out, body)
        } else {
            let mut writer = Writer::new(out);
            prefix.write(&mut self.messages, None, &mut writer);
            let prefix_bits = writer.bits_written();
            let sent_packets = &self.sent_packets;
            let body_bits = write_body(&mut writer, |writer| body(writer, sent_packets));
            WrittenBits { prefix_bits, slice_bytes: 0, body_bits }
        };
        let length = out.len() - start;
        assert!(
            length <= self.config.max_datagram,
            "the body has {body_bits} bits, more than its budget"
        );
        let ping = prefix.header.extras.is_some_and(|extras| extras.ping);
        let messages = !self.messages.0.is_empty();
        let message_bits = if messages { measure(&mut self.messages) } else { 0 };
        let resent = self.stats.slices_resent;
        let slice = (slice_bytes > 0).then(|| self.note_slice(now)).flatten();
        let repeated_slice = if self.stats.slices_resent > resent { 8 * slice_bytes } else { 0 };
        let asks_for_ack = ping || messages || slice.is_some() || body_wants_ack && body_bits > 0;
        if asks_for_ack {
            format::ask_for_ack(&mut out[start..]);
        }
        let bytes = self.spend_budget(now, length, slice_bytes, messages || body_bits > 0);
        if let Some(receiver) = self.receiver.as_mut().filter(|_| prefix.set.is_some()) {
            receiver.note_reported();
        }
        let contents = PacketContents { asks_for_ack, ping, messages, slice };
        let repeated_messages = self.note_sent(now, contents, payload, bytes);
        WrittenDatagram {
            seq,
            header: prefix_bits - message_bits,
            messages: message_bits - repeated_messages,
            repeated_messages,
            slice: 8 * slice_bytes - repeated_slice,
            repeated_slice,
            body: body_bits,
            padding: 8 * length - prefix_bits - 8 * slice_bytes - body_bits,
        }
    }

    /// Length of everything before the body, in bits.
    pub(super) fn bits_before_body(&mut self, now: LocalTime) -> usize {
        self.prefix(now).bits(&mut self.messages)
    }

    /// How many bits a datagram of the game may have.
    pub(super) fn game_bits(&self, now: LocalTime) -> usize {
        self.budget.as_ref().map_or(usize::MAX, |budget| {
            8 * budget.available(TrafficClass::Game, now).saturating_sub(budget.cost(0))
        })
    }

    pub(super) fn pick_messages(&mut self, now: LocalTime) {
        let affordable = self.game_bits(now).saturating_sub(8 * MAX_HEADER_BYTES);
        self.reliable_queue.pick(
            now,
            max_message_bits(&self.config).min(affordable),
            &mut self.messages,
        );
    }

    /// The parts of a datagram with the picked messages. Whether it asks for an acknowledgement is
    /// decided later.
    fn prefix(&self, now: LocalTime) -> DatagramPrefix {
        let ping = self.pings.is_due(now);
        let pong = self.pings.pong(now);
        let affordable =
            || self.can_afford(TrafficClass::Control, MAX_HEADER_BYTES + MAX_SET_BITS / 8, now);
        let set = self
            .receiver
            .as_ref()
            .and_then(|receiver| receiver.received_set())
            .filter(|_| affordable());
        let messages = !self.messages.0.is_empty();
        let has_extras =
            ping || pong.is_some() || messages || set.is_some() || self.sender.is_some();
        let header = DatagramHeader {
            number: ShortNumber::from_number(self.sent_packets.next()),
            asks_for_ack: false,
            ack: self.received_numbers.ack(),
            extras: has_extras.then_some(HeaderExtras { ping, pong }),
        };
        DatagramPrefix { header, set }
    }

    /// Writes a datagram, with a slice if it fits beside the body and the budget allows.
    fn write_with_slice(
        &mut self,
        now: LocalTime,
        prefix: &mut DatagramPrefix,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Writer<'_>, &SentPackets<P>),
    ) -> WrittenBits {
        let sender = self.sender.as_mut().expect("a slice is due");
        let mut body_buffer = std::mem::take(&mut sender.body);
        body_buffer.clear();
        let prefix_bits = prefix.bits(&mut self.messages);
        let mut writer = Writer::new(&mut body_buffer);
        writer.bits(&mut 0, (prefix_bits % 8) as u32).expect(WRITE_CANNOT_FAIL);
        let body_bits = write_body(&mut writer, |writer| body(writer, &self.sent_packets));
        writer.finish();
        let is_slice_only = body_bits == 0 && self.messages.0.is_empty();
        let slice = sender.pick(now, self.rtt.smoothed()).filter(|slice| {
            let length = (prefix_bits + body_bits).div_ceil(8) + slice.length();
            let cost_of_slice = |budget: &Budget| {
                if is_slice_only { budget.cost(length) } else { slice.length() }
            };
            let can_afford = |budget: &Budget| {
                budget.available(TrafficClass::Slices, now) >= cost_of_slice(budget)
            };
            length <= self.config.max_datagram && self.budget.as_deref().is_none_or(can_afford)
        });
        let slice_bytes = slice.as_ref().map_or(0, |slice| slice.length());
        let mut writer = Writer::new(out);
        prefix.write(&mut self.messages, slice, &mut writer);
        let mut reader = Reader::new(&body_buffer);
        reader.skip(prefix_bits % 8).expect("these bits were written");
        copy_bits(&mut reader, body_bits, &mut writer);
        writer.finish();
        sender.body = body_buffer;
        WrittenBits { prefix_bits, slice_bytes, body_bits }
    }

    fn note_slice(&mut self, now: LocalTime) -> Option<SliceId> {
        let (repeated, slice_id) = self.sender.as_mut()?.note_sent(now);
        *(if repeated { &mut self.stats.slices_resent } else { &mut self.stats.slices_sent }) += 1;
        Some(slice_id)
    }

    /// Spends the datagram's cost from the budget; the game pays the overhead if it sends anything.
    /// Returns the cost.
    fn spend_budget(
        &mut self,
        now: LocalTime,
        length: usize,
        slice_bytes: usize,
        game: bool,
    ) -> u16 {
        let Some(budget) = &mut self.budget else {
            return length as u16;
        };
        let cost = budget.cost(length);
        let within = match (game, slice_bytes) {
            (true, _) => budget.spend(
                now,
                &[(TrafficClass::Game, cost - slice_bytes), (TrafficClass::Slices, slice_bytes)],
            ),
            (false, 0) => budget.spend(now, &[(TrafficClass::Control, cost)]),
            (false, _) => budget.spend(now, &[(TrafficClass::Slices, cost)]),
        };
        self.stats.over_budget += u64::from(!within);
        cost as u16
    }

    /// Returns the bits of the messages that had left before.
    fn note_sent(
        &mut self,
        now: LocalTime,
        contents: PacketContents,
        payload: P,
        bytes: u16,
    ) -> usize {
        let carried =
            self.reliable_queue.note_carried(now, self.sent_packets.next_seq(), &mut self.messages);
        self.stats.sent += 1;
        self.stats.messages_sent += carried.new;
        self.stats.resent += carried.resent;
        self.stats.copied += carried.copies;
        self.messages.0.clear();
        self.received_numbers.note_acknowledged();
        self.pings.note_sent(now, contents.ping);
        self.sent_packets.push(now, contents, payload, bytes);
        if let Some(budget) = self.budget.as_mut().filter(|_| contents.asks_for_ack) {
            budget.rate_controller.handle_sent(now);
        }
        // Frees the slot of the next datagram now, so that the owner learns of a loss before it
        // writes that datagram.
        self.handle_losses(now);
        carried.repeated_bits
    }
}

impl DatagramPrefix {
    fn bits(&mut self, messages: &mut Messages) -> usize {
        let extras = self
            .header
            .extras
            .map_or(0, |_| measure(messages) + 2 + self.set.as_mut().map_or(0, measure));
        measure(&mut self.header) + extras
    }

    pub(super) fn write(
        &mut self,
        messages: &mut Messages,
        slice: Option<&mut Slice>,
        writer: &mut Writer<'_>,
    ) {
        self.header.wire(writer).expect(WRITE_CANNOT_FAIL);
        if self.header.extras.is_none() {
            return;
        }
        messages.wire(writer).expect(WRITE_CANNOT_FAIL);
        writer.option(&mut self.set).expect(WRITE_CANNOT_FAIL);
        writer.flag(&mut slice.is_some()).expect(WRITE_CANNOT_FAIL);
        if let Some(slice) = slice {
            slice.wire(writer).expect("the slice is valid");
        }
    }
}

/// Returns how many bits the body takes, with its padding.
pub(super) fn write_body(writer: &mut Writer<'_>, body: impl FnOnce(&mut Writer<'_>)) -> usize {
    let before = writer.bits_written();
    body(writer);
    let bits = writer.bits_written() - before;
    let padding = if bits == 0 { 0 } else { MIN_BODY_BITS.saturating_sub(bits) };
    writer.bits(&mut 0, padding as u32).expect(WRITE_CANNOT_FAIL);
    bits + padding
}

fn copy_bits(reader: &mut Reader<'_>, bits: usize, writer: &mut Writer<'_>) {
    let mut remaining = bits;
    while remaining > 0 {
        let width = remaining.min(64);
        let mut word = 0;
        reader.bits(&mut word, width as u32).expect("these bits were written");
        writer.bits(&mut word, width as u32).expect(WRITE_CANNOT_FAIL);
        remaining -= width;
    }
}
