//! A world of two maps on two hosts: through the gate and back.

use ambit_tests::real::{self, Cluster, Console, ScratchFolder, Server, wait_until};
use anyhow::{Context as _, Result};
use serde_json::Value;

#[test]
fn a_player_walks_through_a_gate_to_another_host_and_back() -> Result<()> {
    let scratch = ScratchFolder::new("gates");
    let server = Server::start(&scratch, &["--hosts", "process:2", "--placement", "zones"])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create twins game=field maps=2 size=30x30 obstacles=0 npcs=0", "created")?;
    let here = ann.run_command("start", "started")?;
    ann.wait_until("the avatar", own_avatar)?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    bob.run_command("join twins", "joined")?;
    bob.wait_until("ann", |event| event["ev"] == "enter" && event["own"] == false)?;

    ann.type_in("move 29.5 15")?;
    let there = ann.wait_for("started")?;
    assert_eq!((&there["map"], &there["room"]), (&1.into(), &here["room"]), "{there}");
    assert_ne!(there["address"], here["address"], "each map has a host of its own");
    let avatar = ann.wait_until("the avatar on the other map", own_avatar)?;
    assert!(is_near(&avatar, 5.0, 15.0), "{avatar}");
    bob.wait_for("leave")?;
    // Both maps are one world: in the list of rooms and in the chat.
    bob.type_in("say hello over there")?;
    ann.wait_until("bob's message", |event| {
        event["ev"] == "chat" && event["text"] == "hello over there"
    })?;
    let rooms = bob.run_command("rooms", "rooms")?;
    assert_eq!(
        (rooms["rooms"].as_array().map(Vec::len), &rooms["rooms"][0]["players"]),
        (Some(1), &2.into()),
        "{rooms}"
    );

    ann.type_in("move 0.5 15")?;
    let back = ann.wait_for("started")?;
    assert_eq!((&back["map"], &back["address"]), (&0.into(), &here["address"]), "{back}");
    let avatar = ann.wait_until("the avatar on the first map", own_avatar)?;
    assert!(is_near(&avatar, 25.0, 15.0), "{avatar}");
    bob.wait_until("ann again", |event| event["ev"] == "enter" && event["own"] == false)?;
    let metrics = server
        .wait_for_metrics("two transfers", |metrics| metrics["ambit_crossings_total"] == 2.0)?;
    assert_eq!(metrics["ambit_rooms_moved_total"], 0.0);
    for console in [&ann, &bob] {
        assert!(
            !console.events.iter().any(|event| event["ev"] == "left" || event["ev"] == "error")
        );
    }
    Ok(())
}

#[test]
fn a_player_returns_through_the_gate_after_the_other_host_died() -> Result<()> {
    let scratch = ScratchFolder::new("gates-dead");
    let server = Server::start(&scratch, &["--hosts", "process:2", "--placement", "zones"])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create twins game=field maps=2 size=30x30 obstacles=0 npcs=0", "created")?;
    ann.run_command("start", "started")?;
    ann.wait_until("the avatar", own_avatar)?;
    ann.type_in("move 29.5 15")?;
    ann.wait_until("the other map", |event| event["ev"] == "started" && event["map"] == 1)?;
    ann.wait_until("the avatar on the other map", own_avatar)?;
    for (at, child) in server.children().into_iter().enumerate() {
        real::server_signal(child, "KILL")?;
        // First one of the maps moves, then both, because the second host has both by then.
        let moved = [1.0, 3.0][at];
        server.wait_for_metrics("the rooms that move", |metrics| {
            metrics["ambit_rooms_moved_total"] == moved
        })?;
        server.wait_for_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
        if at == 0 {
            real::outlast_suspicion();
        }
    }
    ann.type_in("move 0.5 15")?;
    ann.wait_until("the first map", |event| event["ev"] == "started" && event["map"] == 0)?;
    let avatar = ann.wait_until("the avatar on the first map", own_avatar)?;
    assert!(is_near(&avatar, 25.0, 15.0), "{avatar}");
    assert!(!ann.events.iter().any(|event| event["ev"] == "left"));
    Ok(())
}

#[test]
fn gates_open_again_at_the_next_leader_after_the_leader_died() -> Result<()> {
    let scratch = ScratchFolder::new("gates-leader");
    let mut cluster = Cluster::start(&scratch)?;
    let mut ann = Console::start(&scratch, cluster.leader().world, "ann", &[])?;
    ann.run_command("create twins game=field maps=2 size=30x30 obstacles=0 npcs=0", "created")?;
    ann.run_command("start", "started")?;
    ann.wait_until("the avatar", own_avatar)?;
    ann.type_in("move 29.5 15")?;
    ann.wait_until("the other map", |event| event["ev"] == "started" && event["map"] == 1)?;
    ann.wait_until("the avatar on the other map", own_avatar)?;
    cluster.kill_leader()?;
    let back = ann.wait_for("welcome")?;
    assert_eq!(back["resumed"], true, "{back}");
    cluster.wait_for_new_leader()?;
    ann.type_in("move 0.5 15")?;
    ann.wait_until("the first map", |event| event["ev"] == "started" && event["map"] == 0)?;
    let avatar = ann.wait_until("the avatar on the first map", own_avatar)?;
    assert!(is_near(&avatar, 25.0, 15.0), "{avatar}");
    assert!(!ann.events.iter().any(|event| event["ev"] == "left"));
    Ok(())
}

#[test]
fn all_maps_have_the_shop_of_the_first_one_whatever_dies() -> Result<()> {
    let scratch = ScratchFolder::new("gates-shop");
    let server = Server::start(&scratch, &["--hosts", "process:2", "--placement", "zones"])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create glade game=hamlet", "created")?;
    ann.run_command("start", "started")?;
    ann.wait_until("the avatar", own_avatar)?;
    let mut shop = Vec::new();
    wait_until("the shop where it is", || {
        shop = offers(&mut ann)?;
        Ok((shop.len() == 4).then_some(()))
    })?;
    ann.type_in("walk-to 59 30")?;
    ann.wait_until("the other map", |event| event["ev"] == "started" && event["map"] == 1)?;
    let same = |ann: &mut Console| {
        wait_until("the shop on the other map", || Ok((offers(ann)? == shop).then_some(())))
    };
    same(&mut ann)?;
    for child in server.children() {
        real::outlast_suspicion();
        real::server_signal(child, "KILL")?;
        server.wait_for_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
        wait_until("the own avatar", || {
            let shown = ann.run_command("objects", "objects")?;
            let objects = shown["objects"].as_array().context("a list")?;
            Ok(objects.iter().any(|object| object["own"] == true).then_some(()))
        })?;
        same(&mut ann)?;
    }
    Ok(())
}

/// The rows of the shop's table, sorted.
fn offers(console: &mut Console) -> Result<Vec<String>> {
    let table = console.run_command("table", "table")?;
    let rows = table["rows"].as_array().context("rows")?.iter();
    let offers = rows.filter(|row| row["kind"] == "offer");
    let mut offers: Vec<String> = offers.map(|row| row["components"].to_string()).collect();
    offers.sort();
    Ok(offers)
}

fn own_avatar(event: &Value) -> bool {
    event["ev"] == "enter" && event["own"] == true
}

fn is_near(event: &Value, x: f64, y: f64) -> bool {
    let off =
        |key: &str, wanted: f64| event[key].as_f64().is_some_and(|is| (is - wanted).abs() <= 3.0);
    off("x", x) && off("y", y)
}
