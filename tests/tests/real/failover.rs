//! Hosts that are ended repeatedly under a crowd. Gaps are only printed, because machines differ.

use std::process::Command;

use ambit_tests::real::counting_players::CountingPlayers;
use ambit_tests::real::{
    self, BotCrowd, Metrics, ScratchFolder, Server, outlast_suspicion, wait_until,
};
use ambit_tests::short_or_long;
use anyhow::Result;

const HOSTS: usize = 3;
const ROOMS: usize = 5;
const BOTS: usize = 20;
/// Players of the game that counts commands, each in a room of its own.
const COUNTING_PLAYERS: usize = 3;
/// How many hosts end in each test, in short and in long.
const ENDED_HOSTS: (usize, usize) = (4, 10);

/// Two of three hosts die at the same time, again and again: rooms on their way from one to the
/// other, too.
#[test]
fn hosts_are_killed_under_a_hundred_bots_and_no_bot_is_dropped() -> Result<()> {
    end_hosts("KILL", 2, &[])
}

#[test]
fn hosts_are_killed_under_a_hundred_bots_with_high_latency() -> Result<()> {
    end_hosts("KILL", 2, &["--impair", "delay=40ms"])
}

#[test]
fn hosts_get_sigterm_under_a_hundred_bots_and_hand_over_rooms() -> Result<()> {
    end_hosts("TERM", 1, &[])
}

/// The room's state is larger than any message, both to the WorldServer and to the next host.
#[test]
fn a_room_that_does_not_fit_into_a_message_goes_on_at_the_next_host() -> Result<()> {
    let scratch = ScratchFolder::new("failover-large");
    let server = Server::start_with_test_games(&scratch, &["--hosts", "process:2"])?;
    let players = CountingPlayers::start_with_ballast(&scratch, &server.world.to_string(), 2, 17);
    // Confirmed only with a checkpoint.
    players.wait_for_commands(21)?;
    end_at_once(&server, &server.children()[..1], "KILL")?;
    players.wait_for_commands(21)?;
    outlast_suspicion();
    end_at_once(&server, &server.children()[..1], "KILL")?;
    players.wait_for_commands(21)?;
    let confirmed = players.finish()?;
    assert!(confirmed.iter().all(|count| *count > 20), "{confirmed:?}");
    assert!(server.metrics()?["ambit_rooms_moved_total"] >= 1.0);
    Ok(())
}

/// `at_once` hosts are ended at the same time.
fn end_hosts(signal: &str, at_once: usize, flags: &[&str]) -> Result<()> {
    let ended_hosts = short_or_long(ENDED_HOSTS.0, ENDED_HOSTS.1);
    let scratch = ScratchFolder::new(&format!("failover-{signal}-{}", flags.len()));
    let hosts = format!("process:{HOSTS}");
    let server = Server::start_with_test_games(&scratch, &["--hosts", &hosts])?;
    let counting = CountingPlayers::start(&scratch, server.world, COUNTING_PLAYERS);
    // On a small map every bot always has something in sight.
    let small = ["--param", "size=60x60", "--param", "obstacles=10"];
    let flags_of_bots = [&small[..], flags].concat();
    let mut crowds = (0..ROOMS)
        .map(|room| {
            let room = format!("room{room}");
            BotCrowd::start(&scratch, server.world, &room, BOTS, &flags_of_bots)
        })
        .collect::<Result<Vec<_>>>()?;
    crowds.iter_mut().try_for_each(BotCrowd::wait_until_measuring)?;
    counting.wait_for_commands(1)?;
    let all_bots = (ROOMS * BOTS) as f64;
    let all_players = all_bots + COUNTING_PLAYERS as f64;
    for round in 0..ended_hosts / at_once {
        let mut children = server.children();
        children.rotate_left(round % HOSTS);
        end_at_once(&server, &children[..at_once], signal)?;
        server.wait_for_metrics("all players again", |metrics| {
            metrics["ambit_host_players"] == all_players
        })?;
        counting.wait_for_commands(10)?;
        outlast_suspicion();
    }
    let mut acknowledged = 0;
    let mut moves = 0;
    let mut gaps = Vec::new();
    for crowd in crowds {
        let summary = crowd.finish()?;
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
    assert!(confirmed.iter().all(|count| *count > 10 * ended_hosts as u64), "{confirmed:?}");
    let moved = server.metrics()?["ambit_rooms_moved_total"];
    println!(
        "{ended_hosts} hosts ended by SIG{signal}, {at_once} at once, under {all_bots} bots \
         {flags:?}: {moved} rooms moved, with {moves} moves of bots; \
         {acknowledged} commands of bots confirmed; of counting players {confirmed:?}, none lost; \
         gaps around moves by room (p50/p99/max ms): {gaps:?}"
    );
    let rooms = ended_hosts / 2;
    assert!(
        moved >= rooms as f64 && moves >= (rooms * BOTS) as u64,
        "{moved} rooms moved, and {moves} bots"
    );
    assert!(acknowledged > 100, "{acknowledged}");
    Ok(())
}

/// Sends these children of the server a signal, and waits until they have ended and as many others
/// are there.
fn end_at_once(server: &Server, children: &[u32], signal: &str) -> Result<()> {
    let newest = newest_host(&server.metrics()?);
    let ids = children.iter().map(u32::to_string);
    real::run(Command::new("kill").arg(format!("-{signal}")).args(ids))?;
    server.wait_for_metrics("other hosts", |metrics| {
        newest_host(metrics) >= newest + children.len() as u64
    })?;
    wait_until("the end of the hosts", || {
        let left = server.children();
        Ok((!children.iter().any(|id| left.contains(id))).then_some(()))
    })
}

/// The number of the host that was started last.
fn newest_host(metrics: &Metrics) -> u64 {
    let numbers = metrics.keys().filter_map(|series| {
        series.strip_prefix("ambit_rooms_by_host{host=\"")?.strip_suffix("\"}")?.parse().ok()
    });
    numbers.max().unwrap_or_default()
}
