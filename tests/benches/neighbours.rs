//! What players of quiet rooms notice of a room beside them that needs more than its share. Prints
//! a table and asserts nothing; stays on loopback and ends by itself.
//!
//! Three rooms with ten bots each, in the process of the server: alone, then beside a room of the
//! kinds in [`NOISY_ROOMS`], which are as costly as a server without limits on rooms lets anybody
//! make them. Of the quiet rooms, the worst figure counts.
//!
//! Usage: `cargo bench --bench neighbours -- [SECONDS]`; 30 a row by default.

use std::process::{Child, Command, Stdio};

use ambit_tests::real::{self, ScratchFolder, Server};
use anyhow::{Context, Result};
use serde_json::Value;

const QUIET_ROOMS: [&str; 3] = ["quiet-1", "quiet-2", "quiet-3"];
const QUIET_BOTS: &str = "10";

struct NoisyRoom {
    name: &'static str,
    game: &'static str,
    bots: &'static str,
    parameters: &'static [&'static str],
}

const NOISY_ROOMS: [NoisyRoom; 2] = [
    NoisyRoom {
        name: "150 steered, fine coding, 60 ticks/s, on 30 x 30 m",
        game: "walking_crowd",
        bots: "150",
        parameters: &["walk=steered", "coding=fine", "tick=60", "size=30x30", "budget=100000"],
    },
    NoisyRoom {
        name: "20,000 NPCs in one cell",
        game: "field",
        bots: "10",
        parameters: &["npcs=20000", "size=1000x1000", "cell=1000"],
    },
];

fn main() -> Result<()> {
    let seconds: u32 =
        std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(30);
    println!(
        "| beside | quiet bots that stayed | their age ms p50 / p99 | their gap ms p99 / max | \
         noisy bots that stayed | ticks lost |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    print_row(None, seconds)?;
    for noisy in &NOISY_ROOMS {
        print_row(Some(noisy), seconds)?;
    }
    Ok(())
}

fn print_row(noisy: Option<&NoisyRoom>, seconds: u32) -> Result<()> {
    let scratch = ScratchFolder::new("bench-neighbours");
    let limits = ["--room-limit", "budget=off,objects=off,pairs=off"];
    let server = Server::start_with_test_games(&scratch, &limits)?;
    // It lives as long as the quiet rooms are measured: they begin a little later.
    let beside = noisy
        .map(|noisy| {
            let bots = start_bots(
                &scratch,
                &server,
                ("noisy", noisy.game),
                noisy.bots,
                seconds + 10,
                noisy.parameters,
            );
            std::thread::sleep(std::time::Duration::from_secs(5));
            bots
        })
        .transpose()?;
    let small = ["size=60x60", "obstacles=10"];
    let quiet = QUIET_ROOMS
        .iter()
        .map(|room| start_bots(&scratch, &server, (room, "field"), QUIET_BOTS, seconds, &small))
        .collect::<Result<Vec<_>>>()?;
    let quiet = quiet.into_iter().map(summary).collect::<Result<Vec<_>>>()?;
    let ticks_lost = server.metrics()?["ambit_ticks_skipped_total"];
    let beside = beside.map(summary).transpose()?;
    let worst = |key: &str| {
        let figures = quiet.iter().filter_map(|room| room[key].as_u64());
        figures.max().map_or_else(|| "-".to_owned(), |figure| figure.to_string())
    };
    let stayed: u64 = quiet.iter().filter_map(|room| room["connected"].as_u64()).sum();
    println!(
        "| {} | {stayed} | {} / {} | {} / {} | {} | {ticks_lost} |",
        noisy.map_or("nothing", |noisy| noisy.name),
        worst("age_ms_p50"),
        worst("age_ms_p99"),
        worst("gap_ms_p99"),
        worst("gap_ms_max"),
        beside.map_or_else(|| "-".to_owned(), |beside| beside["connected"].to_string()),
    );
    Ok(())
}

fn start_bots(
    scratch: &ScratchFolder,
    server: &Server,
    (room, game): (&str, &str),
    count: &str,
    seconds: u32,
    parameters: &[&str],
) -> Result<Child> {
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    command.args(["--json", "--room", room, "--game", game]);
    command.args(["--count", count]);
    command.args(["--seconds", &seconds.to_string()]);
    command.args(["--server", &server.world.to_string()]);
    for parameter in parameters {
        command.args(["--param", parameter]);
    }
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
}

fn summary(bots: Child) -> Result<Value> {
    let output = bots.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(serde_json::from_str(text.lines().last().context("no summary")?)?)
}
