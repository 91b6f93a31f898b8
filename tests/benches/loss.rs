//! Cost of packet loss: a room of 900 cubes at 60 ticks a second, with loss from 0 to 50 %.
//!
//! `cargo bench -p ambit-tests --bench loss` prints the table and writes `docs/data/loss.tsv`.
//! Everything runs on simulated time, so the figures are the same on every machine. The oracles
//! check each decoded pose.

use std::fmt::Write as _;

use ambit_client_core::client::stats::Distribution;
use ambit_tests::data_file;
use ambit_tests::measured_room::run_under_loss;

const LOSSES: [f32; 7] = [0.0, 1.0, 5.0, 13.0, 20.0, 37.0, 50.0];
const SECONDS: u64 = 30;

fn main() {
    // Cargo passes its own flags to every bench; this one has none.
    let mut table = String::from(
        "| loss % | kbit/s a client | most in a second, kbit | poses/s | bytes a pose \
         | near, age ms p50 / p99 / max \
         | far, age ms p50 / p99 / max | poses checked | lost track |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    print!("{table}");
    for loss in LOSSES {
        let row = run_under_loss(1, loss, SECONDS);
        let line = format!(
            "| {loss} | {:.1} | {:.1} | {} | {:.1} | {} | {} | {} | {} |\n",
            kbit(row.bytes_per_s),
            kbit(row.max_bytes_in_a_second),
            row.poses_per_s,
            row.bytes_per_s as f64 / row.poses_per_s.max(1) as f64,
            format_ages(&row.ages.shown.near),
            format_ages(&row.ages.shown.far),
            row.compared,
            row.lost_tracks,
        );
        print!("{line}");
        write!(table, "{line}").expect("writing to a string cannot fail");
    }
    let command = "cargo bench -p ambit-tests --bench loss";
    data_file::write("loss", command, data_file::ANY_MACHINE, &table);
}

fn format_ages(ages: &Distribution) -> String {
    let quantile = |share| ages.quantile_ms(share).unwrap_or(0);
    format!("{} / {} / {}", quantile(0.5), quantile(0.99), ages.max().as_millis())
}

fn kbit(bytes: u64) -> f64 {
    bytes as f64 * 8.0 / 1_000.0
}
