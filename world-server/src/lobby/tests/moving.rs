//! Rooms that lose their host and resume on another one.

use ambit_host::protocol::messages::OpenRoom;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::ids::RoomId;

use super::harness::{Client, LobbyHarness, request_ticket, seconds, show};
use crate::lobby::{HostId, HostReport};

#[test]
fn a_room_resumes_on_another_host_and_its_members_get_tickets() {
    let mut scene = LobbyHarness::new();
    let (first, second) = (scene.host(1, 8), scene.host(2, 8));
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = running(&mut scene, first, &[&ann, &bob]);
    scene.lose_host(first, "killed");
    let order = moved_to(&mut scene, second);
    assert_eq!((order.room, order.game.as_str()), (room, "field"));
    assert_ne!(order.seed, 0);
    assert_eq!(
        scene.refusal(ann.conn, request_ticket()),
        ErrorCode::RoomNotRunning,
        "not yet"
    );
    assert!(scene.listed(&ann)[0].running);

    scene.opened(second, room, None);
    for client in [&ann, &bob] {
        let ticket = scene.ticket(client);
        assert_eq!(
            (ticket.address.as_str(), ticket.incarnation),
            ("127.0.0.1:8002", 2)
        );
        assert!(show(&ticket, scene.now).is_ok());
    }
    assert_eq!(scene.members(&ann), "ann* bob");
    assert_eq!(
        (
            scene.lobby.stats().rooms_moved,
            scene.lobby.stats().rooms_running
        ),
        (1, 1)
    );
    // Late messages of the first host, whose link was cut, are ignored.
    scene.opened(first, room, None);
    assert!(scene.forgotten.is_empty());
}

#[test]
fn a_room_without_a_checkpoint_is_lost_with_its_host() {
    let mut scene = LobbyHarness::new();
    let (first, second) = (scene.host(1, 8), scene.host(2, 8));
    let ann = scene.enter("ann");
    let room = scene.running_room_of(first, &[&ann]);
    // Another host's message about the room is ignored.
    keep(&mut scene, second, room);
    scene.lose_host(first, "killed");
    assert_eq!(scene.left(&ann).0, ErrorCode::HostDied);
    assert_eq!(scene.forgotten, [room]);
}

#[test]
fn a_room_waits_for_a_free_host_but_not_for_ever() {
    let mut scene = LobbyHarness::new();
    let first = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = running(&mut scene, first, &[&ann]);
    let other = running(&mut scene, first, &[&bob]);
    scene.lose_host(first, "killed");
    assert_eq!(scene.opens(), []);
    scene.pass(seconds(3));
    let second = scene.host(2, 1);
    assert_eq!(
        moved_to(&mut scene, second).room,
        room,
        "the other finds no place"
    );
    scene.opened(second, room, None);
    assert_eq!(scene.ticket(&ann).incarnation, 2);
    scene.pass(seconds(8));
    let (code, message) = scene.left(&bob);
    assert_eq!(code, ErrorCode::ServerError);
    assert!(message.contains("within 10 s"), "{message}");
    assert_eq!(scene.forgotten, [other]);
}

