//! QUIC on virtual time: real handshakes, streams and datagrams of `EndpointCore`s over a simulated
//! line, from one seed.
//!
//! A [`QuicNet`] has one server and any number of clients. Packets wait in one queue, ordered by
//! the time of their arrival; the clock jumps from packet to packet and from timer to timer. The
//! same seed and the same calls give the same bytes at the same times ([`QuicNet::traffic`]).

mod seeded_tls;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use ambit_endpoint::endpoint_core::{
    Admission, AskingPeer, ConnectionKey, EndpointCore, EndpointEvent, ReceivedPacket,
};
use ambit_endpoint::packets::Packets;
use ambit_transport::quic::Fingerprint;
use bytes::BytesMut;
use fastrand::Rng;
use quinn_proto::ServerConfig;

use self::seeded_tls::SeededBytes;

/// Where the server is.
pub const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4_433);

/// How the line treats packets, each way.
#[derive(Clone, Copy, Debug)]
pub struct QuicLine {
    pub delay: Duration,
    /// Further delay, up to this.
    pub jitter: Duration,
    /// The share of packets that are lost.
    pub loss: f64,
}

impl Default for QuicLine {
    fn default() -> Self {
        Self { delay: Duration::from_millis(20), jitter: Duration::ZERO, loss: 0.0 }
    }
}

/// An endpoint of the simulation.
pub struct QuicNode {
    pub core: EndpointCore,
    /// Where its packets come from. May be changed, as by a phone that leaves a house.
    pub address: SocketAddr,
    /// Connections whose handshakes have begun, and what has happened, since the test has looked.
    pub accepted: Vec<ConnectionKey>,
    pub events: Vec<EndpointEvent>,
    /// Packets and bytes that it has sent, and that have reached it.
    pub sent: [u64; 2],
    pub arrived: [u64; 2],
    /// Kept for its memory.
    packets: Packets,
}

struct Flight {
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// See the module.
pub struct QuicNet {
    pub now: Instant,
    /// The server's, and each client's.
    pub nodes: Vec<QuicNode>,
    pub line: QuicLine,
    /// How the server answers those who ask for a connection.
    pub admit: fn(AskingPeer) -> Admission,
    /// Packets that reach this address are dropped.
    pub dark: Option<SocketAddr>,
    began: Instant,
    rng: Rng,
    seed: u64,
    flying: BTreeMap<(Instant, u64), Flight>,
    flights: u64,
    server: Fingerprint,
    traffic: u64,
}

impl QuicNet {
    /// A server without clients.
    #[expect(clippy::disallowed_methods, reason = "an origin; only differences count")]
    pub fn new(seed: u64) -> Self {
        let now = Instant::now();
        let random = SeededBytes::new(seed);
        let (config, server) = seeded_tls::server_config(&random);
        let node = QuicNode::new(now, SERVER, &random, Some(config));
        Self {
            now,
            nodes: vec![node],
            line: QuicLine::default(),
            admit: |_| Admission::Accept,
            dark: None,
            began: now,
            rng: Rng::with_seed(!seed),
            seed,
            flying: BTreeMap::new(),
            flights: 0,
            server,
            traffic: 0xcbf2_9ce4_8422_2325,
        }
    }

    pub fn server(&mut self) -> &mut QuicNode {
        &mut self.nodes[0]
    }

    /// A client that asks for a connection now. Its number and its key of the connection.
    pub fn connect(&mut self) -> (usize, ConnectionKey) {
        let number = self.nodes.len();
        let address = Self::address_of(number);
        let random = SeededBytes::new(self.seed ^ ((number as u64) << 32));
        let config = seeded_tls::client_config(&random, self.server);
        let mut node = QuicNode::new(self.now, address, &random, None);
        let key = node.core.connect(self.now, config, SERVER, "ambit").expect("a connection");
        self.nodes.push(node);
        (number, key)
    }

    /// A client whose connection is established, and the server's key of it.
    pub fn connected(&mut self) -> (usize, ConnectionKey, ConnectionKey) {
        let (number, key) = self.connect();
        for _ in 0..200 {
            self.run_for(Duration::from_millis(10));
            if let Some(of_server) = self.server().take_connected() {
                assert_eq!(self.nodes[number].take_connected(), Some(key));
                return (number, key, of_server);
            }
        }
        panic!("no connection within 2 s")
    }

    /// The first address of a client.
    pub fn address_of(number: usize) -> SocketAddr {
        let [high, low] = (number as u16).to_be_bytes();
        (Ipv4Addr::new(127, 1, high, low), 5_000).into()
    }

    /// The time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.now - self.began
    }

    /// A hash over all packets that were sent, with their times and addresses.
    pub fn traffic(&self) -> u64 {
        self.traffic
    }

