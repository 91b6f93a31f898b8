//! Cost of packet loss: a room of 900 cubes at 60 ticks a second, with loss from 0 to 50 %.
//!
//! `cargo bench -p ambit-tests --bench loss` prints the table and writes `docs/loss.md`. Everything
//! runs on simulated time, so the figures are the same on every machine. The oracles check each
//! decoded pose.

use std::fmt::Write as _;
use std::path::Path;

use ambit_client_core::client::stats::Distribution;
use ambit_tests::measured_room::run_under_loss;

const LOSSES: [f32; 7] = [0.0, 1.0, 5.0, 13.0, 20.0, 37.0, 50.0];
const SECONDS: u64 = 30;

const INTRODUCTION: &str = "# Loss

Bytes, poses and their ages over a lossy network. The room runs the test game `rolling_cubes`: 900
loose cubes and two players' cubes, of which some hundred move at a time; 60 ticks a second, 256
kbit/s for each client; ten cubes a second are removed and replaced. The network has a delay of 40
ms each way +- 10 ms, 5 % reordering, 2 % duplicates, and the loss of the first column, in both
directions. Each row is 30 s of simulated time.

`cargo bench -p ambit-tests --bench loss` makes this page. While it runs, the simulator's oracles
compare every decoded pose with the truth at its stamp, bit for bit, and every shown object with the
objects that were sent to the client: one wrong baseline or one revived object ends the run. The age
of a moving object is the time for which its shown pose has been more than 2 mm off. Bytes include
IP, UDP and QUIC.

";

fn main() {
    // Cargo passes its own flags to every bench; this one has none.
    let mut table = String::from(
        "| loss % | kbit/s a client | most in a second, kbit | poses/s | bytes a pose \
         | age ms p50 / p99 / max, near | far | poses checked | lost track |\n\
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
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("loss.md");
    std::fs::write(&page, format!("{INTRODUCTION}{table}")).expect("the docs can be written");
}

fn format_ages(ages: &Distribution) -> String {
    let quantile = |share| ages.quantile_ms(share).unwrap_or(0);
    format!("{} / {} / {}", quantile(0.5), quantile(0.99), ages.max().as_millis())
}

fn kbit(bytes: u64) -> f64 {
    bytes as f64 * 8.0 / 1_000.0
}
