//! Receiving a datagram of the peer, from its first bit to its body.

use super::chunk::{ReceivedSet, SliceStatus};
use super::format::{DatagramHeader, HeaderExtras, ShortNumber};
use super::received_numbers::NumberStatus;
use super::sent_packets::{AckResult, LostPacket};
use super::{
    Duration, Link, LinkEvent, LocalTime, MAX_DATAGRAM, MAX_EVENTS, Reader, WireError, seq_of,
};
use crate::wire::{Coder, Wire};

/// The parts of a datagram except its messages and its slice, which the link keeps.
struct DatagramParts {
    number: u64,
    header: DatagramHeader,
    /// The newest of our datagrams that the peer has, and which of those before it.
    acked: Option<(u64, u32)>,
    set: Option<ReceivedSet>,
    slice: Option<SliceStatus>,
}

impl<P: Copy + Default> Link<P> {
    /// Processes a datagram completely or not at all.
    pub(super) fn receive_datagram<'a>(
        &mut self,
        now: LocalTime,
        datagram: &'a [u8],
    ) -> Result<Option<Reader<'a>>, WireError> {
        if datagram.len() > MAX_DATAGRAM {
            return Err(WireError::TooLong {
                length: datagram.len() as u64,
                max: MAX_DATAGRAM as u64,
            });
        }
        let mut reader = Reader::new(datagram);
        let Some(parts) = self.read_parts(&mut reader)? else {
            return Ok(None);
        };
        // From here on no part is refused.
        self.received_numbers.record(now, parts.number, parts.header.asks_for_ack);
        self.stats.received += 1;
        if let Some((latest, earlier)) = parts.acked {
            self.handle_ack(now, latest, earlier);
        }
        if let Some(set) = &parts.set
            && self.sender.as_mut().is_some_and(|sender| sender.handle_set(set))
        {
            self.finish_block(now);
        }
        let extras = parts.header.extras.unwrap_or_default();
        self.pings.note_heard(now, extras.pong.is_some());
        self.handle_pings(now, parts.number, extras);
        self.deliver_messages();
        if let Some(status) = parts.slice {
            self.accept_slice(status);
        }
        self.handle_timeout(now);
        Ok(Some(reader))
    }

    /// Reads everything before the body and refuses invalid parts; `None` if the datagram is to be
    /// dropped.
    fn read_parts(&mut self, reader: &mut Reader<'_>) -> Result<Option<DatagramParts>, WireError> {
        let mut header = DatagramHeader::default();
        header.wire(reader)?;
        let is_replay = self.config.is_replay;
        let ack = header.ack.filter(|_| !is_replay);
        let acked = ack.map(|ack| self.sent_packets.check(ack)).transpose()?;
        let Some(number) = self.fresh_number(header.number) else {
            return Ok(None);
        };
        let mut parts = DatagramParts { number, header, acked, set: None, slice: None };
        if header.extras.is_some() {
            self.messages.wire(reader)?;
            reader.option(&mut parts.set)?;
            parts.set = parts.set.filter(|_| !is_replay);
            parts.set.map_or(Ok(()), |set| self.check_set(&set))?;
            parts.slice = self.read_slice(reader)?;
        }
        Ok(Some(parts))
    }

    fn check_set(&self, set: &ReceivedSet) -> Result<(), WireError> {
        match &self.sender {
            Some(sender) => sender.check(set),
            None if set.chunk.wrapping_sub(self.next_chunk).cast_signed() < 0 => Ok(()),
            None => Err(WireError::OutOfRange { what: "set of slices" }),
        }
    }

    fn read_slice(&mut self, reader: &mut Reader<'_>) -> Result<Option<SliceStatus>, WireError> {
        let mut has_slice = false;
        reader.flag(&mut has_slice)?;
        if !has_slice {
            return Ok(None);
        }
        self.slice.wire(reader)?;
        let largest = self.config.chunks.largest_block;
        if largest == 0 {
            return Err(WireError::TooLong { length: self.slice.bytes.len() as u64, max: 0 });
        }
        self.receiver.get_or_insert_default().check(&self.slice, largest).map(Some)
    }

    /// The number of the datagram if it is fresh; otherwise counts the reason to drop it.
    fn fresh_number(&mut self, short_number: ShortNumber) -> Option<u64> {
        let number = self.received_numbers.full_number(short_number);
        match number.map_or(NumberStatus::TooOld, |number| self.received_numbers.status(number)) {
            NumberStatus::Duplicate => self.stats.duplicates += 1,
            NumberStatus::TooOld => self.stats.too_old += 1,
            NumberStatus::Fresh if self.events.len() >= MAX_EVENTS => self.stats.overrun += 1,
            NumberStatus::Fresh => return number,
        }
        None
    }

    fn handle_ack(&mut self, now: LocalTime, latest: u64, earlier: u32) {
        // The newest acknowledged datagram that asked for it gives the round trip, even if it was
        // counted as lost: a round trip that has grown beyond the time-out must be noticed.
        let mut measured = None;
        let distances =
            (0..32).rev().filter(|bit| earlier >> bit & 1 == 1).map(|bit| bit + 1).chain([0]);
        for number in distances.map(|back| latest - back) {
            let result = self.sent_packets.acknowledge(number);
            let (AckResult::InTime(packet) | AckResult::AfterLoss(packet)) = result else {
                continue;
            };
            let after_loss = matches!(result, AckResult::AfterLoss(_));
            if packet.contents.messages {
                let events = &mut self.events;
                self.reliable_queue.handle_acked(seq_of(number), |id| {
                    events.push_back(LinkEvent::MessageAcked(id));
                });
            }
            if let Some(slice_id) = packet.contents.slice
                && self.sender.as_mut().is_some_and(|sender| sender.handle_acked(slice_id))
            {
                self.finish_block(now);
            }
            if packet.contents.asks_for_ack {
                measured = Some(packet.sent_at);
                self.handle_outcome(true);
                if let Some(budget) = &mut self.budget {
                    budget.rate_controller.handle_acked(
                        now,
                        packet.sent_at,
                        packet.bytes.into(),
                        after_loss,
                    );
                }
            }
            if after_loss {
                self.stats.acked_after_loss += 1;
                continue;
            }
            self.stats.acked += 1;
            self.queue_event(LinkEvent::Acked(seq_of(number), packet.payload));
        }
        if let Some(sent_at) = measured {
            self.rtt.handle_sample(now.since(sent_at));
            if let Some(budget) = &mut self.budget {
                budget.rate_controller.handle_round_trip(sent_at, now.since(sent_at));
            }
        }
    }

    fn handle_outcome(&mut self, has_arrived: bool) {
        if has_arrived {
            self.line_loss.handle_acked();
        } else {
            self.line_loss.handle_lost();
        }
        self.reliable_queue.set_copies(self.makes_copies());
    }

    /// The oldest block has arrived.
    fn finish_block(&mut self, now: LocalTime) {
        self.queue_event(LinkEvent::BlockSent);
        if let Some(sender) = self.sender.take_if(|sender| sender.is_idle()) {
            self.next_chunk = sender.next_chunk();
            if let Some(budget) = &mut self.budget {
                budget.set_shares_with_slices(now, false);
            }
        }
    }

    fn handle_pings(&mut self, now: LocalTime, number: u64, extras: HeaderExtras) {
        if extras.ping {
            self.pings.handle_ping(now, number);
        }
        let Some(pong) = extras.pong.filter(|_| !self.config.is_replay) else { return };
        // A pong for a ping that was not sent, or a second one, is ignored.
        let Some(sent) = self.sent_packets.take_ping(pong.pinged) else {
            return;
        };
        let held = Duration::from_micros(pong.held_us);
        self.pings.handle_pong(now.since(sent).saturating_sub(held));
        self.queue_event(LinkEvent::Pong {
            sent,
            received_by_peer: pong.received_us,
            sent_by_peer: pong.received_us + pong.held_us,
            arrived: now,
        });
    }

    fn deliver_messages(&mut self) {
        let mut messages = std::mem::take(&mut self.messages);
        for message in messages.0.drain(..) {
            if self.duplicate_filter.insert(message.id) {
                self.stats.messages_received += 1;
                self.queue_event(LinkEvent::Message(message.bytes));
            } else {
                self.stats.messages_repeated += 1;
            }
        }
        self.messages = messages;
    }

    fn accept_slice(&mut self, status: SliceStatus) {
        match status {
            SliceStatus::New => self.stats.slices_received += 1,
            SliceStatus::Duplicate => self.stats.slices_repeated += 1,
        }
        let receiver = self.receiver.as_mut().expect("the receiver has checked the slice");
        if let Some(block) = receiver.accept(&self.slice, status) {
            self.queue_event(LinkEvent::Block(block));
        }
    }

    pub(super) fn handle_losses(&mut self, now: LocalTime) {
        let marks = self.sent_packets.marks();
        let mut from = 0;
        while let Some(LostPacket { number, packet, by_timeout }) =
            self.sent_packets.next_lost(now, &self.rtt, marks, from)
        {
            from = number + 1;
            if by_timeout {
                self.rtt.handle_timeout(now, packet.sent_at);
            }
            if packet.contents.messages {
                self.reliable_queue.handle_lost(seq_of(number));
            }
            if let (Some(slice_id), Some(sender)) = (packet.contents.slice, &mut self.sender) {
                sender.handle_lost(slice_id, packet.sent_at);
            }
            if packet.contents.asks_for_ack {
                self.stats.lost += 1;
                self.handle_outcome(false);
                if let Some(budget) = &mut self.budget {
                    budget.rate_controller.handle_lost(packet.sent_at);
                }
            }
            self.queue_event(LinkEvent::Lost(seq_of(number), packet.payload));
        }
    }
}
