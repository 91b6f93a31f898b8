//! One datagram connection, seen from one of its ends: what arrives over a lossy path, and what is
//! known to have arrived.
//!
//! Both ends run the same state machine, a server some thousands of them. Datagrams and the time go
//! in; datagrams to send, [`LinkEvent`]s and the next deadline come out. No clock, no socket, no
//! allocation per datagram (one per message that is delivered, one per block). The owner calls
//! [`Link::handle_datagram`] for what comes, [`Link::handle_timeout`] at [`Link::next_deadline`] or
//! every tick, [`Link::write_datagram`] when [`Link::wants_to_send`] or when it has a body to send,
//! and after each of them [`Link::poll_event`] until it is empty.
//!
//! # What is promised
//! 1. A datagram is taken whole or not at all: an error, a duplicate and one from before the window
//!    change nothing but a counter.
//! 2. Each datagram sent is reported at most once, as [`LinkEvent::Acked`] or
//!    [`LinkEvent::LostLeader`]; one that asked for an acknowledgement exactly once, within
//!    [`LinkConfig::max_timeout`] while the owner calls. An acknowledgement after `LostLeader` is
//!    counted as waste.
//! 3. A reliable message is delivered once or, after its `expires_at`, perhaps not at all;
//!    without that, exactly once as long as anything gets through. No message waits for another. It
//!    travels again when the datagram that carried it is lost, not by a timer of its own.
//! 4. A body of [`MIN_BODY_BYTES`] always fits beside the messages, if the budget allows for as
//!    much.
//! 5. A link without traffic sends pings, if it is told to, and answers them; nothing else: a
//!    datagram that only acknowledges asks for no acknowledgement.
//! 6. Whatever the peer sends, state stays bounded. What it lies about acknowledgements, messages
//!    or blocks harms only itself.
//! 7. With a [`BudgetConfig`], no more bytes leave within any second than it allows at that time,
//!    as long as the owner writes bodies of at most [`Link::body_budget_bits`] and no datagram that
//!    nobody wants to send. Nothing is queued for later but messages and blocks: each datagram is
//!    made of the newest when it leaves. The rate gives way to a narrower path, and comes back.
//! 8. A block arrives whole and once, in the order of sending; the game keeps its share of the
//!    budget meanwhile.
//!
//! One assumption stands behind the wrapping numbers: less than 8,192 datagrams in a row are lost.
//! At the rates of a game that is minutes; the connection below is given up after seconds.
//!
//! # Datagram, bit by bit
//! Bits from the lowest up (see [`crate::wire`]); at most [`MAX_DATAGRAM`] bytes. Both directions
//! are alike.
//!
//! | bits | field | |
//! | --- | --- | --- |
//! | 14 | number | the lowest bits of it; one higher with each datagram |
//! | 1 | asks | please acknowledge this |
//! | 1 to 3 | earlier | 1: of the 32 before `latest` all were received; 01: all but one; 001: see the bits; 000: nothing was received yet |
//! | 5 or 32 | | if 01: the missing one is `latest - 1 -` this; if 001: bit `i`, from the lowest: `latest - 1 - i` was received |
//! | 14 | latest | if not 000: the newest number received |
//! | 1 | has extras | 0: the body follows, and none of what stands between |
//! | 1 | ping | please answer with a pong |
//! | 1 | has pong | |
//! | 14 | pinged | if has pong: the number of the datagram that had the ping bit |
//! | 48 | received | if has pong: when that one arrived, in microseconds of the answering side's clock (the server's is room time) |
//! | 24 | held | if has pong: for how many microseconds it then waited for this answer |
//! | | messages | each: 1 bit of value 1, the id, 10 bits of length (0 to 512), as many bytes |
//! | 1 | end | 0: no more messages |
//! | 1 | has set | |
//! | 8 | chunk | if has set: which slices of that chunk were received |
//! | 8 | last | if has set: the chunk has one slice more than this |
//! | 2 | form | if has set: 0 all slices; 1 runs; 2 bits |
//! | | runs | if 1: 5 bits, how many; then the length of each but the last as a varint, of received, missing, received ... slices |
//! | | bits | if 2: a bit for each slice |
//! | 1 | has slice | |
//! | 8 | chunk | if has slice: number of the chunk, one higher with each, wraps around |
//! | 8 | index | if has slice: of the slice |
//! | 8 | last | if has slice: index of the chunk's last slice |
//! | 16 | left | if has slice: how many slices of the block come behind this chunk |
//! | 16 | length | if it is the last slice: how many bytes it has; all others have 1,024 |
//! | | bytes | if has slice: as many |
//! | rest | body | of [`crate::message`]; it is there if 8 bits or more are left |
//!
//! So a body costs 31 bits when nothing was lost lately. The receiver takes a number for the one
//! nearest to the newest that it knows, an acknowledged one for the newest that was sent. The id of
//! the first message takes 32 bits; of each other one, a varint (groups of 4 bits, see
//! [`crate::wire::Coder::varint`]) tells how many ids were left out since the one before it. Ids
//! ascend and wrap around. A body shorter than 8 bits is padded to 8 with zeros, and the datagram
//! to whole bytes.
//!
//! What the receiving side does:
//! - A datagram older than `latest - 32`, or received before, is dropped.
//! - It acknowledges what asks for it within [`LinkConfig::ack_delay`] (25 ms) or 8 datagrams.
//!   Every datagram carries the newest acknowledgements. A sender asks for one when there is a
//!   ping, a message, a slice or a body, unless the body was written quietly.
//! - Of each message id it delivers the first copy. The sender keeps fewer than 1,024 ids between
//!   the oldest unfinished one and the newest, so ids 1,024 or more behind the newest received are
//!   copies of what is finished.
//! - The newest ping is answered by the next datagram, one that would be sent anyway.
//!
//! - It tells the set of slices when 16 came since it last did, when one came again, and when a
//!   chunk is complete.
//!
//! # Seams
//! Baselines need nothing here: the owner's [`PacketLog`] knows which state a datagram carried,
//! `Acked` makes it a base, and [`Link::acked_set`] is what a datagram can name as known to both
//! ends.
//!
//! Units: microseconds, bytes where named so, else bits. Cost: a datagram looks at those in flight
//! (a few) and at the messages waiting; it is some additions more with a budget, and a copy of the
//! body while slices are due. Memory: 2.5 KiB, 1.2 more with a budget, and queues while there is
//! something in them. PoseSource: "Reliable Ordered Messages" and "Reliability and Congestion
//! Avoidance over UDP" (Fiedler) for acknowledgement by bit set; RFC 9002 for loss detection.

