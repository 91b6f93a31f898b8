//! What games store beyond their rooms, with real processes: hosts, servers and PostgreSQL die, and
//! each coin and each result is there once.

use std::path::Path;
use std::process::Command;

use ambit_tests::real::{
    Console, Postgres, ScratchFolder, Server, binary, outlast_suspicion, output, run,
    server_signal, wait_until,
};
use anyhow::{Context, Result, ensure};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::Value;

#[test]
fn coins_and_results_are_stored_once_though_hosts_and_servers_are_killed() -> Result<()> {
    let scratch = ScratchFolder::new("stored-sqlite");
    let keep = scratch.path().join("kept");
    let keep = keep.to_str().context("a plain path")?;
    let flags = ["--hosts", "process:2", "--keep", keep];
    let mut server = Server::start_with_test_games(&scratch, &flags)?;
    let mut ann = begin(&scratch, &server)?;
    let mut total = 0;
    for _ in 0..2 {
        // The host of the room is one of two; both die, one after the other.
        for child in server.children() {
            earn(&mut ann, 5)?;
            outlast_suspicion();
            server_signal(child, "KILL")?;
            earn(&mut ann, 5)?;
            total += 10;
            expect(&mut ann, total, total)?;
        }
    }
    ann.quit()?;
    server_signal(server.id(), "KILL")?;
    server.wait()?;
    server = Server::start_with_test_games(&scratch, &flags)?;
    // Another room, and a session that knows nothing of the first.
    let mut ann = begin(&scratch, &server)?;
    expect(&mut ann, 40, 0)?;
    earn(&mut ann, 1)?;
    expect(&mut ann, 41, 1)?;
    let account = account_of(&ann)?;
    ann.quit()?;
    let (status, boards) = server.get("/results.json?game=wallet")?;
    let boards: Value = serde_json::from_str(&boards)?;
    assert_eq!((status, &boards["boards"]), (200, &serde_json::json!(["winners"])));
    let (_, list) = server.get("/results.json?game=wallet&board=winners&period=day")?;
    ensure!(!list.contains(&account), "a list names no account: {list}");
    let list: Value = serde_json::from_str(&list)?;
    let results = list["results"].as_array().context("a list")?;
    assert_eq!(results.len(), 1, "an account is in it once: {list}");
    assert_eq!((&results[0]["player"], &results[0]["score"]), (&"ann".into(), &7.into()));
    assert_eq!(server.get("/results.json?game=wallet&count=0")?.0, 400);
    let store = scratch.path().join("data/ambit/ambit.db");
    let stored = exported(&store, &account)?;
    let results = stored["results"].as_array().context("a list")?;
    assert_eq!(results.len(), 41);
    ensure!(results.iter().all(|row| row["board"] == "winners" && row["player"] == "ann"));
    let values = stored["values"].as_array().context("a list")?;
    assert_eq!(values.len(), 1);
    assert_eq!(values[0]["value"], serde_json::json!({ "coins": 41 }));
    Ok(())
}

#[test]
fn what_a_game_stores_waits_while_postgres_is_dead() -> Result<()> {
    let scratch = ScratchFolder::new("stored-postgres");
    let mut postgres = Postgres::start("stored")?;
    let flags = ["--hosts", "process:2", "--store", &postgres.url];
    let mut server = Server::start_with_test_games(&scratch, &flags)?;
    let mut ann = begin(&scratch, &server)?;
    earn(&mut ann, 3)?;
    expect(&mut ann, 3, 3)?;
    postgres.kill()?;
    earn(&mut ann, 3)?;
    ann.wait_until("the words for players", |event| {
        event["ev"] == "error" && event["message"].as_str().is_some_and(|it| it.contains("store"))
    })?;
    // What waits survives the host, too.
    for child in server.children() {
        outlast_suspicion();
        server_signal(child, "KILL")?;
    }
    postgres.resume()?;
    expect(&mut ann, 6, 6)?;
    server.wait_for_log("the store works again")?;
    assert_eq!(postgres.ask("SELECT COUNT(*) FROM results")?, "6");
    assert_eq!(postgres.ask("SELECT COUNT(*) FROM game_values")?, "1");
    Ok(())
}

