//! The game `deus`, played by bots and a console.

use std::path::Path;
use std::process::Command;

use ambit_tests::real::{
    BotCrowd, Console, ScratchFolder, Server, binary, outlast_suspicion, server_signal, wait_until,
    write_short_course,
};
use anyhow::{Context, Result};
use serde_json::Value;

const BOTS: usize = 8;

#[test]
fn bots_and_a_console_fight_two_waves_which_replay_as_they_were() -> Result<()> {
    let scratch = ScratchFolder::new("heroes");
    let folder = scratch.path().join("recordings");
    std::fs::create_dir(&folder)?;
    let folder = folder.to_str().context("a plain path")?;
    let server = Server::start(&scratch, &["--record", folder])?;
    let game = ["--game", "deus", "--profile", "deus", "--param", "size=60x60"];
    let line = ["--impair", "loss=5,delay=40ms,jitter=10ms,seed=1", "--capacity", "12"];
    let flags = [&game[..], &line].concat();
    let mut bots = BotCrowd::start(&scratch, server.world, "cellar", BOTS, &flags)?;
    bots.wait_until_measuring()?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let listed = ann.run_command("rooms", "rooms")?;
    let id = listed["rooms"][0]["id"].clone();
    ann.run_command(&format!("join {id}"), "started")?;
    // A player who comes later may still choose; a spell of another class is refused by name.
    ann.type_in("choose mage")?;
    wait_until("the own row", || {
        let own = rows(&mut ann, "score")?.into_iter().find(|row| row["own"] == true);
        Ok(own.filter(|row| row["components"]["class"] == "mage"))
    })?;
    let refused = ann.run_command("cast strike", "error")?;
    assert_eq!(refused["code"], "other_class", "{refused}");
    let loot = ann.wait_until("loot", |event| event["name"] == "loot")?;
    assert!(loot["item"].as_str().is_some_and(|item| !item.is_empty()), "{loot}");
    wait_until("the second wave", || {
        let course = rows(&mut ann, "course")?.into_iter().next().context("a course")?;
        Ok((course["components"]["wave"].as_i64() >= Some(2)).then_some(()))
    })?;
    let all = rows(&mut ann, "score")?;
    let kills: i64 = all.iter().filter_map(|row| row["components"]["kills"].as_i64()).sum();
    // Each hero alone knows of its gold.
    let is_told = |row: &Value| row["components"]["gold"].is_i64() == (row["own"] == true);
    assert!(all.len() == BOTS + 1 && kills >= 4 && all.iter().all(is_told), "{all:?}");
    println!("{BOTS} bots: {}", bots.finish()?);
    assert_eq!(server.terminate()?, Some(0));
    let recording = Path::new(folder).join("room-1.rec");
    let [first, second] = [(); 2].map(|()| replay(&recording));
    let first = first?;
    assert!(first.contains("game deus"), "{first}");
    assert_eq!(first, second?);
    Ok(())
}

/// What a replay says of a recording, with a hash of the room at its end.
fn replay(recording: &Path) -> Result<String> {
    let output = Command::new(binary("game-server")).arg("replay").arg(recording).output()?;
    let said = String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?;
    anyhow::ensure!(output.status.success(), "{said}");
    Ok(said)
}

/// In each phase of a game, the next host goes on from there, and no hero is lost. The game's own
/// tests check that goods are neither lost nor doubled.
#[test]
fn a_game_goes_on_after_the_death_of_its_host_at_each_step() -> Result<()> {
    let scratch = ScratchFolder::new("heroes-hosts");
    let folders = scratch.path().join("content");
    let waves = [("share_s", "6"), ("merchant_s", "6")];
    // The boss lives for long, and hurts little; rats live for some time.
    let monsters = [("health = 420", "1600"), ("damage = 22", "3"), ("health = 18", "60")];
    write_short_course(&folders.join("short"), &waves, &monsters)?;
    let variables = [("AMBIT_CONTENT", folders.to_str().context("a plain path")?)];
    // One host has the room, and the other one is idle.
    let server = Server::start_with(&scratch, &["--hosts", "process:2"], &variables)?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let create = "create cellar game=deus size=60x60 content=short capacity=12";
    ann.run_command(create, "created")?;
    ann.run_command("start", "started")?;
    let mut bots = None;
    let mut room_host = None;
    let mut before = Vec::new();
    for step in ["choose", "fight", "chest", "share", "merchant", "boss"] {
        if ["fight", "chest"].contains(&step) {
            // Just after the heroes' jump to another map, and while the chest is closed: it opens
            // as soon as a hero stands at it.
            let begins = |event: &Value| event["name"] == "phase_begins" && event["phase"] == step;
            ann.wait_until(step, begins)?;
        } else {
            wait_until(step, || {
                let is_there = match step {
                    "boss" => is_boss_in_second_phase(&mut ann)?,
                    step => phase(&mut ann)? == step,
                };
                Ok(is_there.then_some(()))
            })?;
            before = rows(&mut ann, "score")?;
        }
        kill_the_host(&server, &mut room_host)?;
        let after = wait_until("the same players", || {
            let rows = rows(&mut ann, "score")?;
            Ok((rows.len() >= before.len()).then_some(rows))
        })?;
        for row in &before {
            let of = |row: &Value| row["components"]["name"].clone();
            let same =
                after.iter().find(|other| of(other) == of(row)).context("the same player")?;
            let [was, is] = [row, same].map(|row| row["components"]["kills"].as_i64());
            assert!(is >= was, "{row} became {same}");
        }
        if bots.is_none() {
            let flags = ["--game", "deus", "--profile", "deus"];
            let mut crowd = BotCrowd::start(&scratch, server.world, "cellar", 5, &flags)?;
            crowd.wait_until_measuring()?;
            ann.type_in("choose warrior")?;
            bots = Some(crowd);
        }
        outlast_suspicion();
    }
    let end = wait_until("the end", || {
        Ok(Some(phase(&mut ann)?).filter(|phase| phase == "won" || phase == "lost"))
    })?;
    println!("{end}: {}", bots.context("bots play")?.finish()?);
    Ok(())
}

