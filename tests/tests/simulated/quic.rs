//! Real QUIC on virtual time ([`ambit_tests::sim::quic`]): the endpoint of servers under loss, new
//! addresses, silent and greedy peers.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use ambit_endpoint::endpoint_core::{
    Admission, ConnectionKey, EndpointEvent, HANDSHAKE_WITHIN, StreamProblem,
};
use ambit_tests::sim::quic::{QuicLine, QuicNet, QuicNode, SERVER};
use ambit_transport::quic::IDLE_TIMEOUT;
use bytes::Bytes;
use quinn_proto::{ConnectionError, Dir, TransportErrorCode, VarInt};

const MS: Duration = Duration::from_millis(1);
const TICK: Duration = Duration::from_millis(50);

/// How a connection has ended, if it has.
fn lost(node: &QuicNode, key: ConnectionKey) -> Option<&ConnectionError> {
    node.events.iter().find_map(|event| match event {
        EndpointEvent::Lost(lost, reason) if *lost == key => Some(reason),
        _ => None,
    })
}

/// A crowd that comes over a bad line, and plays for some time.
fn play(seed: u64, clients: usize, line: QuicLine) -> QuicNet {
    let mut net = QuicNet::new(seed);
    net.line = line;
    let mut keys = Vec::new();
    for _ in 0..clients {
        keys.push(net.connect());
        net.run_for(3 * MS);
    }
    net.run_for(8_000 * MS);
    let mut server_keys = Vec::new();
    while let Some(key) = net.server().take_connected() {
        server_keys.push(key);
    }
    assert_eq!(server_keys.len(), clients, "seed {seed}");
    for tick in 0..20_u8 {
        for key in &server_keys {
            net.server().core.send_datagram(*key, Bytes::from(vec![tick; 400])).unwrap();
        }
        for (number, key) in &keys {
            net.nodes[*number].core.send_datagram(*key, Bytes::from(vec![tick; 8])).unwrap();
        }
        net.run_for(TICK);
    }
    net.run_for(200 * MS);
    net
}

#[test]
fn a_crowd_gets_in_and_plays_over_a_line_that_loses_a_tenth() {
    let line = QuicLine { delay: 30 * MS, jitter: 10 * MS, loss: 0.1 };
    let mut net = play(7, 30, line);
    let arrived = net.server().take_datagrams().len();
    assert!((500..=580).contains(&arrived), "{arrived} of 600 inputs");
    let clients = net.nodes.iter_mut().skip(1);
    let arrived: usize = clients.map(|client| client.take_datagrams().len()).sum();
    assert!((500..=580).contains(&arrived), "{arrived} of 600 datagrams");
}

