//! Crowds of emulated clients. Performance figures are only printed, because machines differ.

use std::process::{Command, Output, Stdio};

use ambit_tests::real::{self, Console, ScratchFolder, Server};
use ambit_tests::short_or_long;
use anyhow::{Context, Result};
use serde_json::Value;

#[test]
fn twenty_bots_on_a_bad_network_lose_no_command_or_event() -> Result<()> {
    let scratch = ScratchFolder::new("bad-network");
    let server = Server::start(&scratch, &[])?;
    let dump = scratch.path().join("dump.jsonl");
    let impair = "loss=20,delay=60ms,jitter=20ms,reorder=5,duplicate=2,seed=1";
    let seconds = short_or_long(20, 60).to_string();
    let summary = bots(
        &scratch,
        &server,
        &[
            "--count",
            "20",
            "--seconds",
            &seconds,
            "--impair",
            impair,
            "--dump",
            dump.to_str().expect("a plain path"),
        ],
    )?;
    println!("20 bots for {seconds} s with {impair}: {summary}");
    assert_eq!(summary["connected"], 20, "{summary}");
    assert_eq!(summary["errors"], 0, "{summary}");

    let mut followed = std::collections::BTreeSet::new();
    let mut delivered = std::collections::BTreeSet::new();
    for line in std::fs::read_to_string(&dump)?.lines() {
        let event: Value = serde_json::from_str(line)?;
        let key = (event["client"].as_u64(), event["id"].as_u64());
        match event["ev"].as_str() {
            Some("enter") => assert!(followed.insert(key), "entered twice: {event}"),
            Some("leave") => assert!(followed.remove(&key), "left without an enter: {event}"),
            Some("update") => assert!(followed.contains(&key), "updated without an enter: {event}"),
            Some("event") => {
                // The same event would be equal in all fields but these if it were delivered twice.
                let mut same = event.clone();
                same.as_object_mut()
                    .context("an object")?
                    .retain(|key, _| !["late", "t"].contains(&key.as_str()));
                assert!(delivered.insert(same.to_string()), "delivered twice: {event}");
            }
            _ => {}
        }
    }
    assert!(!followed.is_empty() && !delivered.is_empty());

    // The lobby still answers.
    let mut ann = Console::start(&scratch, server.world, "ann", &["--impair", impair])?;
    ann.run_command("rooms", "rooms")?;
    Ok(())
}

#[test]
fn monkeys_find_no_fault_in_the_shipped_games() -> Result<()> {
    let scratch = ScratchFolder::new("monkeys");
    let server = Server::start(&scratch, &[])?;
    let seconds = short_or_long(5, 10).to_string();
    for game in ["field", "cubes", "shooter", "deus"] {
        let shown = scratch.path().join(format!("{game}.shown")).display().to_string();
        let arguments = ["--count", "5", "--seconds", &seconds, "--game", game, "--shown", &shown];
        let summary = bots_of("monkey", &scratch, &server, &arguments)?;
        println!("5 monkeys for {seconds} s in {game}: {summary}");
        assert_eq!(summary["connected"], 5, "{summary}");
        assert_eq!(summary["errors"], 0, "{summary}");
        let shown = std::fs::read_to_string(shown)?;
        let clients: std::collections::BTreeSet<_> =
            shown.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(clients, ["0", "1", "2", "3", "4"].into(), "shown in {game}");
    }
    Ok(())
}

#[test]
fn four_bots_play_cubes_on_a_bad_network() -> Result<()> {
    let scratch = ScratchFolder::new("cubes");
    let server = Server::start(&scratch, &[])?;
    let dump = scratch.path().join("dump.jsonl");
    let impair = "loss=13,delay=40ms,jitter=10ms,seed=1";
    let seconds = short_or_long(25, 60).to_string();
    let arguments = [
        "--count",
        "4",
        "--seconds",
        &seconds,
        "--impair",
        impair,
        "--dump",
        dump.to_str().expect("a plain path"),
    ];
    // Without rounds: the room has only cubes.
    let game = ["--game", "cubes", "--param", "round=0"];
    let summary = bots_of("cubes", &scratch, &server, &[&arguments[..], &game].concat())?;
    println!("4 bots among cubes for {seconds} s with {impair}: {summary}");
    // Undecodable datagrams, broken connections and missing answers count as errors.
    assert_eq!(
        (&summary["connected"], &summary["whole"], &summary["errors"]),
        (&4.into(), &4.into(), &0.into())
    );
    // Each of the four bots sees 100 small cubes and 4 players' cubes.
    assert_eq!(
        (&summary["enters"], &summary["leaves"], &summary["in_sight"]),
        (&416.into(), &0.into(), &104.0.into())
    );

    let mut own = std::collections::BTreeMap::new();
    let mut pressed = [0; 4];
    for line in std::fs::read_to_string(&dump)?.lines() {
        let event: Value = serde_json::from_str(line)?;
        let client = event["client"].as_u64().context("a client")? as usize;
        match event["ev"].as_str() {
            Some("error") => panic!("{event}"),
            Some("enter") if event["own"] == true => _ = own.insert(client, event["id"].clone()),
            Some("update") if own.get(&client) == Some(&event["id"]) => {
                let held = ["left", "right", "up", "down", "attract", "repel"];
                pressed[client] +=
                    held.iter().filter(|held| event["components"][**held] == true).count();
            }
            _ => {}
        }
    }
    println!("own keys that the bots saw pressed: {pressed:?}");
    assert!(pressed.iter().all(|pressed| *pressed > 10), "{pressed:?}");
    Ok(())
}

