//! Poses from the world to clients: each decoded pose equals the one of the world bit for bit,
//! whatever the path loses or delays.

use std::time::Duration;

use super::super::*;
use super::moving_avatars::{FREE, MovingAvatars, YAW};
use super::simulation::{
    PERFECT_PATH, PathQuality, RoomSimulation, TestClient, all_in_sight, simulation_of,
};
use crate::config::Quorum;

const BAD_PATH: PathQuality = PathQuality { loss: 20, late: 15, duplicate: 5 };

#[test]
fn each_decoded_pose_is_exact_despite_loss_and_reordering() {
    let paths = [PERFECT_PATH, BAD_PATH, PathQuality { loss: 50, ..BAD_PATH }];
    for (seed, path) in (0..).zip(paths) {
        for (format, coding) in [
            (YAW, PoseCoding::Shared),
            (FREE, PoseCoding::Shared),
            (YAW, PoseCoding::Fine),
            (FREE, PoseCoding::Fine),
            (YAW, PoseCoding::Plain),
            (FREE, PoseCoding::Plain),
        ] {
            let game = MovingAvatars { pauses: true, ..MovingAvatars::new(format) };
            let mut simulation =
                simulation_of(20, path, seed, RoomConfig { coding, ..all_in_sight() }, game);
            simulation.ticks(300);
            let stats = simulation.room.stats();
            assert!(stats.poses.sent > 10_000, "{:?}", stats.poses);
            let unreadable_sections: u32 = simulation
                .test_clients
                .values()
                .map(|test_client| test_client.unreadable_sections)
                .sum();
            assert_eq!(
                (unreadable_sections, stats.malformed),
                (0, 0),
                "{format:?}, {coding:?}, loss {}",
                path.loss
            );
        }
    }
}

#[test]
fn a_client_knows_of_each_jump_between_two_poses_whatever_is_lost() {
    let paths = [PERFECT_PATH, BAD_PATH, PathQuality { loss: 50, ..BAD_PATH }];
    for (seed, path) in (0..).zip(paths) {
        for format in [YAW, FREE] {
            for coding in [PoseCoding::Shared, PoseCoding::Fine, PoseCoding::Plain] {
                let game =
                    MovingAvatars { pauses: true, jumps: true, ..MovingAvatars::new(format) };
                let config = RoomConfig { coding, ..all_in_sight() };
                let mut simulation = simulation_of(8, path, seed, config, game);
                simulation.ticks(400);
                let told = simulation.test_clients.values().map(TestClient::told_jumps);
                assert!(told.sum::<usize>() > 300, "{format:?}, {coding:?}");
            }
        }
    }
}

#[test]
fn each_client_of_a_room_gets_the_coding_that_it_asked_for() {
    for (format, preference, auto) in [
        (YAW, PoseCoding::Auto, 1),
        (FREE, PoseCoding::Auto, 2),
        (YAW, PoseCoding::Plain, 0),
        (YAW, PoseCoding::Fine, 2),
    ] {
        let config = RoomConfig { coding: preference, ..all_in_sight() };
        let game = MovingAvatars { pauses: true, rest_from: 200, ..MovingAvatars::new(format) };
        let mut simulation = RoomSimulation::new(config, Box::new(game), BAD_PATH, 4);
        simulation.join_with(12, asked_coding);
        simulation.ticks(260);
        for (client, test_client) in &simulation.test_clients {
            let expected = match asked_coding(*client) {
                PoseCoding::Auto => auto,
                PoseCoding::Plain => 0,
                PoseCoding::Shared => 1,
                PoseCoding::Fine => 2,
            };
            for (coding, sections) in test_client.sections.into_iter().enumerate() {
                let all = test_client.sections;
                if asked_coding(*client) == PoseCoding::Auto {
                    assert_eq!(sections > 100, coding == expected, "client {client}: {all:?}");
                } else if coding == expected {
                    assert!(sections > 100, "client {client}: {all:?}");
                } else {
                    assert_eq!(sections, 0, "client {client}: {all:?}");
                }
                assert_eq!(test_client.unreadable_sections, 0, "client {client}");
            }
            for other in 0..12 {
                let object = simulation.avatar(other);
                let (_, known) = simulation.newest_pose(client.0, object).expect("in sight");
                assert_eq!(known, simulation.room.world().pose(object));
            }
        }
    }
}

/// What a client of a mixed room asks for: all codings take part.
fn asked_coding(client: ClientId) -> PoseCoding {
    PoseCoding::ALL[client.0 as usize % 4]
}

