//! A link, and all that a peer or the network can do to it.
//!
//! The link under test talks to a correct peer. Datagrams between them may be lost or changed, and
//! forged bytes come in as well. Checks: each datagram has at most one outcome (acknowledged or
//! lost), and the peer can read all that the link writes as long as no forged bytes came in (QUIC
//! ensures that in production).

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::ids::Seq;
use ambit_proto::link::{Link, LinkConfig, LinkEvent, MAX_DATAGRAM, MAX_MESSAGE};
use ambit_proto::time::LocalTime;
use bytes::Bytes;

use super::Reached;
use super::choices::{Choices, put_bytes};

/// Runs a link as a state machine.
pub fn link(data: &[u8]) -> Reached {
    let mut choices = Choices::new(data);
    let mut pair = Pair::new();
    while !choices.is_over() {
        let step = choices.below(STEPS);
        match step {
            WAIT => pair.now += Duration::from_millis(choices.word().into()),
            RAW => {
                pair.received_only_peer = false;
                pair.deliver(choices.bytes());
            }
            RECEIVE => pair.receive(|_| {}),
            RECEIVE_CORRUPTED => {
                let at = choices.word();
                let patch = choices.bytes();
                pair.received_only_peer = false;
                pair.receive(|datagram| corrupt(datagram, at, patch));
            }
            SEND => pair.send(choices.word(), true),
            SEND_LOST => pair.send(choices.word(), false),
            SEND_PULSE => pair.send_pulse(),
            BLOCK | PEER_BLOCK => {
                let block = Bytes::from(vec![choices.byte(); 1 + 4 * usize::from(choices.word())]);
                let link = if step == BLOCK { &mut pair.link } else { &mut pair.peer };
                let _ = link.send_block(pair.now, block);
            }
            BUDGET => pair.link.set_budget(pair.now, 64 * u32::from(choices.word())),
            QUEUE => {
                let message = Bytes::copy_from_slice(truncated(choices.bytes()));
                let useful =
                    Some(pair.now + Duration::from_secs(1)).filter(|_| choices.below(2) == 1);
                let _ = pair.link.send_reliable(pair.now, message, useful);
            }
            _ => {
                let _ = pair.peer.send_reliable(
                    pair.now,
                    Bytes::copy_from_slice(truncated(choices.bytes())),
                    None,
                );
            }
        }
        pair.poll();
    }
    pair.reached
}

const STEPS: u8 = 12;
const WAIT: usize = 0;
const RAW: usize = 1;
const RECEIVE: usize = 2;
const RECEIVE_CORRUPTED: usize = 3;
const SEND: usize = 4;
const SEND_LOST: usize = 5;
const QUEUE: usize = 6;
const SEND_PULSE: usize = 7;
const BLOCK: usize = 8;
const PEER_BLOCK: usize = 9;
const BUDGET: usize = 10;
const PEER_QUEUES: u8 = 11;

struct Pair {
    now: LocalTime,
    link: Link,
    peer: Link,
    /// Datagrams that the link has written; `outcomes` has the indices of those with an outcome.
    written: usize,
    /// Whether only datagrams of the peer came in. Otherwise the link may acknowledge what the peer
    /// never sent, which the peer rejects.
    received_only_peer: bool,
    outcomes: BTreeSet<usize>,
    reached: Reached,
}

impl Pair {
    fn new() -> Self {
        Pair {
            now: LocalTime::from_millis(1_000),
            link: Link::new(symmetric_config()),
            peer: Link::new(symmetric_config()),
            written: 0,
            received_only_peer: true,
            outcomes: BTreeSet::new(),
            reached: Reached::new(),
        }
    }

    /// The peer writes a datagram; the link receives it after `change` has changed it.
    fn receive(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut datagram = Vec::new();
        self.peer.write_datagram(self.now, &mut datagram, |_, _| {});
        change(&mut datagram);
        self.deliver(&datagram);
    }

    fn deliver(&mut self, datagram: &[u8]) {
        if self.link.handle_datagram(self.now, datagram).is_err() {
            self.reached.insert("a refused datagram");
        }
    }

    /// The link writes a datagram with a body of this size; the peer receives it if `arrives`.
    fn send(&mut self, body_bits: u16, arrives: bool) {
        let budget = self.link.body_budget_bits(self.now);
        let bits = usize::from(body_bits).min(budget);
        let mut datagram = Vec::new();
        let written = self.link.write_datagram(self.now, &mut datagram, |writer, _| {
            writer.append(&[0x5a; 1_200], bits);
        });
        assert!(datagram.len() <= MAX_DATAGRAM, "{} bytes", datagram.len());
        assert_eq!(written.seq, Seq(self.written as u16));
        self.written += 1;
        if arrives {
            self.deliver_to_peer(&datagram);
        }
    }

