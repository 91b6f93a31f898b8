//! A room whose ticks take longer than they may, beside rooms that need little.

use ambit_tests::real::{Console, Metrics, ScratchFolder, Server};
use anyhow::{Context, Result};
use serde_json::Value;

/// What the slow room loses before the rooms are compared: some seconds of it.
const LOST: f64 = 100.0;

#[test]
fn a_room_that_overruns_loses_its_own_ticks_and_its_players_are_told() -> Result<()> {
    let scratch = ScratchFolder::new("late-rooms");
    let mut server = Server::start_with_test_games(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create quiet game=field npcs=10", "created")?;
    ann.run_command("start", "started")?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    let created = bob.run_command("create slow game=slow", "created")?;
    bob.run_command("start", "started")?;

    // Its players receive a notice with figures.
    let notice = bob.wait_until("the notice", is_overload)?;
    let count = |event: &Value, key| event[key].as_u64().context(format!("{key}: {event}"));
    let run = count(&notice, "ticks_run")?;
    let due = count(&notice, "ticks_due")?;
    assert!(run > 0 && 2 * run < due, "{notice}");
    let stats = bob.run_command("stats", "stats")?;
    assert!(count(&stats, "room_load_level")? > 0, "{stats}");
    assert!(count(&stats, "room_ticks_run")? < count(&stats, "room_ticks_due")?, "{stats}");

    // The lost ticks are its own, and an operator sees whose they are.
    let skipped = format!("ambit_room_ticks_skipped_total{{room=\"{}\"}}", created["room"]);
    let of_slow = |metrics: &Metrics| metrics.get(&skipped).copied().unwrap_or_default();
    let before = server.wait_for_metrics("the first lost tick", |now| of_slow(now) > 0.0)?;
    let wanted = of_slow(&before) + LOST;
    let after = server.wait_for_metrics("more lost ticks", |now| of_slow(now) >= wanted)?;
    let lost = of_slow(&after) - of_slow(&before);
    let of_all = |metrics: &Metrics| metrics["ambit_ticks_skipped_total"];
    let others = of_all(&after) - of_all(&before) - lost;
    assert!(others * 5.0 < lost, "others lost {others} beside {lost}: {after:#?}");
    let level = skipped.replace("ticks_skipped_total", "load_level");
    assert!(after[&level] > 0.0, "{after:#?}");
    let row = format!("<tr><td>{}</td><td>", created["room"]);
    let page = server.get("/status")?.1;
    let (_, late_rooms) = page.split_once("Late rooms").context("the page's list")?;
    assert!(late_rooms.contains(&row), "{page}");

    // One notice, one line in the log; the neighbour's players have not received any.
    ann.run_command("players", "players")?;
    bob.run_command("players", "players")?;
    assert!(!ann.events.iter().any(is_overload), "{:?}", ann.events);
    assert_eq!(bob.events.iter().filter(|event| is_overload(event)).count(), 1);
    let log = server.take_log();
    let logged = log.iter().filter(|line| line.contains("the room is overloaded"));
    assert_eq!(logged.count(), 1, "{log:#?}");

    // A tick of another room runs during one of this: with one thread for both, each would wait for
    // the other. (The quiet room would lose no tick even so, only get it late.)
    let mut cid = Console::start(&scratch, server.world, "cid", &[])?;
    cid.run_command("create slower game=slow", "created")?;
    cid.run_command("start", "started")?;
    bob.wait_until("two ticks at a time", |event| {
        event["ev"] == "event" && event["name"] == "beside_another"
    })?;
    Ok(())
}

/// Its thread goes on, so this needs the processor for some seconds.
#[test]
fn a_room_that_loops_for_ever_is_closed_and_its_neighbours_play_on() -> Result<()> {
    let scratch = ScratchFolder::new("looping");
    let mut server = Server::start_with_test_games(&scratch, &["--hosts", "process:1"])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create quiet game=field npcs=10", "created")?;
    ann.run_command("start", "started")?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    bob.run_command("create trap game=looping", "created")?;
    bob.run_command("start", "started")?;
    let left = bob.wait_until("the end of the room", |event| event["ev"] == "left")?;
    assert_eq!(left["reason"], "room_crashed", "{left}");
    assert!(left["message"].as_str().is_some_and(|why| why.contains("did not return")), "{left}");
    let log = server.take_log();
    let is_said = |words: &str| log.iter().any(|line| line.contains(words));
    assert!(is_said("has not returned from a tick") && is_said("it loops for ever"), "{log:#?}");

    // Its seat and its place at the host are free, and the thread that goes on takes nothing from
    // others.
    bob.run_command("create meadow game=field npcs=10", "created")?;
    bob.run_command("start", "started")?;
    let ticks = |metrics: &Metrics| metrics["ambit_tick_seconds_count"];
    let before = ticks(&server.metrics()?);
    server.wait_for_metrics("ticks of the others", |metrics| ticks(metrics) >= before + 100.0)?;
    let metrics = server.metrics()?;
    assert_eq!((metrics["ambit_rooms_running"], metrics["ambit_host_players"]), (2.0, 2.0));
    ann.run_command("players", "players")?;
    Ok(())
}

fn is_overload(event: &Value) -> bool {
    event["ev"] == "notice" && event["code"] == "room_overloaded"
}
