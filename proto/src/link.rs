//! One datagram connection, seen from one of its ends: what arrives over a lossy path, and what is known to have arrived.
//!
//! Both ends run the same state machine, a server some thousands of them. Datagrams and the time go in; datagrams to send,
//! [`LinkEvent`]s and the next deadline come out. No clock, no socket, no allocation per datagram (one per message that is
//! delivered). The owner calls [`Link::handle_datagram`] for what comes, [`Link::handle_timeout`] at
//! [`Link::next_deadline`] or every tick, [`Link::write_datagram`] when [`Link::wants_to_send`] or when it has a body to
//! send, and after each of them [`Link::poll_event`] until it is empty.
//!
//! # What is promised
//! 1. A datagram is taken whole or not at all: an error, a duplicate and one from before the window change nothing but a
//!    counter.
//! 2. Each datagram sent is reported at most once, as [`LinkEvent::Acked`] or [`LinkEvent::Lost`]; one that asked for an
//!    acknowledgement exactly once, within [`LinkConfig::max_timeout`] while the owner calls. An acknowledgement after
//!    `Lost` is counted as waste.
//! 3. A reliable message is delivered once or, after its `useful_until`, perhaps not at all; without that, exactly once as
//!    long as anything gets through. No message waits for another. It travels again when the datagram that carried it is
//!    lost, not by a timer of its own.
//! 4. A body of [`MIN_BODY_BYTES`] always fits beside the messages.
//! 5. A link without traffic sends pings, if it is told to, and answers them; nothing else: a datagram that only
//!    acknowledges asks for no acknowledgement.
//! 6. Whatever the peer sends, state stays bounded. What it lies about acknowledgements or messages harms only itself.
//!
//! One assumption stands behind the wrapping numbers: less than 32,768 datagrams in a row are lost. At the rates of a game
//! that is minutes; the connection below is given up after seconds.
//!
//! # Datagram, bit by bit
//! Bits from the lowest up (see [`crate::wire`]); at most [`MAX_DATAGRAM`] bytes. Both directions are alike.
//!
//! | bits | field | |
//! | --- | --- | --- |
//! | 16 | sequence | one higher with each datagram, wraps around |
//! | 1 | has ack | 0 until anything was received |
//! | 16 | latest | if has ack: the newest sequence received |
//! | 32 | earlier | if has ack: bit `i`, from the lowest: sequence `latest - 1 - i` was received |
//! | 1 | ping | please answer with a pong |
//! | 1 | has pong | |
//! | 16 | pinged | if has pong: the sequence of the datagram that had the ping bit |
//! | 48 | received | if has pong: when that one arrived, in microseconds of the answering side's clock (the server's is room time) |
//! | 24 | held | if has pong: for how many microseconds it then waited for this answer |
//! | | messages | each: 1 bit of value 1, the id, 10 bits of length (0 to 512), as many bytes |
//! | 1 | end | 0: no more messages |
//! | rest | body | of [`crate::message`]; it is there if 8 bits or more are left |
//!
//! The id of the first message takes 32 bits; of each other one, a varint (groups of 4 bits, see [`Coder::varint`]) tells
//! how many ids were left out since the one before it. Ids ascend and wrap around. A body shorter than 8 bits is padded to
//! 8 with zeros, and the datagram to whole bytes.
//!
//! What the receiving side does:
//! - A datagram older than `latest - 32`, or received before, is dropped.
//! - It acknowledges, within 25 ms or 8 datagrams, what had a ping bit, a message or a body. Every datagram carries the
//!   newest acknowledgements; a datagram without any of the three asks for none.
//! - Of each message id it delivers the first copy. The sender keeps fewer than 1,024 ids between the oldest unfinished one
//!   and the newest, so ids 1,024 or more behind the newest received are copies of what is finished.
//! - The newest ping is answered by the next datagram, one that would be sent anyway.
//!
//! # Seams
//! Chunks (large blocks, cut in slices) are one more list between the messages and the body, re-sent by the same
//! [`LinkEvent::Lost`]. A budget in bytes a second is asked in [`Link::wants_to_send`] and lowers what
//! [`Link::body_budget_bits`] returns; it adapts to [`LinkStats`]. Baselines need nothing here: the owner's [`PacketLog`]
//! knows which state a datagram carried, and `Acked` makes it a base.
//!
//! Units: microseconds, bytes where named so, else bits. Cost: a datagram looks at those in flight (a few) and at the
//! messages waiting. Memory: 2.5 KiB, and the queue while there is one. Source: "Reliable Ordered Messages" and
//! "Reliability and Congestion Avoidance over UDP" (Fiedler) for acknowledgement by bit set; RFC 9002 for loss detection.