    /// A packet that none of the endpoints has made.
    pub fn inject(&mut self, from: SocketAddr, to: SocketAddr, bytes: Vec<u8>) {
        self.fly(Flight { from, to, bytes });
    }

    /// Takes a packet that is under way off the line.
    pub fn take_flight(&mut self, index: usize) -> Option<Vec<u8>> {
        let key = *self.flying.keys().nth(index)?;
        self.flying.remove(&key).map(|flight| flight.bytes)
    }

    /// A packet that is under way arrives a second time.
    pub fn repeat_flight(&mut self, index: usize) {
        if let Some(Flight { from, to, bytes }) = self.flying.values().nth(index) {
            let flight = Flight { from: *from, to: *to, bytes: bytes.clone() };
            self.fly(flight);
        }
    }

    /// The bytes of a packet that is under way.
    pub fn flight_mut(&mut self, index: usize) -> Option<&mut Vec<u8>> {
        self.flying.values_mut().nth(index).map(|flight| &mut flight.bytes)
    }

    /// Lets time pass.
    pub fn run_for(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            for number in 0..self.nodes.len() {
                self.flush(number);
            }
            let arrival = self.flying.keys().next().map(|(at, _)| *at);
            let timers = self.nodes.iter().filter_map(|node| node.core.next_deadline());
            let next = timers.chain(arrival).min().filter(|next| *next <= until);
            let Some(next) = next else { break };
            self.now = self.now.max(next);
            while let Some(entry) = self.flying.first_entry()
                && entry.key().0 <= self.now
            {
                let flight = entry.remove();
                self.deliver(flight);
            }
            let now = self.now;
            for node in &mut self.nodes {
                if node.core.next_deadline().is_some_and(|deadline| deadline <= now) {
                    node.core.handle_timeout(now);
                    node.collect();
                }
            }
        }
        self.now = until;
    }

    fn deliver(&mut self, Flight { from, to, bytes }: Flight) {
        if self.dark == Some(to) {
            return;
        }
        let Some(node) = self.nodes.iter_mut().find(|node| node.address == to) else {
            return;
        };
        node.arrived[0] += 1;
        node.arrived[1] += bytes.len() as u64;
        let bytes = BytesMut::from(&bytes[..]);
        let packet = ReceivedPacket { from, to: None, mark: None, bytes };
        let accepted = node.core.handle_packet(self.now, packet, self.admit);
        node.accepted.extend(accepted);
        node.collect();
    }

    fn flush(&mut self, number: usize) {
        let mut packets = std::mem::take(&mut self.nodes[number].packets);
        loop {
            let node = &mut self.nodes[number];
            let is_more = node.core.write_packets(self.now, &mut packets);
            node.collect();
            let from = node.address;
            for (target, bytes) in packets.iter() {
                let node = &mut self.nodes[number];
                node.sent[0] += 1;
                node.sent[1] += bytes.len() as u64;
                self.fly(Flight { from, to: target.to, bytes: bytes.to_vec() });
            }
            packets.clear();
            if !is_more {
                break;
            }
        }
        self.nodes[number].packets = packets;
    }

    fn fly(&mut self, flight: Flight) {
        let at = self.elapsed().as_micros() as u64;
        let ports = [flight.from.port(), flight.to.port()].map(u16::to_le_bytes).concat();
        for byte in at.to_le_bytes().iter().chain(&ports).chain(&flight.bytes) {
            self.traffic = (self.traffic ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        if self.rng.f64() < self.line.loss {
            return;
        }
        let jitter = self.line.jitter.mul_f64(self.rng.f64());
        self.flights += 1;
        self.flying.insert((self.now + self.line.delay + jitter, self.flights), flight);
    }
}

impl QuicNode {
    fn new(
        now: Instant,
        address: SocketAddr,
        random: &SeededBytes,
        server: Option<ServerConfig>,
    ) -> Self {
        let config = seeded_tls::endpoint_config(random);
        Self {
            core: EndpointCore::new(now, config, server, true),
            address,
            accepted: Vec::new(),
            events: Vec::new(),
            sent: [0; 2],
            arrived: [0; 2],
            packets: Packets::default(),
        }
    }

    /// The key of the next connection that was established.
    pub fn take_connected(&mut self) -> Option<ConnectionKey> {
        let place =
            self.events.iter().position(|event| matches!(event, EndpointEvent::Connected(_)))?;
        match self.events.remove(place) {
            EndpointEvent::Connected(key) => Some(key),
            _ => None,
        }
    }

    /// The datagrams that have arrived since the last call.
    pub fn take_datagrams(&mut self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        self.events.retain(|event| match event {
            EndpointEvent::Datagram(_, bytes) => {
                found.push(bytes.to_vec());
                false
            }
            _ => true,
        });
        found
    }

    fn collect(&mut self) {
        while let Some(event) = self.core.poll_event() {
            self.events.push(event);
        }
    }
}