#[test]
fn what_one_client_asks_for_changes_no_datagram_of_the_others() {
    for format in [YAW, FREE] {
        let run = |coding| {
            let game = MovingAvatars { pauses: true, ..MovingAvatars::new(format) };
            let mut simulation = RoomSimulation::new(all_in_sight(), Box::new(game), BAD_PATH, 2);
            simulation.records_sent = true;
            simulation.join_with(9, |client| match client.0 {
                0 => coding,
                _ => asked_coding(client),
            });
            simulation.ticks(150);
            let datagrams = std::mem::take(&mut simulation.sent);
            datagrams.into_iter().partition::<Vec<_>, _>(|(_, client, _)| client.0 == 0)
        };
        let (plain, others) = run(PoseCoding::Plain);
        let (shared, others_again) = run(PoseCoding::Shared);
        assert_ne!(plain, shared);
        assert_eq!(others, others_again, "{format:?}");
    }
}

#[test]
fn objects_at_rest_become_exact_despite_loss_then_nothing_is_sent() {
    for (seed, coding) in (0..6).zip([PoseCoding::Auto, PoseCoding::Plain].into_iter().cycle()) {
        for format in [YAW, FREE] {
            let game = MovingAvatars { rest_from: 60, ..MovingAvatars::new(format) };
            let mut simulation = simulation_of(
                12,
                PathQuality { loss: 30, late: 10, duplicate: 5 },
                seed,
                RoomConfig { coding, ..all_in_sight() },
                game,
            );
            simulation.ticks(60 + 80);
            for client in 0..12 {
                for other in 0..12 {
                    let object = simulation.avatar(other);
                    let (_, known) = simulation.newest_pose(client, object).expect("in sight");
                    assert_eq!(
                        known,
                        simulation.room.world().pose(object),
                        "client {client}, seed {seed}"
                    );
                }
            }
            simulation.ticks(60);
            let before = simulation.room.stats().clone();
            simulation.ticks(30);
            let after = simulation.room.stats();
            assert_eq!(after.poses.sent, before.poses.sent, "seed {seed}");
        }
    }
}

#[test]
fn an_object_active_after_a_long_rest_is_coded_against_its_rest_pose() {
    let game = MovingAvatars { pauses: true, ..MovingAvatars::new(YAW) };
    let mut simulation = simulation_of(4, PERFECT_PATH, 1, all_in_sight(), game);
    // A pause takes up to three seconds, which is more datagrams than the window holds.
    simulation.ticks(1_000);
    let bits = simulation.room.stats().bits;
    let bits_per_pose = bits.pose_contents as f64 / simulation.room.stats().poses.sent as f64;
    assert!(bits_per_pose < 16.0, "{bits_per_pose:.1} bits a pose");
}

#[test]
fn a_client_without_baselines_reports_it_and_recovers() {
    let mut simulation = simulation_of(10, BAD_PATH, 7, all_in_sight(), MovingAvatars::new(YAW));
    simulation.ticks(60);
    simulation.test_clients.get_mut(&ClientId(3)).expect("the client has joined").clears_history =
        true;
    simulation.ticks(60);
    assert!(simulation.test_clients[&ClientId(3)].unreadable_sections >= 1);
    assert!(simulation.room.stats().lost_tracks >= 1);
    let unreadable_sections = simulation.test_clients[&ClientId(3)].unreadable_sections;
    simulation.ticks(60);
    assert_eq!(
        simulation.test_clients[&ClientId(3)].unreadable_sections,
        unreadable_sections,
        "the client reads all sections again"
    );
    let stale = (0..10).filter(|&other| {
        let (stamp, _) = simulation.newest_pose(3, simulation.avatar(other)).expect("in sight");
        simulation.now.since(stamp) > Duration::from_millis(500)
    });
    assert_eq!(stale.count(), 0);
}

#[test]
fn all_poses_are_fresh_within_a_second_after_an_outage() {
    let mut simulation =
        simulation_of(15, PERFECT_PATH, 3, all_in_sight(), MovingAvatars::new(YAW));
    simulation.ticks(60);
    simulation.is_cut = true;
    simulation.ticks(40);
    simulation.is_cut = false;
    simulation.ticks(20);
    for client in 0..15 {
        for other in 0..15 {
            let (stamp, _) =
                simulation.newest_pose(client, simulation.avatar(other)).expect("in sight");
            assert!(
                simulation.now.since(stamp) <= Duration::from_millis(400),
                "{client}: {stamp:?} at {:?}",
                simulation.now
            );
        }
    }
}

