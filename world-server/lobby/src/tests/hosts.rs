//! Hosts: which host gets a room, and the loss of hosts.

use ambit_host_protocol::generated::{self as messages, host_to_world, world_to_host};
use ambit_host_protocol::messages::HostMessage;
use ambit_host_protocol::stats::HostStats;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::world_to_client::Body;
use ambit_proto::time::LocalTime;
use ambit_transport::ticket::{TicketSigner, TicketVerifier};

use super::harness::{Client, EPOCH_UNIX_S, LobbyHarness, seconds, start};
use crate::{HostId, HostReport, LobbyConfig, Origin};

#[test]
fn a_host_is_configured_before_anything_else() {
    let mut harness = LobbyHarness::new();
    harness.lobby.handle_host_start(harness.now, HostId(1), Origin::Remote);
    harness.handle_outputs();
    let orders = harness.take_orders();
    let [(HostId(1), world_to_host::Body::Configure(configure))] = &orders[..] else {
        panic!("{orders:?}")
    };
    assert_eq!(
        (configure.version, configure.ticket_key.len(), configure.grace_ms),
        (ambit_host_protocol::VERSION, 32, 30_000)
    );
}

#[test]
fn each_kind_of_host_gets_its_own_way_to_be_given_up() {
    // Whether rooms are saved, the lease, and the time of silence after which it ends by itself.
    let cases = [
        (Origin::Embedded, false, (false, 0, 0)),
        (Origin::Embedded, true, (true, 0, 0)),
        (Origin::Child, false, (true, 0, 2_000)),
        (Origin::Remote, false, (true, 1_750, 0)),
    ];
    for (origin, keeps_rooms, expected) in cases {
        let mut harness = LobbyHarness::with(LobbyConfig { keeps_rooms, ..LobbyConfig::default() });
        harness.lobby.handle_host_start(harness.now, HostId(1), origin);
        harness.handle_outputs();
        let orders = harness.take_orders();
        let [(HostId(1), world_to_host::Body::Configure(configure))] = &orders[..] else {
            panic!("{orders:?}")
        };
        let limits = (configure.saves_rooms, configure.lease_ms, configure.silence_ms);
        assert_eq!(limits, expected, "{origin:?}");
    }
}

#[test]
fn a_room_goes_to_the_host_with_the_fewest_players_then_rooms() {
    let mut harness = LobbyHarness::unlimited();
    let clients: Vec<_> = (0..9).map(|number| harness.connect_as(&format!("p{number}"))).collect();
    let first = harness.host(1, 8);
    let second = harness.host(2, 8);
    assert_eq!(place_room(&mut harness, &clients[0..3]), first); // 3 players against 0.
    assert_eq!(place_room(&mut harness, &clients[3..5]), second); // 3 against 2.
    assert_eq!(place_room(&mut harness, &clients[5..6]), second); // 3 against 3, 1 room against 2.
    assert_eq!(place_room(&mut harness, &clients[6..7]), first); // 4 against 3.
    assert_eq!(place_room(&mut harness, &clients[7..8]), second); // 4 against 4, 2 rooms against 3.
    assert_eq!(place_room(&mut harness, &clients[8..9]), first);
}

#[test]
fn a_full_host_gets_no_room() {
    let mut harness = LobbyHarness::new();
    let clients: Vec<_> = (0..3).map(|number| harness.connect_as(&format!("p{number}"))).collect();
    let small = harness.host(1, 1);
    assert_eq!(place_room(&mut harness, &clients[0..1]), small);
    let large = harness.host(2, 2);
    assert_eq!(place_room(&mut harness, &clients[1..2]), large);
    assert_eq!(place_room(&mut harness, &clients[2..3]), large);
}

#[test]
fn players_of_a_lost_host_return_to_the_lobby_and_others_are_unaffected() {
    let mut harness = LobbyHarness::new();
    let clients = ["ann", "bob", "cid"].map(|name| harness.connect_as(name));
    let [ann, bob, cid] = &clients;
    let first = harness.host(1, 8);
    let second = harness.host(2, 8);
    let lost = harness.running_room_of(first, &[ann, bob]);
    let kept = harness.running_room_of(second, &[cid]);
    harness.lose_host(first, "killed by signal 9");
    for client in [ann, bob] {
        let (code, message) = harness.leave_reason(client);
        assert_eq!(code, ErrorCode::HostDied);
        assert!(
            message.contains(&lost.to_string()) && message.contains("killed by signal 9"),
            "{message}"
        );
    }
    assert_eq!(harness.events(cid), []);
    assert_eq!(harness.listed(ann).iter().map(|room| room.id).collect::<Vec<_>>(), [kept]);
    assert_eq!(harness.take_orders(), []);
    // They can start a room again.
    assert_eq!(place_room(&mut harness, &clients[0..2]), second);
}

