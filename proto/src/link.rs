//! One end of a datagram connection over a lossy path: delivery, acknowledgement, loss detection,
//! reliable messages, blocks and pacing.
//!
//! Both ends run the same state machine; a server runs some thousands of them. Input: datagrams and
//! the time. Output: datagrams to send, [`LinkEvent`]s and the next deadline. There is no clock, no
//! socket and no allocation per datagram (one per delivered message, one per block). The owner
//! calls [`Link::handle_datagram`] for each datagram that arrives, [`Link::handle_timeout`] at
//! [`Link::next_deadline`] or every tick, [`Link::write_datagram`] when [`Link::wants_to_send`]
//! returns true or when it has a body to send, and after each of them [`Link::poll_event`] until it
//! returns `None`.
//!
//! # Guarantees
//! 1. A datagram is processed completely or not at all: an invalid one, a duplicate and one from
//!    before the window change nothing but a counter.
//! 2. Each datagram sent is reported at most once, as [`LinkEvent::Acked`] or [`LinkEvent::Lost`];
//!    one that asked for an acknowledgement exactly once, within [`LinkConfig::max_timeout`] while
//!    the owner keeps calling. An acknowledgement after `Lost` only changes a counter.
//! 3. A reliable message is delivered exactly once, as long as any datagrams get through; after its
//!    `expires_at`, perhaps not at all. No message waits for another. A message is sent again
//!    when the datagram that carried it is lost, not by a timer of its own. The first
//!    acknowledgement of it is reported once, as [`LinkEvent::MessageAcked`]. While the path loses
//!    datagrams ([`Link::makes_copies`]), the next one carries a copy of each new message, and no
//!    message waits for its `leave_by`: a loss is known too late for what has a time of effect.
//! 4. A body of [`MIN_BODY_BYTES`] always fits beside the messages, if the budget allows for as
//!    much.
//! 5. A link without traffic sends only pings, if they are configured, and answers to pings. A
//!    datagram that only acknowledges asks for no acknowledgement.
//! 6. State stays bounded for any input of the peer. False acknowledgements, messages or blocks
//!    harm only the peer itself.
//! 7. With a [`BudgetConfig`], no more bytes leave within any second than it allows at that time,
//!    as long as the owner writes bodies of at most [`Link::body_budget_bits`] and writes datagrams
//!    only when it has a body or the link wants to send. Only messages and blocks are queued; each
//!    datagram contains the newest state when it leaves. The rate adapts to a narrower path, and
//!    recovers.
//! 8. A block arrives whole and once, in the order of sending; the game keeps its share of the
//!    budget meanwhile.
//!
//! Time-outs, rates and what else a client has to keep to: `docs/wire-client.md`.
//!
//! The wrapping numbers rest on one assumption: fewer than 8,192 datagrams in a row are lost. At
//! the rates of a game that takes minutes; the connection below is closed after seconds.
//!
//! # Datagram, bit by bit
//! Bits from the lowest up (see [`crate::wire`]); at most [`MAX_DATAGRAM`] bytes. Both directions
//! use the same format.
//!
//! | bits | field | |
//! | --- | --- | --- |
//! | 14 | number | its lowest bits; one higher with each datagram |
//! | 1 | asks | the peer is to acknowledge this datagram |
//! | 1 to 3 | earlier | which of the 32 numbers before `latest` were received, see below |
//! | 5 or 32 | | if 01 or 001: see below |
//! | 14 | latest | if not 000: the newest number received |
//! | 1 | has extras | 0: the body follows, without the fields between |
//! | 1 | ping | asks for a pong |
//! | 1 | has pong | |
//! | 14 | pinged | if has pong: the number of the datagram with the ping bit |
//! | 48 | received | if has pong: when that one arrived, see below |
//! | 24 | held | if has pong: microseconds from its arrival to this answer |
//! | | messages | each: 1 bit of value 1, the id, the length (a `varint` of at most 512), as many bytes |
//! | 1 | end | 0: no more messages |
//! | 1 | has set | |
//! | 8 | chunk | if has set: number of the chunk whose received slices follow |
//! | 8 | last | if has set: the chunk has one slice more than this |
//! | 2 | form | if has set: 0 all slices; 1 runs; 2 bits |
//! | | runs | if 1: see below |
//! | | bits | if 2: a bit for each slice |
//! | 1 | has slice | |
//! | 8 | chunk | if has slice: number of the chunk, one higher with each, wraps around |
//! | 8 | index | if has slice: of the slice |
//! | 8 | last | if has slice: index of the chunk's last slice |
//! | 16 | left | if has slice: how many slices of the block follow this chunk |
//! | 16 | length | only for the last slice: its length in bytes; all others have 1,024 |
//! | | bytes | if has slice: as many |
//! | rest | body | of [`crate::message`]; present if 8 bits or more are left |
//!
//! - `earlier`, its bits in their order, is 1 if all 32 were received; 01 if all but one, and the
//!   next 5 bits are n for the missing one, `latest - 1 - n`; 001 if 32 bits follow, of which bit
//!   `i`, from the lowest, says whether `latest - 1 - i` was received; 000 if nothing is
//!   acknowledged, since nothing was received yet or the sender may still forget it
//!   ([`Link::limit_confirmations`]). For the second reason, `latest` may also go back for a while:
//!   what was acknowledged before stays acknowledged. The third form is valid for every set, so a
//!   simple client may use it alone; [`Link`] writes the shortest. Numbers before the peer's first
//!   datagram count as missing: a datagram that acknowledges what was never sent is invalid as a
//!   whole.
//! - `received` is in microseconds of the answering side's clock (the server's is room time).
//! - `runs` is their number in 5 bits, then the length of each but the last as a `varint`, see
//!   [`crate::message`]. Runs of received and of missing slices alternate; the first is of received
//!   ones. A reader accepts each of the three forms that fits the set.
//! - Chunks are numbered from 0. In a block, all chunks but the last have 256 slices of 1,024
//!   bytes; `left` is 0 in the last one. The last slice has 1 to 1,024 bytes. A set for a chunk
//!   that was never sent makes the datagram invalid.
//!
//! So a body costs 31 bits when nothing was lost recently. The receiver resolves a number to the
//! one nearest to the newest it has received (the first one is taken as it is), and an acknowledged
//! one to the newest that was sent. The id of the first message takes 32 bits. For each other one,
//! a `varint` gives how many ids were skipped since the one before it, fewer than 1,024. Ids ascend
//! and wrap around. A body shorter than 8 bits is padded to 8 with zeros, and the datagram to whole
//! bytes.
//!
//! The receiving side:
//! - It drops a datagram older than `latest - 32`, or received before.
//! - It acknowledges a datagram that asks for it within [`LinkConfig::ack_delay`] (25 ms) or 8
//!   datagrams. Every datagram carries the newest acknowledgements. A sender asks for one when
//!   there is a ping, a message, a slice or a body, unless the owner wrote the body without a
//!   request.
//! - It delivers the first copy of each message id. The sender keeps fewer than 1,024 ids between
//!   the oldest unfinished one and the newest, so ids 1,024 or more behind the newest received are
//!   copies of finished messages.
//! - It answers the newest ping in the next datagram that it sends anyway.
//! - It sends the set of slices when 16 slices have arrived since the last set, when a slice
//!   arrived twice, and when a chunk is complete.
//!
//! # Baselines
//! The link does not know baselines. The owner gives each datagram a payload that says which state
//! it carried, and gets the payload back with `Acked`, which makes that state a baseline, or with
//! `Lost`. [`Link::sent_packets`] is the one table of payloads and outcomes;
//! [`SentPackets::newest_acked`] and [`SentPackets::outcome`] name the datagrams that both ends
//! know as received. One that was reported as lost is not among them: its owner has given up its
//! contents.
//!
//! Units: microseconds; bytes where a name says so, otherwise bits. Cost: a datagram visits those
//! in flight (a few) and the waiting messages. A budget adds a few additions, and a copy of the
//! body while slices are due. Memory: 2.5 KiB, 1.2 more with a budget, and the queues while they
//! are not empty. Source: G. Fiedler, "Reliable Ordered Messages" and "Reliability and Congestion
//! Avoidance over UDP", for acknowledgement by bit set; RFC 9002 for loss detection.

