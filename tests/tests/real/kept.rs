//! Rooms and sessions that survive the end of the whole server (`--keep`). Times are only printed,
//! because machines differ.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use ambit_tests::real::counting_players::CountingPlayers;
use ambit_tests::real::{
    self, Cluster, Console, Host, ScratchFolder, Server, server_signal, wait_until,
};
use anyhow::{Context, Result};

const PLAYERS: usize = 3;
/// Bytes; a snapshot of a room of `field` is larger, and ticks of a moment are smaller.
const SMALLEST_SNAPSHOT: f64 = 2_000.0;
/// The players have this time to come back, however busy the machine is.
const GRACE: &str = "2m";

#[test]
fn rooms_of_a_killed_server_go_on_with_all_that_was_confirmed() -> Result<()> {
    end_server("kept-embedded", "embedded", "KILL", [&[], &[]])
}

#[test]
fn rooms_of_a_server_killed_with_its_children_go_on_as_they_were() -> Result<()> {
    end_server("kept-process", "process:2", "KILL", [&[], &[]])
}

#[test]
fn rooms_go_on_after_a_restart_by_sigterm() -> Result<()> {
    end_server("kept-restart", "embedded", "TERM", [&[], &[]])
}

#[test]
fn rooms_of_a_server_that_was_stopped_go_on_in_another_build() -> Result<()> {
    let builds = [["--build", "one"], ["--build", "two"]];
    let [first, next] = &builds;
    end_server("kept-next-build", "embedded", "TERM", [first, next])?;
    end_server("kept-next-build-children", "process:2", "TERM", [first, next])
}

/// Players with rooms of their own count commands. Then the server ends and another one starts. In
/// the end, each command that was confirmed before or after it is in the rooms once.
fn end_server(name: &str, hosts: &str, signal: &str, flags_of: [&[&str]; 2]) -> Result<()> {
    let scratch = ScratchFolder::new(name);
    let directory = scratch.path().join("kept");
    let directory = directory.to_str().context("a plain path")?;
    let flags = ["--hosts", hosts, "--keep", directory, "--grace", GRACE];
    let [first, next] = flags_of;
    let server = Server::start_with_test_games(&scratch, &[&flags[..], first].concat())?;
    let players = CountingPlayers::start(&scratch, server.world, PLAYERS);
    server.wait_for_metrics("all players", |metrics| {
        metrics["ambit_host_players"] == PLAYERS as f64
    })?;
    players.wait_for_commands(30)?;
    players.pause()?;
    let written = server.wait_until_kept()?;
    println!(
        "{name}: {} bytes and {} syncs for {PLAYERS} small rooms so far",
        written["ambit_kept_bytes_total"], written["ambit_kept_syncs_total"]
    );
    let address = server.world.to_string();
    server_signal(server.id(), signal)?;
    server.wait()?;

    let ended = now();
    let flags = [&flags[..], next, &["--listen", &address]].concat();
    let server = Server::start_with_test_games(&scratch, &flags)?;
    server
        .wait_for_metrics("all rooms", |metrics| metrics["ambit_host_rooms"] == PLAYERS as f64)?;
    println!("{name}: all rooms run {} ms later", ended.elapsed().as_millis());
    server.wait_for_metrics("all players again", |metrics| {
        metrics["ambit_game_connections"] == PLAYERS as f64
    })?;
    println!("{name}: all players are back after {} ms", ended.elapsed().as_millis());
    players.resume();
    players.wait_for_commands(30)?;
    let metrics = server.metrics()?;
    assert_eq!(metrics["ambit_sessions_resumed_total"], PLAYERS as f64);
    assert_eq!(metrics["ambit_rooms_made_total"], 0.0);
    let confirmed = players.finish()?;
    assert!(confirmed.iter().all(|count| *count > 50), "{confirmed:?}");
    Ok(())
}

