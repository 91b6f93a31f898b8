//! A late join to a full room: 10,000 boxes that stand and 500 cubes that never rest.
//!
//! The newcomer has its avatar and what lies nearest at once, while the static world is still on
//! its way; and the others are sent the same bytes as if nobody had come. The room's players are
//! ghosts to each other, so that nothing of the newcomer concerns them.

use std::time::Duration;

use ambit_client_core::client::request::LobbyRequest;
use ambit_proto::impair::Impairment;
use ambit_proto::time::LocalTime;
use ambit_tests::measured_room::MeasuredRoom;
use bytes::Bytes;

const PARAMETERS: [(&str, &str); 8] = [
    ("size", "32x32"),
    ("budget", "8000"),
    ("inner", "4"),
    ("outer", "5"),
    ("cubes", "500"),
    ("boxes", "10000"),
    ("restless", "yes"),
    ("ghosts", "yes"),
];

/// What a player looks at first.
const NEAREST_OBJECTS: usize = 50;

#[test]
fn a_late_joiner_has_its_avatar_and_near_objects_within_300_ms() {
    let (mut cubes, late) = full_room();
    join(&mut cubes, late);
    let room = cubes.room;
    cubes.system.run_until("the room's yes", |system| {
        system.guest(late).client.is_playing()
    });
    let admitted = cubes.system.now();
    let mut usable = None;
    let mut has_map = None;
    while has_map.is_none() || usable.is_none() {
        cubes.system.run_for(Duration::from_millis(5));
        let now = cubes.system.now().since(admitted);
        let arriving = cubes
            .system
            .guest(late)
            .client
            .running_game()
            .and_then(|play| play.link().incoming_block_progress());
        assert!(
            now < Duration::from_secs(5),
            "usable: {usable:?}, the map: {has_map:?}, {arriving:?} of it"
        );
        if usable.is_none() && are_nearest_known(&cubes, late) {
            usable = Some(now);
        }
        if has_map.is_none() && cubes.system.guest(late).client.map().is_some() {
            has_map = Some(now);
        }
    }
    let (usable, has_map) = (usable.expect("it is"), has_map.expect("it is there"));
    println!(
        "after the host's yes: avatar and the nearest {NEAREST_OBJECTS} in {usable:?}, 10,000 boxes in {has_map:?}"
    );
    assert!(usable < Duration::from_millis(300), "{usable:?}");
    let map = cubes.system.guest(late).client.map().expect("it is there");
    assert_eq!(
        map.boxes.len(),
        cubes
            .system
            .room(room)
            .expect("it runs")
            .world()
            .statics()
            .boxes()
            .len()
    );
}

#[test]
fn a_late_join_changes_no_byte_sent_to_the_others() {
    let run = |joins: bool| -> Vec<Vec<(LocalTime, Bytes)>> {
        let (mut cubes, late) = full_room();
        cubes.record_traffic();
        if joins {
            join(&mut cubes, late);
        }
        cubes.system.run_for(Duration::from_secs(3));
        assert_eq!(cubes.system.guest(late).client.is_playing(), joins);
        (0..2)
            .map(|guest| {
                cubes
                    .system
                    .guest_mut(guest)
                    .sent_to
                    .take()
                    .expect("tapped")
            })
            .collect()
    };
    for (with, without) in run(true).into_iter().zip(run(false)) {
        assert!(with.len() > 50, "{} datagrams", with.len());
        let differs = with.iter().zip(&without).position(|(a, b)| a != b);
        assert_eq!(differs, None, "of {} datagrams", with.len());
        assert_eq!(with.len(), without.len());
    }
}

/// Two who play, and one in the lobby.
fn full_room() -> (MeasuredRoom, usize) {
    let line: Impairment = "delay=50ms,rate=8mbit".parse().expect("a valid line");
    let mut cubes = MeasuredRoom::new(5, 2, &line, "tumble", &PARAMETERS);
    let late = cubes.system.arrive("late", &line);
    cubes.system.run_until("the lobby", |system| {
        system.guest(late).client.is_connected()
    });
    cubes.system.run_for(Duration::from_secs(2));
    (cubes, late)
}

fn join(cubes: &mut MeasuredRoom, late: usize) {
    let room = cubes.room;
    cubes.system.request(
        late,
        LobbyRequest::JoinRoom {
            room,
            password: String::new(),
        },
    );
}

/// Whether the avatar is there, and the nearest objects are drawn where they are.
fn are_nearest_known(cubes: &MeasuredRoom, guest: usize) -> bool {
    let Some((client, avatar)) = cubes.viewer_of(guest) else {
        return false;
    };
    let room = cubes.system.room(cubes.room).expect("it runs");
    let view = &cubes.system.guest(guest).client;
    let (Some(_), Some(t)) = (view.avatar(), view.room_time(cubes.system.local(guest))) else {
        return false;
    };
    let oracle = cubes.system.poses(cubes.room).expect("it has ticked");
    let here = room.world().position(avatar);
    let shown: std::collections::BTreeMap<_, _> = oracle.shown_objects(client, view).collect();
    let mut near: Vec<_> = room.network().interest().followed(client).collect();
    near.sort_by(|&a, &b| {
        let distance = |object| here.distance(room.world().position(object));
        distance(a).total_cmp(&distance(b))
    });
    near.iter().take(NEAREST_OBJECTS).all(|object| {
        shown
            .get(object)
            .is_some_and(|seen| seen.position(t).is_some())
    })
}
