//! A process that hosts rooms on several cores: as many hosts, which end together.

use ambit_tests::real::counting_players::CountingPlayers;
use ambit_tests::real::{Host, Metrics, ScratchFolder, Server, outlast_suspicion};
use anyhow::Result;

/// Players of the game that counts commands, each in a room of its own.
const PLAYERS: usize = 4;

#[test]
fn the_rooms_of_all_cores_of_a_process_go_on_when_it_ends() -> Result<()> {
    let scratch = ScratchFolder::new("cores");
    // New rooms go to the build that came last, so none runs in the server.
    let flags = ["--build", "one", "--host-key", Host::KEY];
    let server = Server::start_with_test_games(&scratch, &flags)?;
    let start = |cores: usize| {
        let cores = cores.to_string();
        let flags = ["--build", "two", "--cores", &cores];
        Host::start_with_test_games(&scratch, &server, &flags)
    };
    // The number of rooms of each host, in order.
    let hosts = |rooms: &[f64]| {
        server.wait_for_metrics("the hosts and their rooms", |metrics| {
            metrics["ambit_hosts"] == rooms.len() as f64 && rooms_by_host(metrics) == rooms
        })
    };
    let mut first = start(2)?;
    assert_ne!(first.wait_for_address()?, first.wait_for_address()?, "a port each");
    hosts(&[0.0, 0.0, 0.0])?;
    let counting = CountingPlayers::start(&scratch, server.world, PLAYERS);
    counting.wait_for_commands(10)?;
    hosts(&[0.0, 2.0, 2.0])?;
    let page = server.get("/status")?.1;
    for core in ["core 1", "core 2"] {
        assert!(page.contains(core), "{page}");
    }

    // Killed, with both hosts: each room moves once, since none goes to the other core.
    let second = start(1)?;
    hosts(&[0.0, 0.0, 2.0, 2.0])?;
    first.end_by("KILL")?;
    let moved = |count: usize| {
        server.wait_for_metrics("the rooms elsewhere", |metrics| {
            metrics["ambit_rooms_moved_total"] == count as f64
        })
    };
    moved(PLAYERS)?;
    counting.wait_for_commands(10)?;
    hosts(&[0.0, 4.0])?;

    // A process that is asked to end hands over the rooms of all its cores.
    outlast_suspicion();
    let third = start(2)?;
    hosts(&[0.0, 0.0, 0.0, 4.0])?;
    assert_eq!(second.terminate()?.0, Some(0));
    moved(2 * PLAYERS)?;
    counting.wait_for_commands(10)?;
    hosts(&[0.0, 2.0, 2.0])?;
    let _fourth = start(1)?;
    hosts(&[0.0, 0.0, 2.0, 2.0])?;
    assert_eq!(third.terminate()?.0, Some(0));
    moved(3 * PLAYERS)?;
    counting.wait_for_commands(10)?;
    // Each confirmed command was executed exactly once, as the rooms' later states show.
    let confirmed = counting.finish()?;
    assert!(confirmed.iter().all(|count| *count > 30), "{confirmed:?}");
    Ok(())
}

/// In order.
fn rooms_by_host(metrics: &Metrics) -> Vec<f64> {
    let hosts = metrics.iter().filter(|(series, _)| series.starts_with("ambit_rooms_by_host{"));
    let mut rooms: Vec<f64> = hosts.map(|(_, rooms)| *rooms).collect();
    rooms.sort_by(f64::total_cmp);
    rooms
}