#[test]
fn the_account_of_bytes_sums_to_what_is_on_the_wire() {
    for loss in [0.0, 0.1] {
        let mut net = play(8, 10, QuicLine { delay: 30 * MS, jitter: 10 * MS, loss });
        let (number, near, _) = net.connected();
        let streams = net.server().core.wire_bytes().received.streams;
        let now = net.now;
        let client = &mut net.nodes[number].core;
        let stream = client.open_stream(near, Dir::Bi).unwrap();
        assert_eq!(client.write(now, near, stream, &[7; 5_000]), Ok(5_000));
        net.run_for(2_000 * MS);
        for node in &net.nodes {
            let wire = node.core.wire_bytes();
            assert_eq!([wire.sent.packets, wire.sent.bytes()], node.sent);
            assert_eq!([wire.received.packets, wire.received.bytes()], node.arrived);
        }
        let server = *net.server().core.wire_bytes();
        // All that was given to it has left once: 400 bytes for each client and tick.
        assert_eq!(server.sent.contents, 10 * 20 * 400);
        assert!(server.received.streams - streams >= 5_000, "{server:?}");
        assert!(server.sent.handshakes > 10 * 1_000, "{server:?}");
        // Flags, eight bytes of connection id, a number, a tag, and the head of the frame.
        assert_eq!(server.sent.heads, 10 * 20 * (1 + 8 + 1 + 16 + 3));
        assert!(server.sent.acknowledgements > 0 && server.received.acknowledgements > 0);
        let received = server.received.contents;
        let inputs = net.server().take_datagrams().iter().map(Vec::len).sum::<usize>();
        assert_eq!(received, inputs as u64);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_the_wire() {
    let line = QuicLine { delay: 30 * MS, jitter: 10 * MS, loss: 0.1 };
    let traffic = |seed| play(seed, 5, line).traffic();
    assert_eq!(traffic(1), traffic(1));
    assert_ne!(traffic(1), traffic(2));
}

#[test]
fn a_server_s_ticks_carry_its_acknowledgements() {
    let mut net = QuicNet::new(3);
    let (number, near, far) = net.connected();
    net.run_for(2_000 * MS);
    let before = net.server().sent[0];
    // The inputs come in the middle between two ticks.
    for _ in 0..100 {
        net.server().core.send_datagram(far, Bytes::from(vec![1; 400])).unwrap();
        net.run_for(TICK / 2);
        net.nodes[number].core.send_datagram(near, Bytes::from(vec![2; 8])).unwrap();
        net.run_for(TICK / 2);
    }
    let packets = net.server().sent[0] - before;
    assert!(packets <= 102, "{packets} packets for 100 ticks");
    assert_eq!(net.server().take_datagrams().len(), 100);
}

#[test]
fn a_client_that_changes_its_address_goes_on() {
    let mut net = QuicNet::new(4);
    let (number, near, far) = net.connected();
    let home: SocketAddr = QuicNet::address_of(number);
    let street: SocketAddr = (Ipv4Addr::new(127, 2, 0, 1), 6_000).into();
    assert_eq!(net.server().core.remote_address(far), Some(home));
    net.nodes[number].address = street;
    for tick in 0..10 {
        net.nodes[number].core.send_datagram(near, Bytes::from(vec![tick; 8])).unwrap();
        net.server().core.send_datagram(far, Bytes::from(vec![tick; 400])).unwrap();
        net.run_for(TICK);
    }
    assert_eq!(net.server().core.remote_address(far), Some(street));
    assert_eq!(net.server().take_datagrams().len(), 10);
    // Those on the way to the old address are lost.
    let arrived = net.nodes[number].take_datagrams();
    assert!(arrived.len() >= 8 && arrived.last() == Some(&vec![9; 400]), "{}", arrived.len());
    assert!(lost(net.server(), far).is_none());
}

#[test]
fn an_address_that_is_not_proven_gets_at_most_thrice_what_it_sent() {
    let mut net = QuicNet::new(5);
    let (number, _) = net.connect();
    // The answers never reach the one in whose name it asks.
    net.dark = Some(QuicNet::address_of(number));
    net.run_for(HANDSHAKE_WITHIN + IDLE_TIMEOUT);
    let [server, client] = [0, number].map(|node| (net.nodes[node].arrived, net.nodes[node].sent));
    assert!(client.1[0] > 2, "the client repeats its question");
    let (asked, answered) = (server.0[1], server.1[1]);
    assert!(answered > 0 && answered <= 3 * asked, "{answered} bytes for {asked}");
    assert_eq!(net.server().core.open_connections(), 0);
}

#[test]
fn a_peer_that_falls_silent_is_lost_after_the_idle_timeout() {
    let mut net = QuicNet::new(6);
    let (number, near, far) = net.connected();
    net.nodes[number].core.send_datagram(near, Bytes::from_static(b"last")).unwrap();
    net.run_for(30 * MS);
    net.nodes[number].address = (Ipv4Addr::new(127, 9, 9, 9), 1).into();
    net.dark = Some(SERVER);
    net.run_for(IDLE_TIMEOUT.saturating_sub(500 * MS));
    assert_eq!(lost(net.server(), far), None);
    net.run_for(1_000 * MS);
    assert_eq!(lost(net.server(), far), Some(&ConnectionError::TimedOut));
    assert_eq!(net.server().core.open_connections(), 0);
    assert_eq!(net.server().core.next_deadline(), None, "nothing is left of it");
}

#[test]
fn a_handshake_that_is_kept_open_is_given_up() {
    let mut net = QuicNet::new(8);
    net.connect();
    let mut is_begun = false;
    // The client hears nothing, and what it repeats keeps the connection from being idle.
    net.dark = Some(QuicNet::address_of(1));
    for _ in 0..120 {
        net.run_for(100 * MS);
        is_begun |= net.server().core.open_connections() == 1;
    }
    assert!(is_begun);
    let ends = net.server().events.iter().filter(|event| matches!(event, EndpointEvent::Lost(..)));
    assert_eq!(ends.count(), 1);
}

#[test]
fn a_crowded_server_lets_in_those_who_prove_their_address() {
    let mut net = QuicNet::new(9);
    net.admit = |peer| if peer.may_retry { Admission::Retry } else { Admission::Accept };
    let (_, _, far) = net.connected();
    assert!(lost(net.server(), far).is_none());
    net.admit = |_| Admission::Refuse;
    let (number, key) = net.connect();
    net.run_for(500 * MS);
    let Some(ConnectionError::ConnectionClosed(close)) = lost(&net.nodes[number], key) else {
        panic!("{:?}", net.nodes[number].events)
    };
    assert_eq!(close.error_code, TransportErrorCode::CONNECTION_REFUSED);
    assert_eq!(net.server().core.open_connections(), 1);
}

#[test]
fn a_reader_that_stops_reading_holds_up_its_own_stream_alone() {
    let mut net = QuicNet::new(10);
    let (number, near, far) = net.connected();
    let now = net.now;
    let stream = net.nodes[number].core.open_stream(near, Dir::Bi).unwrap();
    assert_eq!(net.nodes[number].core.write(now, near, stream, b"hello"), Ok(5));
    net.run_for(100 * MS);
    let now = net.now;
    assert_eq!(net.server().core.accept_stream(far, Dir::Bi), Ok(stream));
    assert_eq!(net.server().core.read(now, far, stream, 100), Ok(Some("hello".into())));
    assert_eq!(net.server().core.read(now, far, stream, 100), Err(StreamProblem::Blocked));
    let mut taken = 0;
    for _ in 0..100 {
        let now = net.now;
        match net.server().core.write(now, far, stream, &[7; 16 << 10]) {
            Ok(count) => taken += count,
            Err(problem) => assert_eq!(problem, StreamProblem::Blocked),
        }
        net.server().core.send_datagram(far, Bytes::from_static(b"tick")).unwrap();
        net.run_for(TICK);
    }
    assert!((256 << 10..=512 << 10).contains(&taken), "{taken} bytes wait");
    assert_eq!(net.nodes[number].take_datagrams().len(), 100);
    // Once it reads, all of it comes, and more is taken.
    let mut read = 0;
    while read < taken {
        let now = net.now;
        match net.nodes[number].core.read(now, near, stream, 64 << 10) {
            Ok(Some(bytes)) => read += bytes.len(),
            Err(StreamProblem::Blocked) => net.run_for(10 * MS),
            other => panic!("{other:?} after {read} bytes"),
        }
    }
    net.run_for(100 * MS);
    let now = net.now;
    assert!(net.server().core.write(now, far, stream, b"more").is_ok());
}

#[test]
fn a_close_brings_its_code_and_reason_and_what_was_sent_before() {
    let mut net = QuicNet::new(11);
    let (number, near, far) = net.connected();
    let now = net.now;
    let stream = net.nodes[number].core.open_stream(near, Dir::Bi).unwrap();
    net.nodes[number].core.write(now, near, stream, b"hello").unwrap();
    net.run_for(100 * MS);
    let now = net.now;
    net.server().core.accept_stream(far, Dir::Bi).unwrap();
    net.server().core.write(now, far, stream, b"last words").unwrap();
    net.run_for(100 * MS);
    let now = net.now;
    let reason = Bytes::from_static(b"kicked: out");
    net.server().core.close(now, far, VarInt::from_u32(9), reason.clone());
    assert_eq!(lost_after_collecting(&mut net, 0, far), Some(ConnectionError::LocallyClosed));
    net.run_for(30 * MS);
    let Some(ConnectionError::ApplicationClosed(close)) = lost(&net.nodes[number], near).cloned()
    else {
        panic!("{:?}", net.nodes[number].events)
    };
    assert_eq!((close.error_code, close.reason), (VarInt::from_u32(9), reason));
    let now = net.now;
    let read = net.nodes[number].core.read(now, near, stream, 100);
    assert_eq!(read, Ok(Some("last words".into())));
    let read = net.nodes[number].core.read(now, near, stream, 100);
    assert_eq!(read, Err(StreamProblem::Lost));
    net.run_for(3_000 * MS);
    assert_eq!(net.nodes.iter().map(|node| node.core.open_connections()).sum::<usize>(), 0);
    // A key is never used for another connection.
    let (_, _, next) = net.connected();
    assert_ne!(next, far);
    assert!(net.server().core.send_datagram(far, Bytes::new()).is_err());
}

fn lost_after_collecting(
    net: &mut QuicNet,
    node: usize,
    key: ConnectionKey,
) -> Option<ConnectionError> {
    net.run_for(MS);
    lost(&net.nodes[node], key).cloned()
}

#[test]
fn packets_of_any_bytes_cost_a_server_nothing_that_lasts() {
    let mut net = QuicNet::new(12);
    let (_, _, far) = net.connected();
    let mut rng = fastrand::Rng::with_seed(12);
    for number in 0..3_000_u32 {
        let mut bytes = vec![0; rng.usize(0..1_300)];
        rng.fill(&mut bytes);
        if let Some(first) = bytes.first_mut() {
            // Half of them look like the packets of a connection that begins.
            *first = if number % 2 == 0 { 0xc0 | *first } else { 0x40 | *first };
        }
        if number % 4 == 0 && bytes.len() > 5 {
            bytes[1..5].copy_from_slice(&[0, 0, 0, 1]);
        }
        let port = 1_000 + (number % 50) as u16;
        net.inject((Ipv4Addr::new(127, 3, 0, 1), port).into(), SERVER, bytes);
        if number % 100 == 0 {
            net.run_for(50 * MS);
        }
    }
    net.run_for(HANDSHAKE_WITHIN + IDLE_TIMEOUT);
    assert_eq!(net.server().core.open_connections(), 1);
    assert!(lost(net.server(), far).is_none());
}
