//! Rows and the state of a room, which all players have: at bad lines, for late joiners, after the
//! death of hosts, and after that of the whole server. The trace says what is true.

use std::collections::BTreeMap;
use std::path::Path;

use ambit_tests::real::{
    Console, ScratchFolder, Server, outlast_suspicion, server_signal, wait_until,
};
use anyhow::{Context, Result};
use serde_json::Value;

const BAD_LINE: [&str; 2] = ["--impair", "loss=20,delay=40ms,jitter=20ms"];

/// The rows by name: the count of commands.
type Table = BTreeMap<String, i64>;

#[test]
fn all_players_have_the_table_of_the_trace_whatever_dies() -> Result<()> {
    let scratch = ScratchFolder::new("rows");
    let folder = |name: &str| scratch.path().join(name).display().to_string();
    let kept = folder("kept");
    let traces = folder("traces");
    let flags = ["--hosts", "process:2", "--keep", &kept, "--trace", &traces, "--grace", "2m"];
    let server = Server::start_with_test_games(&scratch, &flags)?;
    let mut ann = Console::start(&scratch, server.world, "ann", &BAD_LINE)?;
    let room = ann.run_command("create den game=counting", "created")?["id"].clone();
    ann.run_command("start", "started")?;
    let mut bob = Console::start(&scratch, server.world, "bob", &BAD_LINE)?;
    bob.run_command(&format!("join {room}"), "started")?;
    for number in 0..8 {
        ann.type_in(&format!("count {number}"))?;
        bob.type_in(&format!("count {number}"))?;
    }
    let mut eve = Console::start(&scratch, server.world, "eve", &BAD_LINE)?;
    eve.run_command(&format!("join {room}"), "started")?;
    eve.type_in("count 0")?;
    let mut players = [ann, bob, eve];
    check(&mut players, Path::new(&traces), &[("ann", 8), ("bob", 8), ("eve", 1)])?;

    // Of the hosts one has the room; each gets its turn.
    for (host, number) in server.children().into_iter().zip(8..) {
        server_signal(host, "KILL")?;
        server.wait_for_metrics("all players again", |metrics| {
            metrics.get("ambit_host_players") == Some(&3.0)
        })?;
        wait_until("another host", || {
            let children = server.children();
            Ok((children.len() == 2 && !children.contains(&host)).then_some(()))
        })?;
        players[0].type_in(&format!("count {number}"))?;
        let expected = [("ann", number + 1), ("bob", 8), ("eve", 1)];
        check(&mut players, Path::new(&traces), &expected)?;
        outlast_suspicion();
    }

    server.wait_until_kept()?;
    let address = server.world.to_string();
    server_signal(server.id(), "KILL")?;
    server.wait()?;
    let flags = [&flags[..], &["--listen", &address]].concat();
    let server = Server::start_with_test_games(&scratch, &flags)?;
    server.wait_for_metrics("all players again", |metrics| {
        metrics.get("ambit_game_connections") == Some(&3.0)
    })?;
    players[1].type_in("count 8")?;
    check(&mut players, Path::new(&traces), &[("ann", 10), ("bob", 9), ("eve", 1)])
}

/// Waits until each player has these rows, with the last number of the own one alone, and the
/// trace says the same.
fn check(players: &mut [Console], traces: &Path, expected: &[(&str, i64)]) -> Result<()> {
    let expected: Table = expected.iter().map(|&(name, n)| (name.to_owned(), n)).collect();
    let total: i64 = expected.values().sum();
    for player in players {
        let table = wait_until("the table of a console", || {
            let table = player.run_command("table", "table")?;
            let rows = table["rows"].as_array().context("rows")?;
            let is_total = rows
                .iter()
                .any(|row| row["kind"] == "total" && row["components"]["count"] == total);
            let tallies = rows.iter().filter(|row| row["kind"] == "tally");
            let counts: Table = tallies.map(|row| count(&row["components"])).collect();
            Ok((is_total && counts == expected).then_some(table))
        })?;
        for row in table["rows"].as_array().context("rows")? {
            if row["kind"] == "tally" {
                let has_secret = !row["components"]["last"].is_null();
                assert_eq!(row["own"], has_secret, "only the own row has all columns: {row}");
            }
        }
    }
    // A host that no longer has the room may still end its trace.
    wait_until("the table of a trace", || {
        let files = std::fs::read_dir(traces)?;
        let tables = files.map(|file| traced(&file?.path())).collect::<Result<Vec<_>>>()?;
        Ok(tables.contains(&expected).then_some(()))
    })
}

/// The table as a trace has it.
fn traced(trace: &Path) -> Result<Table> {
    let mut table = Table::new();
    for line in std::fs::read_to_string(trace)?.lines() {
        // The last line may be half written.
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        if line["ev"] == "state" && line["kind"] == "tally" {
            let (name, count) = count(&line["components"]);
            table.insert(name, count);
        }
    }
    Ok(table)
}

fn count(components: &Value) -> (String, i64) {
    let name = components["name"].as_str().unwrap_or_default().to_owned();
    (name, components["count"].as_i64().unwrap_or(-1))
}