#[test]
fn bots_hit_each_other_by_what_they_see() -> Result<()> {
    let scratch = ScratchFolder::new("shooters");
    let traces = scratch.path().join("traces").display().to_string();
    let server = Server::start(&scratch, &["--trace", &traces])?;
    let seconds = short_or_long(30, 60).to_string();
    let arguments = ["--count", "8", "--seconds", &seconds, "--game", "shooter"];
    let alone = ["--param", "ships=0", "--param", "size=100x100", "--param", "asteroids=0"];
    let impair = ["--impair", "loss=5,delay=30ms,jitter=10ms,seed=1"];
    let arguments = [&arguments[..], &alone, &impair].concat();
    let summary = bots_of("shooter", &scratch, &server, &arguments)?;
    println!("8 bots in ships for {seconds} s with {impair:?}: {summary}");
    assert_eq!((&summary["connected"], &summary["errors"]), (&8.into(), &0.into()));
    let trace = std::fs::read_to_string(format!("{traces}/room-1.jsonl"))?;
    let lines = trace.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let hits = lines.filter_map(|line| {
        (line["kind"] == "score").then(|| line["components"]["hits"].as_i64().unwrap_or(0))
    });
    let most = hits.max().unwrap_or(0);
    println!("at most {most} hits a bot");
    assert!(most > 0, "nobody has hit anybody");
    Ok(())
}

#[test]
fn bots_detect_that_their_server_has_died() -> Result<()> {
    let scratch = ScratchFolder::new("deadserver");
    let server = Server::start(&scratch, &[])?;
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    command.args([
        "--count",
        "3",
        "--seconds",
        "8",
        "--json",
        "--server",
        &server.world.to_string(),
    ]);
    let bots = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    server.wait_for_metrics("three bots at play", |metrics| {
        metrics["ambit_host_players"] == 3.0 && metrics["ambit_commands_total"] >= 3.0
    })?;
    // Like `kill -9`: no client is notified.
    drop(server);
    let summary = last_line(&bots.wait_with_output()?)?;
    assert_eq!(summary["connected"], 0, "{summary}");
    assert!(summary["errors"].as_u64().is_some_and(|errors| errors >= 3), "{summary}");
    Ok(())
}

#[test]
fn two_hundred_bots_share_a_room() -> Result<()> {
    let scratch = ScratchFolder::new("crowd");
    let server = Server::start(&scratch, &[])?;
    let before = cpu_seconds(server.id())?;
    let seconds = short_or_long(8, 20).to_string();
    let summary = bots(&scratch, &server, &["--count", "200", "--seconds", &seconds])?;
    let used = cpu_seconds(server.id())? - before;
    println!("200 bots for {seconds} s: {summary}\nserver: {used:.1} s of CPU in all");
    assert_eq!(summary["connected"], 200, "{summary}");
    assert_eq!(summary["errors"], 0, "{summary}");
    Ok(())
}

fn bots(scratch: &ScratchFolder, server: &Server, arguments: &[&str]) -> Result<Value> {
    bots_of("crowd", scratch, server, arguments)
}

fn bots_of(
    profile: &str,
    scratch: &ScratchFolder,
    server: &Server,
    arguments: &[&str],
) -> Result<Value> {
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    command
        .args(["--profile", profile, "--json", "--server", &server.world.to_string()])
        .args(arguments);
    let output = real::run(&mut command)?;
    // The bots report their errors on stderr, with an example of each.
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    last_line(&output)
}

fn last_line(output: &Output) -> Result<Value> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(text.lines().last().context("no summary")?)
        .context("the last line is one JSON object")
}

/// User and system time of a process since its start.
fn cpu_seconds(id: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    let fields: Vec<&str> =
        stat.rsplit_once(')').context("a stat line")?.1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    Ok(ticks as f64 / 100.0)
}