mod budget;
mod chunk;
mod config;
mod duplicate_filter;
#[cfg(any(test, feature = "dev-tools"))]
mod examples;
mod format;
mod line_loss;
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
pub(crate) use self::chunk::Slice;
pub use self::chunk::{ChunkConfig, ChunkProgress, MAX_SLICES, SLICE_BYTES};
pub use self::config::{LinkConfig, LinkEvent};
pub(crate) use self::format::Messages;
pub use self::pings::PingSchedule;
pub use self::reliable_queue::{MessageId, QueueFull};
pub use self::sent_packets::{AckResult, DeliveryOutcome, PacketContents, SentPacket, SentPackets};
pub use self::stats::LinkStats;
#[cfg(any(test, feature = "dev-tools"))]
pub(crate) use self::{chunk::ReceivedSet, format::DatagramHeader};

use self::budget::{Budget, TrafficClass};
use self::chunk::{BlockReceiver, BlockSender};
use self::duplicate_filter::DuplicateFilter;
use self::format::MAX_HEADER_BYTES;
use self::line_loss::LineLoss;
use self::pings::Pings;
use self::received_numbers::{NumberSet, ReceivedNumbers};
use self::reliable_queue::ReliableQueue;
use self::rtt::RttEstimator;
use crate::ids::Seq;
use crate::time::LocalTime;
use crate::wire::{Reader, WireError, Writer};

