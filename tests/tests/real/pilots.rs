//! Pilots: avatars that a game steers itself.

use std::collections::BTreeSet;

use ambit_tests::real::{Console, ScratchFolder, Server};
use anyhow::Result;
use serde_json::{Value, json};

#[test]
fn a_lone_player_meets_pilots_which_take_no_seats() -> Result<()> {
    let scratch = ScratchFolder::new("pilots");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let refused = ann.run_command("create den game=field pilots=21", "error")?;
    assert_eq!(refused["code"], "bad_parameter");
    // A single seat, and everything in sight.
    let created =
        ann.run_command("create den game=field pilots=8 npcs=0 cell=200 capacity=1", "created")?;
    ann.run_command("start", "started")?;
    let mut pilots = BTreeSet::new();
    while pilots.len() < 8 {
        let pilot = ann.wait_until("a pilot", |event| {
            event["ev"] == "enter" && event["own"] == false && event["kind"] == "avatar"
        })?;
        assert!(pilot["name"].as_str().is_some_and(|name| !name.is_empty()), "{pilot}");
        pilots.insert(pilot["id"].as_u64());
    }
    ann.type_in("watch on")?;
    while !pilots.is_empty() {
        let update = ann.wait_until("a pilot that walks", |event| {
            event["ev"] == "update" && pilots.contains(&event["id"].as_u64())
        })?;
        pilots.remove(&update["id"].as_u64());
    }
    let players = ann.run_command("players", "players")?;
    let names: Vec<&Value> =
        players["players"].as_array().into_iter().flatten().map(|player| &player["name"]).collect();
    assert_eq!(names, [&json!("ann")]);
    let rooms = ann.run_command("rooms", "rooms")?;
    let den = rooms["rooms"].as_array().and_then(|rooms| rooms.first()).expect("the room");
    assert_eq!((&den["id"], &den["players"]), (&created["room"], &json!(1)));
    server.wait_for_metrics("one player", |metrics| {
        metrics["ambit_host_players"] == 1.0
            && metrics["ambit_players"] == 1.0
            && metrics["ambit_connections"] == 1.0
    })?;
    assert_eq!(ann.quit()?.0, 0);
    Ok(())
}
