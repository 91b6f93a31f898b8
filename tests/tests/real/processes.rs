//! Rooms in child processes: spread, and the death of one of them.

use std::process::{Command, Stdio};
use std::time::Instant;

use ambit_tests::real::{self, Console, Scratch, Server};
use anyhow::Result;
use serde_json::Value;

#[test]
fn a_dead_host_sends_its_players_to_the_lobby_and_touches_nobody_else() -> Result<()> {
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

    // Forty bots beside them, ten in each room, for as long as all this takes.
    let mut bots = Vec::new();
    for index in 0..4 {
        let mut command = Command::new(real::binary("bots"));
        scratch.confine(&mut command);
        command.args([
            "--count",
            "10",
            "--seconds",
            "12",
            "--json",
            "--room",
            &format!("room{index}"),
            "--server",
            &server.world.to_string(),
        ]);
        bots.push(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
    }
    for (console, _) in &mut consoles {
        console
            .wait_until("a bot", |event| event["ev"] == "enter" && event["kind"] == "avatar" && event["own"] != true)?;
    }

    let children = server.children();
    let killed = now();
    real::server_signal(children[0], "KILL")?;
    let mut dropped = Vec::new();
    let mut kept = Vec::new();
    let orphaned = first_left(&mut consoles)?;
    println!("the first player was told {} ms after the kill", killed.elapsed().as_millis());
    for (index, (console, address)) in consoles.iter_mut().enumerate() {
        if *address == orphaned {
            dropped.push(index);
            if console.events.last().is_none_or(|event| event["ev"] != "left") {
                console.wait_for("left")?;
            }
            let left = console.events.last().expect("the event waited for");
            assert_eq!(left["reason"], "host_died", "{left}");
            assert!(left["message"].as_str().is_some_and(|message| !message.is_empty()));
        } else {
            kept.push(index);
        }
    }
    println!("the last player was told {} ms after the kill", killed.elapsed().as_millis());
    assert_eq!((dropped.len(), kept.len()), (2, 2));

    // The dead one is replaced: the lobby hears of the death before another child is started.
    while server.children().iter().all(|child| children.contains(child)) {
        std::thread::yield_now();
    }
    server.await_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
    let replaced = server.children();
    assert!(replaced.len() == 2 && replaced.contains(&children[1]), "{children:?}, then {replaced:?}");

    // And those who were thrown out can start anew.
    for &index in &dropped {
        let console = &mut consoles[index].0;
        console.ask(&format!("create again{index} game=field"), "created")?;
        console.ask("start", "started")?;
        console.wait_until("the avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    }
    for &index in &kept {
        let console = &mut consoles[index].0;
        console.type_in("move 100 100")?;
        let stats = console.ask("stats", "stats")?;
        assert!(!console.events.iter().any(|event| event["ev"] == "left"), "{stats}");
    }
    let summaries: Vec<Value> = bots.into_iter().map(summary).collect::<Result<_>>()?;
    for &index in &kept {
        assert_eq!(summaries[index]["connected"], 10, "{}", summaries[index]);
        assert_eq!(summaries[index]["errors"], 0, "{}", summaries[index]);
    }
    for &index in &dropped {
        assert_eq!(summaries[index]["connected"], 0, "{}", summaries[index]);
    }
    println!("of the rooms that lived: {} / {}", summaries[kept[0]], summaries[kept[1]]);
    Ok(())
}

#[test]
fn a_host_that_hangs_is_given_up_killed_and_replaced() -> Result<()> {
    let scratch = Scratch::new("hung");
    let server = Server::start(&scratch, &["--hosts", "process:2", "--host-silence", "1s"])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    for console in [&mut ann, &mut bob] {
        console.ask("create den game=field npcs=5", "created")?;
        console.ask("start", "started")?;
    }
    let children = server.children();
    real::server_signal(children[0], "STOP")?;
    let mut consoles = [(ann, "ann".to_owned()), (bob, "bob".to_owned())];
    let dropped = first_left(&mut consoles)?;
    let (mut gone, mut kept) = consoles.into_iter().partition::<Vec<_>, _>(|(_, name)| *name == dropped);
    let left = gone[0].0.events.iter().find(|event| event["ev"] == "left").expect("the event waited for");
    assert_eq!(left["reason"], "host_died", "{left}");
    assert!(left["message"].as_str().is_some_and(|message| message.contains("no sign of life")), "{left}");
    // Stopped as it is, it ends; another one takes its place.
    while real::is_alive(children[0]) || server.children().len() < 2 {
        std::thread::yield_now();
    }
    server.await_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
    let again = &mut gone[0].0;
    again.ask("create again game=field", "created")?;
    again.ask("start", "started")?;
    let stats = kept[0].0.ask("stats", "stats")?;
    assert!(!kept[0].0.events.iter().any(|event| event["ev"] == "left"), "{stats}");
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

/// Waits until some console is thrown out, and returns the address of its host.
fn first_left(consoles: &mut [(Console, String)]) -> Result<String> {
    loop {
        for (console, address) in consoles.iter_mut() {
            console.type_in("players")?;
            let event = console.wait_until("an answer", |event| {
                ["players", "left"].contains(&event["ev"].as_str().unwrap_or_default())
            })?;
            if event["ev"] == "left" {
                return Ok(address.clone());
            }
        }
    }
}

fn summary(bots: std::process::Child) -> Result<Value> {
    let output = bots.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(serde_json::from_str(text.lines().last().unwrap_or_default())?)
}

#[expect(clippy::disallowed_methods, reason = "for a figure that is printed")]
fn now() -> Instant {
    Instant::now()
}
