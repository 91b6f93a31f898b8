//! The game `shooter`, played by consoles and the server's pilots.

use std::collections::BTreeMap;
use std::path::Path;

use ambit_shooter_kinds::tables::TABLES;
use ambit_tests::real::{
    BotCrowd, Console, ScratchFolder, Server, outlast_suspicion, server_signal, wait_until,
};
use anyhow::{Context, Result};
use serde_json::Value;

const BOTS: usize = 16;
/// No ship is faster.
const TOP_M_PER_S: f64 = 24.0;
/// Ships that touch are pushed apart: by their diameter, and a little; in a crowd once more.
const APART_M: f64 = 7.0;
/// A ship that was hit is elsewhere at most this long after it has been a wreck.
const BACK_MS: f64 = 300.0;

#[test]
fn two_consoles_and_pilots_play_a_round_to_its_end_and_the_next() -> Result<()> {
    let scratch = ScratchFolder::new("shooter");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let created = "create arena game=shooter goal=2 ships=6 asteroids=2 size=150x150";
    let room = ann.run_command(created, "created")?["id"].clone();
    ann.run_command("start", "started")?;
    let mut bob = Console::start(&scratch, server.world, "bob", &["--impair", "loss=10"])?;
    bob.run_command(&format!("join {room}"), "started")?;

    // The game's own controls are offered, and no others.
    let unknown = ann.run_command("keys up", "error")?;
    let known = "turn-left, turn-right, accelerate, brake, fire";
    let message = unknown["message"].as_str().context("a message")?;
    assert!(message.contains(known), "{message}");
    ann.type_in("keys accelerate,fire")?;
    bob.type_in("keys turn-left,fire")?;

    for player in [&mut ann, &mut bob] {
        let table = wait_until("all rows", || {
            let table = player.run_command("table", "table")?;
            let scores = rows(&table, "score").count();
            Ok((scores == 6).then_some(table))
        })?;
        let own = rows(&table, "score").filter(|row| row["own"] == true).count();
        assert_eq!(own, 1, "{table}");
        let goal = rows(&table, "match").next().context("the match")?["components"]["goal"].clone();
        assert_eq!(goal, 2);
        let over =
            player.wait_until("the end of the round", |event| event["name"] == "round_over")?;
        assert!(over["winner"].as_str().is_some_and(|name| !name.is_empty()), "{over}");
        wait_until("the next round", || {
            let table = player.run_command("table", "table")?;
            let state = rows(&table, "match").next().context("the match")?["components"].clone();
            Ok((state["round"].as_i64() > Some(1) && state["winner"] == "").then_some(()))
        })?;
    }
    Ok(())
}

#[test]
fn sixteen_bots_fight_on_when_their_host_dies_and_the_table_adds_up() -> Result<()> {
    let scratch = ScratchFolder::new("shooters-host");
    let traces = scratch.path().join("traces");
    let flags = ["--hosts", "process:2", "--trace", &traces.display().to_string()];
    let server = Server::start(&scratch, &flags)?;
    let game = ["--game", "shooter", "--profile", "shooter"];
    let room = ["--param", "ships=0", "--param", "asteroids=4", "--param", "size=120x120"];
    let goal = ["--param", "goal=20"];
    let line = ["--impair", "loss=5,delay=30ms,jitter=10ms,seed=1", "--capacity", "20"];
    let flags = [&game[..], &room, &goal, &line].concat();
    let mut bots = BotCrowd::start(&scratch, server.world, "arena", BOTS, &flags)?;
    bots.wait_until_measuring()?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let listed = ann.run_command("rooms", "rooms")?;
    let id = listed["rooms"][0]["id"].clone();
    ann.run_command(&format!("join {id}"), "started")?;

    // Each host gets its turn; one of them has the room.
    let mut before = wait_for_hits(&mut ann, 1)?;
    for host in server.children() {
        server_signal(host, "KILL")?;
        server.wait_for_metrics("all players again", |metrics| {
            metrics.get("ambit_host_players") == Some(&(BOTS as f64 + 1.0))
        })?;
        // What was hit stays hit, unless the next round has begun.
        let after = wait_for_hits(&mut ann, before.1 + 1)?;
        assert!(after.0 > before.0 || after.1 > before.1, "{after:?} after {before:?}");
        before = after;
        outlast_suspicion();
    }
    // A player reaches 20 points, and the next round is played.
    let first = before.0;
    wait_until("the next round", || {
        Ok(standing(&mut ann)?.filter(|(round, _)| *round > first).map(drop))
    })?;
    wait_for_hits(&mut ann, 1)?;
    let summary = bots.finish()?;
    println!("{BOTS} bots, two hosts killed: {summary}");
    assert!(summary["moves"].as_u64() >= Some(BOTS as u64), "{summary}");
    check_ways(&traces)
}

