//! A dense crowd: 600 avatars in one spot of 30 x 30 m, on lines that carry far less than all of
//! it.
//!
//! Nobody is dropped, each client stays within its budget, and what matters most to a player stays
//! fresh while the rest degrades in order. Most clients keep books only (`ClientConfig::light`);
//! some are looked at by the oracle.

use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_proto::impair::Impairment;
use ambit_tests::crowd_game::{TARGET_OFFSET, TEAM_SIZE};
use ambit_tests::measured_room::{MeasuredRoom, test_registry};
use ambit_tests::sim::{System, wire};

const AVATARS: usize = 600;
/// Clients that are looked at.
const WATCHED: usize = 6;
/// 64 kbit/s, in bytes.
const BUDGET_BYTES: u64 = 8_000;
/// 2 cm on the grid of the throng.
const UNITS: u32 = 2;

#[test]
fn six_hundred_in_one_spot_all_stay_and_team_and_targets_stay_fresh() {
    let line: Impairment = "delay=15ms,jitter=3ms".parse().expect("a valid line");
    let mut system = System::new(1, &test_registry());
    let guests: Vec<usize> = (0..AVATARS)
        .map(|number| {
            let name = format!("player{number}");
            system.arrive_with(
                ClientConfig {
                    name,
                    light: number >= WATCHED,
                    ..ClientConfig::default()
                },
                &line,
            )
        })
        .collect();
    let parameters = [
        ("size", "30x30"),
        ("budget", "64"),
        ("inner", "3"),
        ("outer", "3"),
        ("margin", "0"),
    ];
    let room = system.gather(&guests, "throng", &parameters);
    let mut cubes = MeasuredRoom {
        system,
        room,
        clients: AVATARS,
    };
    cubes.system.run_for(Duration::from_secs(4));
    cubes.record_traffic();
    let watched: Vec<usize> = (0..WATCHED).collect();
    // Whom a player cares about, as the game's rules say: its team, its target, and whose target it
    // is.
    let players: std::collections::BTreeMap<_, u64> = {
        let room = cubes.system.room(cubes.room).expect("it runs");
        room.network()
            .viewers()
            .map(|viewer| (viewer.avatar, viewer.player.0))
            .collect()
    };
    let places: std::collections::BTreeMap<u64, usize> = players
        .values()
        .copied()
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .zip(0..)
        .collect();
    let ages = cubes.measure_ages(
        &watched,
        Duration::from_secs(6),
        UNITS,
        |_, viewer, object| {
            let (one, other) = (players[&viewer], players[&object]);
            let apart = places[&one].abs_diff(places[&other]);
            (one / TEAM_SIZE) as u8 == (other / TEAM_SIZE) as u8
                || apart == TARGET_OFFSET
                || apart == AVATARS - TARGET_OFFSET
        },
    );
    for guest in 0..AVATARS {
        assert!(
            cubes.system.guest(guest).client.is_playing(),
            "guest {guest} was dropped"
        );
        let most =
            wire::most_in_a_second(cubes.system.guest(guest).sent_to.as_ref().expect("tapped"));
        assert!(
            most <= BUDGET_BYTES,
            "guest {guest}: {most} bytes within a second"
        );
    }
    let of = |ages: &ambit_client_core::client::stats::Distribution| {
        (
            ages.quantile_ms(0.5).unwrap_or(0),
            ages.quantile_ms(0.99).unwrap_or(0),
            ages.max().as_millis(),
        )
    };
    println!(
        "age ms p50, p99, max: engaged {:?}, near {:?}, far {:?}",
        of(&ages.shown.engaged),
        of(&ages.shown.near),
        of(&ages.shown.far)
    );
    assert!(ages.shown.engaged.count() > 1_000 && ages.shown.far.count() > 1_000);
    assert!(
        of(&ages.shown.engaged).1 < 100,
        "what matters most: {:?}",
        of(&ages.shown.engaged)
    );
    assert!(
        of(&ages.shown.engaged).1 < of(&ages.shown.near).1
            && of(&ages.shown.near).1 < of(&ages.shown.far).1,
        "in order"
    );
    assert!(
        of(&ages.shown.far).2 < 10_000,
        "nobody is forgotten: {:?}",
        of(&ages.shown.far)
    );
}
