//! How `shooter` plays over lines of all kinds: how fair shots are, and how others are drawn.
//!
//! `cargo bench -p ambit-tests --bench shooter` prints the tables and writes
//! `docs/data/shooter-*.tsv`; `AMBIT_SHOOTER_SECONDS` sets how long each fight takes, and then
//! nothing is written. Everything runs on simulated time, so the figures are the same on every
//! machine.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use ambit_tests::data_file;
use ambit_tests::others_ships::ShipsSeen;
use ambit_tests::shooting::{Drawing, Fairness, Shooting};

const PLAYERS: usize = 8;
const SECONDS: u64 = 180;
/// Fights of a row.
const SEEDS: [u64; 2] = [1, 2];
const ROUND_TRIPS_MS: [u32; 5] = [0, 50, 100, 200, 300];
const JITTERS_MS: [u32; 2] = [0, 30];
const LOSSES: [&str; 4] = ["0", "5", "13", "5 in bursts"];
const TECHNIQUES: [Technique; 4] = [
    Technique {
        name: "local lag",
        drawing: Drawing::LocalLag,
        parameters: &[("shots", "plain"), ("delay", "150")],
    },
    Technique {
        name: "prediction",
        drawing: Drawing::Predicted,
        parameters: &[("shots", "plain")],
    },
    Technique {
        name: "lag compensation",
        drawing: Drawing::Predicted,
        parameters: &[("shots", "rewound")],
    },
    Technique {
        name: "perception filter",
        drawing: Drawing::Predicted,
        parameters: &[("shots", "filtered")],
    },
];
/// Many obstacles on a small map, so that cover is never far.
const ROOM: [(&str, &str); 3] = [("tick", "60"), ("size", "150x150"), ("asteroids", "30")];
/// Where others are watched.
const WATCHED: [(&str, &str); 4] =
    [("tick", "60"), ("size", "300x300"), ("asteroids", "0"), ("ships", "0")];
const OTHERS_COUNT: usize = 36;
/// With this number, 16 are in sight.
const MANY: usize = 96;
const WATCHED_LINE: &str = "delay=50ms,loss=5,jitter=5ms";
const WATCHED_SECONDS: u64 = 60;
/// Rows at a time.
const THREADS: usize = 2;

/// What makes a fight fair.
struct Technique {
    name: &'static str,
    drawing: Drawing,
    /// Of the room.
    parameters: &'static [(&'static str, &'static str)],
}

fn main() {
    let seconds = std::env::var("AMBIT_SHOOTER_SECONDS").ok();
    let seconds = seconds.map(|text| text.parse::<u64>().expect("a number of seconds"));
    let lines: Vec<(u32, u32, &str)> = ROUND_TRIPS_MS
        .into_iter()
        .flat_map(|rtt| JITTERS_MS.map(|jitter| (rtt, jitter)))
        .flat_map(|(rtt, jitter)| LOSSES.map(|loss| (rtt, jitter, loss)))
        .collect();
    let fights = fights(&lines, Duration::from_secs(seconds.unwrap_or(SECONDS)));
    let tables = [
        ("shooter-lines", by_line(&lines, &fights)),
        ("shooter-techniques", by_technique(&lines, &fights)),
        ("shooter-others", others(seconds.unwrap_or(WATCHED_SECONDS))),
    ];
    let command = "cargo bench -p ambit-tests --bench shooter";
    for (name, table) in &tables {
        println!("## {name}\n\n{table}");
        if seconds.is_none() {
            data_file::write(name, command, data_file::ANY_MACHINE, table);
        }
    }
}

/// All techniques over each line.
fn fights(lines: &[(u32, u32, &str)], time: Duration) -> Vec<[Fairness; TECHNIQUES.len()]> {
    let left = Mutex::new(lines.iter().enumerate());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("no thread has panicked").next();
                    let Some((index, (rtt, jitter, loss))) = next else { break };
                    let (percent, burst) = match loss.split_once(' ') {
                        Some((percent, _)) => (percent, ",burst=200ms"),
                        None => (*loss, ""),
                    };
                    let line =
                        format!("delay={}ms,jitter={jitter}ms,loss={percent}{burst}", rtt / 2);
                    let fights = TECHNIQUES.map(|Technique { drawing, parameters, .. }| {
                        let room = [&ROOM[..], parameters].concat();
                        let fights = SEEDS.map(|seed| {
                            let mut fight = Shooting::with(seed, PLAYERS, &line, &room, drawing);
                            fight.fight_for(time);
                            fight.fairness()
                        });
                        Fairness::of_all(fights.iter())
                    });
                    eprintln!("{rtt} ms, {jitter} ms, {loss} % is done");
                    done.lock().expect("no thread has panicked").push((index, fights));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread has panicked");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, fights)| fights).collect()
}

