//! Hosts in a fleet of Agones: what its sidecar is told, and what a sidecar that is late or errs
//! costs (nothing).

use ambit_tests::real::{Console, Host, Scratch, Server};
use anyhow::Result;

use crate::sidecar::{Sidecar, game_server};

#[test]
fn agones_hears_when_a_host_is_ready_of_its_health_its_rooms_and_players_and_its_end() -> Result<()>
{
    let scratch = Scratch::new("agones");
    let sidecar = Sidecar::start(Sidecar::free_port()?)?;
    let server = start_server(&scratch)?;
    let mut host = start_host(
        &scratch,
        &server,
        sidecar.port,
        &["--advertise", "127.0.0.1"],
    )?;
    sidecar.wait("a host that is ready", |rules| {
        rules.taken("/ready") == 1 && rules.counter("rooms") == (0, 8)
    })?;
    let pings = sidecar.rules().taken("/health");
    sidecar.wait("health, again and again", |rules| {
        rules.taken("/health") >= pings + 3
    })?;
    let address = host.await_address()?;
    let consoles = two_rooms(&scratch, &server, &address)?;
    sidecar.wait("a room and its player", |rules| {
        rules.counter("rooms") == (1, 8) && rules.counter("players").0 == 1
    })?;
    assert_eq!(sidecar.rules().taken("/ready"), 1);

    let log = hand_over(&server, host, consoles)?;
    assert_eq!(sidecar.rules().taken("/shutdown"), 1);
    let place = |words: &str| log.iter().position(|line| line.contains(words));
    let (handed_over, told) = (
        place("all rooms are handed over"),
        place("Agones knows that this server ends"),
    );
    assert!(handed_over.is_some() && handed_over < told, "{log:#?}");
    Ok(())
}

#[test]
fn a_sidecar_that_comes_late_is_told_all_and_rooms_have_run_without_it() -> Result<()> {
    let scratch = Scratch::new("agones-late");
    let port = Sidecar::free_port()?;
    let server = start_server(&scratch)?;
    let mut host = start_host(&scratch, &server, port, &["--advertise", "127.0.0.1"])?;
    let address = host.await_address()?;
    let missing = host.await_log("Agones' sidecar is not at")?;
    assert!(
        missing.contains(&format!("localhost:{port}")) && missing.contains("goes on without it"),
        "{missing}"
    );
    let consoles = two_rooms(&scratch, &server, &address)?;
    server.await_metrics("both players", |metrics| {
        metrics["ambit_host_players"] == 2.0
    })?;

    let sidecar = Sidecar::start(port)?;
    host.await_log("Agones' sidecar is there")?;
    host.await_log("Agones knows that this server is ready")?;
    sidecar.wait("a room and its player", |rules| {
        rules.counter("rooms") == (1, 8) && rules.counter("players").0 == 1
    })?;
    hand_over(&server, host, consoles)?;
    assert_eq!(sidecar.rules().taken("/shutdown"), 1);
    Ok(())
}

#[test]
fn a_sidecar_that_errs_costs_nothing_and_the_log_says_what_is_missing() -> Result<()> {
    let scratch = Scratch::new("agones-errs");
    let sidecar = Sidecar::start(Sidecar::free_port()?)?;
    sidecar.rules().errs = true;
    let server = start_server(&scratch)?;
    let mut host = start_host(
        &scratch,
        &server,
        sidecar.port,
        &["--advertise", "127.0.0.1"],
    )?;
    let address = host.await_address()?;
    let fails = host.await_log("Agones does not take ready")?;
    assert!(
        fails.contains("POST /ready") && fails.contains("the API server does not answer"),
        "{fails}"
    );
    let consoles = two_rooms(&scratch, &server, &address)?;
    sidecar.rules().errs = false;
    host.await_log("Agones knows that this server is ready")?;
    sidecar.wait("a room", |rules| rules.counter("rooms") == (1, 8))?;
    sidecar.rules().errs = true;
    let log = hand_over(&server, host, consoles)?;
    assert!(
        log.iter()
            .any(|line| line.contains("Agones does not take shutdown")),
        "{log:#?}"
    );
    Ok(())
}

