//! Two links on an impaired path, in steps of a millisecond. Each step checks the guarantees of
//! [`crate::link`]: outcomes are reported once and in time, messages are delivered once, bodies
//! arrive with their datagram, and deadlines agree with `wants_to_send`.

use std::collections::{BTreeMap, BTreeSet};

use crate::impair::{Impairer, Impairment};
use crate::link::*;
use crate::wire::{Coder, Wire};

pub(super) fn path(loss: f32, delay_ms: u64, seed: u64) -> Impairment {
    Impairment { loss, delay: ms(delay_ms), seed, ..Impairment::default() }
}

pub(super) struct Pair {
    pub(super) ends: [End; 2],
    /// `paths[0]` leads away from `ends[0]`.
    pub(super) paths: [Impairer; 2],
    pub(super) now_ms: u64,
    /// By the time of arrival, then by the order of sending; to which end.
    in_flight: BTreeMap<(Duration, u64), (usize, Vec<u8>)>,
    deliveries: u64,
}

pub(super) struct End {
    pub(super) link: Link,
    /// How often it writes, at most, in milliseconds; 1 for one that reacts at once.
    pub(super) tick_ms: u64,
    /// Whether it writes a body every tick.
    pub(super) sends_bodies: bool,
    /// If set, it writes a body of at most this many bytes a tick, and then whatever else is due.
    pub(super) max_bodies: Option<usize>,
    /// Whether its bodies ask for no acknowledgement.
    pub(super) quiet: bool,
    /// Whether it acknowledges in the 32-bit form alone, as a simple client may. Only for an end
    /// without bodies and slices: its datagrams get longer.
    pub(super) acks_in_32_bits: bool,
    /// Its clock is ahead of the harness' by this.
    pub(super) clock_ahead: Duration,
    pub(super) sent: Vec<SentDatagram>,
    /// Number of each delivered message, in order, and when.
    pub(super) delivered: Vec<(u64, u64)>,
    delivered_numbers: BTreeSet<u64>,
    pub(super) pongs: Vec<LinkEvent>,
    /// Blocks that arrived, and when; and how many of its own are known to have arrived.
    pub(super) blocks: Vec<(Bytes, u64)>,
    pub(super) blocks_sent: usize,
    /// Messages of its own that were reported as acknowledged.
    pub(super) messages_acked: usize,
    first_seq: Seq,
    max_timeout: Duration,
    /// All older ones that asked for an acknowledgement have an outcome.
    settled: usize,
}

pub(super) struct SentDatagram {
    pub(super) at_ms: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) asks_for_ack: bool,
    pub(super) messages: Vec<u64>,
    pub(super) body_bytes: usize,
    pub(super) outcome: Option<LinkEvent>,
}

pub(super) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A message of `length` bytes that contains its number.
pub(super) fn message(number: u64, length: usize) -> Bytes {
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.resize(length.max(8), 0xa5);
    bytes.into()
}

fn number_of(message: &[u8]) -> u64 {
    u64::from_le_bytes(
        *message.first_chunk().expect("messages of the tests begin with their number"),
    )
}

impl Pair {
    /// A client that reacts at once, and a server that sends bodies 20 times a second.
    pub(super) fn client_and_server(impairment: Impairment) -> Self {
        let mut server = End::new(LinkConfig::default(), 50);
        server.sends_bodies = true;
        Self::new([End::new(LinkConfig::client(), 1), server], impairment)
    }

    pub(super) fn new(ends: [End; 2], impairment: Impairment) -> Self {
        let mut pair = Self {
            ends,
            paths: [Impairer::new(impairment), Impairer::new(impairment)],
            now_ms: 10_000,
            in_flight: BTreeMap::new(),
            deliveries: 0,
        };
        pair.set_path(impairment);
        pair
    }

    pub(super) fn set_path(&mut self, impairment: Impairment) {
        let back = Impairment { seed: impairment.seed ^ u64::MAX, ..impairment };
        self.paths = [Impairer::new(impairment), Impairer::new(back)];
    }

