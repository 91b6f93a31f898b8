//! Console clients that meet, chat, leave, disconnect and come back.

use ambit_tests::real::{Console, ScratchFolder, Server};
use anyhow::Result;
use serde_json::Value;

#[test]
fn two_consoles_meet_chat_and_leave() -> Result<()> {
    let scratch = ScratchFolder::new("meet");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    let created =
        ann.run_command("create meadow game=field npcs=0 obstacles=0 size=200x200", "created")?;
    ann.run_command("start", "started")?;
    let own =
        ann.wait_until("her avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    assert_eq!(own["kind"], "avatar");
    bob.run_command(&format!("join {}", created["room"]), "joined")?;
    bob.wait_for("started")?;

    let seen_by_ann =
        ann.wait_until("bob's avatar", |event| event["ev"] == "enter" && event["name"] == "bob")?;
    bob.wait_until("ann's avatar", |event| event["ev"] == "enter" && event["name"] == "ann")?;

    bob.type_in("say hello there")?;
    let chat = ann.wait_until("the greeting", |event| {
        event["ev"] == "chat" && event["text"] == "hello there"
    })?;
    assert_eq!(chat["from"], "bob");

    // Bob walks far away; ann gets a leave for the same object id that entered.
    bob.type_in("move 5 5")?;
    let left = ann.wait_until("bob's leave", |event| {
        event["ev"] == "leave" && event["id"] == seen_by_ann["id"]
    })?;
    assert!(left["t"].is_number());
    assert_eq!(ann.quit()?.0, 0);
    assert_eq!(bob.quit()?.0, 0);
    Ok(())
}

#[test]
fn a_party_goes_with_its_leader_into_any_room_that_starts_by_itself() -> Result<()> {
    // An account is in one room of a game that has profiles; these would share that of the machine.
    const GUEST: [&str; 2] = ["--account", "off"];
    let scratch = ScratchFolder::new("party");
    let server = Server::start(&scratch, &["--hosts", "process:1"])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &GUEST)?;
    let mut bob = Console::start(&scratch, server.world, "bob", &GUEST)?;
    let mut eve = Console::start(&scratch, server.world, "eve", &GUEST)?;
    ann.type_in("party invite bob")?;
    let invited = bob.wait_for("invited")?;
    assert_eq!(invited["name"], "ann");
    bob.run_command("party join", "party")?;
    let party = ann.wait_for("party")?;
    assert_eq!(party["party"]["members"].as_array().map(Vec::len), Some(2), "{party}");
    ann.type_in("say &hello")?;
    bob.wait_until("the greeting", |event| event["ev"] == "chat" && event["channel"] == "party")?;

    bob.type_in("wish class=mage")?;
    // Its answer comes after that of the wish.
    bob.run_command("rooms", "rooms")?;
    let joined = ann.run_command("quick deus size=60x60", "joined")?;
    ann.wait_for("started")?;
    bob.wait_for("started")?;
    let hero = |event: &Value| event["ev"] == "enter" && event["own"] == true;
    let mage = bob.wait_until("the own hero", hero)?;
    assert_eq!(mage["components"]["class"], "mage", "{mage}");
    let found = eve.run_command("quick deus size=60x60", "joined")?;
    assert_eq!(found["room"], joined["room"], "the same room");
    Ok(())
}

