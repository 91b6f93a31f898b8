//! Interest management: the oracle compares all pairs after every tick while players act.
//!
//! Invariant 1 (interest) of ARCHITECTURE.md; 2 (hiding) is in `hiding`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_client_core::client::event::ViewEvent;
use ambit_field::commands;
use ambit_proto::ids::{ClientObjectId, ObjectId};
use ambit_proto::space::Position;
use ambit_transport::impair::Impairment;

use crate::script::{
    act_randomly, bad_network, check_events, compare_shown_objects, good_network, room_of, walk_to,
};

#[test]
fn every_viewer_follows_exactly_its_area_of_interest() {
    for seed in 0..6 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (mut system, room) = room_of(
            seed,
            10,
            &bad_network(),
            &[("size", "90x70"), ("npcs", "25"), ("obstacles", "10")],
        );
        act_randomly(&mut system, &mut rng, 10, 70.0, 120);
        let (checked, followed) = system.checked_pairs();
        assert!(
            followed > 1_000 && followed < checked,
            "seed {seed}: {followed} of {checked} pairs"
        );
        let mut crossings = 0;
        for user in 0..10 {
            let (enters, leaves) = check_events(&system, user);
            crossings += enters.min(leaves);
        }
        assert!(crossings > 50, "seed {seed}: {crossings}");
        assert!(system.room(room).is_some());
    }
}

#[test]
fn clients_agree_with_the_room_once_everything_has_arrived() {
    for seed in 10..14 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (mut system, room) =
            room_of(seed, 8, &bad_network(), &[("size", "90x70"), ("npcs", "25")]);
        act_randomly(&mut system, &mut rng, 8, 70.0, 60);
        for user in 0..8 {
            system.impair(user, &good_network());
        }
        system.run_for(Duration::from_secs(3));
        compare_shown_objects(&mut system, room);
    }
}

#[test]
fn what_leaves_is_drawn_where_it_is_up_to_its_end() {
    let mut rng = fastrand::Rng::with_seed(5);
    let settings = [("size", "120x120"), ("npcs", "120"), ("wolves", "0"), ("obstacles", "0")];
    let (mut system, room) = room_of(5, 6, &good_network(), &settings);
    system.run_for(Duration::from_secs(2));
    let (mut sent, mut compared, mut left) = (BTreeMap::new(), 0, 0);
    for step in 0..3_000 {
        if step % 150 == 0 {
            for user in 0..6 {
                let to = (rng.f32() * 120.0, rng.f32() * 120.0);
                system.act(user, &commands::walk(to.0, to.1));
            }
        }
        system.run_for(Duration::from_millis(10));
        let truth = system.room(room).expect("the room runs");
        for viewer in truth.network().viewers() {
            let followed: BTreeSet<ObjectId> = viewer.slots.objects().collect();
            let alias =
                |&object: &ObjectId| Some(((viewer.client, viewer.slots.alias(object)?), object));
            sent.extend(followed.iter().filter_map(alias));
            let user = system.user_of(room, viewer.client).expect("a user");
            let client = &system.user(user).client;
            let t = client.room_time(system.local_time(user)).expect("the user is in the room");
            let play = client.running_game().expect("the user is in the room");
            for (&(of, alias), &object) in &sent {
                let id = play.replica().resolve(alias).filter(|_| of == viewer.client);
                let Some(seen) = id.and_then(|id| client.object(id)) else { continue };
                if !truth.world().contains(object) || seen.is_room_wide() {
                    continue;
                }
                // It is shown for the local lag after the room has decided that it leaves.
                left += usize::from(!followed.contains(&object));
                compared += 1;
                let drawn = seen.position(t).expect("a position");
                let apart = drawn.distance(truth.world().position_at(object, t));
                assert!(apart < 0.02, "user {user}, {object} at {t:?}: {apart} m off");
            }
        }
    }
    assert!(compared > 100_000 && left > 2_000, "{compared} positions, {left} of what leaves");
}

#[test]
fn after_an_outage_a_client_gets_the_newest_state() {
    let mut rng = fastrand::Rng::with_seed(3);
    let (mut system, room) = room_of(3, 6, &good_network(), &[("size", "80x80"), ("npcs", "30")]);
    for round in 0..5 {
        system.cut(round, Duration::from_secs(3));
        act_randomly(&mut system, &mut rng, 6, 80.0, 12);
        system.run_for(Duration::from_secs(2));
        compare_shown_objects(&mut system, room);
        check_events(&system, round);
        assert!(system.user(round).client.is_playing(), "a short outage disconnects no client");
    }
}