/// The longest datagram, in bytes, that every path and every browser carries.
pub const MAX_DATAGRAM: usize = 1_150;

/// The longest reliable message, in bytes.
pub const MAX_MESSAGE: usize = 512;

/// A body of this length fits however many messages wait.
pub const MIN_BODY_BYTES: usize = 500;

/// The largest distance between the ids of unfinished messages: the receiver remembers as many.
pub const MESSAGE_WINDOW: u32 = 1_024;

/// For how many datagrams a sender can remember when they left: two seconds at 240 a second, as
/// long as the longest time-out.
pub const SENT_WINDOW: usize = 512;

/// How many events may wait for the owner. Beyond it the link drops datagrams unread, so the peer
/// repeats their contents; this happens only if the owner does not poll.
const MAX_EVENTS: usize = 1_024;

/// Shorter bodies are padded to this length, so that padding is never taken for a body.
const MIN_BODY_BITS: usize = 8;

/// One end of a datagram connection; see the module. `P` is what its owner wants to know of each
/// datagram when its outcome is known.
#[derive(Debug)]
pub struct Link<P = ()> {
    config: LinkConfig,
    received_numbers: ReceivedNumbers,
    sent_packets: SentPackets<P>,
    rtt: RttEstimator,
    reliable_queue: ReliableQueue,
    duplicate_filter: DuplicateFilter,
    pings: Pings,
    line_loss: LineLoss,
    budget: Option<Box<Budget>>,
    /// Exists while there are blocks to send; the number of the first chunk of the next sender.
    sender: Option<Box<BlockSender>>,
    next_chunk: u8,
    /// Exists from the first slice on.
    receiver: Option<Box<BlockReceiver>>,
    /// Datagrams are refused from [`MAX_EVENTS`] events on; one datagram adds at most
    /// [`LinkConfig::queue_limit`] acknowledged messages and fewer than 1,100 others: outcomes of
    /// those in flight, and messages that it carries. Outcomes stop at twice [`MAX_EVENTS`].
    events: VecDeque<LinkEvent<P>>,
    /// The messages of the current datagram; empty between calls, kept for its storage.
    messages: Messages,
    /// The slice of the current datagram; kept for its storage.
    slice: Slice,
    stats: LinkStats,
}

/// A datagram that was written: its number, and the bits of its parts, which sum to its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenDatagram {
    pub seq: Seq,

    /// Its number, acknowledgements, pings, and flags.
    pub header: usize,
    /// Reliable messages, with their ids and lengths.
    pub messages: usize,
    /// Those that had left before.
    pub repeated_messages: usize,
    /// A slice of a block, if it had not left before.
    pub slice: usize,
    /// A slice that had.
    pub repeated_slice: usize,
    /// What the owner writes, with its padding.
    pub body: usize,
    /// Up to the next byte.
    pub padding: usize,
}

/// What an end had received and queued at some moment: see [`Link::limit_confirmations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmationMark {
    received: NumberSet,
    next_message: u32,
}

/// What may be confirmed to the peer now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmationLimit {
    Everything,
    /// What was known at the mark.
    UpTo(ConfirmationMark),
    Nothing,
}

impl Link {
    /// A link that has sent and received nothing, whose datagrams have no payload.
    ///
    /// # Panics
    /// If a limit of the configuration is out of its range.
    pub fn new(config: LinkConfig) -> Self {
        Self::with_payload(config)
    }
}