#[test]
fn a_start_on_a_host_that_dies_is_answered() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    harness.room_of(&[&ann]);
    let number = harness.send(ann.conn, start());
    harness.lose_host(host, "killed");
    let answers = harness.answers_to(ann.conn, number);
    assert!(
        matches!(&answers[..], [Body::Error(error)] if error.code == ErrorCode::HostDied as i32),
        "{answers:?}"
    );
    assert_eq!(harness.leave_reason(&ann).0, ErrorCode::HostDied);
}

#[test]
fn host_messages_about_other_hosts_rooms_are_ignored() {
    let mut harness = LobbyHarness::new();
    let owner = harness.host(1, 8);
    let other = harness.host(2, 8);
    let ann = harness.connect_as("ann");
    let room = harness.running_room_of(owner, &[&ann]);
    let closed = messages::RoomClosed { room, ..messages::RoomClosed::default() };
    let out = messages::PlayerOut { room, player: ann.id, reason: 0, ..Default::default() };
    harness.send_from_host(other, host_to_world::Body::RoomClosed(closed));
    harness.send_from_host(other, host_to_world::Body::PlayerOut(out));
    harness.opened(other, room, None);
    harness.opened(owner, 999, None);
    harness.send_from_host(
        owner,
        host_to_world::Body::PlayerOut(messages::PlayerOut {
            room,
            player: 999,
            reason: 0,
            ..Default::default()
        }),
    );
    harness.send_from_host(
        owner,
        host_to_world::Body::RoomClosed(messages::RoomClosed { room: 999, ..Default::default() }),
    );
    assert_eq!(harness.events(&ann), []);
    assert_eq!(harness.members(&ann), "ann*");
}

#[test]
fn a_host_of_another_version_is_ordered_to_end() {
    let mut harness = LobbyHarness::new();
    let ready = messages::HostReady { version: 2, ..messages::HostReady::default() };
    harness.send_from_host(HostId(1), host_to_world::Body::Ready(ready));
    assert!(matches!(&harness.take_orders()[..], [(HostId(1), world_to_host::Body::Drain(_))]));
    assert_eq!((harness.lobby.stats().hosts, harness.lobby.stats().hosts_refused), (0, 1));
}

#[test]
fn host_reports_are_stored_for_the_metrics() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let stats = HostStats { rooms: 3, datagrams_in: 7, ..HostStats::default() };
    for id in [host, HostId(9)] {
        harness.report(id, HostReport::Message(HostMessage::Stats(Box::new(stats.clone()))));
    }
    let hosts: Vec<_> = harness.lobby.hosts().collect();
    assert_eq!(hosts.len(), 1);
    assert_eq!(
        (hosts[0].0, hosts[0].1.label.as_str(), &hosts[0].1.stats),
        (host, "host 1", &stats)
    );
}

/// Lets these players start a room. Returns its host.
fn place_room(harness: &mut LobbyHarness, clients: &[Client]) -> HostId {
    let clients: Vec<_> = clients.iter().collect();
    let room = harness.room_of(&clients);
    harness.take_orders();
    harness.send(clients[0].conn, start());
    let opens = harness.take_open_orders();
    assert_eq!((opens.len(), opens[0].1.room), (1, room));
    harness.opened(opens[0].0, room, None);
    opens[0].0
}

#[test]
fn tickets_expire_by_the_clock_of_their_host_whatever_it_shows() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let host = harness.host_with_clock(1, EPOCH_UNIX_S + 1 + 3_600);
    harness.running_room_of(host, &[&ann]);
    assert_eq!(harness.lobby.stats().hosts_with_wrong_clock, 1);
    let expiry = |harness: &mut LobbyHarness, host_unix_s: u64| {
        let ticket = harness.request_new_ticket(&ann);
        let key = TicketSigner::from_seed(&[7; 32]);
        let mut verifier = TicketVerifier::new(key.public_key()).expect("a key");
        let ticket = verifier.verify(host_unix_s, &ticket.ticket, &ticket.address, |_| true);
        ticket.map(|ticket| ticket.expires_unix_s - host_unix_s)
    };
    let shown = |harness: &LobbyHarness, ahead: u64| {
        EPOCH_UNIX_S + harness.now.since(LocalTime::ZERO).as_secs() + ahead
    };
    let ahead = shown(&harness, 3_600);
    assert_eq!(expiry(&mut harness, ahead), Ok(30));
    harness.advance(seconds(100));
    let ahead = shown(&harness, 3_600);
    assert_eq!(expiry(&mut harness, ahead), Ok(30));
    // The host was started again after its clock was set.
    harness.report_ticket_time(host, shown(&harness, 7_200));
    let ahead = shown(&harness, 7_200);
    assert_eq!(expiry(&mut harness, ahead), Ok(30));
}

#[test]
fn a_host_with_the_right_clock_is_not_counted_as_wrong() {
    let mut harness = LobbyHarness::new();
    let host = harness.host_with_clock(1, EPOCH_UNIX_S + 3);
    assert_eq!(harness.lobby.stats().hosts_with_wrong_clock, 0);
    harness.report_ticket_time(host, EPOCH_UNIX_S + 60);
    assert_eq!(harness.lobby.stats().hosts_with_wrong_clock, 1);
}
