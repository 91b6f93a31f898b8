//! The list of rooms, and its events.

use std::time::Duration;

use ambit_proto::control::world::{
    self, client_to_world as ask, room_change::Change, world_to_client::Body,
};
use prost::Message;

use super::harness::{Client, LobbyHarness, leave, parameters, ready, room, seconds};

#[test]
fn a_subscriber_gets_new_changed_and_closed_rooms() {
    let (mut scene, [ann, bob, cid]) = people();
    assert_eq!(subscribe(&mut scene, &cid), []);
    let den = scene.create(&ann, room("den"));
    assert_eq!(changes(&mut scene, &cid), [Change::Room(den.clone())]);
    scene.pass(seconds(1));
    scene.join(&bob, den.id);
    assert_eq!(
        changes(&mut scene, &cid),
        [Change::Room(world::Room {
            players: 2,
            ..den.clone()
        })]
    );
    scene.pass(seconds(1));
    scene.ask(bob.conn, leave());
    scene.pass(seconds(1));
    scene.ask(ann.conn, leave());
    assert_eq!(
        changes(&mut scene, &cid),
        [Change::Room(den.clone()), Change::Gone(den.id)]
    );
}

#[test]
fn a_subscriber_gets_starts_and_host_changes_of_rooms() {
    let (mut scene, [ann, bob, cid]) = people();
    let host = scene.host(1, 8);
    subscribe(&mut scene, &cid);
    let den = scene.running_room_of(host, &[&ann, &bob]);
    assert!(subscribe(&mut scene, &cid)[0].running);
    scene.ask(ann.conn, leave());
    let told = changes(&mut scene, &cid);
    assert!(matches!(
        &told[..],
        [Change::Room(room)] if room.id == den && room.running && room.host == bob.id
    ));
}

#[test]
fn changes_within_100_ms_are_merged_and_sent_only_if_they_differ() {
    let (mut scene, [ann, bob, cid]) = people();
    let den = scene.room_of(&[&ann]);
    subscribe(&mut scene, &cid);
    scene.join(&bob, den);
    assert!(
        matches!(&changes(&mut scene, &cid)[..], [Change::Room(room)] if room.players == 2),
        "the first one comes at once"
    );
    for _ in 0..5 {
        scene.ask(bob.conn, leave());
        scene.join(&bob, den);
    }
    scene.ask(bob.conn, leave());
    assert_eq!(changes(&mut scene, &cid), []);
    scene.pass(Duration::from_millis(100));
    assert!(matches!(&changes(&mut scene, &cid)[..], [Change::Room(room)] if room.players == 1));
    scene.join(&bob, den);
    scene.ask(bob.conn, leave());
    scene.pass(seconds(1));
    assert_eq!(changes(&mut scene, &cid), []);
    scene.ask(ann.conn, ready(true));
    scene.pass(seconds(1));
    assert_eq!(
        changes(&mut scene, &cid),
        [],
        "who is ready is no matter of the list"
    );
}

#[test]
fn the_content_of_the_list_is_not_sent_again() {
    let (mut scene, [ann, bob, cid]) = people();
    let den = scene.room_of(&[&ann]);
    subscribe(&mut scene, &cid);
    scene.join(&bob, den);
    changes(&mut scene, &cid);
    // Would be published in a tenth of a second, but dan sees it in the list.
    scene.ask(bob.conn, leave());
    let dan = scene.enter("dan");
    assert_eq!(subscribe(&mut scene, &dan)[0].players, 1);
    scene.pass(seconds(1));
    assert_eq!(changes(&mut scene, &dan), []);
    assert_eq!(changes(&mut scene, &cid).len(), 1);
}

#[test]
fn a_subscription_ends_with_the_next_list_and_with_the_connection() {
    let (mut scene, [ann, bob, cid]) = people();
    subscribe(&mut scene, &cid);
    scene.listed(&cid);
    scene.create(&ann, room("den"));
    assert_eq!(changes(&mut scene, &cid), []);
    subscribe(&mut scene, &cid);
    scene.lose(&cid);
    let cid = scene.resume(&cid);
    scene.create(&bob, room("den"));
    scene.pass(seconds(1));
    assert_eq!(changes(&mut scene, &cid), []);
}

#[test]
fn a_room_that_exists_only_between_two_events_is_not_sent() {
    let (mut scene, [ann, _, cid]) = people();
    subscribe(&mut scene, &cid);
    scene.create(&ann, room("first"));
    changes(&mut scene, &cid);
    scene.ask(ann.conn, leave());
    scene.create(&ann, room("second"));
    scene.ask(ann.conn, leave());
    scene.pass(seconds(1));
    assert_eq!(changes(&mut scene, &cid), [Change::Gone(1)]);
}

