//! Worlds of the operator's list with real processes: they sleep without players, wake, and survive
//! hosts and servers.

use ambit_tests::real::{
    Console, ScratchFolder, Server, outlast_suspicion, server_signal, wait_until,
};
use anyhow::{Context, Result, ensure};

/// Polls of the metrics without a tick: hosts report each second, which is some 50 polls.
const POLLS: u32 = 200;

#[test]
fn a_world_of_the_list_sleeps_and_wakes_whatever_dies_meanwhile() -> Result<()> {
    let scratch = ScratchFolder::new("sleeping");
    let keep = scratch.path().join("kept");
    let keep = keep.to_str().context("a plain path")?;
    let flags = ["--hosts", "process:2", "--keep", keep, "--world", "den game=wallet"];
    let mut server = Server::start_with_test_games(&scratch, &flags)?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    enter(&mut ann)?;
    ann.type_in("dig")?;
    wait_for_gold(&mut ann, 1)?;
    ann.run_command("leave", "left")?;
    wait_until_asleep(&server)?;
    enter(&mut ann)?;
    wait_for_gold(&mut ann, 1)?;
    ann.run_command("leave", "left")?;
    wait_until_asleep(&server)?;
    for child in server.children() {
        outlast_suspicion();
        server_signal(child, "KILL")?;
    }
    wait_until_asleep(&server)?;
    enter(&mut ann)?;
    ann.type_in("dig")?;
    wait_for_gold(&mut ann, 2)?;
    ann.run_command("leave", "left")?;
    wait_until_asleep(&server)?;
    ann.quit()?;
    server_signal(server.id(), "KILL")?;
    server.wait()?;
    server = Server::start_with_test_games(&scratch, &flags)?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let listed = ann.run_command("rooms", "rooms")?;
    let rooms = listed["rooms"].as_array().context("a list")?;
    ensure!(rooms.len() == 1 && rooms[0]["players"] == 0, "one room without players: {listed}");
    enter(&mut ann)?;
    wait_for_gold(&mut ann, 2)
}

/// The world may not have a host at the moment: the ticket follows.
fn enter(console: &mut Console) -> Result<()> {
    console.run_command("join den", "started")?;
    Ok(())
}

fn wait_for_gold(console: &mut Console, gold: u64) -> Result<()> {
    wait_until("the gold", || {
        let shown = console.run_command("objects", "objects")?;
        let objects = shown["objects"].as_array().context("a list")?;
        let own = objects.iter().find(|object| object["own"] == true);
        let seen = own.and_then(|own| own["components"]["gold"].as_u64());
        Ok((seen == Some(gold)).then_some(()))
    })
}

/// No tick runs.
fn wait_until_asleep(server: &Server) -> Result<()> {
    let mut unchanged = (0_u64, 0);
    wait_until("no ticks", || {
        let metrics = server.metrics()?;
        let number = |name: &str| metrics.get(name).copied().unwrap_or_default() as u64;
        let ticks = number("ambit_tick_seconds_count");
        let is_still = ticks == unchanged.0 && number("ambit_host_rooms") == 1;
        unchanged = (ticks, if is_still { unchanged.1 + 1 } else { 0 });
        Ok((unchanged.1 >= POLLS).then_some(()))
    })
}
