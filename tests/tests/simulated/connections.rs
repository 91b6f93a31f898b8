//! Connections that break, sessions that resume, and players that do not return.

use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_field::commands;

use crate::script::{avatar_position, bad_network, compare_shown_objects, good_network, room_of};

#[test]
fn a_client_whose_connections_break_resumes_its_avatar() {
    let (mut system, room) =
        room_of(1, 3, &good_network(), &[("size", "50x50"), ("npcs", "0"), ("obstacles", "0")]);
    let before = avatar_position(&system, room, 0);
    let player = system.user(0).client.player();
    let leaves = |system: &ambit_tests::sim::System| {
        system
            .user(1)
            .events
            .iter()
            .filter(|event| matches!(event, ViewEvent::Game(GameEvent::Leave { .. })))
            .count()
    };
    let leaves_before = leaves(&system);
    system.drop_connections(0);
    system.run_until("the return", |system| system.user(0).client.avatar().is_some());
    system.run_for(Duration::from_secs(1));
    assert_eq!(system.user(0).client.player(), player);
    assert!(avatar_position(&system, room, 0).distance(before) < 0.01);
    assert_eq!(leaves(&system), leaves_before, "user 1 gets no leave");
    compare_shown_objects(&mut system, room);
}

#[test]
fn a_broken_game_connection_is_replaced_with_a_new_ticket() {
    let (mut system, room) = room_of(2, 2, &bad_network(), &[("size", "50x50"), ("npcs", "5")]);
    for _ in 0..3 {
        system.drop_game(0);
        system.run_until("the return", |system| system.user(0).client.avatar().is_some());
        system.act(0, &commands::walk(20.0, 20.0));
        system.run_for(Duration::from_secs(2));
    }
    assert!(system.room(room).is_some());
    assert!(system.user(1).client.is_playing());
}

#[test]
fn a_player_away_longer_than_the_grace_period_is_removed() {
    let (mut system, room) = room_of(
        3,
        2,
        &good_network(),
        &[
            ("size", "50x50"),
            ("npcs", "0"),
            ("obstacles", "0"),
            ("grace", "5"), // Seconds.
        ],
    );
    system.kill(0);
    let other_avatars = |system: &ambit_tests::sim::System| {
        let seen = system.user(1).client.objects();
        seen.filter(|object| !object.is_own() && !object.is_room_wide()).count()
    };
    system.run_for(Duration::from_secs(4));
    assert_eq!(other_avatars(&system), 1, "the avatar stays within the grace period");
    system.run_for(Duration::from_secs(3));
    assert_eq!(other_avatars(&system), 0, "the avatar is removed after the grace period");
    assert_eq!(system.room(room).expect("the room runs").stats().players, 1);
}

#[test]
fn a_second_client_with_the_same_token_takes_over_the_session() {
    let (mut system, room) =
        room_of(4, 2, &good_network(), &[("size", "50x50"), ("npcs", "0"), ("obstacles", "0")]);
    let token = system.user(0).client.resume_token().to_vec();
    let player = system.user(0).client.player();
    let config = || ClientConfig { resume_token: token.clone(), ..ClientConfig::default() };
    let second = system.add_user_with(config(), &good_network());

    system.run_until("the resume", |system| system.user(second).client.avatar().is_some());
    assert_eq!(system.user(second).client.player(), player);
    system.run_for(Duration::from_secs(2));
    assert!(system.user(0).client.is_closed(), "the older connection is notified and closed");
    let reason = format!("{:?}", system.user(0).events.last());
    assert!(reason.contains("taken_over"), "{reason}");
    assert_eq!(system.room(room).expect("the room runs").stats().players, 2);
}

#[test]
fn connections_break_on_bad_networks_and_no_player_is_lost() {
    let mut rng = fastrand::Rng::with_seed(6);
    let (mut system, room) = room_of(6, 40, &bad_network(), &[("size", "120x120"), ("npcs", "10")]);
    for _ in 0..60 {
        let user = rng.usize(0..40);
        match rng.u8(0..4) {
            0 => system.drop_connections(user),
            1 => system.drop_game(user),
            2 => system.cut(user, Duration::from_secs(2)),
            _ => system.act(user, &commands::walk(rng.f32() * 120.0, rng.f32() * 120.0)),
        }
        system.run_for(Duration::from_millis(500));
    }
    for user in 0..40 {
        system.impair(user, &good_network());
    }
    system.run_for(Duration::from_secs(15));
    for user in 0..40 {
        assert!(system.user(user).client.avatar().is_some(), "user {user}");
    }
    assert_eq!(system.room(room).expect("the room runs").stats().players, 40);
    compare_shown_objects(&mut system, room);
}
