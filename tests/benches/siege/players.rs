//! Honest players: nothing that attackers and faults do may drop them.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use ambit_tests::real::counting_players::CountingPlayers;
use ambit_tests::real::{self, ScratchFolder};
use anyhow::{Context, Result};
use serde_json::Value;

use crate::cluster::BesiegedCluster;

const BOTS: u64 = 10;
const COUNTING_PLAYERS: usize = 4;
/// Bots that come and go: how many at a time, and for how many seconds.
const VISITORS: u64 = 5;
const VISIT_SECONDS: u64 = 15;

/// Their rooms: a name and what sets it apart.
const ROOMS: [(&str, &[&str]); 3] = [
    ("plain", &["--param", "size=60x60"]),
    ("gates", &["--param", "size=60x60", "--param", "maps=2"]),
    (
        "bad-network",
        &[
            "--param",
            "size=60x60",
            "--impair",
            "loss=5,delay=30ms,jitter=10ms",
        ],
    ),
];

pub(crate) struct HonestPlayers {
    rooms: Vec<(&'static str, Child)>,
    counting: CountingPlayers,
    visits: JoinHandle<Vec<Value>>,
    is_over: Arc<AtomicBool>,
}

/// What they report.
pub(crate) struct PlayersReport {
    rooms: Vec<(&'static str, Value)>,
    visits: Vec<Value>,
    /// The confirmed commands of each counting player; an error if one was lost or done twice.
    counted: Result<Vec<u64>>,
}

impl HonestPlayers {
    pub(crate) fn start(
        scratch: &ScratchFolder,
        cluster: &BesiegedCluster,
        time: Duration,
    ) -> Result<Self> {
        let servers = join_addresses(cluster.servers());
        let mut rooms = Vec::new();
        for (name, flags) in ROOMS {
            // They end before the processes do.
            let seconds = time.as_secs().saturating_sub(20).max(10);
            let child = bots(scratch, &servers, name, BOTS, seconds, flags).spawn()?;
            rooms.push((name, child));
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let visits = {
            let is_over = Arc::clone(&is_over);
            let mut visit = bots(scratch, &servers, "visits", VISITORS, VISIT_SECONDS, &[]);
            std::thread::spawn(move || {
                let mut visits = Vec::new();
                while !is_over.load(Relaxed) {
                    visits.push(visit.output().map_or(Value::Null, |output| {
                        summary(&output.stdout, &output.stderr)
                    }));
                }
                visits
            })
        };
        Ok(Self {
            rooms,
            counting: CountingPlayers::start_with_ballast(scratch, &servers, COUNTING_PLAYERS, 0),
            visits,
            is_over,
        })
    }

    /// Waits for them to end.
    pub(crate) fn finish(self) -> Result<PlayersReport> {
        let counted = self.counting.finish();
        self.is_over.store(true, Relaxed);
        let mut rooms = Vec::new();
        for (name, child) in self.rooms {
            let output = child.wait_with_output()?;
            rooms.push((name, summary(&output.stdout, &output.stderr)));
        }
        Ok(PlayersReport {
            rooms,
            visits: self.visits.join().expect("the thread does not panic"),
            counted,
        })
    }
}

impl PlayersReport {
    pub(crate) fn print(&self) {
        for (name, summary) in &self.rooms {
            println!(
                "| room {name}: bots that stayed, errors, resumes, commands, longest gap | \
                 {} of {BOTS}, {}, {}, {}, {} ms |",
                summary["connected"],
                summary["errors"],
                summary["resumes"],
                summary["acknowledged"],
                summary["gap_ms_max"]
            );
        }
        let fine = self.visits.iter().filter(|visit| is_fine(visit, VISITORS));
        println!(
            "| visits of {VISITORS} bots, all of which stayed | {} of {} |",
            fine.count(),
            self.visits.len()
        );
        match &self.counted {
            Ok(counts) => println!("| confirmed commands, none lost or done twice | {counts:?} |"),
            Err(error) => println!("| **confirmed commands** | {error:#} |"),
        }
        let failed = self.rooms.iter().map(|(_, summary)| (summary, BOTS));
        let failed = failed.chain(self.visits.iter().map(|visit| (visit, VISITORS)));
        for (summary, _) in failed.filter(|(summary, count)| !is_fine(summary, *count)) {
            eprintln!("not fine: {summary}");
        }
    }

    pub(crate) fn is_good(&self) -> bool {
        let mut rooms = self.rooms.iter();
        rooms.all(|(_, summary)| is_fine(summary, BOTS))
            && self.visits.iter().all(|visit| is_fine(visit, VISITORS))
            && self.counted.is_ok()
    }
}

/// Whether all bots stayed, and saw no error.
fn is_fine(summary: &Value, count: u64) -> bool {
    (&summary["connected"], &summary["errors"]) == (&count.into(), &0.into())
}

fn bots(
    scratch: &ScratchFolder,
    servers: &str,
    room: &str,
    count: u64,
    seconds: u64,
    flags: &[&str],
) -> Command {
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    let (count, seconds) = (count.to_string(), seconds.to_string());
    command
        .args(["--json", "--server", servers, "--room", room])
        .args(["--count", &count, "--seconds", &seconds])
        .args(flags)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The summary of a run, or its last words.
fn summary(stdout: &[u8], stderr: &[u8]) -> Value {
    let last = String::from_utf8_lossy(stdout);
    let parsed = last.lines().last().context("no summary");
    parsed
        .and_then(|line| Ok(serde_json::from_str(line)?))
        .unwrap_or_else(|_| {
            let words = String::from_utf8_lossy(stderr);
            Value::from(words.lines().last().unwrap_or("no output"))
        })
}

fn join_addresses(addresses: &[SocketAddr]) -> String {
    let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    texts.join(",")
}
