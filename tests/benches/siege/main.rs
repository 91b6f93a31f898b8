//! Everything at once: a cluster with honest players, attackers, processes that are killed and
//! stopped, and lines that go dark. Prints a table; ends with status 1 if an honest player was
//! dropped, a confirmed command was lost or a WorldServer has crashed. Stays on loopback and ends
//! by itself.
//!
//! - The cluster: two WorldServers, four hosts, three nodes of NATS.
//! - Honest players: bots in long games, in a world with gates and on a bad network; bots that come
//!   and go; players of a game that counts each command.
//! - Attackers, each kind from an address of its own: [`attackers`].
//! - Faults, one every few seconds: [`faults`].
//!
//! Usage: `tests/siege [MINUTES [SEED]]`; 60 minutes by default.

mod attackers;
mod cluster;
mod faults;
mod memory;
mod players;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use ambit_tests::real::{Nats, ScratchFolder};
use anyhow::Result;

use attackers::Attackers;
use cluster::{BesiegedCluster, EndedWorlds};
use memory::MemoryLog;
use players::HonestPlayers;

/// Interval between two looks at the memory of all processes.
const MEMORY_INTERVAL: Duration = Duration::from_secs(1);
/// After the last fault, so that the players' last commands are confirmed in peace.
const LAST_CALM: Duration = Duration::from_secs(15);

fn main() -> Result<ExitCode> {
    // `cargo bench` adds a flag of its own.
    let numbers: Vec<u64> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let minutes = numbers.first().copied().unwrap_or(60).max(1);
    let seed = numbers.get(1).copied().unwrap_or(1);
    let time = Duration::from_mins(minutes);
    let logs = std::env::temp_dir().join(format!("ambit-siege-logs-{}", std::process::id()));
    std::fs::create_dir_all(&logs)?;
    eprintln!("a siege of {minutes} min, seed {seed}; logs in {}", logs.display());

    let scratch = ScratchFolder::new("siege");
    let runtime = tokio::runtime::Runtime::new()?;
    let mut cluster = BesiegedCluster::start(&scratch, &logs, &runtime)?;
    let started_at = now();
    let players = HonestPlayers::start(&scratch, &cluster, &logs, time)?;
    let attackers = Attackers::start(&runtime, cluster.servers());
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut memory = MemoryLog::default();
    let mut fault_counts = faults::FaultCounts::default();
    let mut ended = EndedWorlds::default();
    let mut next_fault = Duration::from_secs(10);
    while started_at.elapsed() + LAST_CALM < time {
        let elapsed = started_at.elapsed();
        if elapsed >= next_fault {
            let fault = faults::inflict(&mut rng, &mut cluster, &scratch)?;
            eprintln!("{:>5} s: {fault}", elapsed.as_secs());
            fault_counts.note(fault);
            next_fault = started_at.elapsed() + Duration::from_millis(rng.u64(4_000..10_000));
        }
        let ended_now = cluster.watch_worlds(&scratch)?;
        ended.count += ended_now.count;
        ended.crashes += ended_now.crashes;
        memory.note(elapsed, &cluster);
        std::thread::sleep(MEMORY_INTERVAL);
    }
    let report = players.finish()?;
    let attacks = attackers.stop(&runtime);
    println!("| what | figure |\n| --- | --- |");
    println!("| length | {minutes} min, seed {seed} |");
    println!("| version of NATS | {} |", Nats::version()?);
    fault_counts.print();
    println!(
        "| WorldServers that ended by themselves, by a crash | {}, {} |",
        ended.count, ended.crashes
    );
    attacks.print();
    memory.print(time.saturating_sub(LAST_CALM));
    report.print();
    cluster.print_drops()?;
    Ok(if report.is_good() && ended.crashes == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[expect(clippy::disallowed_methods, reason = "a program that measures")]
fn now() -> Instant {
    Instant::now()
}