#[test]
fn a_killed_console_resumes_its_room_and_avatar() -> Result<()> {
    let scratch = ScratchFolder::new("resume");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    let created = ann.run_command("create meadow game=field npcs=0 obstacles=0", "created")?;
    ann.run_command("start", "started")?;
    bob.run_command(&format!("join {}", created["room"]), "joined")?;
    let before =
        ann.wait_until("bob's avatar", |event| event["ev"] == "enter" && event["name"] == "bob")?;
    bob.wait_until("his avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    bob.kill()?;

    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    assert_eq!(bob.events.last().expect("the welcome")["resumed"], true);
    bob.wait_for("joined")?;
    bob.wait_for("started")?;
    let own =
        bob.wait_until("his avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    assert_eq!(own["name"], "bob");
    assert!(distance(&own, &before) < 0.05, "{own} is not where {before} was");
    // Ann's client gets neither a leave nor a second enter.
    ann.type_in("objects")?;
    let objects = ann.wait_for("objects")?;
    let bobs: Vec<&Value> = objects["objects"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|object| object["name"] == "bob")
        .collect();
    assert_eq!(bobs.len(), 1, "{objects}");
    assert_eq!(bobs[0]["id"], before["id"]);
    Ok(())
}

#[test]
fn veiled_players_disappear_for_the_others_and_return() -> Result<()> {
    let scratch = ScratchFolder::new("veil");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    let created = ann.run_command("create meadow game=field npcs=0 obstacles=0", "created")?;
    ann.run_command("start", "started")?;
    bob.run_command(&format!("join {}", created["room"]), "joined")?;
    let bobs =
        ann.wait_until("bob's avatar", |event| event["ev"] == "enter" && event["name"] == "bob")?;
    bob.wait_until("his avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    bob.type_in("cast veil")?;
    let left =
        ann.wait_until("bob's leave", |event| event["ev"] == "leave" && event["id"] == bobs["id"])?;
    let back =
        ann.wait_until("bob's return", |event| event["ev"] == "enter" && event["name"] == "bob")?;
    let away_ms = back["t"].as_f64().expect("a time") - left["t"].as_f64().expect("a time");
    // Room time, not wall time: ten seconds, and up to a tick at both ends.
    assert!((9_900.0..=10_200.0).contains(&away_ms), "away for {away_ms} ms");
    assert_ne!(back["id"], bobs["id"]);
    let second = bob.run_command("cast nonsense", "error")?;
    assert_eq!(second["code"], "unknown_command");
    Ok(())
}

#[test]
fn another_certificate_is_refused_with_a_clear_message() -> Result<()> {
    let scratch = ScratchFolder::new("pin");
    let server = Server::start(&scratch, &[])?;
    let address = server.world;
    Console::start(&scratch, address, "ann", &[])?.quit()?;
    drop(server);
    // The same address with another identity.
    let other = scratch.path().join("other");
    let _server = Server::start(
        &scratch,
        &["--listen", &address.to_string(), "--data-dir", other.to_str().expect("a plain path")],
    )?;
    let mut command = std::process::Command::new(ambit_tests::real::binary("console"));
    scratch.confine(&mut command);
    let output = command
        .args(["--server", &address.to_string(), "--name", "ann"])
        .stdin(std::process::Stdio::null())
        .output()?;
    assert_eq!(output.status.code(), Some(1));
    let output = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.contains("known_hosts") && output.contains("certificate"), "{output}");
    Ok(())
}

#[test]
fn wrong_usage_ends_with_2_and_an_unreachable_server_with_1() -> Result<()> {
    let scratch = ScratchFolder::new("usage");
    let console = |arguments: &[&str]| -> Result<Option<i32>> {
        let mut command = std::process::Command::new(ambit_tests::real::binary("console"));
        scratch.confine(&mut command);
        Ok(command.args(arguments).stdin(std::process::Stdio::null()).output()?.status.code())
    };
    assert_eq!(console(&["--no-such-flag"])?, Some(2));
    assert_eq!(console(&["--impair", "loss=many"])?, Some(2));
    // No server listens at port 1 on loopback.
    assert_eq!(console(&["--server", "127.0.0.1:1"])?, Some(1));
    Ok(())
}

fn distance(a: &Value, b: &Value) -> f64 {
    let metres = |value: &Value, key: &str| value[key].as_f64().unwrap_or(f64::NAN);
    (metres(a, "x") - metres(b, "x")).hypot(metres(a, "y") - metres(b, "y"))
}
