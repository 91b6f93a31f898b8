//! How fair `shooter` is: with local lag alone, with prediction, with prediction and lag
//! compensation, over lines of all kinds.
//!
//! `cargo bench -p ambit-tests --bench shooter` prints the table and writes `docs/shooter.md`.
//! Everything runs on simulated time, so the figures are the same on every machine.
//! `AMBIT_SHOOTER_SECONDS` makes each fight shorter, and writes nothing.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use ambit_tests::shooting::{Fairness, Shooting};

const PLAYERS: usize = 8;
const SECONDS: u64 = 60;
const ROUND_TRIPS_MS: [u32; 5] = [0, 50, 100, 200, 300];
const JITTERS_MS: [u32; 2] = [0, 30];
const LOSSES: [&str; 4] = ["0", "5", "13", "5 in bursts"];
/// What they are called, whether clients predict, and the room's parameters.
const MODES: [(&str, Option<bool>, &[(&str, &str)]); 3] = [
    ("local lag", Some(false), &[("delay", "150"), ("rewind", "0")]),
    ("prediction", None, &[("rewind", "0")]),
    ("prediction and lag compensation", None, &[]),
];
/// Many obstacles on a small map, so that cover is never far.
const ROOM: [(&str, &str); 3] = [("tick", "60"), ("size", "150x150"), ("asteroids", "30")];

const INTRODUCTION: &str = "# How fair a fight is

Eight players of the game `shooter`, each a program that aims and fires by what its screen shows, on
a map of 150 x 150 m with 30 asteroids; 60 ticks a second, 60 frames a second; one minute of
simulated time a row. All players of a row have the same line, both ways: round trip, jitter, and
loss. `5 in bursts` loses 5 % in bursts of 200 ms.

`cargo bench -p ambit-tests --bench shooter` makes this page.

- **Confirmed**: of the hits on the screen of whoever fired, found on its pictures alone, the share
  that the host counts. Left out are hits on a ship that another missile hit within the 1.5 s of its
  shield. Shots that a predicting client draws and the host does not know count as not confirmed.
- **Behind cover**: how long whoever is hit was behind an obstacle on its own screen, seen from the
  shooter, when the hit comes; and how many ship lengths (3 m) it had come since. Of all hits.
- **Ahead**: how much later than the own ship others are shown. By so much whoever comes round a
  corner sees the others before they see it.

With local lag alone, players do not aim at what they see but ahead of it: their own ship, too,
shows what they pressed a while ago.

";

fn main() {
    let seconds = std::env::var("AMBIT_SHOOTER_SECONDS");
    let seconds = seconds.ok().map(|text| text.parse().expect("a number of seconds"));
    let mut table = String::from(
        "| round trip, jitter, loss | technique | hits | confirmed % | behind cover ms p50 / p99 \
         | ship lengths p50 / p99 | ahead ms |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    print!("{table}");
    for (rtt, jitter) in ROUND_TRIPS_MS.into_iter().flat_map(|rtt| JITTERS_MS.map(|it| (rtt, it))) {
        for loss in LOSSES {
            let (percent, burst) = match loss.split_once(' ') {
                Some((percent, _)) => (percent, ",burst=200ms"),
                None => (loss, ""),
            };
            let line = format!("delay={}ms,jitter={jitter}ms,loss={percent}{burst}", rtt / 2);
            for (name, predict, parameters) in MODES {
                let room = [&ROOM[..], parameters].concat();
                let mut fight = Shooting::new(1, PLAYERS, &line, predict, &room);
                fight.fight_for(Duration::from_secs(seconds.unwrap_or(SECONDS)));
                let row = row(&format!("{rtt} ms, {jitter} ms, {loss} %"), name, &fight.fairness());
                print!("{row}");
                write!(table, "{row}").expect("writing to a string cannot fail");
            }
        }
    }
    if seconds.is_some() {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("shooter.md");
    std::fs::write(&page, format!("{INTRODUCTION}{table}")).expect("the docs can be written");
}

fn row(line: &str, technique: &str, fair: &Fairness) -> String {
    let Fairness { drawn, confirmed, behind_ms, behind_ships, peeker_ms, .. } = fair;
    let [ms_50, ms_99] = [0.5, 0.99].map(|share| Fairness::quantile(behind_ms, share));
    let [ships_50, ships_99] = [0.5, 0.99].map(|share| Fairness::quantile(behind_ships, share));
    let share = 100.0 * *confirmed as f64 / (*drawn).max(1) as f64;
    format!(
        "| {line} | {technique} | {drawn} | {share:.1} | {ms_50} / {ms_99} \
         | {ships_50:.1} / {ships_99:.1} | {peeker_ms} |\n"
    )
}
