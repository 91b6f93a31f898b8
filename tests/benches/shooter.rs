//! How `shooter` plays over lines of all kinds: how fair shots are, and how others are drawn.
//!
//! `cargo bench -p ambit-tests --bench shooter` prints the tables and writes `docs/shooter.md`;
//! `AMBIT_SHOOTER_SECONDS` sets how long each fight takes, and then nothing is written. Everything
//! runs on simulated time, so the figures are the same on every machine.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

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
/// So many that 16 are in sight.
const MANY: usize = 96;
const WATCHED_LINE: &str = "delay=50ms,loss=5,jitter=5ms";
const WATCHED_SECONDS: u64 = 60;
/// Rows at a time.
const THREADS: usize = 2;

const INTRODUCTION: &str = "# How `shooter` plays

`cargo bench -p ambit-tests --bench shooter` makes this page. Everything runs on the simulated
network and in simulated time, so the figures are the same on every machine.

## How fair shots are

Eight players, each a program that aims, fires and hides by what its screen shows, on 150 x 150 m
with 30 asteroids; 60 ticks and 60 frames a second, two fights of three minutes a row. They are out
for others for 1.5 to 4 s, and then behind an asteroid for 2 s. All players of a row have the same
line, both ways: round trip, jitter (of each way), loss; `5 in bursts` loses 5 % in bursts of 200 ms
(Gilbert-Elliott).

- **Local lag** alone: everything at the room's time, 150 ms after the key; nothing is drawn ahead.
- **Prediction**: the own ship and its shots are drawn ahead, and a shot hits what is there. Players
  aim at what they see, and so behind it.
- **Lag compensation**: a shot hits what was on the screen of whoever fired (`shots=rewound`, at
  most 200 ms back).
- **Perception filter**: as with prediction, but shots are drawn in the time of whoever is near
  (`shots=filtered`, the default).

In each cell: of the hits that the screen of whoever fired shows, the share that the host counts,
in per cent, and how many there were; of all hits by the host, the share of those who saw
themselves more than a ship's length (3 m) away from where they were hit, on their own screen at
the time for which they were hit, in per cent, and how far away they were (99 % are below that).
Left out are drawn hits on a ship that another missile has hit within the time of its shield.
Shots that a client draws and the host does not know count as not confirmed.
A shot can hit from the frame on in which it leaves the nose, and up to an obstacle; of ships that
overlap, any counts.

";

const OTHERS: &str = "
## How others are drawn

One player flies in curves among 36 or 96 others who do, too, on 300 x 300 m: round trip 100 ms,
5 % loss, 5 ms of jitter, 60 ticks a second; a minute a row. With a quorum, poses wait for so many
bytes of them, up to the time beside it, and so do ships that come into sight or leave it. Bytes
are all that the player is sent, with IP, UDP and QUIC. An error is the distance from where a ship
is drawn to where it was at the time that is shown; a jump is how much that changes from one frame
to the next (at 24 m/s a ship flies 0.4 m in a frame). Ships that touch each other or a wall are
moved by up to 3 m at once, and one that has left sight is drawn until the client hears of it: that
is the last per cent. The age is for how long what would be shown has been more than 0.5 m off.

";

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
    let mut page = INTRODUCTION.to_owned();
    let names = TECHNIQUES.map(|technique| technique.name).join(" | ");
    writeln!(page, "| round trip, jitter, loss | {names} |\n| --- | --- | --- | --- | --- |")
        .expect("writing to a string cannot fail");
    print!("{page}");
    let lines: Vec<(u32, u32, &str)> = ROUND_TRIPS_MS
        .into_iter()
        .flat_map(|rtt| JITTERS_MS.map(|jitter| (rtt, jitter)))
        .flat_map(|(rtt, jitter)| LOSSES.map(|loss| (rtt, jitter, loss)))
        .collect();
    let fights = fights(&lines, Duration::from_secs(seconds.unwrap_or(SECONDS)));
    for ((rtt, jitter, loss), fights) in lines.iter().zip(&fights) {
        let cells: Vec<String> = fights.iter().map(cell).collect();
        let row = format!("| {rtt} ms, {jitter} ms, {loss} % | {} |\n", cells.join(" | "));
        print!("{row}");
        page.push_str(&row);
    }
    let rest = [details(&lines, &fights), others(seconds.unwrap_or(WATCHED_SECONDS))].concat();
    print!("{rest}");
    page.push_str(&rest);
    if seconds.is_none() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("shooter.md");
        std::fs::write(&path, page).expect("the docs can be written");
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

fn cell(fair: &Fairness) -> String {
    let Fairness { drawn, confirmed, away_m, .. } = fair;
    let share = 100.0 * *confirmed as f64 / (*drawn).max(1) as f64;
    let away = 100.0 * fair.hit_elsewhere() as f64 / away_m.len().max(1) as f64;
    let away_99 = Fairness::quantile(away_m, 0.99);
    format!("{share:.1} of {drawn}; {away:.1}, {away_99:.1} m")
}

/// What the lines have in common, by technique and round trip.
fn details(lines: &[(u32, u32, &str)], fights: &[[Fairness; TECHNIQUES.len()]]) -> String {
    let mut text = String::from(
        "\n\
         The same, all lines of a round trip together, with those who were behind cover from\n\
         that shot on their own screen: how many, for how long and how far (in ship lengths of\n\
         3 m), at the time for which they were hit, and for how long when they were told. And\n\
         how much later than the own ship others are shown: by so much whoever comes round a\n\
         corner is ahead.\n\
         \n\
         | round trip | technique | confirmed % | hit elsewhere % | m p50 / p99 | behind cover % \
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
    let mut text = format!(
        "{OTHERS}| order | tolerance | quorum, hold | ships in sight | bytes/s | datagrams/s \
         | poses/s | error m p50 / p99 | jump m p99 / most | age ms p50 / p99 |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
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