#[test]
fn a_room_that_ends_its_server_is_set_aside_and_the_others_go_on() -> Result<()> {
    let scratch = ScratchFolder::new("kept-aborting");
    let directory = scratch.path().join("kept");
    let flags = ["--keep", directory.to_str().context("a plain path")?, "--grace", GRACE];
    let server = Server::start_with_test_games(&scratch, &flags)?;
    let address = server.world.to_string();
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create calm game=field npcs=1", "created")?;
    ann.run_command("start", "started")?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    bob.run_command("create culprit game=aborting", "created")?;
    bob.run_command("start", "started")?;
    server.wait()?;
    let flags = [&flags[..], &["--listen", &address]].concat();
    let mut starts = 0;
    let server = loop {
        starts += 1;
        anyhow::ensure!(starts < 6, "no server lives");
        // It may end before it is ready, or later.
        let Ok(server) = Server::start_with_test_games(&scratch, &flags) else {
            continue;
        };
        // A server that is about to end may answer in part.
        let lives = server.wait_for_metrics("one room", |metrics| {
            ["ambit_kept_rooms_set_aside", "ambit_game_connections"]
                .iter()
                .all(|name| metrics.get(*name) == Some(&1.0))
        });
        if lives.is_ok() {
            break server;
        }
    };
    assert_eq!(starts, 3, "all at once; one at a time; without the culprit");
    let left = bob.wait_until("the end of the room", |event| event["ev"] == "left")?;
    assert_eq!(left["reason"], "server_error", "{left}");
    assert!(!ann.events.iter().any(|event| event["ev"] == "left"));
    let set_aside = std::fs::read_dir(directory.join("set-aside"))?;
    assert_eq!(set_aside.count(), 1);
    // The start finishes once the other room has run for a moment.
    wait_until("the end of the start", || {
        Ok((!directory.join("unfinished-start").exists()).then_some(()))
    })?;
    assert_eq!(server.metrics()?["ambit_rooms_running"], 1.0);
    Ok(())
}

#[test]
fn a_room_of_another_build_waits_and_is_set_aside_when_it_is_left() -> Result<()> {
    let scratch = ScratchFolder::new("kept-build");
    let directory = scratch.path().join("kept");
    let flags = ["--keep", directory.to_str().context("a plain path")?, "--grace", GRACE];
    let server = Server::start(&scratch, &[&flags[..], &["--build", "one"]].concat())?;
    let address = server.world.to_string();
    let mut consoles = Vec::new();
    for name in ["ann", "bob"] {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.run_command(&format!("create {name} game=field npcs=1"), "created")?;
        console.run_command("start", "started")?;
        consoles.push(console);
    }
    server.wait_until_kept()?;
    // Right after a snapshot, another build could go on with a room.
    let kept = Cell::new(f64::MAX);
    server.wait_for_metrics("ticks after the snapshots", |metrics| {
        let now = metrics["ambit_kept_bytes_total"];
        let grown = now - kept.replace(now);
        0.0 < grown && grown < SMALLEST_SNAPSHOT
    })?;
    server_signal(server.id(), "KILL")?;
    server.wait()?;
    let flags = [&flags[..], &["--listen", &address]].concat();
    let mut server = Server::start(&scratch, &[&flags[..], &["--build", "two"]].concat())?;
    for console in &mut consoles {
        console.wait_until("the session", |event| {
            event["ev"] == "welcome" && event["resumed"] == true
        })?;
    }
    assert_eq!(server.metrics()?["ambit_host_rooms"], 0.0);
    let left = consoles[1].run_command("leave", "left")?;
    server.wait_for_metrics("the room that was left", |metrics| {
        metrics["ambit_kept_rooms_set_aside"] == 1.0
    })?;
    let file = directory.join(format!("set-aside/room-{}.rec", left["room"]));
    assert!(file.exists(), "{left}");
    server.wait_for_log(&file.display().to_string())?;
    assert_eq!(server.terminate()?, Some(0));
    // The other one goes on with the build that it waited for.
    let server = Server::start(&scratch, &[&flags[..], &["--build", "one"]].concat())?;
    server.wait_for_metrics("its room", |metrics| metrics["ambit_host_rooms"] == 1.0)?;
    server.wait_for_metrics("its player", |metrics| metrics["ambit_game_connections"] == 1.0)?;
    assert_eq!(server.metrics()?["ambit_kept_rooms_set_aside"], 1.0);
    let ended = consoles[0].events.iter().find(|event| event["ev"] == "left");
    assert_eq!(ended, None);
    Ok(())
}