mod budget;
mod chunk;
mod config;
mod duplicate_filter;
mod format;
mod packet_log;
mod pings;
mod receive;
mod received_numbers;
mod reliable_queue;
mod rtt;
mod sent_packets;
mod stats;
mod transmit;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

pub use self::budget::{BudgetConfig, Pressure};
pub use self::chunk::{ChunkConfig, ChunkProgress, MAX_SLICES, SLICE_BYTES};
pub(crate) use self::chunk::{ReceivedSet, Slice};
pub use self::config::{LinkConfig, LinkEvent};
pub(crate) use self::format::{DatagramHeader, Messages};
pub use self::packet_log::PacketLog;
pub use self::pings::PingSchedule;
pub use self::reliable_queue::QueueFull;
pub use self::stats::LinkStats;

use self::budget::{Budget, TrafficClass};
use self::chunk::{BlockReceiver, BlockSender};
use self::duplicate_filter::DuplicateFilter;
use self::format::MAX_HEADER_BYTES;
use self::pings::Pings;
use self::received_numbers::{NumberSet, ReceivedNumbers};
use self::reliable_queue::ReliableQueue;
use self::rtt::RttEstimator;
use self::sent_packets::SentPackets;
use crate::ids::Seq;
use crate::time::LocalTime;
use crate::wire::{Reader, WireError, Writer};

/// What every path and a browser let through, in bytes.
pub const MAX_DATAGRAM: usize = 1_150;

/// The longest reliable message, in bytes.
pub const MAX_MESSAGE: usize = 512;

/// However many messages wait, a body of this length fits.
pub const MIN_BODY_BYTES: usize = 500;

/// How far apart the ids of unfinished messages may be: the receiver remembers as many.
pub const MESSAGE_WINDOW: u32 = 1_024;

/// Of how many datagrams a sender can remember when they left: two seconds at 240 a second, as long
/// as the longest time-out.
pub const SENT_WINDOW: usize = 512;

/// Reports and messages that wait for the owner. Beyond it datagrams are dropped unread, so the
/// peer repeats what they carried; only an owner that does not poll gets here.
const MAX_EVENTS: usize = 1_024;

