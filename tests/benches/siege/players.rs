//! Honest players: nothing that attackers and faults do may drop them.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
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
    ("bad-network", &["--param", "size=60x60", "--impair", "loss=5,delay=30ms,jitter=10ms"]),
];

pub(crate) struct HonestPlayers {
    rooms: Vec<(&'static str, Child)>,
    counting: CountingPlayers,
    visits: JoinHandle<Visits>,
    is_over: Arc<AtomicBool>,
    logs: PathBuf,
}

/// The bots that came and went.
#[derive(Default)]
struct Visits {
    made: Vec<Value>,
    /// The room could not be made: no broker leads the directory, or the WorldServer was killed
    /// before it answered. Visitors receive the error and try again.
    postponed: usize,
}

/// What they report.
pub(crate) struct PlayersReport {
    rooms: Vec<(&'static str, Value)>,
    visits: Visits,
    /// The confirmed commands of each counting player; an error if one was lost or done twice.
    counted: Result<Vec<u64>>,
}

impl HonestPlayers {
    pub(crate) fn start(
        scratch: &ScratchFolder,
        cluster: &BesiegedCluster,
        logs: &Path,
        time: Duration,
    ) -> Result<Self> {
        let servers = join_addresses(cluster.servers());
        let mut rooms = Vec::new();
        for (name, flags) in ROOMS {
            // They end before the processes do.
            let seconds = time.as_secs().saturating_sub(20).max(10);
            let mut command = bots(scratch, &servers, name, BOTS, seconds, flags);
            command.stderr(File::create(logs.join(format!("{name}.log")))?);
            rooms.push((name, command.spawn()?));
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let visits = {
            let is_over = Arc::clone(&is_over);
            let mut log = File::create(logs.join("visits.log"))?;
            let mut visit = bots(scratch, &servers, "visits", VISITORS, VISIT_SECONDS, &[]);
            std::thread::spawn(move || {
                let mut visits = Visits::default();
                while !is_over.load(Relaxed) {
                    let Ok(output) = visit.output() else { continue };
                    let words = String::from_utf8_lossy(&output.stderr);
                    let summary = summary(&output.stdout, &words);
                    let has_begun = has_begun(&summary);
                    let have_stayed = have_stayed(&summary);
                    if !has_begun || !have_stayed {
                        // Without a file, the summary at the end has to do.
                        let _ = writeln!(log, "after {} visits: {words}", visits.made.len());
                    }
                    if has_begun {
                        visits.made.push(summary);
                    } else {
                        visits.postponed += 1;
                        std::thread::sleep(Duration::from_secs(1));
                    }
                }
                visits
            })
        };
        Ok(Self {
            rooms,
            counting: CountingPlayers::start_with_ballast(scratch, &servers, COUNTING_PLAYERS, 0),
            visits,
            is_over,
            logs: logs.to_owned(),
        })
    }

    /// Waits for them to end.
    pub(crate) fn finish(self) -> Result<PlayersReport> {
        let counted = self.counting.finish();
        self.is_over.store(true, Relaxed);
        let mut rooms = Vec::new();
        for (name, child) in self.rooms {
            let output = child.wait_with_output()?;
            let words = std::fs::read_to_string(self.logs.join(format!("{name}.log")))?;
            rooms.push((name, summary(&output.stdout, &words)));
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
        let fine = self.visits.made.iter();
        let fine = fine.filter(|visit| have_stayed(visit));
        println!(
            "| visits of {VISITORS} bots, all of which stayed; not begun | \
             {} of {}; {} |",
            fine.count(),
            self.visits.made.len(),
            self.visits.postponed
        );
        match &self.counted {
            Ok(counts) => println!("| confirmed commands, none lost or done twice | {counts:?} |"),
            Err(error) => println!("| **confirmed commands** | {error:#} |"),
        }
        let rooms = self.rooms.iter().map(|(_, summary)| summary);
        let rooms = rooms.filter(|summary| !is_fine(summary));
        let visits = self.visits.made.iter().filter(|visit| !have_stayed(visit));
        for summary in rooms.chain(visits) {
            eprintln!("not fine: {summary}");
        }
    }

    pub(crate) fn is_good(&self) -> bool {
        let mut rooms = self.rooms.iter();
        rooms.all(|(_, summary)| is_fine(summary))
            && self.visits.made.iter().all(have_stayed)
            && self.visits.postponed < self.visits.made.len()
            && self.counted.is_ok()
    }
}

/// Whether all bots of a room stayed, and saw no error.
fn is_fine(summary: &Value) -> bool {
    (&summary["connected"], &summary["errors"]) == (&BOTS.into(), &0.into())
}

/// Whether visitors got into their room.
fn has_begun(visit: &Value) -> bool {
    visit["enters"] != 0
}

fn have_stayed(visit: &Value) -> bool {
    visit["connected"] == VISITORS
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
    let count = count.to_string();
    let seconds = seconds.to_string();
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
fn summary(stdout: &[u8], stderr: &str) -> Value {
    let last = String::from_utf8_lossy(stdout);
    let parsed = last.lines().last().context("no summary");
    parsed
        .and_then(|line| Ok(serde_json::from_str(line)?))
        .unwrap_or_else(|_| Value::from(stderr.lines().last().unwrap_or("no output")))
}

fn join_addresses(addresses: &[SocketAddr]) -> String {
    let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    texts.join(",")
}
