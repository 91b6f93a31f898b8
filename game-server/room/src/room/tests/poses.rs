//! Poses from the world to clients: each decoded pose equals the one of the world bit for bit,
//! whatever the path loses or delays.

use super::super::*;
use super::moving_avatars::{FREE, MovingAvatars, YAW};
use super::simulation::{PERFECT_PATH, PathQuality, RoomSimulation, all_in_sight, simulation_of};
use crate::config::PoseCoding;

const BAD_PATH: PathQuality = PathQuality {
    loss: 20,
    late: 15,
    duplicate: 5,
};

#[test]
fn each_decoded_pose_is_exact_despite_loss_and_reordering() {
    let paths = [
        PERFECT_PATH,
        BAD_PATH,
        PathQuality {
            loss: 50,
            ..BAD_PATH
        },
    ];
    for (seed, path) in (0..).zip(paths) {
        for (format, coding) in [
            (YAW, PoseCoding::Shared),
            (FREE, PoseCoding::Shared),
            (YAW, PoseCoding::Fine),
            (FREE, PoseCoding::Fine),
        ] {
            let game = MovingAvatars {
                pauses: true,
                ..MovingAvatars::new(format)
            };
            let mut simulation = simulation_of(
                20,
                path,
                seed,
                RoomConfig {
                    coding,
                    ..all_in_sight()
                },
                game,
            );
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
fn objects_at_rest_become_exact_despite_loss_then_nothing_is_sent() {
    for seed in 0..4 {
        for format in [YAW, FREE] {
            let game = MovingAvatars {
                rest_from: 60,
                ..MovingAvatars::new(format)
            };
            let mut simulation = simulation_of(
                12,
                PathQuality {
                    loss: 30,
                    late: 10,
                    duplicate: 5,
                },
                seed,
                all_in_sight(),
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
    let game = MovingAvatars {
        pauses: true,
        ..MovingAvatars::new(YAW)
    };
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
    simulation
        .test_clients
        .get_mut(&ClientId(3))
        .expect("the client has joined")
        .clears_history = true;
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
        let (stamp, _) = simulation
            .newest_pose(3, simulation.avatar(other))
            .expect("in sight");
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
            let (stamp, _) = simulation
                .newest_pose(client, simulation.avatar(other))
                .expect("in sight");
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
    let game = MovingAvatars {
        straight: true,
        ..MovingAvatars::new(YAW)
    };
    let mut simulation = simulation_of(15, PERFECT_PATH, 5, all_in_sight(), game);
    simulation.ticks(200);
    let counts = simulation.room.stats().poses;
    assert!(counts.extrapolated > counts.sent, "{counts:?}");
    for client in 0..15 {
        for other in 0..15 {
            let object = simulation.avatar(other);
            let (stamp, known) = simulation.newest_pose(client, object).expect("in sight");
            let shown = ambit_proto::pose::extrapolate(
                &YAW,
                (stamp, &known),
                None,
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
    for coding in [PoseCoding::Auto, PoseCoding::Shared, PoseCoding::Fine] {
        for format in [YAW, FREE] {
            let run = |hidden_moves| {
                let game = MovingAvatars {
                    hidden: Some(PlayerId(0)),
                    hidden_moves,
                    pauses: true,
                    ..MovingAvatars::new(format)
                };
                let mut simulation = simulation_of(
                    8,
                    BAD_PATH,
                    11,
                    RoomConfig {
                        coding,
                        ..all_in_sight()
                    },
                    game,
                );
                simulation.records_sent = true;
                simulation.ticks(200);
                simulation
            };
            let (idle, busy) = (run(false), run(true));
            let datagrams_of_others = |simulation: &RoomSimulation| -> Vec<_> {
                simulation
                    .sent
                    .iter()
                    .filter(|(_, client, _)| client.0 != 0)
                    .cloned()
                    .collect()
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