#[test]
fn the_next_wave_is_on_another_host_and_the_end_on_the_first() -> Result<()> {
    let (_scratch, server, mut ann, bots, here) = begin_on_two_maps("heroes-maps")?;
    ann.wait_until("the departure", |event| {
        event["name"] == "phase_begins" && event["phase"] == "onward"
    })?;
    let there = ann.wait_for("started")?;
    assert_eq!((&there["map"], &there["room"]), (&1.into(), &here["room"]), "{there}");
    assert_ne!(there["address"], here["address"], "each map has a host of its own");
    let wave = ann.wait_until("the second wave", |event| {
        event["name"] == "phase_begins" && event["phase"] == "fight"
    })?;
    assert_eq!(wave["wave"], 2, "{wave}");
    let all = rows(&mut ann, "score")?;
    let sum =
        |key: &str| -> i64 { all.iter().filter_map(|row| row["components"][key].as_i64()).sum() };
    assert!(all.len() == 6 && sum("kills") >= 4 && sum("items") >= 1, "{all:?}");
    let own = all.iter().find(|row| row["own"] == true).context("the own row")?;
    assert!(own["components"]["gold"].as_i64() > Some(0), "{own}");
    // All come back for the end, and are in the room again.
    let back = ann.wait_until("the first map", |event| event["ev"] == "started")?;
    assert_eq!((&back["map"], &back["address"]), (&0.into(), &here["address"]), "{back}");
    let end = wait_until("the end", || {
        Ok(Some(phase(&mut ann)?).filter(|phase| phase == "won" || phase == "lost"))
    })?;
    assert_eq!(rows(&mut ann, "score")?.len(), 6);
    let metrics = server.wait_for_metrics("two journeys of all", |metrics| {
        metrics["ambit_crossings_total"] >= 12.0
    })?;
    assert_eq!(metrics["ambit_rooms_moved_total"], 0.0);
    println!("{end}: {}", bots.finish()?);
    assert!(!ann.events.iter().any(|event| event["ev"] == "error"));
    Ok(())
}

/// When all stand in the gate, the host of the map that they go to dies, and on the way back the
/// host of the map that they leave. All arrive, once, with what they had.
#[test]
fn a_journey_outlives_the_host_it_goes_to_and_the_one_that_is_left() -> Result<()> {
    let (_scratch, server, mut ann, bots, mut here) = begin_on_two_maps("heroes-journey")?;
    for map in [1, 0] {
        ann.wait_until("the departure", |event| {
            event["name"] == "phase_begins" && event["phase"] == "onward"
        })?;
        let left = host_at(&server, &here["address"])?;
        let mut others = server.children().into_iter().filter(|host| *host != left);
        let host = if map == 1 { others.next().context("the other host")? } else { left };
        server_signal(host, "KILL")?;
        let before = rows(&mut ann, "score")?;
        assert_eq!(before.len(), 6, "{before:?}");
        here = wait_until("the other map", || {
            let event = ann.wait_for("started")?;
            Ok((event["map"] == map).then_some(event))
        })?;
        let after = wait_until("all", || {
            let rows = rows(&mut ann, "score")?;
            Ok((rows.len() == 6).then_some(rows))
        })?;
        for row in &before {
            let of = |row: &Value, key: &str| row["components"][key].clone();
            let same = after
                .iter()
                .find(|other| of(other, "name") == of(row, "name"))
                .context("the same player")?;
            assert_eq!(of(same, "class"), of(row, "class"), "{row} became {same}");
            let [was, is] = [row, same].map(|row| row["components"]["kills"].as_i64());
            assert!(if map == 1 { is == was } else { is >= was }, "{row} became {same}");
            if row["own"] == true {
                // The console buys nothing, and sells nothing. What it got in the last moment was
                // announced, and perhaps not shown yet: an item of the chest, gold of the boss.
                let [was, is] = [row, same].map(|row| row["components"]["gold"].as_i64());
                assert!(if map == 1 { is == was } else { is >= was }, "{row} became {same}");
                let is_own = |event: &&Value| event["hero_name"] == "ann";
                let looted = ann.events.iter().filter(|event| event["name"] == "loot");
                assert_eq!(of(same, "items"), looted.filter(is_own).count(), "{row} became {same}");
            }
        }
        outlast_suspicion();
    }
    let end = wait_until("the end", || {
        Ok(Some(phase(&mut ann)?).filter(|phase| phase == "won" || phase == "lost"))
    })?;
    let metrics = server.wait_for_metrics("two journeys of all", |metrics| {
        metrics["ambit_crossings_total"] >= 12.0
    })?;
    // A bot on its way at that moment may come in twice: the newer connection goes on.
    let said = bots.finish().map_or_else(|error| error.to_string(), |all| all.to_string());
    let faults: Vec<_> = said.lines().skip(1).filter(|line| !line.trim().is_empty()).collect();
    assert!(faults.iter().all(|fault| fault.contains("the player came in again")), "{said}");
    println!("{end}: {} moved, {said}", metrics["ambit_rooms_moved_total"]);
    Ok(())
}