mod config;
mod format;
mod inbox;
mod outbox;
mod packet_log;
mod pings;
mod received;
mod rtt;
mod sent;
mod stats;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

pub use self::config::{LinkConfig, LinkEvent};
pub(crate) use self::format::{Header, Messages};
pub use self::outbox::QueueFull;
pub use self::packet_log::PacketLog;
pub use self::pings::PingPlan;
pub use self::stats::LinkStats;

use self::format::{Ack, MAX_HEADER_BITS};
use self::inbox::Inbox;
use self::outbox::Outbox;
use self::pings::Pings;
use self::received::{Freshness, Received};
use self::rtt::Rtt;
use self::sent::{Cargo, SentPackets, Verdict};
use crate::ids::Seq;
use crate::time::LocalTime;
use crate::wire::{Coder, Reader, Wire, WireError, Writer, measure};

/// What every path and a browser let through, in bytes.
pub const MAX_DATAGRAM: usize = 1_150;

/// The longest reliable message, in bytes.
pub const MAX_MESSAGE: usize = 512;

/// However many messages wait, a body of this length fits.
pub const MIN_BODY_BYTES: usize = 500;

/// How far apart the ids of unfinished messages may be: the receiver remembers as many.
pub const MESSAGE_WINDOW: u32 = 1_024;

/// Of how many datagrams a sender remembers when they left. Two seconds at 60 a second: as long as the longest time-out.
pub const SENT_WINDOW: u16 = 128;

/// Reports and messages that wait for the owner. Beyond it datagrams are dropped unread, so the peer repeats what they
/// carried; only an owner that does not poll gets here.
const MAX_EVENTS: usize = 1_024;

/// What shorter bodies are padded to, so that padding is never taken for a body.
const SHORTEST_BODY_BITS: usize = 8;

/// One end of a datagram connection; see the module.
#[derive(Debug)]
pub struct Link {
    config: LinkConfig,
    received: Received,
    sent: SentPackets,
    rtt: Rtt,
    outbox: Outbox,
    inbox: Inbox,
    pings: Pings,
    /// Bounded by [`MAX_EVENTS`] and what one datagram can cause.
    events: VecDeque<LinkEvent>,
    /// The messages of the datagram in hand; empty between calls, kept for its storage.
    messages: Messages,
    stats: LinkStats,
}

impl Link {
    /// A link that has sent and received nothing.
    ///
    /// # Panics
    /// When a bound of the configuration is out of its range: our bug.
    pub fn new(config: LinkConfig) -> Self {
        config.check();
        Self {
            received: Received::default(),
            sent: SentPackets::new(config.first_seq),
            rtt: Rtt::new(&config),
            outbox: Outbox::new(config.queue, config.first_message),
            inbox: Inbox::default(),
            pings: Pings::new(config.pings),
            events: VecDeque::new(),
            messages: Messages::default(),
            stats: LinkStats::default(),
            config,
        }
    }

    /// Queues a message: it travels until it is acknowledged or `useful_until` has passed.
    ///
    /// # Panics
    /// When it is longer than [`MAX_MESSAGE`]: our bug.
    pub fn send_reliable(
        &mut self,
        now: LocalTime,
        message: Bytes,
        useful_until: Option<LocalTime>,
    ) -> Result<(), QueueFull> {
        self.stats.expired += self.outbox.expire(now);
        self.outbox.push(message, useful_until)
    }

