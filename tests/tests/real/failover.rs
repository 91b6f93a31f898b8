//! Hosts that are ended repeatedly under a crowd. Gaps are only printed, because machines differ.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ambit_tests::real::counting_players::CountingPlayers;
use ambit_tests::real::{self, ScratchFolder, Server};
use anyhow::{Context, Result};
use serde_json::Value;

const ROOMS: usize = 5;
const BOTS: usize = 20;
/// Players of the game that counts commands, each in a room of its own.
const COUNTING_PLAYERS: usize = 3;
const KILLS: usize = 10;
/// Longer than the three seconds within which a second lost host makes a room suspect.
const KILL_INTERVAL: Duration = Duration::from_millis(3_500);

#[test]
fn ten_hosts_are_killed_under_a_hundred_bots_and_no_bot_is_dropped() -> Result<()> {
    end_hosts("KILL", &[])
}

#[test]
fn ten_hosts_are_killed_under_a_hundred_bots_with_high_latency() -> Result<()> {
    end_hosts("KILL", &["--impair", "delay=40ms"])
}

#[test]
fn ten_hosts_get_sigterm_under_a_hundred_bots_and_hand_over_rooms() -> Result<()> {
    end_hosts("TERM", &[])
}

/// The room's state is larger than any message, both to the WorldServer and to the next host.
#[test]
fn a_room_that_does_not_fit_into_a_message_goes_on_at_the_next_host() -> Result<()> {
    let scratch = ScratchFolder::new("failover-large");
    let server = Server::start_with_test_games(&scratch, &["--hosts", "process:2"])?;
    let players = CountingPlayers::start_with_ballast(&scratch, &server.world.to_string(), 2, 17);
    server.wait_for_metrics("both players", |metrics| metrics["ambit_host_players"] == 2.0)?;
    for _ in 0..2 {
        std::thread::sleep(KILL_INTERVAL);
        real::server_signal(server.children()[0], "KILL")?;
        server.wait_for_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
    }
    std::thread::sleep(KILL_INTERVAL);
    let confirmed = players.finish()?;
    assert!(confirmed.iter().all(|count| *count > 20), "{confirmed:?}");
    assert!(server.metrics()?["ambit_rooms_moved_total"] >= 1.0);
    Ok(())
}

fn end_hosts(signal: &str, flags: &[&str]) -> Result<()> {
    let scratch = ScratchFolder::new(&format!("failover-{signal}-{}", flags.len()));
    let server = Server::start_with_test_games(&scratch, &["--hosts", "process:3"])?;
    let counting = CountingPlayers::start(&scratch, server.world, COUNTING_PLAYERS);
    let bots: Vec<Child> =
        (0..ROOMS).map(|room| start_bots(&scratch, &server, room, flags)).collect::<Result<_>>()?;
    let all_bots = (ROOMS * BOTS) as f64;
    let all_players = all_bots + COUNTING_PLAYERS as f64;
    server
        .wait_for_metrics("all players", |metrics| metrics["ambit_host_players"] == all_players)?;
    for kill in 0..KILLS {
        std::thread::sleep(KILL_INTERVAL);
        let children = server.children();
        real::server_signal(children[kill % children.len()], signal)?;
        server.wait_for_metrics("another host", |metrics| metrics["ambit_hosts"] == 3.0)?;
    }
    let (mut acknowledged, mut moves, mut gaps) = (0, 0, Vec::new());
    for child in bots {
        let output = child.wait_with_output()?;
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let summary: Value = serde_json::from_str(text.lines().last().context("no summary")?)?;
        assert_eq!(
            (&summary["connected"], &summary["errors"]),
            (&BOTS.into(), &0.into()),
            "{summary}\n{log}"
        );
        acknowledged += summary["acknowledged"].as_u64().unwrap_or_default();
        moves += summary["moves"].as_u64().unwrap_or_default();
        gaps.push(
            ["move_gap_ms_p50", "move_gap_ms_p99", "move_gap_ms_max"]
                .map(|key| summary[key].to_string())
                .join("/"),
        );
    }
    // Each confirmed command was executed exactly once, as the rooms' later states show.
    let confirmed = counting.finish()?;
    assert!(confirmed.iter().all(|count| *count > 100), "{confirmed:?}");
    let moved = server.metrics()?["ambit_rooms_moved_total"];
    println!(
        "{KILLS} hosts ended by SIG{signal} under {all_bots} bots {flags:?}: \
         {moved} rooms moved, with {moves} moves of bots; \
         {acknowledged} commands of bots confirmed; of counting players {confirmed:?}, none lost; \
         gaps around moves by room (p50/p99/max ms): {gaps:?}"
    );
    assert!(moved >= 5.0 && moves >= 5 * BOTS as u64, "{moved} rooms moved, and {moves} bots");
    assert!(acknowledged > 100, "{acknowledged}");
    Ok(())
}

fn start_bots(
    scratch: &ScratchFolder,
    server: &Server,
    room: usize,
    flags: &[&str],
) -> Result<Child> {
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    let (count, room, server) = (BOTS.to_string(), format!("room{room}"), server.world.to_string());
    // On a small map every bot always has something in sight.
    let small = ["--param", "size=60x60", "--param", "obstacles=10"];
    command
        .args([
            "--count",
            &count,
            "--seconds",
            "45",
            "--json",
            "--room",
            &room,
            "--server",
            &server,
        ])
        .args(small)
        .args(flags);
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}