/// A console, which knows the map it is on, and five bots have chosen: two maps, each with a host.
fn begin_on_two_maps(name: &str) -> Result<(ScratchFolder, Server, Console, BotCrowd, Value)> {
    let scratch = ScratchFolder::new(name);
    let folders = scratch.path().join("content");
    write_short_course(&folders.join("short"), &[("share_s", "6"), ("merchant_s", "6")], &[])?;
    let variables = [("AMBIT_CONTENT", folders.to_str().context("a plain path")?)];
    let hosts = ["--hosts", "process:2", "--placement", "zones"];
    let server = Server::start_with(&scratch, &hosts, &variables)?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let create = "create cellar game=deus maps=2 size=60x60 content=short capacity=12";
    ann.run_command(create, "created")?;
    let here = ann.run_command("start", "started")?;
    let flags = ["--game", "deus", "--profile", "deus"];
    let mut bots = BotCrowd::start(&scratch, server.world, "cellar", 5, &flags)?;
    bots.wait_until_measuring()?;
    ann.type_in("choose warrior")?;
    Ok((scratch, server, ann, bots, here))
}

/// The process of this server that listens there.
fn host_at(server: &Server, address: &Value) -> Result<u32> {
    let (_, port) = address.as_str().and_then(|at| at.rsplit_once(':')).context("an address")?;
    let port = format!(":{:04X} ", port.parse::<u16>()?);
    let sockets = ["udp", "udp6"].map(|name| std::fs::read_to_string(format!("/proc/net/{name}")));
    let lines = sockets.into_iter().collect::<std::io::Result<String>>()?;
    let listens = lines.lines().find(|line| line.contains(&port)).context("a socket")?;
    let inode = listens.split_whitespace().nth(9).context("an inode")?;
    let is_its = |child: &u32| {
        let open = std::fs::read_dir(format!("/proc/{child}/fd")).into_iter().flatten().flatten();
        let mut links = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
        links.any(|link| link == Path::new(&format!("socket:[{inode}]")))
    };
    server.children().into_iter().find(is_its).context("a host")
}

/// Kills hosts until it was the room's, and waits for the next one. `room_host` is whose it is, if
/// that is known.
fn kill_the_host(server: &Server, room_host: &mut Option<u32>) -> Result<()> {
    let mut hosts = server.children();
    hosts.sort_by_key(|host| Some(*host) != *room_host);
    for host in &hosts {
        let host = *host;
        let moved = server.metrics()?["ambit_rooms_moved_total"];
        server_signal(host, "KILL")?;
        wait_until("the end of the host", || {
            Ok((!server.children().contains(&host)).then_some(()))
        })?;
        let metrics =
            server.wait_for_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
        if metrics["ambit_rooms_moved_total"] > moved {
            // It has gone to the one that was idle.
            *room_host = hosts.iter().find(|other| server.children().contains(other)).copied();
            break;
        }
    }
    Ok(())
}

/// It begins with this share of its health.
fn is_boss_in_second_phase(console: &mut Console) -> Result<bool> {
    let seen = console.run_command("objects", "objects")?;
    let objects = seen["objects"].as_array().context("objects")?;
    Ok(objects.iter().map(|object| &object["components"]).any(|components| {
        components["name"] == "warlord" && components["health"]["value"].as_f64() < Some(60.0)
    }))
}

fn phase(console: &mut Console) -> Result<String> {
    let course = rows(console, "course")?.into_iter().next().context("a course")?;
    Ok(course["components"]["phase"].as_str().unwrap_or_default().to_owned())
}

fn rows(console: &mut Console, kind: &str) -> Result<Vec<Value>> {
    let table = console.run_command("table", "table")?;
    let rows = table["rows"].as_array().context("rows")?;
    Ok(rows.iter().filter(|row| row["kind"] == kind).cloned().collect())
}
