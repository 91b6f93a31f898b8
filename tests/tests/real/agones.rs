//! Hosts in an Agones fleet: what the sidecar receives, and that a late or failing sidecar stops
//! nothing.

use ambit_tests::real::{Console, Host, ScratchFolder, Server};
use anyhow::Result;

use crate::sidecar::{Sidecar, game_server};

#[test]
fn agones_is_notified_of_ready_health_rooms_players_and_shutdown() -> Result<()> {
    let scratch = ScratchFolder::new("agones");
    let sidecar = Sidecar::start(Sidecar::reserve()?)?;
    let (server, bob) = start_full_server(&scratch)?;
    let mut host = start_host(&scratch, &server, sidecar.port, &["--advertise", "127.0.0.1"])?;
    sidecar.wait("a host that is ready", |state| {
        state.accepted("/ready") == 1 && state.counter("rooms") == (0, 8)
    })?;
    let pings = sidecar.state().accepted("/health");
    sidecar.wait("repeated health requests", |state| state.accepted("/health") >= pings + 3)?;
    let address = host.wait_for_address()?;
    let consoles = two_rooms(&scratch, &server, &address, bob)?;
    sidecar.wait("a room and its player", |state| {
        state.counter("rooms") == (1, 8) && state.counter("players").0 == 1
    })?;
    assert_eq!(sidecar.state().accepted("/ready"), 1);

    let log = hand_over(&server, host, consoles)?;
    assert_eq!(sidecar.state().accepted("/shutdown"), 1);
    let place = |words: &str| log.iter().position(|line| line.contains(words));
    let (handed_over, notified) =
        (place("all rooms are handed over"), place("Agones knows that this server ends"));
    assert!(handed_over.is_some() && handed_over < notified, "{log:#?}");
    Ok(())
}

#[test]
fn a_sidecar_that_starts_late_gets_all_and_rooms_run_without_it() -> Result<()> {
    let scratch = ScratchFolder::new("agones-late");
    let socket = Sidecar::reserve()?;
    let port = socket.local_addr()?.port();
    let (server, bob) = start_full_server(&scratch)?;
    let mut host = start_host(&scratch, &server, port, &["--advertise", "127.0.0.1"])?;
    let address = host.wait_for_address()?;
    let missing = host.wait_for_any_log("Agones' sidecar is not at")?;
    assert!(
        missing.contains(&format!("localhost:{port}")) && missing.contains("continues without it"),
        "{missing}"
    );
    let consoles = two_rooms(&scratch, &server, &address, bob)?;
    server.wait_for_metrics("both players", |metrics| metrics["ambit_host_players"] == 2.0)?;

    let sidecar = Sidecar::start(socket)?;
    host.wait_for_log("Agones' sidecar is there")?;
    host.wait_for_log("Agones knows that this server is ready")?;
    sidecar.wait("a room and its player", |state| {
        state.counter("rooms") == (1, 8) && state.counter("players").0 == 1
    })?;
    hand_over(&server, host, consoles)?;
    assert_eq!(sidecar.state().accepted("/shutdown"), 1);
    Ok(())
}

#[test]
fn a_failing_sidecar_stops_nothing_and_the_log_says_what_is_missing() -> Result<()> {
    let scratch = ScratchFolder::new("agones-errs");
    let sidecar = Sidecar::start(Sidecar::reserve()?)?;
    sidecar.state().is_failing = true;
    let (server, bob) = start_full_server(&scratch)?;
    let mut host = start_host(&scratch, &server, sidecar.port, &["--advertise", "127.0.0.1"])?;
    let address = host.wait_for_address()?;
    let failure = host.wait_for_any_log("Agones does not take ready")?;
    assert!(
        failure.contains("POST /ready") && failure.contains("the API server does not answer"),
        "{failure}"
    );
    let consoles = two_rooms(&scratch, &server, &address, bob)?;
    sidecar.state().is_failing = false;
    host.wait_for_log("Agones knows that this server is ready")?;
    sidecar.wait("a room", |state| state.counter("rooms") == (1, 8))?;
    sidecar.state().is_failing = true;
    let log = hand_over(&server, host, consoles)?;
    assert!(log.iter().any(|line| line.contains("Agones does not take shutdown")), "{log:#?}");
    Ok(())
}