    /// Takes a datagram that arrived at `now`. A fresh one returns its body, for the owner to read; a duplicate or one too
    /// old returns `None`.
    pub fn handle_datagram<'a>(&mut self, now: LocalTime, datagram: &'a [u8]) -> Result<Option<Reader<'a>>, WireError> {
        let body = self.take_datagram(now, datagram);
        self.stats.malformed += u64::from(body.is_err());
        self.messages.0.clear();
        body
    }

    /// Finds out what is lost or out of date by `now`.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.lose(now);
        self.stats.expired += self.outbox.expire(now);
    }

    /// Appends a datagram to `out`: the newest acknowledgements, the messages that are due, the oldest first, and what
    /// `body` writes, at most [`Link::body_budget_bits`]. Returns its number, which `body` is told as well.
    ///
    /// # Panics
    /// When `body` writes more than it may: our bug.
    pub fn write_datagram(
        &mut self,
        now: LocalTime,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Writer<'_>, Seq),
    ) -> Seq {
        self.handle_timeout(now);
        let seq = self.sent.next();
        let mut header = self.header(now);
        self.outbox.pick(self.message_budget_bits(), &mut self.messages);
        let body_bits = write_parts(&mut header, &mut self.messages, out, self.config.max_datagram, |w| body(w, seq));
        let cargo = Cargo { ping: header.ping, messages: !self.messages.0.is_empty(), body: body_bits > 0 };
        self.note_sent(now, seq, cargo);
        seq
    }

    /// How many bits the body of a datagram written at this same `now` may have; at least 8 times [`MIN_BODY_BYTES`].
    pub fn body_budget_bits(&mut self, now: LocalTime) -> usize {
        self.handle_timeout(now);
        self.outbox.pick(self.message_budget_bits(), &mut self.messages);
        let taken = measure(&mut self.header(now)) + measure(&mut self.messages);
        self.messages.0.clear();
        8 * self.config.max_datagram - taken
    }

    /// Whether a datagram should leave although there is no body for one: messages are due, an acknowledgement has waited
    /// long enough, or a ping is due.
    pub fn wants_to_send(&self, now: LocalTime) -> bool {
        self.outbox.has_due(now)
            || self.received.ack_deadline(&self.config).is_some_and(|deadline| deadline <= now)
            || self.pings.deadline().is_some_and(|deadline| deadline <= now)
            || !self.outbox.is_empty() && self.sent.loss_deadline(&self.rtt).is_some_and(|deadline| deadline <= now)
    }

    /// When to call [`Link::handle_timeout`], and [`Link::write_datagram`] if the link then wants to send. In the past if
    /// it wants to now.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        let messages_due = self.outbox.has_any_due().then_some(LocalTime::ZERO);
        let ack = self.received.ack_deadline(&self.config);
        [messages_due, ack, self.pings.deadline(), self.sent.loss_deadline(&self.rtt)].into_iter().flatten().min()
    }

    /// What has happened, in order; `None` when all was told.
    pub fn poll_event(&mut self) -> Option<LinkEvent> {
        self.events.pop_front()
    }

    /// What was counted and measured so far.
    pub fn stats(&self) -> LinkStats {
        LinkStats { rtt_ms: millis(self.rtt.smoothed()), ping_ms: millis(self.pings.round_trip()), ..self.stats }
    }

    fn take_datagram<'a>(&mut self, now: LocalTime, datagram: &'a [u8]) -> Result<Option<Reader<'a>>, WireError> {
        if datagram.len() > MAX_DATAGRAM {
            return Err(WireError::TooLong { length: datagram.len() as u64, max: MAX_DATAGRAM as u64 });
        }
        let mut reader = Reader::new(datagram);
        let mut header = Header::default();
        header.wire(&mut reader)?;
        header.ack.map_or(Ok(()), |ack| self.sent.check(ack))?;
        if !self.admits(header.seq) {
            return Ok(None);
        }
        self.messages.wire(&mut reader)?;
        // From here on nothing is refused.
        let asks_for_ack = header.ping || !self.messages.0.is_empty() || reader.remaining_bits() >= SHORTEST_BODY_BITS;
        self.received.record(now, header.seq, asks_for_ack);
        self.stats.received += 1;
        self.handle_ack(now, header.ack);
        self.handle_pings(now, &header);
        self.deliver();
        self.handle_timeout(now);
        Ok(Some(reader))
    }

    /// Whether this datagram is to be taken; counts why not.
    fn admits(&mut self, seq: Seq) -> bool {
        match self.received.freshness(seq) {
            Freshness::Duplicate => self.stats.duplicates += 1,
            Freshness::TooOld => self.stats.too_old += 1,
            Freshness::Fresh if self.events.len() >= MAX_EVENTS => self.stats.overrun += 1,
            Freshness::Fresh => return true,
        }
        false
    }

    fn handle_ack(&mut self, now: LocalTime, ack: Option<Ack>) {
        let Some(ack) = ack else { return };
        // The newest of them that could not wait measures the round trip; also if it was taken for lost: a round trip
        // that has become longer than the time-out must not stay unnoticed.
        let mut measured = None;
        for seq in ack.received() {
            let verdict = self.sent.acknowledge(seq);
            let (Verdict::InTime(packet) | Verdict::AfterLoss(packet)) = verdict else { continue };
            if packet.cargo.messages {
                self.outbox.handle_acked(seq);
            }
            if packet.cargo.asks_for_ack() {
                measured = Some(packet.at);
            }
            if matches!(verdict, Verdict::InTime(_)) {
                self.stats.acked += 1;
                self.report(LinkEvent::Acked(seq));
            } else {
                self.stats.wasted += 1;
            }
        }
        if let Some(sent_at) = measured {
            self.rtt.handle_sample(now.since(sent_at));
        }
    }

    fn handle_pings(&mut self, now: LocalTime, header: &Header) {
        if header.ping {
            self.pings.handle_ping(now, header.seq);
        }
        let Some(pong) = header.pong else { return };
        // Whoever answers a ping that was not sent, or twice, is not listened to.
        let Some(sent) = self.sent.take_ping(pong.pinged) else { return };
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

    fn lose(&mut self, now: LocalTime) {
        while let Some((seq, packet, by_timeout)) = self.sent.next_lost(now, &self.rtt) {
            if by_timeout {
                self.rtt.handle_timeout(now, packet.at);
            }
            if packet.cargo.messages {
                self.outbox.handle_lost(seq);
            }
            self.stats.lost += u64::from(packet.cargo.asks_for_ack());
            self.report(LinkEvent::Lost(seq));
        }
    }

    fn header(&self, now: LocalTime) -> Header {
        Header {
            seq: self.sent.next(),
            ack: self.received.ack(),
            ping: self.pings.due(now),
            pong: self.pings.pong(now),
        }
    }

    fn message_budget_bits(&self) -> usize {
        8 * (self.config.max_datagram - MIN_BODY_BYTES) - MAX_HEADER_BITS
    }

    fn note_sent(&mut self, now: LocalTime, seq: Seq, cargo: Cargo) {
        let repeated = self.outbox.note_carried(seq, &self.messages);
        self.stats.sent += 1;
        self.stats.messages_sent += self.messages.0.len() as u64 - repeated;
        self.stats.resent += repeated;
        self.messages.0.clear();
        self.received.note_acknowledged();
        self.pings.note_sent(now, cargo.ping);
        self.sent.push(now, cargo);
        // The place of the next datagram is made free now, so that the owner hears of it before it writes that one.
        self.lose(now);
    }

    fn report(&mut self, event: LinkEvent) {
        if self.events.len() >= 2 * MAX_EVENTS {
            // Only an owner that writes and never polls gets here, and only with fates: the peer has been told that its
            // messages arrived, so those stay.
            self.stats.overrun += 1;
            return;
        }
        self.events.push_back(event);
    }
}

/// Writes the parts of a datagram and returns how many bits the body takes.
fn write_parts(
    header: &mut Header,
    messages: &mut Messages,
    out: &mut Vec<u8>,
    max_bytes: usize,
    body: impl FnOnce(&mut Writer<'_>),
) -> usize {
    let mut writer = Writer::new(out);
    header.wire(&mut writer).expect("a writer refuses nothing");
    messages.wire(&mut writer).expect("a writer refuses nothing");
    let before = writer.bits_written();
    body(&mut writer);
    let body_bits = writer.bits_written() - before;
    if body_bits > 0 && body_bits < SHORTEST_BODY_BITS {
        writer.bits(&mut 0, (SHORTEST_BODY_BITS - body_bits) as u32).expect("a writer refuses nothing");
    }
    assert!(writer.bits_written() <= 8 * max_bytes, "a body of {body_bits} bits is longer than its budget");
    body_bits
}

fn millis(duration: Duration) -> f32 {
    duration.as_secs_f32() * 1_000.0
}

#[cfg(test)]
mod harness;
#[cfg(test)]
mod tests;