#[test]
fn a_room_that_loses_two_hosts_in_a_row_is_closed() {
    let mut scene = LobbyHarness::new();
    let hosts: Vec<HostId> = (1..=4).map(|number| scene.host(number, 8)).collect();
    let ann = scene.enter("ann");
    let room = running(&mut scene, hosts[0], &[&ann]);
    scene.lose_host(hosts[0], "killed");
    moved_to(&mut scene, hosts[1]);
    scene.opened(hosts[1], room, None);
    keep(&mut scene, hosts[1], room);
    // After the suspect window the loss does not count.
    scene.pass(seconds(4));
    scene.lose_host(hosts[1], "killed");
    moved_to(&mut scene, hosts[2]);
    scene.opened(hosts[2], room, None);
    scene.pass(seconds(2));
    scene.lose_host(hosts[2], "killed");
    let (code, message) = scene.left(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(
        message.contains("the second one in a row that this room alone can have killed"),
        "{message}"
    );
    assert_eq!((scene.opens(), &scene.condemned[..]), (vec![], &[room][..]));
}

#[test]
fn suspect_rooms_get_hosts_of_their_own_and_only_the_guilty_is_closed() {
    let mut scene = LobbyHarness::new();
    let hosts: Vec<HostId> = (1..=2).map(|number| scene.host(number, 8)).collect();
    let names = ["ann", "bob", "cat"];
    let clients: Vec<Client> = names.iter().map(|name| scene.enter(name)).collect();
    // Two rooms on the first host, one on the second; after the loss of the first, all are on the
    // second.
    let poison = running(&mut scene, hosts[0], &[&clients[0]]);
    let settled = running(&mut scene, hosts[1], &[&clients[1]]);
    let innocent = running(&mut scene, hosts[0], &[&clients[2]]);
    scene.lose_host(hosts[0], "killed");
    let orders = placed(&mut scene);
    assert_eq!(orders, [(hosts[1], poison), (hosts[1], innocent)]);
    scene.opened(hosts[1], poison, None);
    scene.opened(hosts[1], innocent, None);
    let [third, fourth, fifth] = [3, 4, 5].map(|number| scene.host(number, 8));
    scene.pass(seconds(1));
    scene.lose_host(hosts[1], "killed");
    // A room that has run there for long is no suspect, and goes to a host without one.
    assert_eq!(
        placed(&mut scene),
        [(third, poison), (fourth, settled), (fifth, innocent)]
    );
    for (host, room) in [(third, poison), (fourth, settled), (fifth, innocent)] {
        scene.opened(host, room, None);
    }
    scene.pass(seconds(1));
    scene.lose_host(third, "killed");
    assert_eq!(scene.left(&clients[0]).0, ErrorCode::HostDied);
    assert_eq!(scene.condemned, [poison]);
    // No other room was affected, and a room that has run alone for long enough is no suspect any
    // more.
    scene.pass(seconds(3));
    scene.lose_host(fifth, "killed");
    assert_eq!(placed(&mut scene), [(fourth, innocent)]);
    assert_eq!(scene.lobby.stats().rooms, 2);
}

#[test]
fn suspect_rooms_wait_until_a_host_of_their_own_is_free() {
    let mut scene = LobbyHarness::new();
    let first = scene.host(1, 8);
    let clients: Vec<Client> = (0..6)
        .map(|number| scene.enter(&format!("p{number}")))
        .collect();
    let rooms: Vec<u64> = clients
        .iter()
        .map(|client| running(&mut scene, first, &[client]))
        .collect();
    scene.lose_host(first, "killed");
    let second = scene.host(2, 8);
    for (host, room) in placed(&mut scene) {
        scene.opened(host, room, None);
    }
    scene.lose_host(second, "killed");
    let third = scene.host(3, 8);
    for &room in &rooms {
        assert_eq!(placed(&mut scene), [(third, room)], "one after the other");
        scene.opened(third, room, None);
        assert_eq!(placed(&mut scene), []);
        scene.pass(seconds(4));
    }
    assert_eq!(
        (scene.lobby.stats().rooms_running, scene.condemned.len()),
        (6, 0)
    );
}

#[test]
fn a_room_that_crashes_hosts_before_they_resume_it_is_closed_too() {
    let mut scene = LobbyHarness::new();
    let hosts: Vec<HostId> = (1..=4).map(|number| scene.host(number, 8)).collect();
    let ann = scene.enter("ann");
    let room = running(&mut scene, hosts[0], &[&ann]);
    scene.lose_host(hosts[0], "killed");
    moved_to(&mut scene, hosts[1]);
    // That host may have been hung before.
    scene.lose_host(hosts[1], "killed");
    moved_to(&mut scene, hosts[2]);
    scene.lose_host(hosts[2], "killed");
    assert_eq!(
        (scene.left(&ann).0, &scene.condemned[..]),
        (ErrorCode::HostDied, &[room][..])
    );
    assert_eq!(scene.opens(), []);
}

#[test]
fn the_next_host_gets_the_current_members_and_names() {
    let mut scene = LobbyHarness::new();
    let first = scene.host(1, 8);
    let (ann, bob, cat) = (scene.enter("ann"), scene.enter("bob"), scene.enter("cat"));
    let room = running(&mut scene, first, &[&ann, &bob, &cat]);
    scene.lose_host(first, "killed");
    scene.send(bob.conn, super::harness::leave());
    scene.ask(ann.conn, super::harness::kick(cat.id));
    scene.ask(ann.conn, super::harness::set_name("zoe"));
    let second = scene.host(2, 8);
    let order = moved_to(&mut scene, second);
    let members = order
        .resume
        .expect("it goes on")
        .members
        .expect("the lobby knows them")
        .members;
    let members: Vec<_> = members
        .iter()
        .map(|member| (member.player, member.name.as_str()))
        .collect();
    assert_eq!((order.room, &members[..]), (room, &[(ann.id, "zoe")][..]));
}

#[test]
fn a_room_that_no_host_can_resume_is_closed_with_the_reason() {
    let (mut scene, second, ann, room) = moving();
    scene.opened(
        second,
        room,
        Some(codes::error(
            ErrorCode::ServerError,
            "the saved state makes no sense",
        )),
    );
    let (code, message) = scene.left(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(
        message.ends_with("the saved state makes no sense"),
        "{message}"
    );
}

#[test]
fn a_moving_room_can_be_left_and_closes_with_its_last_member() {
    let (mut scene, second, ann, room) = moving();
    scene.send(ann.conn, super::harness::leave());
    assert_eq!(scene.forgotten, [room]);
    scene.opened(second, room, None);
    assert_eq!(scene.lobby.stats().rooms, 0);
}

#[test]
fn rooms_resume_on_hosts_of_their_build_and_start_on_the_newest_build() {
    let mut scene = LobbyHarness::unlimited();
    let [blue, other] = [1, 2].map(|number| scene.host_of("blue", number, 1));
    let ann = scene.enter("ann");
    let room = running(&mut scene, blue, &[&ann]);
    let green = scene.host_of("green", 3, 1);
    let bob = scene.enter("bob");
    running(&mut scene, green, &[&bob]);
    scene.orders();
    scene.lose_host(blue, "ended");
    assert_eq!(moved_to(&mut scene, other).room, room);
    scene.opened(other, room, None);
    scene.pass(seconds(4));
    keep(&mut scene, other, room);

    // A reconnect of a host of the old build does not make that build the newest.
    scene.host_of("blue", 9, 0);
    let cat = scene.enter("cat");
    scene.host_of("green", 10, 1);
    let green = HostId(10);
    running(&mut scene, green, &[&cat]);

    // The last host of that build ends, and the other build has capacity.
    scene.host_of("green", 4, 8);
    scene.lose_host(other, "ended");
    assert_eq!(scene.opens(), []);
    scene.pass(seconds(11));
    let (code, message) = scene.left(&ann);
    assert_eq!(code, ErrorCode::ServerError);
    assert!(message.contains("of build `blue`"), "{message}");
}

#[test]
fn new_rooms_use_another_build_if_the_newest_has_no_capacity() {
    let mut scene = LobbyHarness::unlimited();
    let blue = scene.host_of("blue", 1, 8);
    scene.host_of("green", 2, 0);
    let ann = scene.enter("ann");
    running(&mut scene, blue, &[&ann]);
}

/// A host that has to resume a room, and the room's player.
fn moving() -> (LobbyHarness, HostId, Client, u64) {
    let mut scene = LobbyHarness::new();
    let (first, second) = (scene.host(1, 8), scene.host(2, 8));
    let ann = scene.enter("ann");
    let room = running(&mut scene, first, &[&ann]);
    scene.lose_host(first, "killed");
    moved_to(&mut scene, second);
    (scene, second, ann, room)
}

/// A running room with a checkpoint.
fn running(scene: &mut LobbyHarness, host: HostId, clients: &[&Client]) -> u64 {
    let room = scene.running_room_of(host, clients);
    keep(scene, host, room);
    room
}

fn keep(scene: &mut LobbyHarness, host: HostId, room: u64) {
    scene.report(host, HostReport::Checkpointed(RoomId(room)));
}

/// The only order to this host to resume a room.
fn moved_to(scene: &mut LobbyHarness, host: HostId) -> OpenRoom {
    let mut opens = scene.opens();
    let (to, order) = opens.pop().expect("an order");
    assert_eq!((opens.len(), to), (0, host));
    assert!(order.resume.is_some(), "{order:?}");
    order
}

/// The orders to resume rooms since the last call, with their hosts.
fn placed(scene: &mut LobbyHarness) -> Vec<(HostId, u64)> {
    scene
        .opens()
        .into_iter()
        .map(|(host, order)| (host, order.room))
        .collect()
}
