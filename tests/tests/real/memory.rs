//! Rooms that take more memory than a child process may have.

use ambit_tests::real::{Console, ScratchFolder, Server};
use anyhow::Result;

#[test]
fn a_room_that_takes_all_memory_ends_and_the_others_go_on() -> Result<()> {
    let scratch = ScratchFolder::new("memory");
    let flags = ["--hosts", "process:2", "--child-memory", "512"];
    let server = Server::start_with_test_games(&scratch, &flags)?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create calm game=field npcs=0 obstacles=0", "created")?;
    ann.run_command("start", "started")?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    bob.run_command("create hoard game=hoarding", "created")?;
    bob.run_command("start", "started")?;

    let left = bob.wait_until("the end of the room", |event| event["ev"] == "left")?;
    let message = left["message"].as_str().unwrap_or_default();
    assert_eq!(left["reason"], "host_died", "{left}");
    assert!(message.contains("the room is closed"), "{left}");
    let metrics =
        server.wait_for_metrics("two hosts again", |metrics| metrics["ambit_hosts"] == 2.0)?;
    assert_eq!(metrics["ambit_rooms_condemned_total"], 1.0);

    ann.run_command("say still here", "chat")?;
    ann.run_command("players", "players")?;
    assert!(!ann.events.iter().any(|event| event["ev"] == "left"));
    assert_eq!(server.metrics()?["ambit_rooms_running"], 1.0);
    Ok(())
}