#[test]
fn rooms_of_a_host_elsewhere_run_on_while_their_server_is_killed() -> Result<()> {
    let scratch = ScratchFolder::new("kept-remote");
    let directory = scratch.path().join("kept");
    let directory = directory.to_str().context("a plain path")?;
    let flags = ["--keep", directory, "--grace", GRACE, "--host-key", Host::KEY];
    let flags = [&flags[..], &["--host-capacity", "1"]].concat();
    let server = Server::start(&scratch, &flags)?;
    let _host = Host::start(&scratch, &server, &[], &[])?;
    server.wait_for_metrics("both hosts", |metrics| metrics["ambit_hosts"] == 2.0)?;
    let mut consoles = Vec::new();
    for name in ["ann", "bob"] {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.run_command(&format!("create {name} game=field npcs=1"), "created")?;
        console.run_command("start", "started")?;
        consoles.push(console);
    }
    server.wait_until_kept()?;
    let address = server.world.to_string();
    server_signal(server.id(), "KILL")?;
    server.wait()?;
    let ended = now();
    let server = Server::start(&scratch, &[&flags[..], &["--listen", &address]].concat())?;
    server.wait_for_metrics("both rooms", |metrics| metrics["ambit_host_rooms"] == 2.0)?;
    println!("both rooms run {} ms later", ended.elapsed().as_millis());
    for console in &mut consoles {
        let back = console.wait_until("the session", |event| {
            event["ev"] == "welcome" && event["resumed"] == true
        })?;
        assert!(back["room"].is_number(), "{back}");
    }
    server.wait_for_metrics("both players", |metrics| metrics["ambit_game_connections"] == 2.0)?;
    for console in consoles {
        let left = console.events.iter().find(|event| event["ev"] == "left");
        assert_eq!(left, None);
    }
    Ok(())
}

/// A leader and the hosts of all rooms are killed at once, so no process has the rooms' checkpoints
/// in memory. The next leader has them from NATS, and the rooms go on at a host that comes then.
/// The leader deletes the remains of an object that was not written to its end.
#[test]
fn rooms_of_a_leader_killed_with_its_hosts_go_on_as_they_were() -> Result<()> {
    let scratch = ScratchFolder::new("kept-cluster");
    let flags = ["--keep", "nats", "--grace", GRACE];
    let mut cluster = Cluster::start_with_test_games(&scratch, &flags)?;
    let servers: Vec<String> = cluster.worlds.iter().map(|world| world.world.to_string()).collect();
    let players = CountingPlayers::start_with_ballast(&scratch, &servers.join(","), PLAYERS, 1);
    cluster.leader().wait_for_metrics("all players", |metrics| {
        metrics["ambit_host_players"] == PLAYERS as f64
    })?;
    players.wait_for_commands(30)?;
    players.pause()?;
    let written = cluster.leader().wait_until_kept()?;
    println!(
        "{} bytes stored in {} turns for {PLAYERS} rooms of 1 MiB",
        written["ambit_kept_bytes_total"], written["ambit_kept_syncs_total"]
    );
    let left_over = "$O.AMBIT_ROOMS.C.left-over";
    ask_nats(&cluster, left_over, "a part")?;
    assert!(has_contents(&cluster, left_over)?);
    let ended = now();
    server_signal(cluster.leader().id(), "STOP")?;
    for host in &cluster.hosts {
        server_signal(host.id(), "KILL")?;
    }
    cluster.kill_leader()?;
    cluster.add_host(&scratch, &[])?;
    cluster.leader().wait_for_metrics("all rooms", |metrics| {
        metrics.get("ambit_host_rooms") == Some(&(PLAYERS as f64))
    })?;
    println!("all rooms run {} ms later", ended.elapsed().as_millis());
    cluster.leader().wait_for_metrics("all players again", |metrics| {
        metrics["ambit_host_players"] == PLAYERS as f64
    })?;
    players.resume();
    players.wait_for_commands(30)?;
    let confirmed = players.finish()?;
    assert!(confirmed.iter().all(|count| *count > 50), "{confirmed:?}");
    wait_until("nothing is left over", || Ok((!has_contents(&cluster, left_over)?).then_some(())))?;
    Ok(())
}

