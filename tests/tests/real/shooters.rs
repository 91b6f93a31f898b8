//! The game `shooter`, played by consoles and the server's pilots.

use ambit_tests::real::{Console, ScratchFolder, Server, wait_until};
use anyhow::{Context, Result};
use serde_json::Value;

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

fn rows<'t>(table: &'t Value, kind: &'t str) -> impl Iterator<Item = &'t Value> {
    let rows = table["rows"].as_array().into_iter().flatten();
    rows.filter(move |row| row["kind"] == kind)
}
