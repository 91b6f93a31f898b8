//! How fair `shooter` is, with prediction alone and with lag compensation, over lines of all kinds.
//!
//! `cargo bench -p ambit-tests --bench shooter` prints a table; `AMBIT_SHOOTER_SECONDS` sets how
//! long each fight takes. Eight players, each a program that aims and fires by what its screen
//! shows, on a map of 150 x 150 m with 30 asteroids; 60 ticks and 60 frames a second. Everything
//! runs on simulated time, so the figures are the same on every machine. All players of a row have
//! the same line, both ways; `5 in bursts` loses 5 % in bursts of 200 ms.
//!
//! - Confirmed: of the hits on the screen of whoever fired, found on its pictures alone, the share
//!   that the host counts. Left out are hits on a ship that another missile hit within the 1.5 s of
//!   its shield. Shots that a client draws and the host does not know count as not confirmed.
//! - Behind cover: how long whoever is hit was behind an obstacle on its own screen, seen from the
//!   shooter, when the hit comes, and how many ship lengths (3 m) it had come since. Of all hits.
//! - Ahead: how much later than the own ship others are shown. By so much whoever comes round a
//!   corner sees the others before they see it.

use std::time::Duration;

use ambit_tests::shooting::{Fairness, Shooting};

const PLAYERS: usize = 8;
const SECONDS: u64 = 180;
const ROUND_TRIPS_MS: [u32; 5] = [0, 50, 100, 200, 300];
const JITTERS_MS: [u32; 2] = [0, 30];
const LOSSES: [&str; 4] = ["0", "5", "13", "5 in bursts"];
const TECHNIQUES: [Technique; 2] = [
    Technique { name: "prediction", parameters: &[("rewind", "0")] },
    Technique { name: "prediction and lag compensation", parameters: &[] },
];
/// Many obstacles on a small map, so that cover is never far.
const ROOM: [(&str, &str); 3] = [("tick", "60"), ("size", "150x150"), ("asteroids", "30")];

/// What makes a fight fair.
struct Technique {
    name: &'static str,
    /// Of the room.
    parameters: &'static [(&'static str, &'static str)],
}

fn main() {
    let seconds = std::env::var("AMBIT_SHOOTER_SECONDS");
    let seconds = seconds.ok().map(|text| text.parse().expect("a number of seconds"));
    println!(
        "| round trip, jitter, loss | technique | hits | confirmed % | behind cover ms p50 / p99 \
         | ship lengths p50 / p99 | ahead ms |\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    for (rtt, jitter) in ROUND_TRIPS_MS.into_iter().flat_map(|rtt| JITTERS_MS.map(|it| (rtt, it))) {
        for loss in LOSSES {
            let (percent, burst) = match loss.split_once(' ') {
                Some((percent, _)) => (percent, ",burst=200ms"),
                None => (loss, ""),
            };
            let line = format!("delay={}ms,jitter={jitter}ms,loss={percent}{burst}", rtt / 2);
            for Technique { name, parameters } in TECHNIQUES {
                let room = [&ROOM[..], parameters].concat();
                let mut fight = Shooting::new(1, PLAYERS, &line, &room);
                fight.fight_for(Duration::from_secs(seconds.unwrap_or(SECONDS)));
                println!(
                    "{}",
                    row(&format!("{rtt} ms, {jitter} ms, {loss} %"), name, &fight.fairness())
                );
            }
        }
    }
}

fn row(line: &str, technique: &str, fair: &Fairness) -> String {
    let Fairness { drawn, confirmed, behind_ms, behind_ships, peeker_ms, .. } = fair;
    let [ms_50, ms_99] = [0.5, 0.99].map(|share| Fairness::quantile(behind_ms, share));
    let [ships_50, ships_99] = [0.5, 0.99].map(|share| Fairness::quantile(behind_ships, share));
    let share = 100.0 * *confirmed as f64 / (*drawn).max(1) as f64;
    format!(
        "| {line} | {technique} | {drawn} | {share:.1} | {ms_50} / {ms_99} \
         | {ships_50:.1} / {ships_99:.1} | {peeker_ms} |"
    )
}