/// Each technique over each line.
fn by_line(lines: &[(u32, u32, &str)], fights: &[[Fairness; TECHNIQUES.len()]]) -> String {
    let mut text = String::from(
        "| round trip ms | jitter ms | loss % | technique | confirmed % | drawn | hit elsewhere % \
         | m p99 |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for ((rtt, jitter, loss), fights) in lines.iter().zip(fights) {
        for (technique, fair) in TECHNIQUES.iter().zip(fights) {
            let Fairness { drawn, confirmed, away_m, .. } = fair;
            let elsewhere = 100.0 * fair.hit_elsewhere() as f64 / away_m.len().max(1) as f64;
            writeln!(
                text,
                "| {rtt} | {jitter} | {loss} | {} | {:.1} | {drawn} | {elsewhere:.1} | {:.1} |",
                technique.name,
                100.0 * *confirmed as f64 / (*drawn).max(1) as f64,
                Fairness::quantile(away_m, 0.99)
            )
            .expect("writing to a string cannot fail");
        }
    }
    text
}

/// What the lines have in common, by technique and round trip.
fn by_technique(lines: &[(u32, u32, &str)], fights: &[[Fairness; TECHNIQUES.len()]]) -> String {
    let mut text = String::from(
        "| round trip | technique | confirmed % | hit elsewhere % | m p50 / p99 | behind cover % \
         | ms p99 | ship lengths p99 | told ms p99 | others later ms |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for rtt in ROUND_TRIPS_MS {
        for (index, technique) in TECHNIQUES.iter().enumerate() {
            let of_rtt = lines.iter().zip(fights).filter(|((it, ..), _)| *it == rtt);
            let all = Fairness::of_all(of_rtt.map(|(_, fights)| &fights[index]));
            let of_hits = |count: usize| 100.0 * count as f64 / all.away_m.len().max(1) as f64;
            writeln!(
                text,
                "| {rtt} ms | {} | {:.1} | {:.1} | {:.1} / {:.1} | {:.1} | {} | {:.1} | {} | {} |",
                technique.name,
                100.0 * all.confirmed as f64 / all.drawn.max(1) as f64,
                of_hits(all.hit_elsewhere()),
                Fairness::quantile(&all.away_m, 0.5),
                Fairness::quantile(&all.away_m, 0.99),
                of_hits(all.behind_cover()),
                Fairness::quantile(&all.behind_ms, 0.99),
                Fairness::quantile(&all.behind_ships, 0.99),
                Fairness::quantile(&all.told_ms, 0.99),
                all.peeker_ms
            )
            .expect("writing to a string cannot fail");
        }
    }
    text
}

/// Orders and tolerances of dead reckoning side by side.
fn others(seconds: u64) -> String {
    let mut text = String::from(
        "| order | tolerance | quorum, hold | ships in sight | bytes/s | datagrams/s \
         | poses/s | error m p50 / p99 | jump m p99 / most | age ms p50 / p99 |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for order in ["first", "second", "automatic"] {
        let few = [("0", "0"), ("10", "0"), ("30", "0"), ("10", "200")];
        let few = few.map(|(tolerance, quorum)| (OTHERS_COUNT, tolerance, quorum, "50"));
        let many = [(MANY, "10", "0", "50"), (MANY, "10", "200", "100")];
        for (count, tolerance, quorum, hold) in [&few[..], &many].concat() {
            let own =
                [("order", order), ("tolerance", tolerance), ("quorum", quorum), ("hold", hold)];
            let room = (count, &[&WATCHED[..], &own].concat()[..]);
            let seen = ShipsSeen::watch(1, WATCHED_LINE, room, seconds);
            let age = |share| seen.ages.quantile_ms(share).unwrap_or(0);
            writeln!(
                text,
                "| {order} | {tolerance} cm | {quorum}, {hold} ms | {:.1} | {} | {} | {} \
                 | {:.3} / {:.3} | {:.3} / {:.3} | {} / {} |",
                seen.in_sight,
                seen.bytes_per_s,
                seen.datagrams_per_s,
                seen.poses_per_s,
                seen.error_m(0.5),
                seen.error_m(0.99),
                seen.jump_m(0.99),
                seen.jump_m(1.0),
                age(0.5),
                age(0.99)
            )
            .expect("writing to a string cannot fail");
        }
    }
    text
}