/// What shorter bodies are padded to, so that padding is never taken for a body.
const MIN_BODY_BITS: usize = 8;

/// One end of a datagram connection; see the module.
#[derive(Debug)]
pub struct Link {
    config: LinkConfig,
    received_numbers: ReceivedNumbers,
    sent_packets: SentPackets,
    /// Ours that were reported as acknowledged.
    acked: NumberSet,
    rtt: RttEstimator,
    reliable_queue: ReliableQueue,
    duplicate_filter: DuplicateFilter,
    pings: Pings,
    budget: Option<Box<Budget>>,
    /// While there are blocks to send, and the number of the first chunk of the next one.
    sender: Option<Box<BlockSender>>,
    next_chunk: u8,
    /// From the first slice on.
    receiver: Option<Box<BlockReceiver>>,
    /// Bounded by [`MAX_EVENTS`] and what one datagram can cause.
    events: VecDeque<LinkEvent>,
    /// The messages of the datagram in hand; empty between calls, kept for its storage.
    messages: Messages,
    /// The slice of the datagram in hand, kept for its storage.
    slice: Slice,
    stats: LinkStats,
}

impl Link {
    /// A link that has sent and received nothing.
    ///
    /// # Panics
    /// When a bound of the configuration is out of its range: our bug.
    pub fn new(config: LinkConfig) -> Self {
        config.assert_valid();
        Self {
            received_numbers: ReceivedNumbers::default(),
            sent_packets: SentPackets::new(config.first_seq.0.into()),
            acked: NumberSet::default(),
            rtt: RttEstimator::new(&config),
            reliable_queue: ReliableQueue::new(
                config.queue_limit,
                config.first_message,
                transmit::max_message_bits(&config),
            ),
            duplicate_filter: DuplicateFilter::default(),
            pings: Pings::new(config.pings),
            budget: config.budget.map(|budget| Box::new(Budget::new(budget))),
            sender: None,
            next_chunk: 0,
            receiver: None,
            events: VecDeque::new(),
            messages: Messages::default(),
            slice: Slice::default(),
            stats: LinkStats::default(),
            config,
        }
    }

    /// Queues a message that is due at once; see [`Link::send_reliable_with_deadline`].
    pub fn send_reliable(
        &mut self,
        now: LocalTime,
        message: Bytes,
        expires_at: Option<LocalTime>,
    ) -> Result<(), QueueFull> {
        self.send_reliable_with_deadline(now, message, expires_at, None)
    }

    /// Queues a message: it travels until it is acknowledged or `expires_at` has passed. It leaves
    /// with the next datagram, but none is sent for its sake before `send_deadline`, unless as much
    /// waits as a datagram holds.
    ///
    /// # Panics
    /// When it is longer than [`MAX_MESSAGE`]: our bug.
    pub fn send_reliable_with_deadline(
        &mut self,
        now: LocalTime,
        message: Bytes,
        expires_at: Option<LocalTime>,
        leave_by: Option<LocalTime>,
    ) -> Result<(), QueueFull> {
        self.stats.expired += self.reliable_queue.expire(now);
        self.reliable_queue.push(message, expires_at, leave_by)
    }

    /// The reliable messages that are not known to have arrived and are still of use, in the order
    /// in which they were queued: for an owner that goes on with another link.
    pub fn unconfirmed_messages(&self, now: LocalTime) -> impl Iterator<Item = &Bytes> {
        self.reliable_queue.unconfirmed(now)
    }

    /// Queues a block, which travels beside all else until it has arrived:
    /// [`LinkEvent::BlockSent`]. Refused when more than [`ChunkConfig::queue_bytes`] would wait.
    ///
    /// # Panics
    /// When it is empty or longer than 64 MiB: our bug.
    pub fn send_block(&mut self, now: LocalTime, block: Bytes) -> Result<(), QueueFull> {
        let next_chunk = self.next_chunk;
        let sender = self
            .sender
            .get_or_insert_with(|| Box::new(BlockSender::new(next_chunk)));
        let begins = sender.is_idle();
        let queued = sender.push(block, &self.config.chunks);
        if sender.is_idle() {
            self.sender = None;
        } else if let Some(budget) = self.budget.as_mut().filter(|_| begins) {
            budget.set_shares_with_slices(now, true);
            budget.credit_slices(now, self.config.chunks.first_burst_bytes);
        }
        queued
    }

