//! The endpoint of a server, and all that its peers and the network can do to it.
//!
//! Clients connect, use streams and datagrams, move to other addresses and fall silent; packets are
//! lost, repeated, reordered and changed, and packets of any bytes come in. Checks: each connection
//! has exactly one end, and nothing comes after it; once all is silent, no connection and no timer
//! is left.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use ambit_endpoint::endpoint_core::{Admission, ConnectionKey, EndpointEvent, HANDSHAKE_WITHIN};
use ambit_transport::quic::IDLE_TIMEOUT;
use bytes::Bytes;
use quinn_proto::{Dir, StreamId, VarInt};

use super::Reached;
use super::choices::{Choices, put_bytes};
use crate::sim::quic::{QuicNet, SERVER};

/// Clients at most: a handshake costs a signature.
const MOST_CLIENTS: usize = 4;
/// Steps at most.
const MOST_STEPS: usize = 200;

const STEPS: u8 = 13;
const WAIT: usize = 0;
const CONNECT: usize = 1;
const RAW: usize = 2;
const DROP: usize = 3;
const REPEAT: usize = 4;
const CHANGE: usize = 5;
const INPUT: usize = 6;
const DATAGRAM: usize = 7;
const WRITE: usize = 8;
const MOVE: usize = 9;
const ADMIT: usize = 10;
const CLOSE: usize = 11;

/// Runs an endpoint as a state machine.
pub fn endpoint(data: &[u8]) -> Reached {
    let mut choices = Choices::new(data);
    let mut run = EndpointRun::new();
    for _ in 0..MOST_STEPS {
        if choices.is_over() {
            break;
        }
        run.step(&mut choices);
        run.look();
    }
    run.end();
    run.reached
}

struct EndpointRun {
    net: QuicNet,
    clients: Vec<(usize, ConnectionKey)>,
    streams: Vec<(usize, ConnectionKey, StreamId)>,
    /// The server's connections.
    accepted: BTreeSet<ConnectionKey>,
    connected: Vec<ConnectionKey>,
    reached: Reached,
}

impl EndpointRun {
    fn new() -> Self {
        Self {
            net: QuicNet::new(1),
            clients: Vec::new(),
            streams: Vec::new(),
            accepted: BTreeSet::new(),
            connected: Vec::new(),
            reached: Reached::new(),
        }
    }

    fn step(&mut self, choices: &mut Choices<'_>) {
        let net = &mut self.net;
        match choices.below(STEPS) {
            WAIT => net.run_for(Duration::from_millis(choices.byte().into())),
            CONNECT => {
                if self.clients.len() < MOST_CLIENTS {
                    self.clients.push(net.connect());
                }
                net.run_for(Duration::from_millis(1));
            }
            RAW => {
                let from: SocketAddr =
                    (Ipv4Addr::new(127, 3, 0, 1), 1_000 + u16::from(choices.byte())).into();
                net.inject(from, SERVER, choices.bytes().to_vec());
            }
            DROP => drop(net.take_flight(choices.byte().into())),
            REPEAT => net.repeat_flight(choices.byte().into()),
            CHANGE => {
                let (flight, at) = (choices.byte(), choices.word());
                let patch = choices.bytes();
                if let Some(bytes) = net.flight_mut(flight.into()) {
                    let places = bytes.iter_mut().skip(at.into());
                    places.zip(patch).for_each(|(byte, new)| *byte = *new);
                }
            }
            INPUT => {
                if let Some((number, key)) = pick(&self.clients, choices.byte()) {
                    let bytes = Bytes::copy_from_slice(choices.bytes());
                    let _ = net.nodes[number].core.send_datagram(key, bytes);
                }
            }
            DATAGRAM => {
                if let Some(key) = pick(&self.connected, choices.byte()) {
                    let bytes = Bytes::from(vec![7; choices.word().into()]);
                    let _ = net.server().core.send_datagram(key, bytes);
                }
            }
            WRITE => self.write(choices.byte(), choices.bytes()),
            MOVE => {
                if let Some((number, _)) = pick(&self.clients, choices.byte()) {
                    net.nodes[number].address =
                        (Ipv4Addr::new(127, 2, 0, choices.byte()), 6_000).into();
                }
            }
            ADMIT => {
                net.admit = match choices.below(3) {
                    0 => |_| Admission::Accept,
                    1 => |_| Admission::Retry,
                    _ => |_| Admission::Refuse,
                }
            }
            CLOSE => {
                let now = net.now;
                if let Some(key) = pick(&self.connected, choices.byte()) {
                    let reason = Bytes::copy_from_slice(choices.bytes());
                    net.server().core.close(now, key, VarInt::from_u32(1), reason);
                }
            }
            _ => self.read(),
        }
    }