/// Waits until `hits` hits were made in the current round, or a later round is played; checks the
/// sums of the table all the time.
fn wait_for_hits(console: &mut Console, hits: i64) -> Result<(i64, i64)> {
    let (first, _) = wait_until("the table", || standing(console))?;
    wait_until("hits", || Ok(standing(console)?.filter(|now| now.1 >= hits || now.0 > first)))
}

/// The round, and all hits in it; `None` while the table is not whole, as at the change of a host.
fn standing(console: &mut Console) -> Result<Option<(i64, i64)>> {
    let table = console.run_command("table", "table")?;
    let Some(of_match) = rows(&table, "match").next() else { return Ok(None) };
    if rows(&table, "score").count() < BOTS + 1 {
        return Ok(None);
    }
    let round = of_match["components"]["round"].as_i64();
    let sum = |column: &str| -> i64 {
        let of_all = rows(&table, "score").map(|row| row["components"][column].as_i64());
        of_all.map(Option::unwrap_or_default).sum()
    };
    let points = sum("points");
    let hits = sum("hits");
    // Two points for a player who hits; a player who is hit loses one, if it has one.
    assert!((hits..=2 * hits).contains(&points), "{table}");
    Ok(Some((round.context("a round")?, hits)))
}

/// No ship has jumped, whatever died, unless it was hit just before: then it comes back elsewhere.
fn check_ways(traces: &Path) -> Result<()> {
    let mut ways: BTreeMap<u64, Vec<(f64, f64, f64)>> = BTreeMap::new();
    let mut hits = BTreeMap::new();
    let mut hit_at = Vec::new();
    for file in std::fs::read_dir(traces)? {
        for line in std::fs::read_to_string(file?.path())?.lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            if let (Some(t), Some(id), Some(now)) =
                (line["t"].as_f64(), line["id"].as_u64(), line["components"]["hits"].as_i64())
                && hits.insert(id, now) < Some(now)
            {
                hit_at.push(t);
            }
            let [Some(t), Some(x), Some(y)] = ["t", "x", "y"].map(|key| line[key].as_f64()) else {
                continue;
            };
            if let Some(id) = line["id"].as_u64().filter(|_| line["ev"] == "move") {
                ways.entry(id).or_default().push((t, x, y));
            }
        }
    }
    assert!(ways.len() >= BOTS, "{} ships have moved", ways.len());
    let back_ms = 1e3 * f64::from(TABLES.ship.back_after_s) + BACK_MS;
    for (id, mut way) in ways {
        way.sort_by(|a, b| a.0.total_cmp(&b.0));
        for step in way.windows(2) {
            let [(t, x, y), (then, to_x, to_y)] = [step[0], step[1]];
            let metres = (to_x - x).hypot(to_y - y);
            let most = TOP_M_PER_S * (then - t) / 1e3 + APART_M;
            let was_hit = hit_at.iter().any(|hit| (then - back_ms..=then).contains(hit));
            assert!(metres <= most || was_hit, "ship {id} moved {metres} m from {t} to {then} ms");
        }
    }
    Ok(())
}

fn rows<'t>(table: &'t Value, kind: &'t str) -> impl Iterator<Item = &'t Value> {
    let rows = table["rows"].as_array().into_iter().flatten();
    rows.filter(move |row| row["kind"] == kind)
}