impl<P: Copy + Default> Link<P> {
    /// A link that has sent and received nothing.
    ///
    /// # Panics
    /// If a limit of the configuration is out of its range.
    pub fn with_payload(config: LinkConfig) -> Self {
        config.assert_valid();
        Self {
            received_numbers: ReceivedNumbers::default(),
            sent_packets: SentPackets::new(config.first_seq.0.into()),
            rtt: RttEstimator::new(&config),
            reliable_queue: ReliableQueue::new(
                config.queue_limit,
                config.first_message,
                transmit::max_message_bits(&config),
            ),
            duplicate_filter: DuplicateFilter::default(),
            pings: Pings::new(config.pings),
            line_loss: LineLoss::default(),
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
    ) -> Result<MessageId, QueueFull> {
        self.send_reliable_with_deadline(now, message, expires_at, None)
    }

    /// Queues a message. It is sent until it is acknowledged ([`LinkEvent::MessageAcked`] with the
    /// returned id) or `expires_at` has passed. It leaves with the next datagram, but before
    /// `leave_by` it causes none by itself, unless the waiting messages fill a datagram. A message
    /// with a `leave_by` has a time of effect: if copies are made, its copy causes a datagram, too.
    ///
    /// # Panics
    /// If it is longer than [`MAX_MESSAGE`].
    pub fn send_reliable_with_deadline(
        &mut self,
        now: LocalTime,
        message: Bytes,
        expires_at: Option<LocalTime>,
        leave_by: Option<LocalTime>,
    ) -> Result<MessageId, QueueFull> {
        self.stats.expired += self.reliable_queue.expire(now);
        self.reliable_queue.push(message, expires_at, leave_by)
    }

    /// Queues a block, which travels beside all other data until it has arrived
    /// ([`LinkEvent::BlockSent`]). Refused if more than [`ChunkConfig::queue_bytes`] would wait.
    ///
    /// # Panics
    /// If it is empty or longer than 64 MiB.
    pub fn send_block(&mut self, now: LocalTime, block: Bytes) -> Result<(), QueueFull> {
        let next_chunk = self.next_chunk;
        let sender = self.sender.get_or_insert_with(|| Box::new(BlockSender::new(next_chunk)));
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

    /// Processes a datagram that arrived at `now`. Returns the body of a fresh one, for the owner
    /// to read; `None` for a duplicate or one too old.
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

    /// Detects lost datagrams and expired messages as of `now`.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.handle_losses(now);
        self.stats.expired += self.reliable_queue.expire(now);
        if let Some(budget) = &mut self.budget {
            budget.handle_timeout(now);
        }
    }

    /// Appends a datagram to `out`: the newest acknowledgements, the due messages, the oldest
    /// first, and what `body` writes, at most [`Link::body_budget_bits`]. It asks for an
    /// acknowledgement if there is a body, a message or a ping. `body` receives the table of the
    /// datagrams before this one, and returns the payload of this one.
    ///
    /// # Panics
    /// If `body` writes more than that.
    pub fn write_datagram(
        &mut self,
        now: LocalTime,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Writer<'_>, &SentPackets<P>) -> P,
    ) -> WrittenDatagram {
        self.write(now, out, true, body)
    }

    /// As [`Link::write_datagram`], but the body asks for no acknowledgement: for data that is
    /// repeated anyway, such as inputs. The outcome of such a datagram is reported only if an
    /// acknowledgement happens to include it.
    pub fn write_datagram_without_ack_request(
        &mut self,
        now: LocalTime,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Writer<'_>, &SentPackets<P>) -> P,
    ) -> WrittenDatagram {
        self.write(now, out, false, body)
    }

    /// How many bits the body of a datagram written at this same `now` may have. At least 8 times
    /// [`MIN_BODY_BYTES`] without a budget or with enough of it; otherwise it may be too little for
    /// any content, and then the owner writes no body.
    pub fn body_budget_bits(&mut self, now: LocalTime) -> usize {
        self.handle_timeout(now);
        self.pick_messages(now);
        let taken = self.bits_before_body(now);
        self.messages.0.clear();
        (8 * self.config.max_datagram).min(self.game_bits(now)).saturating_sub(taken)
    }

    /// Sets how many bytes a second may leave from now on, at least 4,000. Gives a link without a
    /// budget one.
    pub fn set_budget(&mut self, now: LocalTime, bytes_per_s: u32) {
        if let Some(budget) = &mut self.budget {
            return budget.set_limit(now, bytes_per_s);
        }
        let mut budget = Budget::new(BudgetConfig { bytes_per_s, ..BudgetConfig::default() });
        budget.set_shares_with_slices(now, self.sender.is_some());
        self.budget = Some(Box::new(budget));
    }

    /// Whether a datagram should leave although there is no body for one: messages, slices, an
    /// acknowledgement or a ping are due, and the budget allows for it.
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
                && self.can_afford(TrafficClass::Slices, transmit::MAX_SLICE_DATAGRAM, now)
    }

    /// What this end has received and queued until now.
    pub fn confirmation_mark(&self) -> ConfirmationMark {
        ConfirmationMark {
            received: self.received_numbers.numbers(),
            next_message: self.reliable_queue.next_id(),
        }
    }