#[test]
fn events_are_delivered_once_on_any_network() {
    for seed in 30..34 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (mut system, room) = room_of(
            seed,
            8,
            &bad_network(),
            // Wolves never rest, and so there are always events on their way.
            &[("size", "40x40"), ("npcs", "20"), ("wolves", "0"), ("obstacles", "0")],
        );
        act_randomly(&mut system, &mut rng, 8, 40.0, 80);
        system.run_for(Duration::from_secs(5));
        let sent = system.room(room).expect("the room runs").stats().events;
        let received: u64 = (0..8).map(|user| system.user(user).client.stats().events).sum();
        assert!(sent > 200, "seed {seed}: {sent} events");
        assert_eq!(received, sent, "seed {seed}");
    }
}

#[test]
fn a_throttled_client_gets_the_newest_state_and_stays_connected() {
    let throttled: Impairment =
        "rate=64kbit,delay=40ms,loss=2".parse().expect("a valid impairment");
    let mut rng = fastrand::Rng::with_seed(13);
    let (mut system, room) =
        room_of(13, 6, &throttled, &[("size", "60x60"), ("npcs", "60"), ("obstacles", "0")]);
    act_randomly(&mut system, &mut rng, 6, 60.0, 60);
    system.run_for(Duration::from_secs(5));
    compare_shown_objects(&mut system, room);
    assert!((0..6).all(|user| system.user(user).client.is_playing()));
}

#[test]
fn a_late_joiner_gets_the_inner_zone_nearest_first() {
    let (mut system, room) =
        room_of(5, 1, &good_network(), &[("size", "100x100"), ("npcs", "300"), ("obstacles", "0")]);
    let late = system.add_user("late", &good_network());
    system.run_until("the lobby", |system| system.user(late).client.is_connected());
    let request = ambit_client_core::client::request::LobbyRequest::JoinRoom {
        room,
        password: String::new(),
    };
    system.request(late, request);
    system.run_until("the game", |system| system.user(late).client.avatar().is_some());
    let first: Vec<_> = system
        .user(late)
        .events
        .iter()
        .filter_map(|event| if let ViewEvent::Enter(enter) = event { Some(enter) } else { None })
        .collect();
    assert!(first.len() > 15, "{} objects", first.len());
    assert!(first[0].own);
    let places: Vec<Position> = first.iter().filter_map(|enter| enter.position).collect();
    let distances: Vec<f32> = places.iter().map(|at| at.ground_distance(places[0])).collect();
    // Objects move between the room's decision and the drawing, so neighbours may swap within a
    // step.
    assert!(distances.windows(2).all(|pair| pair[0] <= pair[1] + 1.0), "{distances:?}");
}

#[test]
fn an_avatar_that_walks_away_and_returns_gets_another_id() {
    let (mut system, room) =
        room_of(7, 2, &good_network(), &[("size", "100x100"), ("npcs", "0"), ("obstacles", "0")]);
    walk_to(&mut system, room, 0, 5.0, 5.0);
    walk_to(&mut system, room, 1, 8.0, 8.0);
    system.run_for(Duration::from_secs(1));
    let ids = |system: &ambit_tests::sim::System| -> Vec<ClientObjectId> {
        let others = system.user(0).client.objects();
        let others = others.filter(|seen| !seen.is_own() && !seen.is_room_wide());
        others.map(|seen| seen.id).collect()
    };
    let before = ids(&system);
    assert_eq!(before.len(), 1);
    walk_to(&mut system, room, 1, 95.0, 95.0);
    system.run_for(Duration::from_secs(1));
    assert!(ids(&system).is_empty());
    walk_to(&mut system, room, 1, 8.0, 8.0);
    system.run_for(Duration::from_secs(1));
    let after = ids(&system);
    assert_eq!(after.len(), 1);
    assert_ne!(before, after);
}

#[test]
fn two_hundred_clients_are_simulated_faster_than_real_time() {
    let mut rng = fastrand::Rng::with_seed(21);
    let network: Impairment = "loss=5,delay=40ms,jitter=10ms".parse().expect("a valid impairment");
    let (mut system, room) = room_of(21, 200, &network, &[("size", "300x300"), ("npcs", "50")]);
    act_randomly(&mut system, &mut rng, 200, 300.0, 20);
    let late: f64 =
        (0..200).map(|user| system.user(user).client.stats().late_share()).sum::<f64>() / 200.0;
    assert!(late < 0.05, "the share of late messages is {late}");
    let stats = system.room(room).expect("the room runs").stats();
    println!(
        "200 clients: {:.2} % late; clients reported {} late messages",
        100.0 * late,
        stats.late_events
    );
    assert!(stats.late_events > 0, "clients report what came late");
}