/// A player in a room of the game, whose wallet is known.
fn begin(scratch: &ScratchFolder, server: &Server) -> Result<Console> {
    let mut console = Console::start(scratch, server.world, "ann", &[])?;
    console.run_command("create den game=wallet", "created")?;
    console.run_command("start", "started")?;
    wait_until("the wallet", || {
        let shown = console.run_command("objects", "objects")?;
        let objects = shown["objects"].as_array().context("a list")?;
        let own = objects.iter().find(|object| object["own"] == true);
        let is_known = own.map(|own| own["components"]["is_known"].clone());
        Ok((is_known == Some(Value::Bool(true))).then_some(()))
    })?;
    Ok(console)
}

/// Earns coins and adds as many results.
fn earn(console: &mut Console, count: u32) -> Result<()> {
    for _ in 0..count {
        console.type_in("earn")?;
        console.type_in("win 7")?;
    }
    Ok(())
}

/// Waits until the game shows that the store has so much.
fn expect(console: &mut Console, coins: u64, results: u64) -> Result<()> {
    let mut seen = (0, 0);
    let found = wait_until("what is stored", || {
        let shown = console.run_command("objects", "objects")?;
        let objects = shown["objects"].as_array().context("a list")?;
        let own = objects.iter().find(|object| object["own"] == true);
        let number = |key: &str| own.and_then(|own| own["components"][key].as_u64());
        seen = (number("coins").unwrap_or(0), number("results").unwrap_or(0));
        ensure!(seen.0 <= coins && seen.1 <= results, "too much: {seen:?}");
        Ok((seen == (coins, results)).then_some(()))
    });
    found.with_context(|| format!("expected {coins} and {results}, saw {seen:?}"))
}

fn account_of(console: &Console) -> Result<String> {
    let welcome = console.events.iter().find(|event| event["ev"] == "welcome");
    let account = welcome.and_then(|welcome| welcome["account"].as_str());
    account.map(str::to_owned).context("an account")
}

fn exported(store: &Path, account: &str) -> Result<Value> {
    let mut command = Command::new(binary("world-server"));
    command.args(["accounts", "export", account, "--store"]).arg(store);
    Ok(serde_json::from_slice(&run(&mut command)?.stdout)?)
}

#[test]
fn a_store_behind_tls_is_reached_only_with_the_right_authority() -> Result<()> {
    let authority = |name: &str| -> Result<_> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Ok(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?)
    };
    let (right, other) = (authority("ambit tests")?, authority("another one")?);
    let key = KeyPair::generate()?;
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
    let certificate = params.signed_by(&key, &right)?;
    let scratch = ScratchFolder::new("stored-tls");
    let file = |name: &str, text: String| -> Result<String> {
        let path = scratch.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path.to_str().context("a plain path")?.to_owned())
    };
    let (right, other) = (file("ca.pem", right.pem())?, file("other.pem", other.pem())?);
    let nothing = file("nothing.pem", String::new())?;
    let postgres = Postgres::start_with_tls("tls", &certificate.pem(), &key.serialize_pem())?;
    let list = |query: &str| {
        let url = format!("{}{query}", postgres.url);
        let mut command = Command::new(binary("world-server"));
        let output = output(command.args(["accounts", "list", "--store", &url]))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // A usage error repeats what was typed.
        let is_usage = output.status.code() == Some(2);
        ensure!(is_usage || !said.contains("se%20cret") && !said.contains("se cret"), "{said}");
        anyhow::Ok((output.status.success(), said))
    };
    let (is_listed, said) = list(&format!("?sslrootcert={right}"))?;
    ensure!(is_listed, "{said}");
    // The server takes no other connection.
    let encrypted = "?sslrootcert=";
    for (query, expected) in [
        (String::new(), "no encryption"),
        (format!("{encrypted}{other}"), "UnknownIssuer"),
        (format!("{encrypted}{nothing}"), "the file holds no certificate"),
        (format!("{encrypted}/nowhere"), "sslrootcert=/nowhere"),
        ("?sslmode=require".to_owned(), "sslrootcert=FILE"),
    ] {
        let (is_listed, said) = list(&query)?;
        ensure!(!is_listed && said.contains(expected), "{query}, {expected}: {said}");
    }
    Ok(())
}