#[test]
fn a_list_holds_the_newest_thousand_rooms_and_fits_into_a_frame() {
    let mut scene = LobbyHarness::unlimited();
    let watcher = scene.enter("watcher");
    let many: Vec<_> = (0..20)
        .map(|number| (format!("{number:32}"), "v".repeat(128)))
        .collect();
    let many: Vec<_> = many
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    scene.lobby.check_parameters = Box::new(|_, _| Ok(()));
    for number in 0..1_005 {
        let client = scene.enter("");
        let parameters = if number < 500 {
            parameters(&many)
        } else {
            parameters(&[])
        };
        scene.create(
            &client,
            world::CreateRoom {
                parameters,
                ..room("den")
            },
        );
    }
    let rooms = scene.listed(&watcher);
    assert!(rooms.len() < 1_000 && rooms.len() > 505);
    assert_eq!(rooms.last().map(|room| room.id), Some(1_005));
    assert!(rooms.is_sorted_by_key(|room| room.id));
    let message = world::WorldToClient {
        request: u64::MAX,
        body: Some(Body::RoomList(world::RoomList { rooms })),
    };
    assert!(message.encoded_len() <= ambit_transport::frame::MAX_FROM_WORLD);

    for _ in 0..1_000 {
        let client = scene.enter("");
        scene.create(&client, room("den"));
    }
    let rooms = scene.listed(&watcher);
    assert_eq!((rooms.len(), rooms[0].id), (1_000, 1_006));
}

#[test]
fn changes_of_a_large_room_are_collected_for_longer() {
    let mut scene = LobbyHarness::unlimited();
    let ann = scene.enter("ann");
    let den = scene
        .create(
            &ann,
            world::CreateRoom {
                capacity: 300,
                ..room("den")
            },
        )
        .id;
    let mut told = 0;
    for number in 0..200 {
        let client = scene.enter(&format!("p{number}"));
        scene.join(&client, den);
        scene.pass(Duration::from_millis(10));
        told += lists(&mut scene, &ann);
    }
    // 2 s, with intervals that grow to 1 s.
    assert!((5..40).contains(&told), "{told}");
    scene.pass(seconds(2));
    assert_eq!(lists(&mut scene, &ann), 1);
    assert_eq!(scene.members(&ann).split(' ').count(), 201);
}

#[test]
fn members_of_a_large_room_get_only_the_changes() {
    let mut scene = LobbyHarness::unlimited();
    let ann = scene.enter("ann");
    let den = scene
        .create(
            &ann,
            world::CreateRoom {
                capacity: 300,
                ..room("den")
            },
        )
        .id;
    let mut others: Vec<Client> = (0..100)
        .map(|number| scene.enter(&format!("p{number}")))
        .collect();
    for client in &others {
        scene.join(client, den);
    }
    scene.pass(seconds(2));
    let known = scene.roster_news(&ann).expect("news");
    assert_eq!(known, scene.members(&ann));
    // The request has sent no player anything that the others do not know.
    scene.pass(seconds(2));
    scene.events(&others[0]);
    let gone = others.remove(50);
    scene.ask(gone.conn, leave());
    scene.pass(seconds(2));
    let bytes: usize = scene.events(&others[0]).iter().map(change_bytes).sum();
    assert!((1..20).contains(&bytes), "{bytes} bytes");
    // A new member sees a player who leaves before the others are notified.
    let (short, late) = (scene.enter("short"), scene.enter("late"));
    scene.join(&short, den);
    scene.join(&late, den);
    scene.ask(short.conn, leave());
    scene.events(&late);
    scene.pass(seconds(2));
    let gone = scene
        .events(&late)
        .into_iter()
        .filter_map(|body| match body {
            Body::PlayerChange(change) => Some(change.gone),
            _ => None,
        });
    assert_eq!(gone.flatten().collect::<Vec<_>>(), [short.id]);
    // A player who leaves and returns, while another one joins, is known to that one as well.
    let back = &others[7];
    scene.ask(back.conn, leave());
    let third = scene.enter("third");
    scene.join(&third, den);
    scene.join(back, den);
    scene.pass(seconds(2));
    let known = scene.roster_news(&third).expect("news");
    assert!(known.split(' ').any(|name| name == back.name), "{known}");
}

fn people() -> (LobbyHarness, [Client; 3]) {
    let mut scene = LobbyHarness::unlimited();
    let clients = ["ann", "bob", "cid"].map(|name| scene.enter(name));
    (scene, clients)
}

fn subscribe(scene: &mut LobbyHarness, client: &Client) -> Vec<world::Room> {
    match scene.ask(
        client.conn,
        ask::Body::ListRooms(world::ListRooms { subscribe: true }),
    ) {
        Body::RoomList(list) => list.rooms,
        other => panic!("no list but {other:?}"),
    }
}

fn changes(scene: &mut LobbyHarness, client: &Client) -> Vec<Change> {
    let changes = scene
        .events(client)
        .into_iter()
        .filter_map(|body| match body {
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

fn lists(scene: &mut LobbyHarness, client: &Client) -> usize {
    scene
        .events(client)
        .iter()
        .filter(|body| matches!(body, Body::PlayerChange(_)))
        .count()
}