    pub(super) fn send(
        &mut self,
        from: usize,
        number: u64,
        length: usize,
        useful: Option<Duration>,
    ) {
        let now = self.ends[from].local(self.now_ms);
        let until = useful.map(|useful| now + useful);
        self.ends[from]
            .link
            .send_reliable(now, message(number, length), until)
            .expect("the queue has room");
    }

    pub(super) fn run(&mut self, duration: Duration) {
        for _ in 0..duration.as_millis() {
            self.step();
        }
    }

    /// Runs until all messages are delivered; returns how many milliseconds that took.
    pub(super) fn run_until_delivered(&mut self, from: usize, limit: Duration) -> u64 {
        let start = self.now_ms;
        while !self.ends[from].link.reliable_queue.is_empty() {
            self.step();
            assert!(
                ms(self.now_ms - start) < limit,
                "messages are stuck: {:?}",
                self.ends[from].link.stats()
            );
        }
        self.now_ms - start
    }

    pub(super) fn step(&mut self) {
        self.now_ms += 1;
        while let Some(entry) =
            self.in_flight.first_entry().filter(|entry| entry.key().0 <= ms(self.now_ms))
        {
            let (to, bytes) = entry.remove();
            let from = &self.ends[1 - to];
            let (seq, body) = from.seq_and_body(&bytes);
            self.ends[to].take(self.now_ms, &bytes, seq, body);
        }
        for from in 0..2 {
            for mut bytes in self.ends[from].act(self.now_ms) {
                if self.ends[from].acks_in_32_bits {
                    bytes = with_32_bit_ack(&bytes);
                }
                self.carry(from, &bytes);
            }
        }
    }

    fn carry(&mut self, from: usize, bytes: &[u8]) {
        let sent_at = LocalTime::from_millis(self.now_ms);
        for delay in self.paths[from].send(sent_at, bytes.len()) {
            self.deliveries += 1;
            self.in_flight
                .insert((ms(self.now_ms) + delay, self.deliveries), (1 - from, bytes.to_vec()));
        }
    }
}

impl End {
    pub(super) fn new(config: LinkConfig, tick_ms: u64) -> Self {
        Self {
            first_seq: config.first_seq,
            max_timeout: config.max_timeout,
            link: Link::new(config),
            tick_ms,
            sends_bodies: false,
            max_bodies: None,
            quiet: false,
            acks_in_32_bits: false,
            clock_ahead: Duration::ZERO,
            sent: Vec::new(),
            delivered: Vec::new(),
            delivered_numbers: BTreeSet::new(),
            pongs: Vec::new(),
            blocks: Vec::new(),
            blocks_sent: 0,
            messages_acked: 0,
            settled: 0,
        }
    }

    pub(super) fn local(&self, now_ms: u64) -> LocalTime {
        LocalTime::from_millis(now_ms) + self.clock_ahead
    }

    pub(super) fn acked(&self) -> usize {
        self.sent.iter().filter(|sent| matches!(sent.outcome, Some(LinkEvent::Acked(..)))).count()
    }

    fn take(&mut self, now_ms: u64, bytes: &[u8], seq: Seq, talked: bool) {
        let received_number =
            self.link.handle_datagram(self.local(now_ms), bytes).expect("well formed");
        if let Some(mut body) = received_number.filter(|_| talked) {
            let mut number = 0;
            body.u64(&mut number).expect("a body");
            assert_eq!(number, u64::from(seq.0), "the body of another datagram");
            let received_number =
                self.link.last_received_number().expect("a datagram was received");
            assert_eq!(received_number % 16_384, number % 16_384);
        }
        self.poll(now_ms);
    }

