//! The game `cubes`, played over lines: what is drawn, what it takes, and who comes and goes.

use std::time::Duration;

use ambit_proto::impair::Impairment;
use ambit_tests::ruler::katamari;

/// What 256 kbit/s are, in bytes.
const BUDGET_BYTES: u64 = 32_000;

#[test]
fn a_katamari_among_nine_hundred_cubes_stays_within_the_budget_and_what_it_rolls_up_is_right() {
    let line: Impairment = "delay=50ms".parse().expect("a valid line");
    let run = katamari::play(3, &line, &[("budget", "256")], Duration::from_secs(10));
    println!("{run:?}");
    assert!(run.samples.0 > 5_000, "{} samples of what interacts", run.samples.0);
    assert!(run.most_bytes_in_a_second <= BUDGET_BYTES, "{} bytes within a second", run.most_bytes_in_a_second);
    assert!(run.interacting.1 < 0.05, "p99 is {} m", run.interacting.1);
}