#[test]
fn a_counter_that_the_fleet_does_not_declare_is_named_in_the_log() -> Result<()> {
    let scratch = Scratch::new("agones-counter");
    let sidecar = Sidecar::start(Sidecar::free_port()?)?;
    sidecar.rules().counters.remove("players");
    let server = start_server(&scratch)?;
    let mut host = start_host(
        &scratch,
        &server,
        sidecar.port,
        &["--advertise", "127.0.0.1"],
    )?;
    let fails = host.await_log("does not take the counter")?;
    assert!(
        fails.contains("counter not found: players. Does the Fleet declare it"),
        "{fails}"
    );
    sidecar.wait("the other counter", |rules| {
        rules.counter("rooms") == (0, 8)
    })?;
    Ok(())
}

#[test]
fn without_advertise_players_are_told_the_address_that_agones_gave() -> Result<()> {
    let scratch = Scratch::new("agones-address");
    let sidecar = Sidecar::start(Sidecar::free_port()?)?;
    sidecar.rules().game_server = game_server("", 0);
    let server = start_server(&scratch)?;
    let mut host = start_host(&scratch, &server, sidecar.port, &[])?;
    // Not known yet: the host asks again, and serves nobody.
    sidecar.wait("some looks", |rules| rules.taken("/gameserver") >= 3)?;
    assert_eq!(server.metrics()?["ambit_hosts"], 1.0);
    sidecar.rules().game_server = game_server("localhost", 7_001);
    let hosting = host.await_log("hosting rooms")?;
    assert!(
        hosting.contains("127.0.0.1:7001") || hosting.contains("[::1]:7001"),
        "{hosting}"
    );
    sidecar.wait("a host that is ready", |rules| rules.taken("/ready") == 1)?;
    server.await_metrics("both hosts", |metrics| metrics["ambit_hosts"] == 2.0)?;
    Ok(())
}

/// One that lets hosts in, and has a child that takes one room.
fn start_server(scratch: &Scratch) -> Result<Server> {
    let arguments = [
        "--hosts",
        "process:1",
        "--host-capacity",
        "1",
        "--host-key",
        Host::KEY,
    ];
    Server::start(scratch, &arguments)
}

fn start_host(scratch: &Scratch, server: &Server, port: u16, arguments: &[&str]) -> Result<Host> {
    let arguments = [&["--agones", "--capacity", "8"], arguments].concat();
    Host::start(
        scratch,
        server,
        &arguments,
        &[("AGONES_SDK_HTTP_PORT", &port.to_string())],
    )
}

/// Two rooms, each with a player: one at the server's child, which takes no more, and one at the
/// host: its player comes first.
fn two_rooms(scratch: &Scratch, server: &Server, address: &str) -> Result<[Console; 2]> {
    server.await_metrics("both hosts", |metrics| metrics["ambit_hosts"] == 2.0)?;
    let start = |name| -> Result<(Console, bool)> {
        let mut console = Console::start(scratch, server.world, name, &[])?;
        console.ask(&format!("create {name} game=field npcs=5"), "created")?;
        let started = console.ask("start", "started")?;
        console.wait_until("the avatar", |event| {
            event["ev"] == "enter" && event["own"] == true
        })?;
        Ok((console, started["address"] == address))
    };
    let ((ann, ann_is_here), (bob, bob_is_here)) = (start("ann")?, start("bob")?);
    assert!(
        ann_is_here != bob_is_here,
        "one at {address}, one at the child"
    );
    Ok(if ann_is_here { [ann, bob] } else { [bob, ann] })
}

/// Makes room at the child, ends the host, and sees to it that the first player goes on there. The
/// host's log.
fn hand_over(
    server: &Server,
    host: Host,
    [mut here, mut there]: [Console; 2],
) -> Result<Vec<String>> {
    there.ask("leave", "left")?;
    server.await_metrics("a free place", |metrics| metrics["ambit_host_rooms"] == 1.0)?;
    let (status, log) = host.terminate()?;
    assert_eq!(status, Some(0), "{log:#?}");
    here.wait_until("the room elsewhere", |event| {
        event["ev"] == "started" && event["again"] == true
    })?;
    here.ask("objects", "objects")?;
    assert!(
        !here
            .events
            .iter()
            .any(|event| event["ev"] == "left" || event["ev"] == "error")
    );
    Ok(log)
}
