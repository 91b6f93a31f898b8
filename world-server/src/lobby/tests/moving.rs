//! Rooms that lose their host and go on at another one.

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::host::{OpenRoom, RoomSaved, host_to_world};

use super::scene::{Client, Scene, request_ticket, seconds, show};
use crate::lobby::HostId;

#[test]
fn a_kept_room_goes_on_at_another_host_and_its_members_get_tickets_there() {
    let mut scene = Scene::new();
    let (first, second) = (scene.host(1, 8), scene.host(2, 8));
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = running(&mut scene, first, &[&ann, &bob]);
    scene.lose_host(first, "killed");
    let order = moved_to(&mut scene, second);
    assert_eq!((order.room, order.game.as_str()), (room, "field"));
    assert_ne!(order.seed, 0);
    assert_eq!(scene.refusal(ann.conn, request_ticket()), ErrorCode::RoomNotRunning, "not yet");
    assert!(scene.listed(&ann)[0].running);

    scene.opened(second, room, None);
    for client in [&ann, &bob] {
        let ticket = scene.ticket(client);
        assert_eq!((ticket.address.as_str(), ticket.incarnation), ("127.0.0.1:8002", 2));
        assert!(show(&ticket, scene.now).is_ok());
    }
    assert_eq!(scene.members(&ann), "ann* bob");
    assert_eq!((scene.lobby.stats().rooms_moved, scene.lobby.stats().rooms_running), (1, 1));
    // What the first one says late, that was but cut off, is nobody's business.
    scene.opened(first, room, None);
    assert!(scene.forgotten.is_empty());
}

#[test]
fn a_room_of_which_nothing_is_kept_ends_with_its_host() {
    let mut scene = Scene::new();
    let (first, second) = (scene.host(1, 8), scene.host(2, 8));
    let ann = scene.enter("ann");
    let room = scene.running_room_of(first, &[&ann]);
    // Another host's word about it counts for nothing.
    keep(&mut scene, second, room);
    scene.lose_host(first, "killed");
    assert_eq!(scene.left(&ann).0, ErrorCode::HostDied);
    assert_eq!(scene.forgotten, [room]);
}

#[test]
fn a_room_without_a_place_waits_for_a_host_but_not_for_ever() {
    let mut scene = Scene::new();
    let first = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = running(&mut scene, first, &[&ann]);
    let other = running(&mut scene, first, &[&bob]);
    scene.lose_host(first, "killed");
    assert_eq!(scene.opens(), []);
    scene.pass(seconds(3));
    let second = scene.host(2, 1);
    assert_eq!(moved_to(&mut scene, second).room, room, "the other finds no place");
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
    let mut scene = Scene::new();
    let hosts: Vec<HostId> = (1..=4).map(|number| scene.host(number, 8)).collect();
    let ann = scene.enter("ann");
    let room = running(&mut scene, hosts[0], &[&ann]);
    scene.lose_host(hosts[0], "killed");
    moved_to(&mut scene, hosts[1]);
    scene.opened(hosts[1], room, None);
    keep(&mut scene, hosts[1], room);
    // Long after that it is another story.
    scene.pass(seconds(4));
    scene.lose_host(hosts[1], "killed");
    moved_to(&mut scene, hosts[2]);
    scene.opened(hosts[2], room, None);
    scene.pass(seconds(2));
    scene.lose_host(hosts[2], "killed");
    let (code, message) = scene.left(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(message.contains("the second one within 3 s"), "{message}");
    assert_eq!(scene.opens(), []);
}

#[test]
fn a_room_that_no_host_can_go_on_with_is_closed_with_the_reason() {
    let (mut scene, second, ann, room) = moving();
    scene.opened(second, room, Some(codes::error(ErrorCode::ServerError, "the saved state makes no sense")));
    let (code, message) = scene.left(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(message.ends_with("the saved state makes no sense"), "{message}");
}

#[test]
fn who_leaves_while_a_room_moves_is_out_and_the_last_one_takes_it_along() {
    let (mut scene, second, ann, room) = moving();
    scene.send(ann.conn, super::scene::leave());
    assert_eq!(scene.forgotten, [room]);
    scene.opened(second, room, None);
    assert_eq!(scene.lobby.stats().rooms, 0);
}

/// A host that is to go on with a room, and the one who is in it.
fn moving() -> (Scene, HostId, Client, u64) {
    let mut scene = Scene::new();
    let (first, second) = (scene.host(1, 8), scene.host(2, 8));
    let ann = scene.enter("ann");
    let room = running(&mut scene, first, &[&ann]);
    scene.lose_host(first, "killed");
    moved_to(&mut scene, second);
    (scene, second, ann, room)
}

/// A room that runs and is kept.
fn running(scene: &mut Scene, host: HostId, clients: &[&Client]) -> u64 {
    let room = scene.running_room_of(host, clients);
    keep(scene, host, room);
    room
}

fn keep(scene: &mut Scene, host: HostId, room: u64) {
    scene.host_says(host, host_to_world::Body::RoomSaved(RoomSaved { room, ..RoomSaved::default() }));
}

/// The one order to go on with a room, to this host.
fn moved_to(scene: &mut Scene, host: HostId) -> OpenRoom {
    let mut opens = scene.opens();
    let (to, order) = opens.pop().expect("an order");
    assert_eq!((opens.len(), to), (0, host));
    assert!(order.resume.is_some(), "{order:?}");
    order
}