/// Whether the bucket of rooms has messages with that subject.
fn has_contents(cluster: &Cluster, subject: &str) -> Result<bool> {
    let filter = format!("{{\"subjects_filter\":\"{subject}\"}}");
    let info = ask_nats(cluster, "$JS.API.STREAM.INFO.OBJ_AMBIT_ROOMS", &filter)?;
    Ok(info.contains(subject))
}

/// The answer of NATS to a message.
fn ask_nats(cluster: &Cluster, subject: &str, payload: &str) -> Result<String> {
    let urls = cluster.nats.urls();
    let address = urls.trim_start_matches("nats://").split(',').next();
    let mut stream = TcpStream::connect(address.context("an address")?)?;
    stream.set_read_timeout(Some(real::WAIT_LIMIT))?;
    let bytes = payload.len();
    write!(
        stream,
        "CONNECT {{\"verbose\":false}}\r\nSUB answers 1\r\n\
         PUB {subject} answers {bytes}\r\n{payload}\r\n"
    )?;
    let mut lines = BufReader::new(stream).lines();
    loop {
        let line = lines.next().context("NATS has ended")??;
        if line.starts_with("MSG ") {
            return Ok(lines.next().context("NATS has ended")??);
        }
    }
}

#[test]
fn a_server_refuses_a_directory_that_it_cannot_use() -> Result<()> {
    let scratch = ScratchFolder::new("kept-refused");
    let directory = scratch.path().join("kept");
    let first = Server::start(&scratch, &["--keep", directory.to_str().context("plain")?])?;
    refused(&scratch, &directory, 1, "another server uses it")?;
    drop(first);
    // What is no log at all is skipped, and its bytes are counted.
    std::fs::write(directory.join("rooms-00000010.log"), [7; 1_000])?;
    let mut server = Server::start(&scratch, &["--keep", directory.to_str().context("plain")?])?;
    server.wait_for_log("damaged")?;
    drop(server);
    // An empty one may be a server's that ended right after its start.
    std::fs::write(directory.join("rooms-00000020.log"), [])?;
    let mut server = Server::start(&scratch, &["--keep", directory.to_str().context("plain")?])?;
    server.wait_for_log("this file of rooms is empty")?;
    drop(server);
    real::run(Command::new("mkfifo").arg(directory.join("rooms-00000030.log")))?;
    refused(&scratch, &directory, 1, "rooms-00000030.log is a FIFO")?;
    #[cfg(target_os = "linux")]
    refused(&scratch, Path::new("/proc/kept"), 1, "cannot keep rooms in /proc/kept")?;
    Ok(())
}

/// A server with this directory ends with that status and these words.
fn refused(scratch: &ScratchFolder, directory: &Path, status: i32, words: &str) -> Result<()> {
    let mut command = Command::new(real::binary("world-server"));
    scratch.confine(&mut command);
    command.arg("--keep").arg(directory);
    command.arg("--data-dir").arg(scratch.path().join("data-of-the-second"));
    let output = real::output(command.args(["--listen", "127.0.0.1:0", "--http", "off"]))?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert!(said.contains(words), "{said}");
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "times are printed")]
fn now() -> Instant {
    Instant::now()
}
