//! Rooms that lose their host and resume on another one.

use ambit_host_protocol::generated::{HandingOver, OpenRoom, host_to_world};
use ambit_proto::codes::{self, ErrorCode};

use super::harness::{Client, LobbyHarness, request_ticket, seconds, verify_ticket};
use crate::{HostId, LobbyConfig};

#[test]
fn a_room_resumes_on_another_host_and_its_members_get_tickets() {
    let mut harness = LobbyHarness::new();
    let first = harness.host(1, 8);
    let second = harness.host(2, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = running(&mut harness, first, &[&ann, &bob]);
    harness.lose_host(first, "killed");
    let order = resume_order_for(&mut harness, second);
    assert_eq!((order.room, order.game.as_str()), (room, "field"));
    assert_ne!(order.seed, 0);
    assert_eq!(
        harness.refusal_code(ann.conn, request_ticket()),
        ErrorCode::RoomNotRunning,
        "no ticket before the room runs"
    );
    assert!(harness.listed(&ann)[0].running);

    harness.opened(second, room, None);
    for client in [&ann, &bob] {
        let ticket = harness.ticket(client);
        assert_eq!((ticket.address.as_str(), ticket.incarnation), ("127.0.0.1:8002", 2));
        assert!(verify_ticket(&ticket, harness.now).is_ok());
    }
    assert_eq!(harness.members(&ann), "ann* bob");
    assert_eq!((harness.lobby.stats().rooms_moved, harness.lobby.stats().rooms_running), (1, 1));
    // Late messages of the first host, whose link was cut, are ignored.
    harness.opened(first, room, None);
    assert!(harness.removed_checkpoints.is_empty());
}

#[test]
fn rooms_of_a_host_whose_process_has_ended_resume_at_once() {
    let mut harness = LobbyHarness::new();
    let first = harness.reconnecting_host(1, 7, &[]);
    let second = harness.host(2, 8);
    let ann = harness.connect_as("ann");
    let room = running(&mut harness, first, &[&ann]);
    for other in [&[][..], &[8; 16]] {
        harness.end_process(other);
    }
    assert_eq!(harness.take_open_orders(), [], "they are no hosts");
    harness.end_process(&[7; 16]);
    assert_eq!(resume_order_for(&mut harness, second).room, room);
    assert_eq!(harness.take_disconnected_hosts(), [first]);
    // A second report, and the end of the connection.
    harness.end_process(&[7; 16]);
    harness.lose_host(first, "its connection broke");
    harness.opened(second, room, None);
    assert_eq!(harness.ticket(&ann).incarnation, 2);
}

#[test]
fn no_room_goes_from_a_host_to_another_one_of_the_process_that_has_ended() {
    let config = LobbyConfig { host_silence: seconds(60), ..LobbyConfig::default() };
    let mut harness = LobbyHarness::with(config);
    let first = harness.reconnecting_host(1, 7, &[]);
    let second = harness.host_of_process(2, 8, 7);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let first_room = running(&mut harness, first, &[&ann]);
    let second_room = running(&mut harness, second, &[&bob]);
    let other = harness.host_of_process(3, 9, 9);
    harness.end_process(&[7; 16]);
    let resumed = take_resume_orders(&mut harness);
    assert_eq!(resumed, [(other, first_room), (other, second_room)]);
    assert_eq!(harness.take_disconnected_hosts(), [first, second]);
}

#[test]
fn rooms_that_wait_are_shared_by_all_hosts_of_a_process_that_comes() {
    let mut harness = LobbyHarness::new();
    let first = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let rooms = [&ann, &bob].map(|client| running(&mut harness, first, &[client]));
    harness.lose_host(first, "killed");
    let others = [(2, 7), (3, 8)].map(|(id, own)| harness.host_of_process(id, own, 7));
    assert_eq!(take_resume_orders(&mut harness), [], "there may be more of them");
    harness.advance(std::time::Duration::from_millis(200));
    let resumed = take_resume_orders(&mut harness);
    assert_eq!(resumed, [(others[0], rooms[0]), (others[1], rooms[1])]);
}

#[test]
fn a_room_without_a_checkpoint_is_lost_with_its_host() {
    let mut harness = LobbyHarness::new();
    let first = harness.host(1, 8);
    let second = harness.host(2, 8);
    let ann = harness.connect_as("ann");
    let room = harness.running_room_of(first, &[&ann]);
    // Another host's message about the room is ignored.
    harness.save_checkpoint(second, room);
    harness.lose_host(first, "killed");
    assert_eq!(harness.leave_reason(&ann).0, ErrorCode::HostDied);
    assert_eq!(harness.removed_checkpoints, [room]);
}

#[test]
fn a_room_waits_for_a_free_host_for_a_limited_time() {
    let mut harness = LobbyHarness::new();
    let first = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = running(&mut harness, first, &[&ann]);
    let other = running(&mut harness, first, &[&bob]);
    harness.lose_host(first, "killed");
    assert_eq!(harness.take_open_orders(), []);
    harness.advance(seconds(3));
    let second = harness.host(2, 1);
    assert_eq!(
        resume_order_for(&mut harness, second).room,
        room,
        "no host has capacity for the other room"
    );
    harness.opened(second, room, None);
    assert_eq!(harness.ticket(&ann).incarnation, 2);
    harness.advance(seconds(8));
    let (code, message) = harness.leave_reason(&bob);
    assert_eq!(code, ErrorCode::ServerError);
    assert!(message.contains("within 10 s"), "{message}");
    assert_eq!(harness.removed_checkpoints, [other]);
}

#[test]
fn a_room_that_loses_two_hosts_in_a_row_is_closed() {
    let mut harness = LobbyHarness::new();
    let hosts: Vec<HostId> = (1..=4).map(|number| harness.host(number, 8)).collect();
    let ann = harness.connect_as("ann");
    let room = running(&mut harness, hosts[0], &[&ann]);
    harness.lose_host(hosts[0], "killed");
    resume_order_for(&mut harness, hosts[1]);
    harness.opened(hosts[1], room, None);
    harness.save_checkpoint(hosts[1], room);
    // After the suspect window the loss does not count.
    harness.advance(seconds(4));
    harness.lose_host(hosts[1], "killed");
    resume_order_for(&mut harness, hosts[2]);
    harness.opened(hosts[2], room, None);
    harness.advance(seconds(2));
    harness.lose_host(hosts[2], "killed");
    let (code, message) = harness.leave_reason(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(
        message.contains("the second one in a row that this room alone can have killed"),
        "{message}"
    );
    assert_eq!((harness.take_open_orders(), &harness.condemned[..]), (vec![], &[room][..]));
    assert_eq!(harness.lobby.stats().rooms_condemned, 1);
}

#[test]
fn a_host_that_is_asked_to_end_raises_no_suspicion_against_its_rooms() {
    let mut harness = LobbyHarness::new();
    let hosts: Vec<HostId> = (1..=4).map(|number| harness.host(number, 8)).collect();
    let ann = harness.connect_as("ann");
    let room = running(&mut harness, hosts[0], &[&ann]);
    // A rolling update: each host ends at once after the one before.
    for pair in hosts.windows(2) {
        harness.send_from_host(pair[0], host_to_world::Body::HandingOver(HandingOver {}));
        harness.lose_host(pair[0], "exit status: 0");
        resume_order_for(&mut harness, pair[1]);
        harness.opened(pair[1], room, None);
        harness.save_checkpoint(pair[1], room);
    }
    assert_eq!(harness.lobby.stats().rooms_condemned, 0);
    assert!(harness.listed(&ann)[0].running);
}

#[test]
fn suspect_rooms_get_their_own_hosts_and_only_the_crashing_one_closes() {
    let mut harness = LobbyHarness::new();
    let hosts: Vec<HostId> = (1..=2).map(|number| harness.host(number, 8)).collect();
    let names = ["ann", "bob", "cat"];
    let clients: Vec<Client> = names.iter().map(|name| harness.connect_as(name)).collect();
    // Two rooms on the first host, one on the second; after the loss of the first, all are on the
    // second.
    let crashing = running(&mut harness, hosts[0], &[&clients[0]]);
    let settled = running(&mut harness, hosts[1], &[&clients[1]]);
    let harmless = running(&mut harness, hosts[0], &[&clients[2]]);
    harness.lose_host(hosts[0], "killed");
    let orders = take_resume_orders(&mut harness);
    assert_eq!(orders, [(hosts[1], crashing), (hosts[1], harmless)]);
    harness.opened(hosts[1], crashing, None);
    harness.opened(hosts[1], harmless, None);
    let [third, fourth, fifth] = [3, 4, 5].map(|number| harness.host(number, 8));
    harness.advance(seconds(1));
    harness.lose_host(hosts[1], "killed");
    // A room that has run there for a long time is no suspect, and goes to a host without suspects.
    assert_eq!(
        take_resume_orders(&mut harness),
        [(third, crashing), (fourth, settled), (fifth, harmless)]
    );
    for (host, room) in [(third, crashing), (fourth, settled), (fifth, harmless)] {
        harness.opened(host, room, None);
    }
    harness.advance(seconds(1));
    harness.lose_host(third, "killed");
    assert_eq!(harness.leave_reason(&clients[0]).0, ErrorCode::HostDied);
    assert_eq!(harness.condemned, [crashing]);
    // No other room was affected. A room that has run alone for long enough is no suspect any more.
    harness.advance(seconds(3));
    harness.lose_host(fifth, "killed");
    assert_eq!(take_resume_orders(&mut harness), [(fourth, harmless)]);
    assert_eq!(harness.lobby.stats().rooms, 2);
}

#[test]
fn a_suspect_room_stays_one_if_another_room_may_have_ended_its_host() {
    let mut harness = LobbyHarness::new();
    let first = harness.host(1, 8);
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| harness.connect_as(name));
    let one = running(&mut harness, first, &[&ann]);
    let two = running(&mut harness, first, &[&bob]);
    let second = harness.host(2, 1);
    let three = running(&mut harness, second, &[&cat]);
    // Two rooms become suspects together. Before that, the third room has moved to a host alone.
    let third = harness.host(3, 8);
    harness.lose_host(first, "killed");
    assert_eq!(take_resume_orders(&mut harness), [(third, one), (third, two)]);
    harness.opened(third, one, None);
    harness.opened(third, two, None);
    let fourth = harness.host(4, 8);
    harness.lose_host(second, "killed");
    assert_eq!(take_resume_orders(&mut harness), [(fourth, three)]);
    harness.opened(fourth, three, None);
    let fifth = harness.host(5, 8);
    harness.lose_host(third, "killed");
    // No idle host is left for the second suspect.
    assert_eq!(take_resume_orders(&mut harness), [(fifth, one), (fourth, two)]);
    harness.opened(fifth, one, None);
    harness.opened(fourth, two, None);
    // Either room may have ended this one: the third is a suspect, too.
    harness.host(6, 8);
    harness.lose_host(fourth, "killed");
    assert_eq!(take_resume_orders(&mut harness), [(HostId(6), two)]);
    harness.host(7, 8);
    assert_eq!(take_resume_orders(&mut harness), [(HostId(7), three)]);
    assert!(harness.condemned.is_empty());
}

#[test]
fn suspect_rooms_wait_until_an_empty_host_is_free() {
    let mut harness = LobbyHarness::new();
    let first = harness.host(1, 8);
    let clients: Vec<Client> =
        (0..6).map(|number| harness.connect_as(&format!("p{number}"))).collect();
    let rooms: Vec<u64> =
        clients.iter().map(|client| running(&mut harness, first, &[client])).collect();
    harness.lose_host(first, "killed");
    let second = harness.host(2, 8);
    for (host, room) in take_resume_orders(&mut harness) {
        harness.opened(host, room, None);
    }
    harness.lose_host(second, "killed");
    let third = harness.host(3, 8);
    for &room in &rooms {
        assert_eq!(
            take_resume_orders(&mut harness),
            [(third, room)],
            "suspects are placed one after the other"
        );
        harness.opened(third, room, None);
        assert_eq!(take_resume_orders(&mut harness), []);
        harness.advance(seconds(4));
    }
    assert_eq!((harness.lobby.stats().rooms_running, harness.condemned.len()), (6, 0));
}

#[test]
fn a_room_that_crashes_hosts_before_they_resume_it_is_closed_too() {
    let mut harness = LobbyHarness::new();
    let hosts: Vec<HostId> = (1..=4).map(|number| harness.host(number, 8)).collect();
    let ann = harness.connect_as("ann");
    let room = running(&mut harness, hosts[0], &[&ann]);
    harness.lose_host(hosts[0], "killed");
    resume_order_for(&mut harness, hosts[1]);
    // That host may have hung before it got the order.
    harness.lose_host(hosts[1], "killed");
    resume_order_for(&mut harness, hosts[2]);
    harness.lose_host(hosts[2], "killed");
    assert_eq!(
        (harness.leave_reason(&ann).0, &harness.condemned[..]),
        (ErrorCode::HostDied, &[room][..])
    );
    assert_eq!(harness.take_open_orders(), []);
}

#[test]
fn the_next_host_gets_the_current_members_and_names() {
    let mut harness = LobbyHarness::new();
    let first = harness.host(1, 8);
    let (ann, bob, cat) =
        (harness.connect_as("ann"), harness.connect_as("bob"), harness.connect_as("cat"));
    let room = running(&mut harness, first, &[&ann, &bob, &cat]);
    harness.lose_host(first, "killed");
    harness.send(bob.conn, super::harness::leave());
    harness.ask(ann.conn, super::harness::kick(cat.id));
    harness.ask(ann.conn, super::harness::set_name("zoe"));
    let second = harness.host(2, 8);
    let order = resume_order_for(&mut harness, second);
    let members = order
        .resume
        .expect("an order to resume")
        .members
        .expect("the order has the members")
        .members;
    let members: Vec<_> =
        members.iter().map(|member| (member.player, member.name.as_str())).collect();
    assert_eq!((order.room, &members[..]), (room, &[(ann.id, "zoe")][..]));
}

#[test]
fn a_room_that_no_host_can_resume_is_closed_with_the_reason() {
    let (mut harness, second, ann, room) = moving();
    harness.opened(
        second,
        room,
        Some(codes::error(ErrorCode::ServerError, "the saved state is invalid")),
    );
    let (code, message) = harness.leave_reason(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(message.ends_with("the saved state is invalid"), "{message}");
}

#[test]
fn a_moving_room_can_be_left_and_closes_with_its_last_member() {
    let (mut harness, second, ann, room) = moving();
    harness.send(ann.conn, super::harness::leave());
    assert_eq!(harness.removed_checkpoints, [room]);
    harness.opened(second, room, None);
    assert_eq!(harness.lobby.stats().rooms, 0);
}

#[test]
fn rooms_resume_on_hosts_of_their_build_and_start_on_the_newest_build() {
    let mut harness = LobbyHarness::unlimited();
    let [blue, other] = [1, 2].map(|number| harness.host_with_build("blue", number, 1));
    let ann = harness.connect_as("ann");
    let room = running(&mut harness, blue, &[&ann]);
    let green = harness.host_with_build("green", 3, 1);
    let bob = harness.connect_as("bob");
    running(&mut harness, green, &[&bob]);
    harness.take_orders();
    harness.lose_host(blue, "ended");
    assert_eq!(resume_order_for(&mut harness, other).room, room);
    harness.opened(other, room, None);
    harness.advance(seconds(4));
    harness.save_checkpoint(other, room);

    // A reconnect of a host of the old build does not make that build the newest.
    harness.host_with_build("blue", 9, 0);
    let cat = harness.connect_as("cat");
    harness.host_with_build("green", 10, 1);
    let green = HostId(10);
    running(&mut harness, green, &[&cat]);

    // The last host of that build ends, and the other build has capacity.
    harness.host_with_build("green", 4, 8);
    harness.lose_host(other, "ended");
    assert_eq!(harness.take_open_orders(), []);
    harness.advance(seconds(11));
    let (code, message) = harness.leave_reason(&ann);
    assert_eq!(code, ErrorCode::ServerError);
    assert!(message.contains("of build `blue`"), "{message}");
}

#[test]
fn new_rooms_use_another_build_if_the_newest_has_no_capacity() {
    let mut harness = LobbyHarness::unlimited();
    let blue = harness.host_with_build("blue", 1, 8);
    harness.host_with_build("green", 2, 0);
    let ann = harness.connect_as("ann");
    running(&mut harness, blue, &[&ann]);
}

/// A host that has to resume a room, and the room's player.
fn moving() -> (LobbyHarness, HostId, Client, u64) {
    let mut harness = LobbyHarness::new();
    let first = harness.host(1, 8);
    let second = harness.host(2, 8);
    let ann = harness.connect_as("ann");
    let room = running(&mut harness, first, &[&ann]);
    harness.lose_host(first, "killed");
    resume_order_for(&mut harness, second);
    (harness, second, ann, room)
}

/// A running room with a checkpoint.
fn running(harness: &mut LobbyHarness, host: HostId, clients: &[&Client]) -> u64 {
    let room = harness.running_room_of(host, clients);
    harness.save_checkpoint(host, room);
    room
}

/// The only order to this host to resume a room.
fn resume_order_for(harness: &mut LobbyHarness, host: HostId) -> OpenRoom {
    let mut opens = harness.take_open_orders();
    let (to, order) = opens.pop().expect("an order");
    assert_eq!((opens.len(), to), (0, host));
    assert!(order.resume.is_some(), "{order:?}");
    order
}

/// The orders to resume rooms since the last call, with their hosts.
fn take_resume_orders(harness: &mut LobbyHarness) -> Vec<(HostId, u64)> {
    harness
        .take_open_orders()
        .into_iter()
        .map(|(host, order)| {
            assert!(order.resume.is_some(), "{order:?}");
            (host, order.room)
        })
        .collect()
}