    fn deliver_to_peer(&mut self, datagram: &[u8]) {
        let result = self.peer.handle_datagram(self.now, datagram).map(|_| ());
        assert!(
            result.is_ok() || !self.received_only_peer,
            "the peer cannot read a datagram of the link: {result:?}"
        );
    }

    /// The link writes a body that asks for no acknowledgement; it arrives.
    fn send_pulse(&mut self) {
        let mut datagram = Vec::new();
        self.link.write_datagram_without_ack_request(self.now, &mut datagram, |writer, _| {
            writer.append(&[7], 8);
        });
        self.written += 1;
        self.deliver_to_peer(&datagram);
    }

    fn poll(&mut self) {
        self.link.handle_timeout(self.now);
        self.peer.handle_timeout(self.now);
        let _ = (self.link.wants_to_send(self.now), self.link.next_deadline(), self.link.stats());
        while let Some(event) = self.link.poll_event() {
            self.reached.extend(match event {
                LinkEvent::Acked(..) => Some("an acknowledgement"),
                LinkEvent::Lost(..) => Some("a loss"),
                LinkEvent::Block(_) => Some("a block"),
                LinkEvent::Message(_) => Some("a message"),
                _ => None,
            });
            match event {
                LinkEvent::Acked(seq, ()) | LinkEvent::Lost(seq, ()) => {
                    let back =
                        usize::from(seq.distance_to(Seq(self.written as u16)).cast_unsigned());
                    assert!(
                        (1..=self.written).contains(&back),
                        "outcome of {seq:?}, with {} datagrams written",
                        self.written
                    );
                    assert!(
                        self.outcomes.insert(self.written - back),
                        "{seq:?} has a second outcome"
                    );
                }
                LinkEvent::Block(block) => assert!(!block.is_empty() && block.len() <= 4 * 65_536),
                LinkEvent::Message(message) => assert!(message.len() <= MAX_MESSAGE),
                _ => {}
            }
        }
        while self.peer.poll_event().is_some() {}
    }
}

/// The features of both ends: budget, pings, blocks.
fn symmetric_config() -> LinkConfig {
    LinkConfig { budget: LinkConfig::server().budget, ..LinkConfig::client() }
}

/// Overwrites part of a datagram with `patch`, or appends it.
fn corrupt(datagram: &mut Vec<u8>, at: u16, patch: &[u8]) {
    let at = usize::from(at) % (datagram.len() + 1);
    let end = (at + patch.len()).min(datagram.len());
    datagram.splice(at..end, patch.iter().copied());
}

fn truncated(message: &[u8]) -> &[u8] {
    &message[..message.len().min(MAX_MESSAGE)]
}

/// An exchange without faults, one with losses and silence, one with a faulty peer.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let wait = |ms: u16| [vec![WAIT as u8], ms.to_le_bytes().to_vec()].concat();
    let with_bits =
        |step: usize, bits: u16| [vec![step as u8], bits.to_le_bytes().to_vec()].concat();
    let queue = |step: u8, message: &[u8]| {
        let mut input = vec![step];
        put_bytes(&mut input, message);
        if step == QUEUE as u8 {
            input.push(0);
        }
        input
    };
    let exchange = [
        queue(QUEUE as u8, b"up"),
        with_bits(SEND, 300),
        queue(PEER_QUEUES, b"down"),
        vec![RECEIVE as u8],
        wait(50),
    ];
    let losses = [
        queue(QUEUE as u8, &[7; 400]),
        with_bits(SEND_LOST, 0),
        wait(400),
        with_bits(SEND, 9_000),
        vec![RECEIVE as u8],
    ];
    let corrupted = |at: u16, patch: &[u8]| {
        let mut input = [vec![RECEIVE_CORRUPTED as u8], at.to_le_bytes().to_vec()].concat();
        put_bytes(&mut input, patch);
        input
    };
    let wrong = [
        with_bits(SEND, 10),
        corrupted(2, &[1, 0]),
        corrupted(0, &[0xff; 4]),
        queue(RAW as u8, &[0; 20]),
        wait(3_000),
    ];
    let block = |step: usize| vec![step as u8, 9, 0, 4];
    let blocks = [
        block(PEER_BLOCK),
        block(BLOCK),
        [vec![RECEIVE as u8], with_bits(SEND, 8), wait(20)].concat().repeat(40),
    ];
    let narrow =
        [vec![BUDGET as u8, 100, 0, 7], exchange.concat(), vec![SEND_PULSE as u8], wait(30)]
            .concat()
            .repeat(5);
    vec![
        blocks.concat(),
        narrow,
        exchange.concat().repeat(4),
        losses.concat().repeat(3),
        wrong.concat(),
    ]
}
