//! A dense crowd: 300 avatars on 21 x 21 m (in the long form 600 on 30 x 30 m), with budgets far
//! too small for all of it.
//!
//! No client is disconnected, each stays within its budget, and what matters most to a player stays
//! fresh while the rest degrades in order. Most clients do not decode poses
//! (`ClientConfig::light`); some are checked by the oracle.

use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::stats::{AgeByClass, Distribution};
use ambit_client_core::replica::PoseDecoding;
use ambit_tests::crowd_game::{TARGET_OFFSET, TEAM_SIZE};
use ambit_tests::measured_room::{MeasuredRoom, test_registry};
use ambit_tests::short_or_long;
use ambit_tests::sim::{System, wire};
use ambit_transport::impair::Impairment;

/// Clients that the oracle checks.
const WATCHED: usize = 6;
/// 64 kbit/s, in bytes.
const BUDGET_BYTES: u64 = 8_000;
/// 2 cm on the grid of the crowd game.
const UNITS: u32 = 2;

#[test]
fn in_one_spot_teams_and_targets_of_a_crowd_stay_fresh() {
    let (avatars, size) = short_or_long((300, "21x21"), (600, "30x30"));
    let network: Impairment = "delay=15ms,jitter=3ms".parse().expect("a valid impairment");
    let mut system = System::new(1, &test_registry());
    let users: Vec<usize> = (0..avatars)
        .map(|number| {
            let name = format!("player{number}");
            system.add_user_with(
                ClientConfig {
                    name,
                    pose_decoding: if number < WATCHED {
                        PoseDecoding::Full
                    } else {
                        PoseDecoding::Light
                    },
                    ..ClientConfig::default()
                },
                &network,
            )
        })
        .collect();
    let parameters =
        [("size", size), ("budget", "64"), ("inner", "3"), ("outer", "3"), ("margin", "0")];
    let room = system.start_room(&users, "crowd", &parameters);
    let mut measured = MeasuredRoom { system, room, clients: avatars };
    measured.system.run_for(Duration::from_secs(4));
    measured.record_traffic();
    let watched: Vec<usize> = (0..WATCHED).collect();
    // What matters to a player by the game's rules: its team, its target, and those whose target it
    // is.
    let players: std::collections::BTreeMap<_, u64> = {
        let room = measured.system.room(measured.room).expect("the room runs");
        room.network().viewers().map(|viewer| (viewer.avatar, viewer.player.0)).collect()
    };
    let positions: std::collections::BTreeMap<u64, usize> = players
        .values()
        .copied()
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .zip(0..)
        .collect();
    let ages =
        measured.measure_ages(&watched, Duration::from_secs(6), UNITS, |_, viewer, object| {
            let one = players[&viewer];
            let other = players[&object];
            let apart = positions[&one].abs_diff(positions[&other]);
            (one / TEAM_SIZE) as u8 == (other / TEAM_SIZE) as u8
                || apart == TARGET_OFFSET
                || apart == avatars - TARGET_OFFSET
        });
    for user in 0..avatars {
        assert!(measured.system.user(user).client.is_playing(), "user {user} was disconnected");
        let most = wire::most_in_a_second(
            measured.system.user(user).sent_datagrams.as_ref().expect("recorded"),
        );
        assert!(most <= BUDGET_BYTES, "user {user}: {most} bytes within a second");
    }
    check_ages(&ages.shown);
}

/// Engaged objects are fresh, and the others degrade in order.
fn check_ages(ages: &AgeByClass) {
    let of = |ages: &Distribution| {
        (
            ages.quantile_ms(0.5).unwrap_or(0),
            ages.quantile_ms(0.99).unwrap_or(0),
            ages.max().as_millis(),
        )
    };
    println!(
        "age ms p50, p99, max: engaged {:?}, near {:?}, far {:?}",
        of(&ages.engaged),
        of(&ages.near),
        of(&ages.far)
    );
    assert!(ages.engaged.count() > 1_000 && ages.far.count() > 1_000);
    assert!(of(&ages.engaged).1 < 100, "engaged objects are too old: {:?}", of(&ages.engaged));
    assert!(
        of(&ages.engaged).1 < of(&ages.near).1 && of(&ages.near).1 < of(&ages.far).1,
        "ages are not in the order of the classes"
    );
    assert!(of(&ages.far).2 < 10_000, "far objects are still updated: {:?}", of(&ages.far));
}
