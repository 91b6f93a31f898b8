//! How long players wait when their host is lost. Prints a table and asserts nothing; stays on
//! loopback and ends by itself.
//!
//! Twenty bots play in one room. Of two hosts, the older one is ended in one of several ways, and
//! another one is started; the room moves to the younger. The gap that a bot sees is the time
//! between the last state from the one host and the first from the other.
//!
//! Usage: `cargo bench --bench failover -- [LOSSES]`; 10 of each kind by default, 13 s each.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ambit_tests::real::{self, Cluster, Metrics, ScratchFolder, Server};
use anyhow::{Context, Result};
use serde_json::Value;

const BOTS: &str = "20";
/// Longer than the ten seconds after which the WorldServer knows the pauses of a new host, and than
/// the time in which the loss of a second host makes a room suspect.
const INTERVAL: Duration = Duration::from_secs(13);

fn main() -> Result<()> {
    let losses = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(10);
    println!("| host | ended by | losses | moves of bots | gap ms p50 / p99 / max | errors |");
    println!("| --- | --- | --- | --- | --- | --- |");
    lose_children("kill -9", "KILL", losses)?;
    lose_children("SIGTERM", "TERM", losses)?;
    lose_machines("kill -9", "KILL", losses)?;
    lose_machines("SIGTERM", "TERM", losses)?;
    lose_machines("SIGSTOP: it is silent", "STOP", losses)
}

/// Hosts that are children of the WorldServer.
fn lose_children(name: &str, signal: &str, losses: u32) -> Result<()> {
    let scratch = ScratchFolder::new("bench-failover-children");
    let server = Server::start(&scratch, &["--hosts", "process:2"])?;
    let bots = start_bots(&scratch, &server, losses)?;
    for _ in 0..losses {
        std::thread::sleep(INTERVAL);
        let oldest = *server.children().first().context("no child")?;
        real::server_signal(oldest, signal)?;
        wait_for_two_hosts(&server)?;
    }
    print_row("child", name, losses, bots)
}

/// Hosts that connect by themselves, as from another machine.
fn lose_machines(name: &str, signal: &str, losses: u32) -> Result<()> {
    let scratch = ScratchFolder::new("bench-failover-machines");
    let mut cluster = Cluster::start(&scratch)?;
    let bots = start_bots(&scratch, cluster.leader(), losses)?;
    for _ in 0..losses {
        std::thread::sleep(INTERVAL);
        let lost = cluster.hosts.remove(0);
        real::server_signal(lost.id(), signal)?;
        let one_is_left = |metrics: &Metrics| metrics["ambit_hosts"] == 1.0;
        cluster.leader().wait_for_metrics("one host", one_is_left)?;
        cluster.add_host(&scratch, &[])?;
        wait_for_two_hosts(cluster.leader())?;
    }
    print_row("on another machine", name, losses, bots)
}

fn wait_for_two_hosts(server: &Server) -> Result<()> {
    server.wait_for_metrics("two hosts", |metrics| metrics["ambit_hosts"] == 2.0)?;
    Ok(())
}

fn start_bots(scratch: &ScratchFolder, server: &Server, losses: u32) -> Result<Child> {
    let seconds = (losses + 1) * (INTERVAL.as_secs() as u32 + 2);
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    command.args(["--count", BOTS, "--json", "--room", "failover"]);
    command.args(["--seconds", &seconds.to_string()]);
    command.args(["--server", &server.world.to_string()]);
    // On a small map every bot always has something in sight.
    command.args(["--param", "size=60x60", "--param", "obstacles=10"]);
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
}

fn print_row(host: &str, ended_by: &str, losses: u32, bots: Child) -> Result<()> {
    let output = bots.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let summary: Value = serde_json::from_str(text.lines().last().context("no summary")?)?;
    println!(
        "| {host} | {ended_by} | {losses} | {} | {} / {} / {} | {} |",
        summary["moves"],
        summary["move_gap_ms_p50"],
        summary["move_gap_ms_p99"],
        summary["move_gap_ms_max"],
        summary["errors"]
    );
    Ok(())
}
