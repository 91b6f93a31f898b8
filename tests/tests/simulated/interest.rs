//! Interest management: the oracle compares all pairs after every tick while players act.
//!
//! Invariant 1 (interest) of ARCHITECTURE.md; 2 (hiding) is in `hiding`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_client_core::frame::Frame;
use ambit_field::commands;
use ambit_proto::ids::{ClientObjectId, ObjectId};
use ambit_proto::space::Position;
use ambit_transport::impair::Impairment;

use crate::script::{
    BLINK, act_randomly, avatar_position, bad_network, check_events, compare_shown_objects,
    good_network, room_of, walk_to,
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
    let mut sent = BTreeMap::new();
    let mut compared = 0;
    let mut left = 0;
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
        .filter_map(|event| {
            if let ViewEvent::Game(GameEvent::Enter(enter)) = event { Some(enter) } else { None }
        })
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

/// What screens of 60 Hz show of walkers: steps beyond their own speed, in metres.
struct ScreenSteps {
    count: u64,
    /// More than 10 cm beyond the own speed.
    visible: u64,
    largest_m: f32,
}

/// Where walkers are drawn, and how fast they are.
type DrawnWalkers = BTreeMap<ClientObjectId, (Position, f32)>;

/// Shows a room of walkers to its players for a minute.
fn steps_shown(line: &Impairment, seed: u64) -> ScreenSteps {
    const FRAME: Duration = Duration::from_micros(16_667);
    let mut rng = fastrand::Rng::with_seed(seed);
    let settings = [("size", "90x90"), ("npcs", "40"), ("wolves", "0"), ("obstacles", "0")];
    let (mut system, _) = room_of(seed, 6, line, &settings);
    system.run_for(Duration::from_secs(3));
    let mut screens: Vec<(Frame, DrawnWalkers)> = (0..6).map(|_| Default::default()).collect();
    let mut steps = ScreenSteps { count: 0, visible: 0, largest_m: 0.0 };
    for frame in 0..3_600 {
        if frame % 40 == 0 {
            let user = rng.usize(..6);
            let to = (rng.f32() * 90.0, rng.f32() * 90.0);
            system.act(user, &commands::walk(to.0, to.1));
        }
        system.run_for(FRAME);
        for (user, (picture, before)) in screens.iter_mut().enumerate() {
            let now = system.local_time(user);
            system.with_client(user, |client, _| picture.update(client, now, now));
            let walkers =
                picture.objects().filter(|object| ["avatar", "npc"].contains(&object.kind()));
            let drawn: DrawnWalkers = walkers
                .map(|object| {
                    let [x, y, z] = object.velocity();
                    (object.id(), (object.position(), (x * x + y * y + z * z).sqrt()))
                })
                .collect();
            for (id, (at, speed)) in &drawn {
                let Some((from, speed_before)) = before.get(id) else { continue };
                let own_m = speed.max(*speed_before) * FRAME.as_secs_f32();
                let beyond_m = from.distance(*at) - own_m;
                steps.count += 1;
                steps.visible += u64::from(beyond_m > 0.1);
                steps.largest_m = steps.largest_m.max(beyond_m);
            }
            *before = drawn;
        }
    }
    steps
}

#[test]
fn late_news_of_a_path_is_blended_in_and_never_jumps() {
    for loss in [0, 5, 13] {
        let line = format!("delay=50ms,loss={loss}").parse().expect("a valid impairment");
        let ScreenSteps { count, visible, largest_m } = steps_shown(&line, loss);
        println!(
            "{loss} % loss: {visible} of {count} steps above 10 cm, the largest {largest_m} m"
        );
        assert!(count > 100_000, "{loss} % loss: {count} steps");
        assert!(largest_m <= 0.1, "{loss} % loss: a step of {largest_m} m beyond the speed");
    }
}

/// An avatar that blinks is drawn here or there, also by a client that hears of it too late.
#[test]
fn a_blink_that_is_told_late_is_drawn_at_no_place_between() {
    const RECENT: Duration = Duration::from_millis(700);
    let line = "delay=50ms,loss=40".parse().expect("a valid impairment");
    let settings = [("size", "90x90"), ("npcs", "0"), ("wolves", "0"), ("obstacles", "0")];
    let (mut system, room) = room_of(7, 6, &line, &settings);
    system.run_for(Duration::from_secs(3));
    let mut checked = 0;
    let mut late = 0;
    for round in 0..3_000 {
        if round % 300 == 0 {
            for user in 0..6 {
                let Position { x, y, .. } = avatar_position(&system, room, user);
                let to = (if x < 45.0 { x + 5.0 } else { x - 5.0 }, y);
                system.act(user, &commands::cast(BLINK, Some(to)));
            }
        }
        system.run_for(Duration::from_millis(20));
        for user in 0..6 {
            let now = system.local_time(user);
            let client = &system.user(user).client;
            let Some((t, own)) = client.room_time(now).zip(client.avatar()) else { continue };
            let world = system.room(room).expect("the room runs").world();
            let player = client.player().expect("welcomed");
            let avatar = system.room(room).and_then(|room| room.avatar(player));
            let avatar = avatar.expect("the player has an avatar");
            let since = t.saturating_sub(RECENT);
            let mut points = world.path(avatar).points();
            if !points.any(|(time, point)| point.jump && since < time && time <= t) {
                continue;
            }
            let known = own.position(t).expect("it has a path");
            let drawn = own.drawn_position(t).expect("it has a path");
            assert!(drawn.distance(known) < 0.05, "user {user} at {t:?}: {drawn:?}, {known:?}");
            checked += 1;
            late += usize::from(known.distance(world.position_at(avatar, t)) > 1.0);
        }
    }
    println!("{checked} pictures after a blink, {late} of them of a client that did not know");
    assert!(checked > 1_000 && late > 10, "{checked} pictures, {late} late");
}
