//! What a datagram of the peer's changes, from its first bit to its body.

use super::chunk::{Fit, ReceivedSet};
use super::format::{Extras, Header, Short};
use super::received::Freshness;
use super::sent::{Loss, Verdict};
use super::{
    Duration, Link, LinkEvent, LocalTime, MAX_DATAGRAM, MAX_EVENTS, Reader, WireError, seq_of,
};
use crate::wire::{Coder, Wire};

/// The parts of a datagram beside header, messages and slice, which the link keeps.
struct Parts {
    number: u64,
    header: Header,
    /// The newest of ours that the peer has, and which of those before it.
    acked: Option<(u64, u32)>,
    set: Option<ReceivedSet>,
    slice: Option<Fit>,
}

impl Link {
    /// Takes a datagram whole or not at all.
    pub(super) fn take_datagram<'a>(
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
        // From here on nothing is refused.
        self.received
            .record(now, parts.number, parts.header.asks_for_ack);
        self.stats.received += 1;
        if let Some((latest, earlier)) = parts.acked {
            self.handle_ack(now, latest, earlier);
        }
        if let Some(set) = &parts.set
            && self
                .sender
                .as_mut()
                .is_some_and(|sender| sender.handle_set(set))
        {
            self.finish_block(now);
        }
        let extras = parts.header.extras.unwrap_or_default();
        if parts.header.asks_for_ack && !extras.ping {
            self.pings.note_busy();
        }
        self.handle_pings(now, parts.number, extras);
        self.deliver();
        if let Some(fit) = parts.slice {
            self.take_slice(fit);
        }
        self.handle_timeout(now);
        Ok(Some(reader))
    }

    /// Reads all before the body and refuses what cannot be; `None` if the datagram is not to be
    /// taken.
    fn read_parts(&mut self, reader: &mut Reader<'_>) -> Result<Option<Parts>, WireError> {
        let mut header = Header::default();
        header.wire(reader)?;
        let acked = header.ack.map(|ack| self.sent.check(ack)).transpose()?;
        let Some(number) = self.admits(header.number) else {
            return Ok(None);
        };
        let mut parts = Parts {
            number,
            header,
            acked,
            set: None,
            slice: None,
        };
        if header.extras.is_some() {
            self.messages.wire(reader)?;
            reader.option(&mut parts.set)?;
            parts.set.map_or(Ok(()), |set| self.check_set(&set))?;
            parts.slice = self.read_slice(reader)?;
        }
        Ok(Some(parts))
    }

    fn check_set(&self, set: &ReceivedSet) -> Result<(), WireError> {
        match &self.sender {
            Some(sender) => sender.check(set),
            None if set.chunk.wrapping_sub(self.next_chunk).cast_signed() < 0 => Ok(()),
            None => Err(WireError::OutOfRange {
                what: "set of slices",
            }),
        }
    }

    fn read_slice(&mut self, reader: &mut Reader<'_>) -> Result<Option<Fit>, WireError> {
        let mut is_there = false;
        reader.flag(&mut is_there)?;
        if !is_there {
            return Ok(None);
        }
        self.slice.wire(reader)?;
        let largest = self.config.chunks.largest_block;
        if largest == 0 {
            return Err(WireError::TooLong {
                length: self.slice.bytes.len() as u64,
                max: 0,
            });
        }
        self.receiver
            .get_or_insert_default()
            .check(&self.slice, largest)
            .map(Some)
    }

    /// The number of the datagram if it is to be taken; counts why not.
    fn admits(&mut self, shown: Short) -> Option<u64> {
        let number = self.received.number(shown);
        match number.map_or(Freshness::TooOld, |number| self.received.freshness(number)) {
            Freshness::Duplicate => self.stats.duplicates += 1,
            Freshness::TooOld => self.stats.too_old += 1,
            Freshness::Fresh if self.events.len() >= MAX_EVENTS => self.stats.overrun += 1,
            Freshness::Fresh => return number,
        }
        None
    }

    fn handle_ack(&mut self, now: LocalTime, latest: u64, earlier: u32) {
        // The newest of them that could not wait measures the round trip; also if it was taken for
        // lost: a round trip that has become longer than the time-out must not stay unnoticed.
        let mut measured = None;
        let steps_back = (0..32)
            .rev()
            .filter(|bit| earlier >> bit & 1 == 1)
            .map(|bit| bit + 1)
            .chain([0]);
        for number in steps_back.map(|back| latest - back) {
            let verdict = self.sent.acknowledge(number);
            let (Verdict::InTime(packet) | Verdict::AfterLoss(packet)) = verdict else {
                continue;
            };
            let after_loss = matches!(verdict, Verdict::AfterLoss(_));
            if packet.cargo.messages {
                self.outbox.handle_acked(seq_of(number));
            }
            if let Some(carried) = packet.cargo.slice
                && self
                    .sender
                    .as_mut()
                    .is_some_and(|sender| sender.handle_acked(carried))
            {
                self.finish_block(now);
            }
            if packet.cargo.asks_for_ack {
                measured = Some(packet.at);
                if let Some(budget) = &mut self.budget {
                    budget
                        .adapt
                        .handle_acked(now, packet.at, packet.bytes.into(), after_loss);
                }
            }
            if after_loss {
                self.stats.wasted += 1;
                continue;
            }
            self.stats.acked += 1;
            if self.report(LinkEvent::Acked(seq_of(number))) {
                self.acked.insert(number);
            }
        }
        if let Some(sent_at) = measured {
            self.rtt.handle_sample(now.since(sent_at));
            if let Some(budget) = &mut self.budget {
                budget.adapt.handle_round_trip(sent_at, now.since(sent_at));
            }
        }
    }

    /// The oldest block has arrived.
    fn finish_block(&mut self, now: LocalTime) {
        self.report(LinkEvent::BlockSent);
        if let Some(sender) = self.sender.take_if(|sender| sender.is_idle()) {
            self.next_chunk = sender.next_chunk();
            if let Some(budget) = &mut self.budget {
                budget.set_slicing(now, false);
            }
        }
    }

    fn handle_pings(&mut self, now: LocalTime, number: u64, extras: Extras) {
        if extras.ping {
            self.pings.handle_ping(now, number);
        }
        let Some(pong) = extras.pong else { return };
        // Whoever answers a ping that was not sent, or twice, is not listened to.
        let Some(sent) = self.sent.take_ping(pong.pinged) else {
            return;
        };
        let held = Duration::from_micros(pong.held_us);
        self.pings.handle_pong(now.since(sent).saturating_sub(held));
        self.report(LinkEvent::Pong {
            sent,
            received_by_peer: pong.received_us,
            sent_by_peer: pong.received_us + pong.held_us,
            arrived: now,
        });
    }

    fn deliver(&mut self) {
        let mut messages = std::mem::take(&mut self.messages);
        for message in messages.0.drain(..) {
            if self.inbox.admits(message.id) {
                self.stats.messages_received += 1;
                self.report(LinkEvent::Message(message.bytes));
            } else {
                self.stats.messages_repeated += 1;
            }
        }
        self.messages = messages;
    }

    fn take_slice(&mut self, fit: Fit) {
        match fit {
            Fit::New => self.stats.slices_received += 1,
            Fit::Known => self.stats.slices_repeated += 1,
        }
        let receiver = self.receiver.as_mut().expect("it has checked the slice");
        if let Some(block) = receiver.take(&self.slice, fit) {
            self.report(LinkEvent::Block(block));
        }
    }

    pub(super) fn lose(&mut self, now: LocalTime) {
        let (marks, mut from) = (self.sent.marks(), 0);
        while let Some(Loss {
            number,
            packet,
            by_timeout,
        }) = self.sent.next_lost(now, &self.rtt, marks, from)
        {
            from = number + 1;
            if by_timeout {
                self.rtt.handle_timeout(now, packet.at);
            }
            if packet.cargo.messages {
                self.outbox.handle_lost(seq_of(number));
            }
            if let (Some(carried), Some(sender)) = (packet.cargo.slice, &mut self.sender) {
                sender.handle_lost(carried, packet.at);
            }
            if packet.cargo.asks_for_ack {
                self.stats.lost += 1;
                if let Some(budget) = &mut self.budget {
                    budget.adapt.handle_lost(packet.at);
                }
            }
            self.report(LinkEvent::Lost(seq_of(number)));
        }
    }
}
