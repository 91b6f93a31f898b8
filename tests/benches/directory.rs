//! What a cluster's directory costs, and how long its faults are felt. Prints tables and asserts
//! nothing; stays on loopback and ends by itself.
//!
//! 1. A player takes one name after the other. Each answer comes once the directory has the
//!    name, or after 500 ms without the directory; on a server without a cluster, at once. During
//!    one run, the node of NATS that leads the directory is killed; it comes back after 5 s.
//! 2. The leading WorldServer is killed while bots play in a room.
//!
//! Usage: `cargo bench --bench directory -- [KILLS]`; 5 leaders by default.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ambit_proto::control::world::{SetName, client_to_world as ask, world_to_client::Body};
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{self, Cluster, Metrics, ScratchFolder, Server};
use ambit_transport::quic::ALPN_WORLD;
use anyhow::{Context, Result};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::time::{MissedTickBehavior, interval};

const RENAMES: u32 = 150;
/// Interval between two requests, within the rate limit.
const PACE: Duration = Duration::from_millis(70);
const BOTS: &str = "20";

fn main() -> Result<()> {
    let kills = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(5);
    let runtime = Runtime::new()?;
    println!("| server | renamed | refused | ms p50 / p99 / max |");
    println!("| --- | --- | --- | --- |");
    {
        let scratch = ScratchFolder::new("bench-directory-single");
        let server = Server::start(&scratch, &[])?;
        rename_often("alone", &runtime, &server, || Ok(()))?;
    }
    {
        let scratch = ScratchFolder::new("bench-directory-cluster");
        let mut cluster = Cluster::start(&scratch)?;
        rename_often("in a cluster", &runtime, cluster.leader(), || Ok(()))?;
        let leader = cluster.nats.leader()?;
        let server = &cluster.worlds[0];
        let nats = &mut cluster.nats;
        rename_often("NATS node that leads is killed", &runtime, server, || {
            std::thread::sleep(Duration::from_secs(2));
            nats.kill(leader)?;
            std::thread::sleep(Duration::from_secs(5));
            nats.start_node(leader)
        })?;
    }
    println!(
        "\n| killed WorldServers | the next one leads after ms p50 / max | longest gap of a bot ms \
         | bots that stayed | lobby connections resumed | errors |\n\
         | --- | --- | --- | --- | --- | --- |"
    );
    kill_leaders(kills)
}

/// Takes many names while `fault` runs.
fn rename_often(
    name: &str,
    runtime: &Runtime,
    server: &Server,
    fault: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let renames = runtime.spawn(time_renames(server.world));
    fault()?;
    let (mut times, refused) = runtime.block_on(renames)??;
    times.sort_unstable();
    println!(
        "| {name} | {} | {refused} | {} / {} / {} |",
        times.len(),
        quantile(&times, 0.5),
        quantile(&times, 0.99),
        quantile(&times, 1.0)
    );
    Ok(())
}

/// How long each answer took, and how many requests were refused.
async fn time_renames(server: std::net::SocketAddr) -> Result<(Vec<Duration>, u32)> {
    let mut client = RawClient::connect(server, ALPN_WORLD).await?;
    client.hello("renamer").await?;
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut times = Vec::new();
    let mut refused = 0;
    for number in 0..RENAMES {
        pace.tick().await;
        let rename = SetName { name: format!("name{number}") };
        let asked_at = now();
        let answer = client.request_answer(ask::Body::SetName(rename)).await?;
        match answer.body {
            Some(Body::Error(_)) => refused += 1,
            _ => times.push(asked_at.elapsed()),
        }
    }
    Ok((times, refused))
}

fn kill_leaders(kills: u32) -> Result<()> {
    let mut takeovers = Vec::new();
    let mut gaps = Vec::new();
    let mut sum = [0; 3];
    for _ in 0..kills {
        let scratch = ScratchFolder::new("bench-directory-leaders");
        let mut cluster = Cluster::start(&scratch)?;
        let servers = cluster.worlds.iter().map(|world| world.world.to_string());
        let servers: Vec<String> = servers.collect();
        let mut command = Command::new(real::binary("bots"));
        scratch.confine(&mut command);
        command.args(["--json", "--room", "leader", "--count", BOTS]);
        command.args(["--seconds", "12", "--server", &servers.join(",")]);
        command.args(["--param", "size=60x60", "--param", "obstacles=10"]);
        let bots = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let runs = |metrics: &Metrics| metrics.get("ambit_rooms_running") == Some(&1.0);
        cluster.leader().wait_for_metrics("the room", runs)?;
        // All bots have joined by then.
        std::thread::sleep(Duration::from_secs(4));
        cluster.kill_leader()?;
        let killed_at = now();
        cluster.wait_for_new_leader()?;
        takeovers.push(killed_at.elapsed());
        let output = bots.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let summary: Value = serde_json::from_str(text.lines().last().context("no summary")?)?;
        gaps.push(summary["gap_ms_max"].as_u64().unwrap_or_default());
        for (sum, key) in sum.iter_mut().zip(["connected", "resumes", "errors"]) {
            *sum += summary[key].as_u64().unwrap_or_default();
        }
    }
    takeovers.sort_unstable();
    let [stayed, resumes, errors] = sum;
    println!(
        "| {kills} | {} / {} | {} | {stayed} | {resumes} | {errors} |",
        quantile(&takeovers, 0.5),
        quantile(&takeovers, 1.0),
        gaps.iter().max().unwrap_or(&0)
    );
    Ok(())
}

/// In milliseconds.
fn quantile(sorted: &[Duration], quantile: f64) -> String {
    let last = sorted.len().saturating_sub(1) as f64;
    let time = sorted.get((last * quantile).round() as usize);
    time.map_or_else(|| "-".to_owned(), |time| format!("{:.1}", time.as_secs_f64() * 1e3))
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}
