//! The list of rooms, and its events.

use std::time::Duration;

use ambit_proto::control::world::{
    self, client_to_world as ask, room_change::Change, world_to_client::Body,
};
use prost::Message;

use super::harness::{Client, LobbyHarness, leave, parameters, ready, room, seconds};

#[test]
fn a_subscriber_gets_new_changed_and_closed_rooms() {
    let (mut harness, [ann, bob, cid]) = three_clients();
    assert_eq!(subscribe(&mut harness, &cid), []);
    let den = harness.create(&ann, room("den"));
    assert_eq!(changes(&mut harness, &cid), [Change::Room(den.clone())]);
    harness.advance(seconds(1));
    harness.join(&bob, den.id);
    assert_eq!(
        changes(&mut harness, &cid),
        [Change::Room(world::Room { players: 2, ..den.clone() })]
    );
    harness.advance(seconds(1));
    harness.ask(bob.conn, leave());
    harness.advance(seconds(1));
    harness.ask(ann.conn, leave());
    assert_eq!(changes(&mut harness, &cid), [Change::Room(den.clone()), Change::Gone(den.id)]);
}

#[test]
fn a_subscriber_gets_starts_and_host_changes_of_rooms() {
    let (mut harness, [ann, bob, cid]) = three_clients();
    let host = harness.host(1, 8);
    subscribe(&mut harness, &cid);
    let den = harness.running_room_of(host, &[&ann, &bob]);
    assert!(subscribe(&mut harness, &cid)[0].running);
    harness.ask(ann.conn, leave());
    let sent = changes(&mut harness, &cid);
    assert!(matches!(
        &sent[..],
        [Change::Room(room)] if room.id == den && room.running && room.host == bob.id
    ));
}

#[test]
fn changes_within_100_ms_are_merged_and_sent_only_if_they_differ() {
    let (mut harness, [ann, bob, cid]) = three_clients();
    let den = harness.room_of(&[&ann]);
    subscribe(&mut harness, &cid);
    harness.join(&bob, den);
    assert!(
        matches!(&changes(&mut harness, &cid)[..], [Change::Room(room)] if room.players == 2),
        "the first change is sent at once"
    );
    for _ in 0..5 {
        harness.ask(bob.conn, leave());
        harness.join(&bob, den);
    }
    harness.ask(bob.conn, leave());
    assert_eq!(changes(&mut harness, &cid), []);
    harness.advance(Duration::from_millis(100));
    assert!(matches!(&changes(&mut harness, &cid)[..], [Change::Room(room)] if room.players == 1));
    harness.join(&bob, den);
    harness.ask(bob.conn, leave());
    harness.advance(seconds(1));
    assert_eq!(changes(&mut harness, &cid), []);
    harness.ask(ann.conn, ready(true));
    harness.advance(seconds(1));
    assert_eq!(changes(&mut harness, &cid), [], "ready flags are not part of the list");
}

#[test]
fn the_content_of_the_list_is_not_sent_again() {
    let (mut harness, [ann, bob, cid]) = three_clients();
    let den = harness.room_of(&[&ann]);
    subscribe(&mut harness, &cid);
    harness.join(&bob, den);
    changes(&mut harness, &cid);
    // The change would be sent in a tenth of a second, but dan gets it with the list.
    harness.ask(bob.conn, leave());
    let dan = harness.connect_as("dan");
    assert_eq!(subscribe(&mut harness, &dan)[0].players, 1);
    harness.advance(seconds(1));
    assert_eq!(changes(&mut harness, &dan), []);
    assert_eq!(changes(&mut harness, &cid).len(), 1);
}

#[test]
fn a_subscription_ends_with_the_next_list_and_with_the_connection() {
    let (mut harness, [ann, bob, cid]) = three_clients();
    subscribe(&mut harness, &cid);
    harness.listed(&cid);
    harness.create(&ann, room("den"));
    assert_eq!(changes(&mut harness, &cid), []);
    subscribe(&mut harness, &cid);
    harness.disconnect(&cid);
    let cid = harness.resume(&cid);
    harness.create(&bob, room("den"));
    harness.advance(seconds(1));
    assert_eq!(changes(&mut harness, &cid), []);
}

#[test]
fn a_room_that_exists_only_between_two_events_is_not_sent() {
    let (mut harness, [ann, _, cid]) = three_clients();
    subscribe(&mut harness, &cid);
    harness.create(&ann, room("first"));
    changes(&mut harness, &cid);
    harness.ask(ann.conn, leave());
    harness.create(&ann, room("second"));
    harness.ask(ann.conn, leave());
    harness.advance(seconds(1));
    assert_eq!(changes(&mut harness, &cid), [Change::Gone(1)]);
}

