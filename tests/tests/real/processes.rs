//! Rooms in child processes: spread, and the death of one of them.

use std::process::{Command, Stdio};

use ambit_tests::real::{self, Console, Scratch, Server};
use anyhow::Result;
use serde_json::Value;

#[test]
fn rooms_of_a_dead_host_go_on_at_another_and_nobody_is_sent_away() -> Result<()> {
    let scratch = Scratch::new("hosts");
    let server = Server::start(&scratch, &["--hosts", "process:2"])?;
    assert_eq!(server.children().len(), 2, "{}", server.ready);
    let mut consoles = Vec::new();
    for (index, name) in ["ann", "bob", "cat", "dan"].into_iter().enumerate() {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.ask(&format!("create room{index} game=field npcs=5"), "created")?;
        let started = console.ask("start", "started")?;
        console.wait_until("the avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
        consoles.push((console, started["address"].as_str().unwrap_or_default().to_owned()));
    }
    let mut addresses: Vec<&str> = consoles.iter().map(|(_, address)| address.as_str()).collect();
    addresses.sort_unstable();
    assert!(
        addresses[0] == addresses[1] && addresses[2] == addresses[3] && addresses[1] != addresses[2],
        "{addresses:?}"
    );
    // Where they have walked to shows that they come back into the same avatar.
    for (console, _) in &mut consoles {
        console.type_in("move 20 20")?;
    }
    let bots: Vec<_> = (0..4).map(|room| bots(&scratch, &server, room, 10)).collect::<Result<_>>()?;
    for (console, _) in &mut consoles {
        console
            .wait_until("a bot", |event| event["ev"] == "enter" && event["kind"] == "avatar" && event["own"] != true)?;
    }

    let children = server.children();
    real::server_signal(children[0], "KILL")?;
    server.await_metrics("the rooms that move", |metrics| metrics["ambit_rooms_moved_total"] == 2.0)?;
    // Each of them has the avatar in sight again, and two have changed hosts for that.
    let mut moved = 0;
    for (console, _) in &mut consoles {
        let seen = until_in_sight(console)?;
        assert!(!console.events.iter().any(|event| event["ev"] == "left" || event["ev"] == "error"), "{seen}");
        moved += usize::from(is_moved(console));
    }
    assert_eq!(moved, 2, "those of one host");
    // The dead one is replaced.
    server.await_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
    let replaced = server.children();
    assert!(replaced.len() == 2 && replaced.contains(&children[1]), "{children:?}, then {replaced:?}");
    for bots in bots {
        let summary = summary(bots)?;
        println!("{summary}");
        assert_eq!((&summary["connected"], &summary["errors"]), (&10.into(), &0.into()), "{summary}");
    }
    Ok(())
}

#[test]
fn a_host_that_hangs_is_given_up_killed_and_replaced_and_its_rooms_go_on() -> Result<()> {
    let scratch = Scratch::new("hung");
    let server = Server::start(&scratch, &["--hosts", "process:2", "--host-silence", "1s"])?;
    let mut consoles = Vec::new();
    for name in ["ann", "bob"] {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.ask(&format!("create {name}'s game=field npcs=5"), "created")?;
        console.ask("start", "started")?;
        console.wait_until("the avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
        consoles.push(console);
    }
    let children = server.children();
    real::server_signal(children[0], "STOP")?;
    // Stopped as it is, it ends; another one takes its place.
    while real::is_alive(children[0]) || server.children().len() < 2 {
        std::thread::yield_now();
    }
    server.await_metrics("a room that moves", |metrics| metrics["ambit_rooms_moved_total"] == 1.0)?;
    server.await_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
    let mut moved = 0;
    for console in &mut consoles {
        let seen = until_in_sight(console)?;
        assert!(!console.events.iter().any(|event| event["ev"] == "left"), "{seen}");
        moved += usize::from(is_moved(console));
    }
    assert_eq!(moved, 1);
    Ok(())
}

#[test]
fn children_come_as_rooms_need_them_up_to_the_most() -> Result<()> {
    let scratch = Scratch::new("elastic");
    let server = Server::start(&scratch, &["--hosts", "process:1..3", "--host-capacity", "1"])?;
    assert!(server.ready.contains("hosts=process:1..3"), "{}", server.ready);
    let mut consoles = Vec::new();
    for (name, hosts) in [("ann", 2.0), ("bob", 3.0), ("cat", 3.0)] {
        let mut console = Console::start(&scratch, server.world, name, &[])?;
        console.ask("create den game=field npcs=5", "created")?;
        console.ask("start", "started")?;
        server.await_metrics("the hosts that are wanted", |metrics| metrics["ambit_hosts"] == hosts)?;
        consoles.push(console);
    }
    let mut dan = Console::start(&scratch, server.world, "dan", &[])?;
    dan.ask("create den game=field", "created")?;
    let refused = dan.ask("start", "error")?;
    assert_eq!(refused["code"], "no_host_available", "{refused}");
    // A room that ends makes room.
    consoles[0].ask("leave", "left")?;
    dan.ask("start", "started")?;
    assert_eq!(server.children().len(), 3);
    Ok(())
}

#[test]
fn the_children_die_with_their_parent() -> Result<()> {
    let scratch = Scratch::new("orphans");
    let server = Server::start(&scratch, &["--hosts", "process:2"])?;
    let children = server.children();
    assert_eq!(children.len(), 2);
    real::server_signal(server.id(), "KILL")?;
    while children.iter().any(|&id| real::is_alive(id)) {
        std::thread::yield_now();
    }
    Ok(())
}

/// Asks until the own avatar is in sight; a room may be on its way.
fn until_in_sight(console: &mut Console) -> Result<Value> {
    loop {
        // A line is answered once all before it is done, so this ends with the console's own patience.
        console.type_in("wait 100ms")?;
        let seen = console.ask("objects", "objects")?;
        if seen["objects"].as_array().into_iter().flatten().any(|object| object["own"] == true) {
            return Ok(seen);
        }
    }
}

/// Whether the console's room has changed hosts.
fn is_moved(console: &Console) -> bool {
    console.events.iter().any(|event| event["ev"] == "started" && event["again"] == true)
}

/// Bots in a room for as long as a test takes.
fn bots(scratch: &Scratch, server: &Server, room: usize, count: usize) -> Result<std::process::Child> {
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    let (count, room, server) = (count.to_string(), format!("room{room}"), server.world.to_string());
    command.args(["--count", &count, "--seconds", "8", "--json", "--room", &room, "--server", &server]);
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
}

fn summary(bots: std::process::Child) -> Result<Value> {
    let output = bots.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(serde_json::from_str(text.lines().last().unwrap_or_default())?)
}
