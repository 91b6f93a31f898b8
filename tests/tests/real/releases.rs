//! Releases: hosts of a new build start beside the old ones, and all rooms move there, under a
//! crowd. Gaps are only printed, because machines differ.

use ambit_tests::real::counting_players::CountingPlayers;
use ambit_tests::real::{BotCrowd, Host, ScratchFolder, Server};
use ambit_tests::short_or_long;
use anyhow::Result;

const ROOMS: usize = 5;
/// Bots in each room, in short and in long.
const BOTS: (usize, usize) = (20, 100);
/// Players of the game that counts commands, each in a room of its own.
const COUNTING_PLAYERS: usize = 3;

#[test]
fn rooms_move_to_new_builds_under_bots_and_no_bot_is_dropped() -> Result<()> {
    let bots = short_or_long(BOTS.0, BOTS.1);
    let scratch = ScratchFolder::new("releases");
    let flags = ["--hosts", "process:2", "--build", "one", "--host-key", Host::KEY];
    let server = Server::start_with_test_games(&scratch, &flags)?;
    let counting = CountingPlayers::start(&scratch, server.world, COUNTING_PLAYERS);
    let small = ["--param", "size=60x60", "--param", "obstacles=10"];
    let mut crowds = (0..ROOMS)
        .map(|room| BotCrowd::start(&scratch, server.world, &format!("room{room}"), bots, &small))
        .collect::<Result<Vec<_>>>()?;
    crowds.iter_mut().try_for_each(BotCrowd::wait_until_measuring)?;
    counting.wait_for_commands(1)?;
    let all_rooms = ROOMS + COUNTING_PLAYERS;
    let all_players = (ROOMS * bots + COUNTING_PLAYERS) as f64;
    let mut hosts = Vec::new();
    for build in ["two", "three"] {
        hosts.push(Host::start_with_test_games(&scratch, &server, &["--build", build])?);
        let moved = (hosts.len() * all_rooms) as f64;
        server.wait_for_metrics("the rooms at the new build", |metrics| {
            metrics["ambit_rooms_moved_total"] == moved
                && metrics["ambit_host_players"] == all_players
        })?;
        counting.wait_for_commands(10)?;
    }
    // The host of the build before has no room, and no room moves when it ends.
    assert_eq!(hosts.remove(0).terminate()?.0, Some(0));
    counting.wait_for_commands(10)?;
    let mut gaps = Vec::new();
    for crowd in crowds {
        let summary = crowd.finish()?;
        assert_eq!(summary["moves"].as_u64(), Some(2 * bots as u64), "{summary}");
        gaps.push(
            ["move_gap_ms_p50", "move_gap_ms_p99", "move_gap_ms_max"]
                .map(|key| summary[key].to_string())
                .join("/"),
        );
    }
    // Each confirmed command was executed exactly once, as the rooms' later states show.
    let confirmed = counting.finish()?;
    assert!(confirmed.iter().all(|count| *count > 20), "{confirmed:?}");
    let metrics = server.metrics()?;
    let figures = ["moved", "misfit"].map(|name| metrics[&format!("ambit_rooms_{name}_total")]);
    assert_eq!(figures, [(2 * all_rooms) as f64, 0.0]);
    println!(
        "two releases under {} bots: {all_rooms} rooms moved each time; commands of counting \
         players {confirmed:?}, none lost; gaps around moves by room (p50/p99/max ms): {gaps:?}",
        ROOMS * bots
    );
    Ok(())
}