#[test]
fn a_list_holds_the_newest_thousand_rooms_and_fits_into_a_frame() {
    let mut harness = LobbyHarness::unlimited();
    let watcher = harness.connect_as("watcher");
    let many: Vec<_> = (0..20).map(|number| (format!("{number:32}"), "v".repeat(128))).collect();
    let many: Vec<_> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    harness.lobby.games.check_with(Box::new(|_, _, _| Ok(())));
    for number in 0..1_005 {
        let client = harness.connect_as("");
        let parameters = if number < 500 { parameters(&many) } else { parameters(&[]) };
        harness.create(&client, world::CreateRoom { parameters, ..room("den") });
    }
    let rooms = harness.listed(&watcher);
    assert!(rooms.len() < 1_000 && rooms.len() > 505);
    assert_eq!(rooms.last().map(|room| room.id), Some(1_005));
    assert!(rooms.is_sorted_by_key(|room| room.id));
    let message = world::WorldToClient {
        request: u64::MAX,
        body: Some(Body::RoomList(world::RoomList { rooms })),
    };
    assert!(message.encoded_len() <= ambit_proto::frame::MAX_FROM_WORLD);

    for _ in 0..1_000 {
        let client = harness.connect_as("");
        harness.create(&client, room("den"));
    }
    let rooms = harness.listed(&watcher);
    assert_eq!((rooms.len(), rooms[0].id), (1_000, 1_006));
}

#[test]
fn changes_of_a_large_room_are_collected_for_longer() {
    let mut harness = LobbyHarness::unlimited();
    let ann = harness.connect_as("ann");
    let den = harness.create(&ann, world::CreateRoom { capacity: 300, ..room("den") }).id;
    let mut sent = 0;
    for number in 0..200 {
        let client = harness.connect_as(&format!("p{number}"));
        harness.join(&client, den);
        harness.advance(Duration::from_millis(10));
        sent += lists(&mut harness, &ann);
    }
    // The changes take 2 s; the intervals grow to 1 s.
    assert!((5..40).contains(&sent), "{sent}");
    harness.advance(seconds(2));
    assert_eq!(lists(&mut harness, &ann), 1);
    assert_eq!(harness.members(&ann).split(' ').count(), 201);
}

#[test]
fn members_of_a_large_room_get_only_the_changes() {
    let mut harness = LobbyHarness::unlimited();
    let ann = harness.connect_as("ann");
    let den = harness.create(&ann, world::CreateRoom { capacity: 300, ..room("den") }).id;
    let mut others: Vec<Client> =
        (0..100).map(|number| harness.connect_as(&format!("p{number}"))).collect();
    for client in &others {
        harness.join(client, den);
    }
    harness.advance(seconds(2));
    let known = harness.updated_roster(&ann).expect("a member event");
    assert_eq!(known, harness.members(&ann));
    // The request for the members changes nothing for the other members.
    harness.advance(seconds(2));
    harness.events(&others[0]);
    let leaver = others.remove(50);
    harness.ask(leaver.conn, leave());
    harness.advance(seconds(2));
    let bytes: usize = harness.events(&others[0]).iter().map(change_bytes).sum();
    assert!((1..20).contains(&bytes), "{bytes} bytes");
    // A new member gets the leave of a player that the others have not been notified of yet.
    let short = harness.connect_as("short");
    let late = harness.connect_as("late");
    harness.join(&short, den);
    harness.join(&late, den);
    harness.ask(short.conn, leave());
    harness.events(&late);
    harness.advance(seconds(2));
    let leavers = harness.events(&late).into_iter().filter_map(|body| match body {
        Body::PlayerChange(change) => Some(change.gone),
        _ => None,
    });
    assert_eq!(leavers.flatten().collect::<Vec<_>>(), [short.id]);
    // If a player leaves and returns while another one joins, that one knows the player too.
    let back = &others[7];
    harness.ask(back.conn, leave());
    let third = harness.connect_as("third");
    harness.join(&third, den);
    harness.join(back, den);
    harness.advance(seconds(2));
    let known = harness.updated_roster(&third).expect("a member event");
    assert!(known.split(' ').any(|name| name == back.name), "{known}");
}

fn three_clients() -> (LobbyHarness, [Client; 3]) {
    let mut harness = LobbyHarness::unlimited();
    let clients = ["ann", "bob", "cid"].map(|name| harness.connect_as(name));
    (harness, clients)
}

fn subscribe(harness: &mut LobbyHarness, client: &Client) -> Vec<world::Room> {
    match harness.ask(client.conn, ask::Body::ListRooms(world::ListRooms { subscribe: true })) {
        Body::RoomList(list) => list.rooms,
        other => panic!("no list but {other:?}"),
    }
}

fn changes(harness: &mut LobbyHarness, client: &Client) -> Vec<Change> {
    let changes = harness.events(client).into_iter().filter_map(|body| match body {
        Body::RoomChange(change) => change.change,
        _ => None,
    });
    changes.collect()
}

fn change_bytes(body: &Body) -> usize {
    match body {
        Body::PlayerChange(change) => change.encoded_len(),
        _ => 0,
    }
}

fn lists(harness: &mut LobbyHarness, client: &Client) -> usize {
    harness.events(client).iter().filter(|body| matches!(body, Body::PlayerChange(_))).count()
}
