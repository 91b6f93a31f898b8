//! Bots that the server runs itself.

use std::collections::BTreeSet;

use ambit_tests::real::{Console, ScratchFolder, Server};
use anyhow::Result;

#[test]
fn bots_walk_about_until_their_inviter_leaves() -> Result<()> {
    for hosts in ["embedded", "process:1"] {
        let scratch = ScratchFolder::new("walk-about");
        let server = Server::start(&scratch, &["--hosts", hosts])?;
        let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
        // Small enough to see everybody.
        ann.run_command("create den game=field size=40x40 npcs=0 password=x", "created")?;
        ann.run_command("start", "started")?;
        let invited = ann.run_command("bots 3", "bots")?;
        assert_eq!(invited["count"], 3);
        for _ in 0..3 {
            ann.wait_until("a bot", |event| event["ev"] == "enter" && event["own"] == false)?;
        }
        ann.type_in("watch on")?;
        let mut walking = BTreeSet::new();
        while walking.len() < 3 {
            let update = ann.wait_until("a bot that walks", |event| {
                event["ev"] == "update" && !walking.contains(&event["id"].as_u64())
            })?;
            walking.insert(update["id"].as_u64());
        }
        server.wait_for_metrics("four players", |metrics| metrics["ambit_players"] == 4.0)?;
        let bots = ann.run_command("players", "players")?;
        assert_eq!(bots["players"][1]["name"], "bot-1", "{bots}");
        ann.run_command("kick bot-1", "leave")?;
        server.wait_for_metrics("three players", |metrics| metrics["ambit_players"] == 3.0)?;
        ann.run_command("leave", "left")?;
        server.wait_for_metrics("nobody but ann", |metrics| {
            metrics["ambit_players"] == 1.0
                && metrics["ambit_connections"] == 1.0
                && metrics["ambit_rooms"] == 0.0
        })?;
        assert_eq!(server.terminate()?, Some(0), "{hosts}");
    }
    Ok(())
}