#[test]
fn a_counter_that_the_fleet_does_not_declare_is_named_in_the_log() -> Result<()> {
    let scratch = ScratchFolder::new("agones-counter");
    let sidecar = Sidecar::start(Sidecar::reserve()?)?;
    sidecar.state().counters.remove("players");
    let server = start_server(&scratch)?;
    let mut host = start_host(&scratch, &server, sidecar.port, &["--advertise", "127.0.0.1"])?;
    let failure = host.wait_for_log("does not take the counter")?;
    assert!(failure.contains("counter not found: players. Does the Fleet declare it"), "{failure}");
    sidecar.wait("the other counter", |state| state.counter("rooms") == (0, 8))?;
    Ok(())
}

#[test]
fn without_advertise_players_get_the_address_from_agones() -> Result<()> {
    let scratch = ScratchFolder::new("agones-address");
    let sidecar = Sidecar::start(Sidecar::reserve()?)?;
    sidecar.state().game_server = game_server("", 0);
    let server = start_server(&scratch)?;
    let mut host = start_host(&scratch, &server, sidecar.port, &[])?;
    // The host does not know its address yet: it repeats the request and serves no room.
    sidecar.wait("several requests", |state| state.accepted("/gameserver") >= 3)?;
    assert_eq!(server.metrics()?["ambit_hosts"], 1.0);
    sidecar.state().game_server = game_server("localhost", 7_001);
    let hosting = host.wait_for_log("hosting rooms")?;
    assert!(hosting.contains("127.0.0.1:7001") || hosting.contains("[::1]:7001"), "{hosting}");
    sidecar.wait("a host that is ready", |state| state.accepted("/ready") == 1)?;
    server.wait_for_metrics("both hosts", |metrics| metrics["ambit_hosts"] == 2.0)?;
    Ok(())
}

/// Starts a server that accepts hosts and has a child host for one room.
fn start_server(scratch: &ScratchFolder) -> Result<Server> {
    let arguments = ["--hosts", "process:1", "--host-capacity", "1", "--host-key", Host::KEY];
    Server::start(scratch, &arguments)
}

fn start_host(
    scratch: &ScratchFolder,
    server: &Server,
    port: u16,
    arguments: &[&str],
) -> Result<Host> {
    let arguments = [&["--agones", "--capacity", "8"], arguments].concat();
    Host::start(scratch, server, &arguments, &[("AGONES_SDK_HTTP_PORT", &port.to_string())])
}

/// A server as above, whose child host has a room and so is full; and the player of it.
fn start_full_server(scratch: &ScratchFolder) -> Result<(Server, Console)> {
    let server = start_server(scratch)?;
    server.wait_for_metrics("the child", |metrics| metrics["ambit_hosts"] == 1.0)?;
    let (bob, _) = start_room(scratch, &server, "bob")?;
    Ok((server, bob))
}

/// A room with a player, and where it is.
fn start_room(scratch: &ScratchFolder, server: &Server, name: &str) -> Result<(Console, String)> {
    let mut console = Console::start(scratch, server.world, name, &[])?;
    console.run_command(&format!("create {name} game=field npcs=5"), "created")?;
    let started = console.run_command("start", "started")?;
    console.wait_until("the avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    Ok((console, started["address"].as_str().unwrap_or_default().to_owned()))
}

/// A second room, at `address`, since the child host is full. Its player comes first.
fn two_rooms(
    scratch: &ScratchFolder,
    server: &Server,
    address: &str,
    bob: Console,
) -> Result<[Console; 2]> {
    server.wait_for_metrics("both hosts", |metrics| metrics["ambit_hosts"] == 2.0)?;
    let (ann, at) = start_room(scratch, server, "ann")?;
    assert_eq!(at, address);
    Ok([ann, bob])
}

/// Frees capacity at the child host, ends the host, and checks that the first player continues at
/// the child. Returns the host's log.
fn hand_over(
    server: &Server,
    host: Host,
    [mut here, mut there]: [Console; 2],
) -> Result<Vec<String>> {
    there.run_command("leave", "left")?;
    server
        .wait_for_metrics("capacity at the child", |metrics| metrics["ambit_host_rooms"] == 1.0)?;
    let (status, log) = host.terminate()?;
    assert_eq!(status, Some(0), "{log:#?}");
    here.wait_until("the room elsewhere", |event| {
        event["ev"] == "started" && event["again"] == true
    })?;
    here.run_command("objects", "objects")?;
    assert!(!here.events.iter().any(|event| event["ev"] == "left" || event["ev"] == "error"));
    Ok(log)
}
