//! The game `cubes`, played over lines: what is drawn, what it takes, and who comes and goes.

use std::time::Duration;

use ambit_proto::games::cubes::SNAPSHOT_FORMAT;
use ambit_proto::impair::Impairment;
use ambit_proto::pose::Level;
use ambit_tests::hands::soak::Soak;
use ambit_tests::hands::wide;
use ambit_tests::ruler::{katamari, snapshots};

/// What 256 kbit/s are, in bytes.
const BUDGET_BYTES: u64 = 32_000;

#[test]
fn a_katamari_among_nine_hundred_cubes_stays_within_the_budget_and_what_it_rolls_up_is_right() {
    let line: Impairment = "delay=50ms".parse().expect("a valid line");
    let run = katamari::play(3, &line, &[("budget", "256")], Duration::from_secs(10));
    println!("{run:?}");
    assert!(
        run.samples.0 > 5_000,
        "{} samples of what interacts",
        run.samples.0
    );
    assert!(
        run.most_bytes_in_a_second <= BUDGET_BYTES,
        "{} bytes within a second",
        run.most_bytes_in_a_second
    );
    assert!(run.interacting.1 < 0.05, "p99 is {} m", run.interacting.1);
}

#[test]
fn snapshots_of_a_hundred_and_four_cubes_take_fewer_bytes_than_the_literature_s() {
    let truth = snapshots::scene(5, 30);
    assert_eq!(truth.objects(), 104);
    for (name, format) in [
        ("places", snapshots::PLACES),
        ("with velocities", SNAPSHOT_FORMAT),
    ] {
        for level in [Level::Fine, Level::Shared] {
            let [absolute, delta] = [false, true]
                .map(|with_bases| snapshots::measure(&truth, format, level, with_bases));
            println!("{name}, {level:?}: absolute {absolute:?}, delta {delta:?}");
            assert!(
                absolute.snapshots >= 295 && delta.mean < absolute.mean / 3.0,
                "{name}, {level:?}"
            );
            if format == snapshots::PLACES && level == Level::Shared {
                assert!(
                    absolute.mean < snapshots::REFERENCE_BYTES as f32,
                    "{level:?}: {absolute:?}"
                );
            }
        }
    }
}

#[test]
fn however_long_it_lasts_memory_stays_bounded_and_nobody_drifts_off() {
    let line = lossy(5);
    let run = |seed| {
        let mut soak = Soak::begin(seed, &line);
        let mut left = Vec::new();
        for _ in 0..4 {
            let mut took = Duration::ZERO;
            let info = allocation_counter::measure(|| took = soak.round(Duration::from_secs(15)));
            left.push((info.count_current, info.bytes_current, took));
        }
        (soak.state(), left)
    };
    let (state, left) = run(7);
    println!("allocations, bytes and time to rest, by round: {left:?}");
    assert_eq!(run(7).0, state, "the same seed, the same states");
    // Tables and queues reach their sizes in the first rounds.
    let grown: i64 = left[2..].iter().map(|(count, ..)| count).sum();
    assert!(
        grown < 500,
        "{grown} allocations more than two rounds before"
    );
}

#[test]
fn on_a_wide_floor_a_client_knows_and_simulates_its_surroundings_alone() {
    let mut hands = wide::begin(8, &lossy(0), ("1", "2"));
    for _ in 0..5 {
        wide::roam(&mut hands, 8, Duration::from_secs(1));
        for around in wide::surroundings(&hands) {
            println!("{around:?}");
            // What is announced or left at this moment is known half a second later.
            assert!(
                around.followed > 80 && around.followed <= around.in_cells,
                "{around:?}"
            );
            assert!(
                around.in_sight <= around.in_cells && around.in_cells < 300,
                "{around:?}"
            );
            assert_eq!(around.bodies, around.in_sight, "{around:?}");
        }
    }
    hands.rest(Duration::from_secs(8));
    assert!(hands.is_at_rest());
    for guest in 0..4 {
        let known = hands.check_rest(guest).expect("all at rest is right");
        assert_eq!(known, wide::surroundings(&hands)[guest].followed);
    }
}

fn lossy(percent: u8) -> Impairment {
    format!("delay=50ms,jitter=5ms,loss={percent}")
        .parse()
        .expect("a valid line")
}
