//! A late join to a full room: 10,000 static boxes and 500 cubes that never rest.
//!
//! The late joiner gets its avatar and the nearest objects at once, while the static world is still
//! in transfer; and the other clients are sent the same bytes as without the join. The room's
//! players are ghosts to each other, so that the late joiner has no effect on what the others see.

use std::time::Duration;

use ambit_client_core::client::request::LobbyRequest;
use ambit_proto::time::LocalTime;
use ambit_tests::measured_room::MeasuredRoom;
use ambit_transport::impair::Impairment;
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

/// The objects that a player sees first.
const NEAREST_OBJECTS: usize = 50;

#[test]
fn a_late_joiner_has_its_avatar_and_near_objects_within_300_ms() {
    let (mut measured, late) = full_room();
    join(&mut measured, late);
    let room = measured.room;
    measured.system.run_until("the host's answer", |system| system.user(late).client.is_playing());
    let admitted = measured.system.now();
    let mut usable = None;
    let mut has_map = None;
    while has_map.is_none() || usable.is_none() {
        measured.system.run_for(Duration::from_millis(5));
        let now = measured.system.now().since(admitted);
        let arriving = measured
            .system
            .user(late)
            .client
            .running_game()
            .and_then(|play| play.link().incoming_block_progress());
        assert!(
            now < Duration::from_secs(5),
            "usable: {usable:?}, map: {has_map:?}, of which {arriving:?} has arrived"
        );
        if usable.is_none() && are_nearest_known(&measured, late) {
            usable = Some(now);
        }
        if has_map.is_none() && measured.system.user(late).client.map().is_some() {
            has_map = Some(now);
        }
    }
    let usable = usable.expect("the loop waits for it");
    let has_map = has_map.expect("the loop waits for it");
    println!(
        "after the host's answer: avatar and the nearest {NEAREST_OBJECTS} in {usable:?}, \
         10,000 boxes in {has_map:?}"
    );
    assert!(usable < Duration::from_millis(300), "{usable:?}");
    let map = measured.system.user(late).client.map().expect("the map has arrived");
    assert_eq!(
        map.obstacles.len(),
        measured.system.room(room).expect("the room runs").world().statics().obstacles().len()
    );
}

#[test]
fn a_late_join_changes_no_byte_sent_to_the_others() {
    let run = |joins: bool| -> Vec<Vec<(LocalTime, Bytes)>> {
        let (mut measured, late) = full_room();
        measured.record_traffic();
        if joins {
            join(&mut measured, late);
        }
        measured.system.run_for(Duration::from_secs(3));
        assert_eq!(measured.system.user(late).client.is_playing(), joins);
        (0..2)
            .map(|user| measured.system.user_mut(user).sent_datagrams.take().expect("recorded"))
            .collect()
    };
    for (with, without) in run(true).into_iter().zip(run(false)) {
        assert!(with.len() > 50, "{} datagrams", with.len());
        let differs = with.iter().zip(&without).position(|(a, b)| a != b);
        assert_eq!(differs, None, "of {} datagrams", with.len());
        assert_eq!(with.len(), without.len());
    }
}

/// Two players in the room, and one in the lobby.
fn full_room() -> (MeasuredRoom, usize) {
    let network: Impairment = "delay=50ms,rate=8mbit".parse().expect("a valid impairment");
    let mut measured = MeasuredRoom::new(5, 2, &network, "rolling_cubes", &PARAMETERS);
    let late = measured.system.add_user("late", &network);
    measured.system.run_until("the lobby", |system| system.user(late).client.is_connected());
    measured.system.run_for(Duration::from_secs(2));
    (measured, late)
}

fn join(measured: &mut MeasuredRoom, late: usize) {
    let room = measured.room;
    measured.system.request(late, LobbyRequest::JoinRoom { room, password: String::new() });
}

/// Whether the client has its avatar and draws the nearest objects.
fn are_nearest_known(measured: &MeasuredRoom, user: usize) -> bool {
    let Some((client, avatar)) = measured.viewer_of(user) else {
        return false;
    };
    let room = measured.system.room(measured.room).expect("the room runs");
    let view = &measured.system.user(user).client;
    let (Some(_), Some(t)) = (view.avatar(), view.room_time(measured.system.local_time(user)))
    else {
        return false;
    };
    let oracle = measured.system.pose_oracle(measured.room).expect("the room has ticked");
    let here = room.world().position(avatar);
    let shown: std::collections::BTreeMap<_, _> = oracle.shown_objects(client, view).collect();
    let mut near: Vec<_> = room.network().interest().followed(client).collect();
    near.sort_by(|&a, &b| {
        let distance = |object| here.distance(room.world().position(object));
        distance(a).total_cmp(&distance(b))
    });
    near.iter()
        .take(NEAREST_OBJECTS)
        .all(|object| shown.get(object).is_some_and(|seen| seen.position(t).is_some()))
}