#[test]
fn extrapolated_poses_are_sent_at_the_rate_of_their_class() {
    check_rates_of_extrapolated_poses(PoseCoding::Auto);
    check_rates_of_extrapolated_poses(PoseCoding::Plain);
}

fn check_rates_of_extrapolated_poses(coding: PoseCoding) {
    let game = MovingAvatars { straight: true, ..MovingAvatars::new(YAW) };
    let config = RoomConfig { coding, ..all_in_sight() };
    let mut simulation = simulation_of(15, PERFECT_PATH, 5, config, game);
    simulation.ticks(200);
    let counts = simulation.room.stats().poses;
    assert!(counts.extrapolated > counts.sent, "{counts:?}");
    for client in 0..15 {
        for other in 0..15 {
            let object = simulation.avatar(other);
            let (stamp, known) = simulation.newest_pose(client, object).expect("in sight");
            let shown = ambit_proto::pose::extrapolate(
                &YAW,
                ambit_proto::pose::Extrapolation::First,
                (stamp, &known),
                &[],
                simulation.now.whole_millis(),
            );
            let actual = simulation.room.world().pose(object);
            let off = shown
                .at
                .iter()
                .zip(actual.at)
                .map(|(shown, actual)| shown.abs_diff(actual))
                .max()
                .expect("three axes");
            // The newest tick is still in flight: the avatar may have turned at the edge.
            assert!(off <= 40, "{off} units off");
        }
    }
}

#[test]
fn actions_of_a_hidden_object_change_no_other_client_s_datagrams() {
    for coding in PoseCoding::ALL {
        for format in [YAW, FREE] {
            let run = |hidden_moves| {
                let game = MovingAvatars {
                    hidden: Some(PlayerId(0)),
                    hidden_moves,
                    pauses: true,
                    ..MovingAvatars::new(format)
                };
                let mut simulation =
                    simulation_of(8, BAD_PATH, 11, RoomConfig { coding, ..all_in_sight() }, game);
                simulation.records_sent = true;
                simulation.ticks(200);
                simulation
            };
            let idle = run(false);
            let busy = run(true);
            let datagrams_of_others = |simulation: &RoomSimulation| -> Vec<_> {
                simulation.sent.iter().filter(|(_, client, _)| client.0 != 0).cloned().collect()
            };
            assert_eq!(
                datagrams_of_others(&idle),
                datagrams_of_others(&busy),
                "{coding:?}, {format:?}"
            );
            let hidden_position = |simulation: &RoomSimulation| {
                simulation.room.world().position(simulation.avatar(0))
            };
            assert_ne!(
                hidden_position(&idle),
                hidden_position(&busy),
                "the hidden avatar moved the same way in both runs"
            );
        }
    }
}

#[test]
fn a_quorum_saves_datagrams_and_holds_poses_no_longer_than_it_says() {
    let run = |bytes| {
        let quorum = Quorum { bytes, hold: Duration::from_millis(100) };
        let game = MovingAvatars { numbers_change: false, ..MovingAvatars::new(FREE) };
        let config = RoomConfig { quorum, ..all_in_sight() };
        let mut simulation = simulation_of(2, PERFECT_PATH, 5, config, game);
        simulation.ticks(60);
        simulation.records_sent = true;
        for _ in 0..200 {
            simulation.tick();
            for (client, other) in [(0, 1), (1, 0)] {
                let object = simulation.avatar(other);
                let (stamp, known) = simulation.newest_pose(client, object).expect("in sight");
                let actual = simulation.room.world().pose(object);
                // On its way for one tick.
                let most = Duration::from_millis(if bytes == 0 { 50 } else { 150 });
                let age = simulation.now.since(stamp);
                assert!(age <= most || known == actual, "{age:?} old with a quorum of {bytes}");
            }
        }
        let bytes: usize = simulation.sent.iter().map(|(_, _, bytes)| bytes.len()).sum();
        (simulation.sent.len(), bytes)
    };
    let at_once = run(0);
    let waiting = run(1_000);
    println!("datagrams and bytes: {at_once:?} at each tick, {waiting:?} with a quorum");
    assert!(waiting.0 * 10 < at_once.0 * 6 && waiting.1 * 10 < at_once.1 * 9);
    assert_eq!(run(1), at_once, "any pose is worth a datagram");
}