    /// The datagrams that are due: one, or with a budget or a block as many as the link wants to
    /// send.
    fn act(&mut self, now_ms: u64) -> Vec<Vec<u8>> {
        let now = self.local(now_ms);
        self.link.handle_timeout(now);
        self.poll(now_ms);
        let mut written = Vec::new();
        if self.wants(now) && now_ms.is_multiple_of(self.tick_ms) || self.is_body_due(now_ms) {
            written.push(self.write(now_ms, self.is_body_due(now_ms)));
        }
        self.check_all_settled(now_ms);
        let writes_more = self.link.budget.is_some() || self.link.sender.is_some();
        while writes_more && self.wants(now) {
            written.push(self.write(now_ms, false));
        }
        written
    }

    fn is_body_due(&self, now_ms: u64) -> bool {
        (self.sends_bodies || self.max_bodies.is_some()) && now_ms.is_multiple_of(self.tick_ms)
    }

    fn wants(&mut self, now: LocalTime) -> bool {
        self.link.handle_timeout(now);
        let wants = self.link.wants_to_send(now);
        let deadline = self.link.next_deadline();
        assert_eq!(
            deadline.is_some_and(|deadline| deadline <= now),
            wants,
            "the deadline is {deadline:?} at {now:?}"
        );
        wants
    }

    pub(super) fn write(&mut self, now_ms: u64, sends_bodies: bool) -> Vec<u8> {
        let now = self.local(now_ms);
        let mut bytes = Vec::new();
        let mut body_bits = 0;
        let budget = self.link.body_budget_bits(now);
        assert!(budget >= 8 * MIN_BODY_BYTES || self.link.budget.is_some());
        let most = self.max_bodies;
        let body = |writer: &mut Writer<'_>, sent: &SentPackets<()>| {
            if let Some(most) = most.filter(|_| sends_bodies) {
                body_bits = (8 * most).min(budget);
                writer.append(&[0x5a; MAX_DATAGRAM], body_bits);
            } else if sends_bodies {
                body_bits = budget;
                writer.bits(&mut u64::from(sent.next_seq().0), 64).expect("writing cannot fail");
                writer.append(&[0x5a; MAX_DATAGRAM], budget - 64);
            }
        };
        let number = self.link.next_number();
        let WrittenDatagram { seq, .. } = if self.quiet {
            self.link.write_datagram_without_ack_request(now, &mut bytes, body)
        } else {
            self.link.write_datagram(now, &mut bytes, body)
        };
        assert_eq!(seq, seq_of(number));
        let is_full = bytes.len() == MAX_DATAGRAM || !sends_bodies || most.is_some();
        assert!(bytes.len() <= MAX_DATAGRAM && is_full, "{} bytes", bytes.len());
        assert_eq!(seq, self.seq_of(self.sent.len()));
        let (header, messages) = parts(&bytes);
        let messages: Vec<_> = messages.0.iter().map(|message| number_of(&message.bytes)).collect();
        let ping = header.extras.is_some_and(|extras| extras.ping);
        let asks_for_ack =
            body_bits > 0 && !self.quiet || ping || !messages.is_empty() || has_slice(&bytes);
        assert_eq!(header.asks_for_ack, asks_for_ack);
        let at_ms = now_ms;
        let body_bytes = body_bits / 8;
        self.sent.push(SentDatagram {
            at_ms,
            bytes: bytes.clone(),
            asks_for_ack,
            messages,
            body_bytes,
            outcome: None,
        });
        self.poll(now_ms);
        bytes
    }

    fn poll(&mut self, now_ms: u64) {
        while let Some(event) = self.link.poll_event() {
            match event {
                LinkEvent::Acked(seq, ()) | LinkEvent::Lost(seq, ()) => {
                    let back = seq.distance_to(self.seq_of(self.sent.len()));
                    let sent = self
                        .sent
                        .len()
                        .checked_sub(back.cast_unsigned().into())
                        .expect("it was sent");
                    self.check_acked_set(u64::from(self.first_seq.0) + sent as u64, &event);
                    let before = self.sent[sent].outcome.replace(event.clone());
                    assert_eq!(before, None, "reported again: {event:?}");
                }
                LinkEvent::Message(bytes) => {
                    let number = number_of(&bytes);
                    assert!(
                        self.delivered_numbers.insert(number),
                        "message {number} is delivered again"
                    );
                    self.delivered.push((number, now_ms));
                }
                LinkEvent::MessageAcked(_) => self.messages_acked += 1,
                LinkEvent::Pong { .. } => self.pongs.push(event),
                LinkEvent::Block(block) => self.blocks.push((block, now_ms)),
                LinkEvent::BlockSent => self.blocks_sent += 1,
            }
        }
    }

    fn check_all_settled(&mut self, now_ms: u64) {
        while let Some(sent) = self.sent.get(self.settled) {
            if sent.outcome.is_none() && sent.asks_for_ack {
                let age = ms(now_ms - sent.at_ms);
                assert!(
                    age <= self.max_timeout,
                    "no outcome of datagram {} after {age:?}",
                    self.settled
                );
                return;
            }
            self.settled += 1;
        }
    }

    fn check_acked_set(&self, number: u64, event: &LinkEvent) {
        let acked_set = self.link.sent_packets.acked_set();
        let has = acked_set.is_some_and(|(newest, mask)| {
            newest == number
                || (number + 1..=number + 32).contains(&newest)
                    && mask >> (newest - number - 1) & 1 == 1
        });
        let is_old = acked_set.is_some_and(|(newest, _)| newest > number + 32);
        assert_eq!(has, matches!(event, LinkEvent::Acked(..)) && !is_old, "{event:?}");
    }

    fn seq_of(&self, sent: usize) -> Seq {
        Seq(self.first_seq.0.wrapping_add(sent as u16))
    }

    fn seq_and_body(&self, bytes: &[u8]) -> (Seq, bool) {
        let shown = parts(bytes).0.number;
        let number = shown.before(self.link.next_number()).expect("it was sent");
        (seq_of(number), bytes.len() == MAX_DATAGRAM && self.sends_bodies)
    }
}

