//! A link and what a peer can do to it.
//!
//! The link under test talks to an honest one; between the two anything may happen to a datagram,
//! and bytes that nobody sent come in as well. Checked all the time: each datagram has one fate at
//! most, and the honest peer understands all that the link writes, as long as nothing forged came
//! in between (QUIC sees to that).

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::ids::Seq;
use ambit_proto::link::{Link, LinkConfig, LinkEvent, MAX_DATAGRAM, MAX_MESSAGE};
use ambit_proto::time::LocalTime;
use bytes::Bytes;

use super::choices::{Choices, put_bytes};

/// Datagrams into a link, as a state machine.
pub fn link(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut pair = Pair::new();
    while !choices.is_over() {
        let step = choices.below(STEPS);
        match step {
            WAIT => pair.now += Duration::from_millis(choices.word().into()),
            RAW => {
                pair.heard_only_peer = false;
                let _ = pair.link.handle_datagram(pair.now, choices.bytes());
            }
            RECEIVE => pair.receive(|_| {}),
            RECEIVE_CORRUPTED => {
                let (at, patch) = (choices.word(), choices.bytes());
                pair.heard_only_peer = false;
                pair.receive(|datagram| corrupt(datagram, at, patch));
            }
            SEND => pair.send(choices.word(), true),
            SEND_LOST => pair.send(choices.word(), false),
            SEND_PULSE => pair.send_pulse(),
            BLOCK | PEER_BLOCK => {
                let block = Bytes::from(vec![choices.byte(); 1 + 4 * usize::from(choices.word())]);
                let link = if step == BLOCK {
                    &mut pair.link
                } else {
                    &mut pair.peer
                };
                let _ = link.send_block(pair.now, block);
            }
            BUDGET => pair
                .link
                .set_budget(pair.now, 64 * u32::from(choices.word())),
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
    /// How many datagrams the link has written, and which of them have a fate.
    written: usize,
    /// Whether the link has heard nobody but the peer: else it acknowledges what the peer never
    /// sent, and the peer says so.
    heard_only_peer: bool,
    outcomes: BTreeSet<usize>,
}

impl Pair {
    fn new() -> Self {
        Pair {
            now: LocalTime::from_millis(1_000),
            link: Link::new(symmetric_config()),
            peer: Link::new(symmetric_config()),
            written: 0,
            heard_only_peer: true,
            outcomes: BTreeSet::new(),
        }
    }

    /// The peer writes; the link hears what `happens` to it on the way.
    fn receive(&mut self, happens: impl FnOnce(&mut Vec<u8>)) {
        let mut datagram = Vec::new();
        self.peer.write_datagram(self.now, &mut datagram, |_, _| {});
        happens(&mut datagram);
        let _ = self.link.handle_datagram(self.now, &datagram);
    }

    /// The link writes, with a body of some bits; the peer hears it or doesn't.
    fn send(&mut self, body_bits: u16, arrives: bool) {
        let budget = self.link.body_budget_bits(self.now);
        let bits = usize::from(body_bits).min(budget);
        let mut datagram = Vec::new();
        let seq = self
            .link
            .write_datagram(self.now, &mut datagram, |writer, _| {
                writer.append(&[0x5a; 1_200], bits)
            });
        assert!(datagram.len() <= MAX_DATAGRAM, "{} bytes", datagram.len());
        assert_eq!(seq, Seq(self.written as u16));
        self.written += 1;
        if arrives {
            self.deliver_to_peer(&datagram);
        }
    }

    fn deliver_to_peer(&mut self, datagram: &[u8]) {
        let heard = self.peer.handle_datagram(self.now, datagram).map(|_| ());
        assert!(
            heard.is_ok() || !self.heard_only_peer,
            "an honest peer does not understand the link: {heard:?}"
        );
    }

    /// The link writes a body that asks for no acknowledgement, and that arrives.
    fn send_pulse(&mut self) {
        let mut datagram = Vec::new();
        self.link
            .write_datagram_without_ack_request(self.now, &mut datagram, |writer, _| {
                writer.append(&[7], 8)
            });
        self.written += 1;
        self.deliver_to_peer(&datagram);
    }

    fn poll(&mut self) {
        self.link.handle_timeout(self.now);
        self.peer.handle_timeout(self.now);
        let _ = (
            self.link.wants_to_send(self.now),
            self.link.next_deadline(),
            self.link.stats(),
        );
        while let Some(event) = self.link.poll_event() {
            match event {
                LinkEvent::Acked(seq) | LinkEvent::LostLeader(seq) => {
                    let back =
                        usize::from(seq.distance_to(Seq(self.written as u16)).cast_unsigned());
                    assert!(
                        (1..=self.written).contains(&back),
                        "{seq:?} of {} has a fate",
                        self.written
                    );
                    assert!(
                        self.outcomes.insert(self.written - back),
                        "{seq:?} has a second fate"
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

/// All that a server's end does and all that a client's does: a budget, pings, blocks.
fn symmetric_config() -> LinkConfig {
    LinkConfig {
        budget: LinkConfig::server().budget,
        ..LinkConfig::client()
    }
}

/// Writes `patch` over a datagram, or behind it.
fn corrupt(datagram: &mut Vec<u8>, at: u16, patch: &[u8]) {
    let at = usize::from(at) % (datagram.len() + 1);
    let end = (at + patch.len()).min(datagram.len());
    datagram.splice(at..end, patch.iter().copied());
}

fn truncated(message: &[u8]) -> &[u8] {
    &message[..message.len().min(MAX_MESSAGE)]
}

/// A talk without faults, one with losses and silence, one in which the peer goes wrong.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let wait = |ms: u16| [vec![WAIT as u8], ms.to_le_bytes().to_vec()].concat();
    let say = |step: usize, bits: u16| [vec![step as u8], bits.to_le_bytes().to_vec()].concat();
    let queue = |step: u8, message: &[u8]| {
        let mut story = vec![step];
        put_bytes(&mut story, message);
        if step == QUEUE as u8 {
            story.push(0);
        }
        story
    };
    let talk = [
        queue(QUEUE as u8, b"up"),
        say(SEND, 300),
        queue(PEER_QUEUES, b"down"),
        vec![RECEIVE as u8],
        wait(50),
    ];
    let losses = [
        queue(QUEUE as u8, &[7; 400]),
        say(SEND_LOST, 0),
        wait(400),
        say(SEND, 9_000),
        vec![RECEIVE as u8],
    ];
    let spoilt = |at: u16, patch: &[u8]| {
        let mut story = [vec![RECEIVE_CORRUPTED as u8], at.to_le_bytes().to_vec()].concat();
        put_bytes(&mut story, patch);
        story
    };
    let wrong = [
        say(SEND, 10),
        spoilt(2, &[1, 0]),
        spoilt(0, &[0xff; 4]),
        queue(RAW as u8, &[0; 20]),
        wait(3_000),
    ];
    let block = |step: usize| vec![step as u8, 9, 0, 4];
    let blocks = [
        block(PEER_BLOCK),
        block(BLOCK),
        [vec![RECEIVE as u8], say(SEND, 8), wait(20)]
            .concat()
            .repeat(40),
    ];
    let narrow = [
        vec![BUDGET as u8, 100, 0, 7],
        talk.concat(),
        vec![SEND_PULSE as u8],
        wait(30),
    ]
    .concat()
    .repeat(5);
    vec![
        blocks.concat(),
        narrow,
        talk.concat().repeat(4),
        losses.concat().repeat(3),
        wrong.concat(),
    ]
}