    /// A client writes to its stream, and opens one first if it has none.
    fn write(&mut self, client: u8, bytes: &[u8]) {
        let Some((number, key)) = pick(&self.clients, client) else { return };
        let (core, now) = (&mut self.net.nodes[number].core, self.net.now);
        let known = self.streams.iter().find(|(_, of, _)| *of == key);
        let stream = match known {
            Some((_, _, stream)) => *stream,
            None => match core.open_stream(key, Dir::Bi) {
                Ok(stream) => {
                    self.streams.push((number, key, stream));
                    stream
                }
                Err(_) => return,
            },
        };
        let _ = core.write(now, key, stream, bytes);
    }

    /// The server reads all streams, and answers.
    fn read(&mut self) {
        let now = self.net.now;
        for key in &self.connected {
            let core = &mut self.net.server().core;
            let Ok(stream) = core.accept_stream(*key, Dir::Bi) else { continue };
            self.reached.insert("a stream");
            while let Ok(Some(bytes)) = core.read(now, *key, stream, 1_000) {
                let _ = core.write(now, *key, stream, &bytes);
            }
        }
    }

    /// Takes the server's events.
    fn look(&mut self) {
        for key in std::mem::take(&mut self.net.server().accepted) {
            assert!(self.accepted.insert(key), "a key twice");
        }
        for event in std::mem::take(&mut self.net.server().events) {
            match event {
                EndpointEvent::Connected(key) => {
                    assert!(self.accepted.contains(&key));
                    self.reached.insert("a connection");
                    self.connected.push(key);
                }
                EndpointEvent::Lost(key, _) => {
                    assert!(self.accepted.remove(&key), "a second end");
                    self.reached.insert("an end");
                    self.connected.retain(|connected| *connected != key);
                }
                EndpointEvent::Datagram(key, _) => {
                    assert!(self.accepted.contains(&key), "a datagram after the end");
                    self.reached.insert("a datagram");
                }
                EndpointEvent::Readable(key, _)
                | EndpointEvent::Writable(key, _)
                | EndpointEvent::Finished(key, _)
                | EndpointEvent::Stopped(key, ..)
                | EndpointEvent::StreamsOpened(key, _)
                | EndpointEvent::StreamsAvailable(key, _) => {
                    assert!(self.accepted.contains(&key), "an event after the end");
                }
            }
        }
        let open = self.net.server().core.open_connections();
        assert!(open >= self.accepted.len(), "{open} connections");
    }

    /// All fall silent.
    fn end(&mut self) {
        self.net.dark = Some(SERVER);
        self.net.run_for(HANDSHAKE_WITHIN + 2 * IDLE_TIMEOUT);
        self.look();
        assert_eq!(self.net.server().core.open_connections(), 0);
        assert_eq!(self.accepted.len(), 0);
        assert_eq!(self.net.server().core.next_deadline(), None);
    }
}

fn pick<T: Copy>(of: &[T], choice: u8) -> Option<T> {
    of.get(usize::from(choice) % of.len().max(1)).copied()
}

/// A player who comes, plays and goes; one who moves and is put out; packets of strangers; a
/// crowded server.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let step = |step: usize, bytes: &[u8]| [&[step as u8], bytes].concat();
    let with = |step: usize, head: &[u8], bytes: &[u8]| {
        let mut input = [&[step as u8], head].concat();
        put_bytes(&mut input, bytes);
        input
    };
    let arrival = || [step(CONNECT, &[]), step(WAIT, &[200]), step(WAIT, &[200])].concat();
    let play = || {
        let write = with(WRITE, &[0], b"a ticket");
        let input = with(INPUT, &[0], b"forward");
        let read = step(STEPS as usize - 1, &[]);
        let down = step(DATAGRAM, &[0, 100, 0]);
        [write, step(WAIT, &[50]), read, input, down, step(WAIT, &[100])].concat()
    };
    let moved = [step(MOVE, &[0, 9]), play(), with(CLOSE, &[0], b"kicked")].concat();
    let faults = [
        with(INPUT, &[0], b"one"),
        step(WAIT, &[0]),
        step(REPEAT, &[0]),
        with(CHANGE, &[0, 4, 0], &[1, 2, 3]),
        with(INPUT, &[0], b"two"),
        step(DROP, &[0]),
        step(WAIT, &[100]),
    ];
    let stranger = with(RAW, &[3], &[0xc0, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x40, 9]);
    let crowded = [step(ADMIT, &[1]), step(CONNECT, &[]), step(WAIT, &[90])];
    let refused = [step(ADMIT, &[2]), step(CONNECT, &[]), step(WAIT, &[90])];
    vec![
        [arrival(), play()].concat(),
        [arrival(), play(), moved].concat(),
        [arrival(), faults.concat()].concat(),
        [stranger, step(WAIT, &[30])].concat(),
        [crowded.concat(), refused.concat()].concat(),
    ]
}