/// The link's part of a datagram.
pub(super) fn parts(bytes: &[u8]) -> (DatagramHeader, Messages) {
    let (mut header, mut messages, mut reader) =
        (DatagramHeader::default(), Messages::default(), Reader::new(bytes));
    header.wire(&mut reader).expect("a header");
    if header.extras.is_some() {
        messages.wire(&mut reader).expect("messages");
    }
    (header, messages)
}

/// The datagram with its acknowledgement in the 32-bit form.
fn with_32_bit_ack(bytes: &[u8]) -> Vec<u8> {
    let mut header = DatagramHeader::default();
    let mut reader = Reader::new(bytes);
    header.wire(&mut reader).expect("a header");
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    let mut write = || {
        header.number.wire(&mut writer)?;
        writer.flag(&mut header.asks_for_ack)?;
        writer.bits(&mut if header.ack.is_some() { 0b100 } else { 0 }, 3)?;
        if let Some(ack) = &mut header.ack {
            writer.u32(&mut ack.earlier)?;
            ack.latest.wire(&mut writer)?;
        }
        writer.option(&mut header.extras)?;
        let mut bit = false;
        while reader.remaining_bits() > 0 {
            reader.flag(&mut bit)?;
            writer.flag(&mut bit)?;
        }
        Ok::<(), WireError>(())
    };
    write().expect("writing cannot fail");
    writer.finish();
    out
}

fn has_slice(bytes: &[u8]) -> bool {
    let (mut header, mut messages, mut reader) =
        (DatagramHeader::default(), Messages::default(), Reader::new(bytes));
    let mut set = None::<ReceivedSet>;
    let mut has_slice = false;
    header.wire(&mut reader).expect("a header");
    if header.extras.is_some() {
        messages.wire(&mut reader).expect("messages");
        reader.option(&mut set).expect("a set");
        reader.flag(&mut has_slice).expect("a flag");
    }
    has_slice
}