    /// Takes a datagram that arrived at `now`. A fresh one returns its body, for the owner to read;
    /// a duplicate or one too old returns `Unchanged`.
    pub fn handle_datagram<'a>(
        &mut self,
        now: LocalTime,
        datagram: &'a [u8],
    ) -> Result<Option<Reader<'a>>, WireError> {
        let body = self.receive_datagram(now, datagram);
        self.stats.malformed += u64::from(body.is_err());
        self.messages.0.clear();
        body
    }

    /// Finds out what is lost or out of date by `now`.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.handle_losses(now);
        self.stats.expired += self.reliable_queue.expire(now);
        if let Some(budget) = &mut self.budget {
            budget.handle_timeout(now);
        }
    }

    /// Appends a datagram to `out`: the newest acknowledgements, the messages that are due, the
    /// oldest first, and what `body` writes, at most [`Link::body_budget_bits`]. It asks for an
    /// acknowledgement if there is a body, a message or a ping. Returns its number, which `body` is
    /// told as well.
    ///
    /// # Panics
    /// When `body` writes more than it may: our bug.
    pub fn write_datagram(
        &mut self,
        now: LocalTime,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Writer<'_>, Seq),
    ) -> Seq {
        self.write(now, out, true, body)
    }

    /// As [`Link::write_datagram`], but the body asks for no acknowledgement: for what is repeated
    /// anyway, such as inputs. The fate of such a datagram is told only if the peer happens to tell
    /// it.
    pub fn write_datagram_without_ack_request(
        &mut self,
        now: LocalTime,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Writer<'_>, Seq),
    ) -> Seq {
        self.write(now, out, false, body)
    }

    /// How many bits the body of a datagram written at this same `now` may have. At least 8 times
    /// [`MIN_BODY_BYTES`] if there is no budget, or enough of it; else it may be too little for
    /// anything, and then there is nothing to write.
    pub fn body_budget_bits(&mut self, now: LocalTime) -> usize {
        self.handle_timeout(now);
        self.pick_messages(now);
        let taken = self.bits_before_body(now);
        self.messages.0.clear();
        (8 * self.config.max_datagram)
            .min(self.game_bits(now))
            .saturating_sub(taken)
    }

    /// How many bytes the game may send at `now`, with everything that a datagram costs; without a
    /// budget, no end of them.
    pub fn budget_bytes(&self, now: LocalTime) -> usize {
        self.budget.as_ref().map_or(usize::MAX, |budget| {
            budget.available(TrafficClass::Game, now)
        })
    }

    /// Sets how many bytes a second may leave from now on, at least 4,000. A link without a budget
    /// has one from then on.
    pub fn set_budget(&mut self, now: LocalTime, bytes_per_s: u32) {
        if let Some(budget) = &mut self.budget {
            return budget.set_limit(now, bytes_per_s);
        }
        let mut budget = Budget::new(BudgetConfig {
            bytes_per_s,
            ..BudgetConfig::default()
        });
        budget.set_shares_with_slices(now, self.sender.is_some());
        self.budget = Some(Box::new(budget));
    }

    /// Whether a datagram should leave although there is no body for one: messages or slices are
    /// due, an acknowledgement has waited long enough, or a ping is due; and the budget allows for
    /// it.
    pub fn wants_to_send(&self, now: LocalTime) -> bool {
        let max_message_bits = self.reliable_queue.min_due_bits(now);
        let asked = |deadline: Option<LocalTime>| deadline.is_some_and(|deadline| deadline <= now);
        let lost =
            || !self.reliable_queue.is_empty() && asked(self.sent_packets.loss_deadline(&self.rtt));
        let bare = || {
            asked(self.received_numbers.ack_deadline(&self.config))
                || asked(self.pings.deadline())
                || lost()
        };
        max_message_bits
            .is_some_and(|bits| self.can_afford(TrafficClass::Game, message_length(bits), now))
            || self.can_afford(TrafficClass::Control, MAX_HEADER_BYTES, now) && bare()
            || asked(self.slice_due_at())
                && self.can_afford(TrafficClass::SliceSet, transmit::MAX_SLICE_DATAGRAM, now)
    }

    /// When to call [`Link::handle_timeout`], and [`Link::write_datagram`] if the link then wants
    /// to send. In the past if it wants to now.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        let messages = self
            .reliable_queue
            .deadline(|bits| self.affordable_at(TrafficClass::Game, message_length(bits)));
        let bare = self
            .received_numbers
            .ack_deadline(&self.config)
            .into_iter()
            .chain(self.pings.deadline())
            .min();
        let bare =
            bare.map(|due| due.max(self.affordable_at(TrafficClass::Control, MAX_HEADER_BYTES)));
        let slice = self.slice_due_at().map(|due| {
            due.max(self.affordable_at(TrafficClass::SliceSet, transmit::MAX_SLICE_DATAGRAM))
        });
        [
            messages,
            bare,
            slice,
            self.sent_packets.loss_deadline(&self.rtt),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// How far the block has come that is arriving.
    pub fn incoming_block_progress(&self) -> Option<ChunkProgress> {
        self.receiver.as_ref()?.progress()
    }

    /// How far our block has come that is under way.
    pub fn outgoing_block_progress(&self) -> Option<ChunkProgress> {
        self.sender.as_ref()?.progress()
    }

    /// Whether the peer waits for an acknowledgement that the next datagram would carry: whoever is
    /// about to write one soon may as well do so now. It is sent on its own at
    /// [`LinkConfig::ack_delay`].
    pub fn is_ack_pending(&self) -> bool {
        self.received_numbers.owes_ack()
    }

    /// The number that the next datagram will have. SentDatagrams count on where [`Seq`] wraps
    /// around; both ends give a datagram the same one as long as [`LinkConfig::first_seq`] is 0.
    pub fn next_number(&self) -> u64 {
        self.sent_packets.next()
    }

    /// The number of one of our datagrams that left lately.
    pub fn number_of(&self, seq: Seq) -> u64 {
        self.sent_packets.number_of(seq)
    }

    /// The number of the peer's datagram that was taken last: the one in hand when
    /// [`Link::handle_datagram`] returned a body.
    pub fn last_received_number(&self) -> Option<u64> {
        self.received_numbers.last()
    }

    /// Which of our datagrams the peer is known to have: the newest that was reported as
    /// [`LinkEvent::Acked`], and from the lowest bit up those 1, 2, ... 32 before it. One that was
    /// reported as `LostLeader` never gets in, even if its acknowledgement comes after all: its
    /// owner has given up what it carried.
    pub fn acked_set(&self) -> Option<(u64, u32)> {
        self.acked.newest_and_earlier()
    }

    /// What has happened, in order; `Unchanged` when all was told.
    pub fn poll_event(&mut self) -> Option<LinkEvent> {
        self.events.pop_front()
    }

    /// What was counted and measured so far.
    pub fn stats(&self) -> LinkStats {
        let mut stats = LinkStats {
            rtt_ms: millis(self.rtt.smoothed()),
            ping_ms: millis(self.pings.round_trip()),
            ..self.stats
        };
        if let Some(budget) = &self.budget {
            let (rate, pressure, queue) = budget.rate_controller.state();
            (stats.budget_bytes_per_s, stats.pressure, stats.queueing_ms) =
                (rate, pressure, millis(queue));
            stats.usual_loss = budget.rate_controller.usual_loss();
        }
        stats
    }

    fn can_afford(&self, purse: TrafficClass, length: usize, now: LocalTime) -> bool {
        self.budget
            .as_ref()
            .is_none_or(|budget| budget.available(purse, now) >= budget.cost(length))
    }

    fn affordable_at(&self, purse: TrafficClass, length: usize) -> LocalTime {
        self.budget.as_ref().map_or(LocalTime::ZERO, |budget| {
            budget.affordable_at(purse, budget.cost(length))
        })
    }

    fn slice_due_at(&self) -> Option<LocalTime> {
        self.sender
            .as_ref()?
            .due_at(self.rtt.smoothed(), self.budget.is_some())
    }

    /// Whether the owner will hear of it.
    fn queue_event(&mut self, event: LinkEvent) -> bool {
        if self.events.len() >= 2 * MAX_EVENTS {
            // Only an owner that writes and never polls gets here, and only with fates: the peer
            // has been told that its messages arrived, so those stay.
            self.stats.overrun += 1;
            return false;
        }
        self.events.push_back(event);
        true
    }
}

/// A datagram with a message that takes so many bits, and no body.
fn message_length(bits: usize) -> usize {
    MAX_HEADER_BYTES + bits.div_ceil(8)
}

fn seq_of(number: u64) -> Seq {
    Seq(number as u16)
}

fn millis(duration: Duration) -> f32 {
    duration.as_secs_f32() * 1_000.0
}

#[cfg(test)]
mod block_tests;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod tests;
