//! The game `cubes` over simulated networks: accuracy of the drawing, bytes, and memory.

use std::time::Duration;

use ambit_cubes_physics::SNAPSHOT_POSE_FORMAT;
use ambit_proto::pose::Level;
use ambit_tests::cube_players::soak::Soak;
use ambit_tests::cube_players::wide_floor;
use ambit_tests::physics_sync::{katamari, snapshot_size};
use ambit_transport::impair::Impairment;

/// 256 kbit/s, in bytes.
const BUDGET_BYTES: u64 = 32_000;

#[test]
fn a_katamari_of_900_cubes_stays_within_the_budget_and_is_drawn_right() {
    let network: Impairment = "delay=50ms".parse().expect("a valid impairment");
    let run = katamari::run(3, &network, &[("budget", "256")], Duration::from_secs(10));
    println!("{run:?}");
    assert!(run.samples.0 > 5_000, "{} samples of what interacts", run.samples.0);
    assert!(
        run.max_bytes_in_a_second <= BUDGET_BYTES,
        "{} bytes within a second",
        run.max_bytes_in_a_second
    );
    assert!(run.interacting.1 < 0.05, "p99 is {} m", run.interacting.1);
}

#[test]
fn snapshots_of_104_cubes_take_fewer_bytes_than_in_the_literature() {
    let truth = snapshot_size::simulate_scene(5, 30);
    assert_eq!(truth.object_count(), 104);
    for (name, format) in [
        ("positions", snapshot_size::NO_VELOCITY_FORMAT),
        ("with velocities", SNAPSHOT_POSE_FORMAT),
    ] {
        for level in [Level::Fine, Level::Shared] {
            let [absolute, delta] = [false, true].map(|with_baselines| {
                snapshot_size::measure(&truth, format, level, with_baselines)
            });
            println!("{name}, {level:?}: absolute {absolute:?}, delta {delta:?}");
            assert!(
                absolute.snapshots >= 295 && delta.mean < absolute.mean / 3.0,
                "{name}, {level:?}"
            );
            if format == snapshot_size::NO_VELOCITY_FORMAT && level == Level::Shared {
                assert!(
                    absolute.mean < snapshot_size::REFERENCE_BYTES as f32,
                    "{level:?}: {absolute:?}"
                );
            }
        }
    }
}

#[test]
fn a_long_run_keeps_memory_bounded_and_clients_in_sync() {
    let network = lossy(5);
    let run = |seed| {
        let mut soak = Soak::start(seed, &network);
        let mut left = Vec::new();
        for _ in 0..4 {
            let mut took = Duration::ZERO;
            let info =
                allocation_counter::measure(|| took = soak.run_round(Duration::from_secs(15)));
            left.push((info.count_current, info.bytes_current, took));
        }
        (soak.state_hash(), left)
    };
    let (state, left) = run(7);
    println!("allocations, bytes and time to rest, by round: {left:?}");
    assert_eq!(run(7).0, state, "the same seed gives the same states");
    // Tables and queues reach their sizes in the first rounds.
    let grown: i64 = left[2..].iter().map(|(count, ..)| count).sum();
    assert!(grown < 500, "{grown} more allocations than two rounds before");
}

#[test]
fn on_a_wide_floor_a_client_simulates_only_its_area_of_interest() {
    let mut players = wide_floor::start(8, &lossy(0), ("1", "2"));
    for _ in 0..5 {
        wide_floor::drive_about(&mut players, 8, Duration::from_secs(1));
        for around in wide_floor::client_loads(&players) {
            println!("{around:?}");
            // The client knows an enter or leave up to half a second later.
            assert!(
                around.followed > 80 && around.followed <= around.in_subscribed_cells,
                "{around:?}"
            );
            assert!(
                around.in_sight <= around.in_subscribed_cells && around.in_subscribed_cells < 300,
                "{around:?}"
            );
            assert_eq!(around.simulated_bodies, around.in_sight, "{around:?}");
        }
    }
    players.release_keys_for(Duration::from_secs(8));
    assert!(players.is_at_rest());
    for user in 0..4 {
        let known = players.check_drawn_at_rest(user).expect("objects at rest are drawn right");
        assert_eq!(known, wide_floor::client_loads(&players)[user].followed);
    }
}

fn lossy(percent: u8) -> Impairment {
    format!("delay=50ms,jitter=5ms,loss={percent}").parse().expect("a valid impairment")
}