    /// From now on, datagrams acknowledge only what had arrived at a mark, and carry only messages
    /// that had been queued. For an owner that may still forget what came later. The peer repeats
    /// meanwhile what is not acknowledged. A mark is valid until the peer has sent 8,192 more
    /// datagrams.
    pub fn limit_confirmations(&mut self, now: LocalTime, limit: ConfirmationLimit) {
        let (received, held_from) = match limit {
            ConfirmationLimit::Everything => (None, None),
            ConfirmationLimit::UpTo(mark) => (Some(mark.received), Some(mark.next_message)),
            ConfirmationLimit::Nothing => {
                self.reliable_queue.hold_all();
                return self.received_numbers.set_limit(now, Some(NumberSet::default()));
            }
        };
        self.received_numbers.set_limit(now, received);
        self.reliable_queue.hold_from(held_from);
    }

    /// When to call [`Link::handle_timeout`], and [`Link::write_datagram`] if the link then wants
    /// to send. In the past if it wants to send now.
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
            due.max(self.affordable_at(TrafficClass::Slices, transmit::MAX_SLICE_DATAGRAM))
        });
        [messages, bare, slice, self.sent_packets.loss_deadline(&self.rtt)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether what has a time of effect should be sent twice, in two datagrams: the path loses
    /// some of them ([`LinkConfig::copies`]).
    pub fn makes_copies(&self) -> bool {
        self.config.copies && self.line_loss.is_lossy()
    }

    /// Whether the peer says something only now and then, and is asked more rarely; see
    /// [`PingSchedule`].
    pub fn is_peer_quiet(&self) -> bool {
        self.pings.is_peer_quiet()
    }

    /// Progress of the block that is being received.
    pub fn incoming_block_progress(&self) -> Option<ChunkProgress> {
        self.receiver.as_ref()?.progress()
    }

    /// Progress of the block that is being sent.
    pub fn outgoing_block_progress(&self) -> Option<ChunkProgress> {
        self.sender.as_ref()?.progress()
    }

    /// Whether the peer waits for an acknowledgement that the next datagram would carry. An owner
    /// that is about to write a datagram soon can write it now. The link sends the acknowledgement
    /// on its own at [`LinkConfig::ack_delay`].
    pub fn is_ack_pending(&self) -> bool {
        self.received_numbers.owes_ack()
    }

    /// The number of the next datagram. Numbers count on where [`Seq`] wraps around; both ends give
    /// a datagram the same number as long as [`LinkConfig::first_seq`] is 0.
    pub fn next_number(&self) -> u64 {
        self.sent_packets.next()
    }

    /// Our recent datagrams, with their payloads and outcomes.
    pub fn sent_packets(&self) -> &SentPackets<P> {
        &self.sent_packets
    }

    /// The number of the peer's datagram that was processed last: the current one when
    /// [`Link::handle_datagram`] returned a body.
    pub fn last_received_number(&self) -> Option<u64> {
        self.received_numbers.last()
    }

    /// The next event, in order; `None` when all were returned.
    pub fn poll_event(&mut self) -> Option<LinkEvent<P>> {
        self.events.pop_front()
    }

    /// The counters and measurements since the start.
    pub fn stats(&self) -> LinkStats {
        let mut stats = LinkStats {
            rtt_ms: millis(self.rtt.smoothed()),
            ping_ms: self.pings.round_trip().map(millis),
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

    fn can_afford(&self, class: TrafficClass, length: usize, now: LocalTime) -> bool {
        self.budget
            .as_ref()
            .is_none_or(|budget| budget.available(class, now) >= budget.cost(length))
    }

    fn affordable_at(&self, class: TrafficClass, length: usize) -> LocalTime {
        self.budget
            .as_ref()
            .map_or(LocalTime::ZERO, |budget| budget.affordable_at(class, budget.cost(length)))
    }

    fn slice_due_at(&self) -> Option<LocalTime> {
        self.sender.as_ref()?.due_at(self.rtt.smoothed(), self.budget.is_some())
    }

    /// Queues an event. Drops a datagram's outcome when too many events wait.
    fn queue_event(&mut self, event: LinkEvent<P>) {
        let is_outcome = matches!(event, LinkEvent::Acked(..) | LinkEvent::Lost(..));
        if is_outcome && self.events.len() >= 2 * MAX_EVENTS {
            // This happens only if the owner writes and never polls, and only for outcomes of
            // datagrams. Messages are kept, since the peer already has their acknowledgement.
            self.stats.overrun += 1;
            return;
        }
        self.events.push_back(event);
    }
}

/// Length of a datagram with a message of `bits` bits and no body.
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
pub(crate) mod tests;
