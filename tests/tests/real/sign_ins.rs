//! Accounts with passwords and tokens, in SQLite and in PostgreSQL: after kills, in the hands of
//! operators, and while the store is away.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_client::Client;
use ambit_tests::real::{
    Cluster, Console, Postgres, ScratchFolder, Server, binary, output, run, server_signal,
    wait_until,
};
use anyhow::{Context, Result, ensure};
use data_encoding::BASE64URL_NOPAD;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

const PASSWORD: &str = "correct horse";
const WAYS: [&str; 2] = ["--accounts", "guest,password"];

#[test]
fn an_account_with_a_password_outlives_the_kill_of_its_server() -> Result<()> {
    let scratch = ScratchFolder::new("password-sqlite");
    outlive_kills(&scratch, &[])
}

#[test]
fn an_account_with_a_password_outlives_the_kill_of_its_server_in_postgres() -> Result<()> {
    let scratch = ScratchFolder::new("password-postgres");
    let postgres = Postgres::start("kills")?;
    outlive_kills(&scratch, &["--store", &postgres.url])?;
    // As text, in no table: the password.
    let stored = postgres.ask("SELECT login, hash FROM passwords")?;
    ensure!(stored.contains("|$argon2id$") && !stored.contains(PASSWORD), "{stored}");
    Ok(())
}

fn outlive_kills(scratch: &ScratchFolder, store: &[&str]) -> Result<()> {
    let flags = [&WAYS, store].concat();
    let server = Server::start(scratch, &flags)?;
    let mut ann = register(scratch, &server, "ann")?;
    let second = register(scratch, &server, "ann")?;
    ensure!(second.login != ann.login && second.account != ann.account, "another account");
    ann.console.run_command("say hello", "chat")?;
    server_signal(server.id(), "KILL")?;
    server.wait()?;

    let server = Server::start(scratch, &flags)?;
    let again = sign_in(scratch, &server, &ann.login)?;
    assert_eq!((&again.account, &again.login), (&ann.account, &ann.login));
    // A wrong password and a login that does not exist have the same answer.
    let wrong = refusal(scratch, &server, &ann.login, "wrong horse")?;
    let unknown = refusal(scratch, &server, "nobody#12345", PASSWORD)?;
    assert_eq!((&wrong["code"], &wrong["message"]), (&unknown["code"], &unknown["message"]));
    assert_eq!(wrong["code"], "bad_account");
    Ok(())
}

#[test]
fn operators_ban_reserve_export_and_delete_while_the_server_runs() -> Result<()> {
    let scratch = ScratchFolder::new("password-operators");
    let server = Server::start(&scratch, &WAYS)?;
    let store = scratch.path().join("data/ambit/ambit.db");
    let mut ann = register(&scratch, &server, "ann")?;
    let found = command(&store, &["accounts", "find", &ann.login])?;
    assert_eq!(found.trim(), ann.account);

    command(&store, &["accounts", "ban", &ann.account, "--hours", "3", "--reason", "it cheats"])?;
    let closed = ann.console.wait_until("the end", |event| event["code"] == "banned")?;
    assert_eq!(closed["message"], "this account may not play here for 3 hours: it cheats");
    let refused = refusal(&scratch, &server, &ann.login, PASSWORD)?;
    assert_eq!(refused["code"], "banned");
    let text = refused["message"].as_str().context("a text")?;
    ensure!(text.contains("it cheats"), "{text}");
    command(&store, &["accounts", "unban", &ann.account])?;
    command(&store, &["accounts", "role", &ann.account, "moderate"])?;
    let listed = command(&store, &["accounts", "list"])?;
    ensure!(listed.contains(&format!("role  {}  moderate", ann.account)), "{listed}");
    wait_until("the end of the ban", || Ok(sign_in(&scratch, &server, &ann.login).ok()))?;

    command(&store, &["accounts", "reserve", "Boss", &ann.account])?;
    wait_until("the reserved name", || {
        let guest = Console::start(&scratch, server.world, "boss", &["--account", "off"])?;
        let name = welcome_of(&guest)?["name"].clone();
        guest.quit()?;
        Ok((name == "boss-2").then_some(()))
    })?;
    let listed = command(&store, &["accounts", "list"])?;
    ensure!(listed.contains(&ann.account) && listed.contains("Boss"), "{listed}");

    let backup = scratch.path().join("backup.db");
    let path = backup.to_str().context("a plain path")?;
    let said = command(&store, &["backup", path])?;
    ensure!(said.starts_with("4 rows"), "{said}");
    let exported = command(&store, &["accounts", "export", &ann.account])?;
    let exported: Value = serde_json::from_str(&exported)?;
    assert_eq!(exported["password"]["login"], ann.login.as_str());
    assert_eq!(exported["reserved_names"][0]["name"], "Boss");

    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(read_change_and_erase(&scratch, &server, &ann))?;
    let gone = refusal(&scratch, &server, &ann.login, "battery staple")?;
    assert_eq!(gone["code"], "bad_account");
    let exported: Value =
        serde_json::from_str(&command(&store, &["accounts", "export", &ann.account])?)?;
    assert_eq!(exported["password"], Value::Null);
    assert_eq!(exported["reserved_names"], json!([]));

    // The backup has it all.
    drop(server);
    let restored = scratch.path().join("restored.db");
    command(&restored, &["restore", path])?;
    let restored = restored.to_str().context("a plain path")?;
    let server = Server::start(&scratch, &[&WAYS[..], &["--store", restored]].concat())?;
    assert_eq!(sign_in(&scratch, &server, &ann.login)?.account, ann.account);
    Ok(())
}

#[test]
fn a_player_at_a_console_reads_saves_and_deletes_the_account() -> Result<()> {
    let scratch = ScratchFolder::new("password-console");
    let server = Server::start(&scratch, &WAYS)?;
    let mut ann = register(&scratch, &server, "ann")?;
    let read = ann.console.run_command("account", "account_data")?;
    assert_eq!(read["data"]["password"]["login"], ann.login.as_str());
    let file = scratch.path().join("my account.json");
    let save = format!("account save {}", file.display());
    let saved = ann.console.run_command(&save, "account_saved")?;
    assert_eq!(saved["file"], file.to_str().context("a plain path")?);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    assert_eq!(written, read["data"]);
    // What exists stays as it is.
    std::fs::write(&file, "mine")?;
    assert_eq!(ann.console.run_command(&save, "error")?["code"], "file");
    assert_eq!(std::fs::read_to_string(&file)?, "mine");

    let mut change = |old: &str, kind: &str| {
        ann.console.type_in("password")?;
        ann.console.type_in(old)?;
        ann.console.run_command("battery staple", kind)
    };
    assert_eq!(change("wrong horse", "error")?["code"], "bad_account");
    change(PASSWORD, "password_set")?;
    let refused = refusal(&scratch, &server, &ann.login, PASSWORD)?;
    assert_eq!(refused["code"], "bad_account");

    assert_eq!(ann.console.run_command("account erase bob", "error")?["code"], "usage");
    ann.console.run_command("account erase ann", "account_erased")?;
    let (status, rest) = ann.console.wait()?;
    assert_eq!((status, rest), (0, Vec::new()));
    let gone = refusal(&scratch, &server, &ann.login, "battery staple")?;
    assert_eq!(gone["code"], "bad_account");
    Ok(())
}

/// What a player does with its own account.
async fn read_change_and_erase(
    scratch: &ScratchFolder,
    server: &Server,
    ann: &SignedIn,
) -> Result<()> {
    let connect = async |password: &str| -> Result<Client> {
        let known_hosts = scratch.path().join("known_hosts");
        let connect = ambit_client::connect(server.world.to_string()).known_hosts(known_hosts);
        Ok(connect.password(&ann.login, password).await?)
    };
    let client = connect(PASSWORD).await?;
    assert_eq!(client.login(), Some(&*ann.login));
    let read: Value = serde_json::from_str(&client.read_account().await?)?;
    assert_eq!(read["account"], ann.account.as_str());
    ensure!(read.to_string().contains(&ann.login), "{read}");
    ensure!(!read.to_string().contains("argon2"), "{read}");
    ensure!(client.set_password("wrong horse", "battery staple").await.is_err());
    client.set_password(PASSWORD, "battery staple").await?;
    client.quit().await;
    ensure!(connect(PASSWORD).await.is_err(), "the old password");
    let client = connect("battery staple").await?;
    client.erase_account().await?;
    while client.next_event().await.is_some() {}
    ensure!(client.is_closed(), "its session has ended");
    Ok(())
}

#[test]
fn players_are_told_when_the_store_is_away_and_guests_play_on() -> Result<()> {
    let scratch = ScratchFolder::new("password-away");
    let mut postgres = Postgres::start("away")?;
    let flags = [&WAYS[..], &["--store", &postgres.url]].concat();
    let mut server = Server::start(&scratch, &flags)?;
    let mut ann = register(&scratch, &server, "ann")?;
    postgres.kill()?;
    let refused = refusal(&scratch, &server, &ann.login, PASSWORD)?;
    assert_eq!(refused["code"], "try_again");
    server.wait_for_log("the store does not work now")?;
    ann.console.run_command("say hello", "chat")?;
    let guest = Console::start(&scratch, server.world, "bob", &["--account", "off"])?;
    guest.quit()?;
    postgres.resume()?;
    wait_until("the store", || Ok(sign_in(&scratch, &server, &ann.login).ok()))?;
    server.wait_for_log("the store works again")
}

#[test]
fn all_servers_of_a_cluster_know_the_accounts() -> Result<()> {
    let scratch = ScratchFolder::new("password-cluster");
    let postgres = Postgres::start("cluster")?;
    let mut cluster =
        Cluster::start_with(&scratch, &[&WAYS[..], &["--store", &postgres.url]].concat())?;
    let ann = register(&scratch, cluster.follower(), "ann")?;
    ann.console.quit()?;
    cluster.kill_leader()?;
    cluster.wait_for_new_leader()?;
    let again = sign_in(&scratch, cluster.leader(), &ann.login)?;
    assert_eq!(again.account, ann.account);
    Ok(())
}

#[test]
fn a_token_opens_an_account_and_keys_change_without_a_restart() -> Result<()> {
    let scratch = ScratchFolder::new("token");
    let keys = scratch.path().join("keys.json");
    std::fs::write(&keys, key_set(1).to_string())?;
    let path = keys.to_str().context("a plain path")?;
    let flags = ["--accounts", "token", "--token-keys", path, "--token-audience", "here"];
    let server = Server::start(&scratch, &flags)?;
    let file = scratch.path().join("token");
    let write = |key: u8, player: &str, audience: &str| {
        std::fs::write(&file, signed(key, player, audience)?)?;
        anyhow::Ok(["--token-file".to_owned(), file.display().to_string()])
    };
    let welcomed = |flags: &[String; 2]| {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let console = Console::start(&scratch, server.world, "ann", &flags)?;
        let account = welcome_of(&console)?["account"].clone();
        console.quit()?;
        anyhow::Ok(account)
    };
    let ann = welcomed(&write(1, "ann", "here")?)?;
    assert_eq!(welcomed(&write(1, "ann", "here")?)?, ann);
    ensure!(welcomed(&write(1, "bob", "here")?)? != ann, "another account");
    // A token of another server, one of a key that is not known, and none.
    for (key, audience) in [(1, "there"), (2, "here")] {
        let flags = write(key, "ann", audience)?;
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        assert_eq!(closed_with(&scratch, &server, &flags)?["code"], "bad_account");
    }
    let guest = closed_with(&scratch, &server, &["--account", "off"])?;
    ensure!(guest["message"].as_str().is_some_and(|text| text.contains("it takes: token")));

    let newer = scratch.path().join("newer.json");
    std::fs::write(&newer, key_set(2).to_string())?;
    std::fs::rename(&newer, &keys)?;
    let flags = write(2, "ann", "here")?;
    let again = wait_until("the new keys", || Ok(welcomed(&flags).ok()))?;
    assert_eq!(again, ann);
    let old = write(1, "ann", "here")?;
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    assert_eq!(closed_with(&scratch, &server, &old)?["code"], "bad_account");
    Ok(())
}

fn pair(key: u8) -> Result<Ed25519KeyPair> {
    Ed25519KeyPair::from_seed_unchecked(&[key; 32]).ok().context("a key")
}

/// The keys of a service with one key.
pub(crate) fn key_set(key: u8) -> Value {
    let public = pair(key).map(|pair| BASE64URL_NOPAD.encode(pair.public_key().as_ref()));
    let id = key.to_string();
    json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": public.expect("a key") }] })
}

/// A token of a service.
#[expect(clippy::disallowed_methods, reason = "a token has an end")]
pub(crate) fn signed(key: u8, player: &str, audience: &str) -> Result<String> {
    let end = SystemTime::now().duration_since(UNIX_EPOCH)? + Duration::from_mins(10);
    let part = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let header = part(json!({ "alg": "EdDSA", "kid": key.to_string() }));
    let claims = part(json!({ "sub": player, "aud": audience, "exp": end.as_secs() }));
    let body = format!("{header}.{claims}");
    let signature = BASE64URL_NOPAD.encode(pair(key)?.sign(body.as_bytes()).as_ref());
    Ok(format!("{body}.{signature}"))
}

/// A console that plays with an account that has a password.
struct SignedIn {
    console: Console,
    login: String,
    account: String,
}

fn register(scratch: &ScratchFolder, server: &Server, name: &str) -> Result<SignedIn> {
    let signed_in = start(scratch, server, name, &["--new-account", name])?;
    let login = &signed_in.login;
    ensure!(login.starts_with(&format!("{name}#")) && login.len() == name.len() + 6, "{login}");
    Ok(signed_in)
}

fn sign_in(scratch: &ScratchFolder, server: &Server, login: &str) -> Result<SignedIn> {
    start(scratch, server, "anybody", &["--login", login])
}

fn start(scratch: &ScratchFolder, server: &Server, name: &str, flags: &[&str]) -> Result<SignedIn> {
    let file = password_file(scratch, PASSWORD)?;
    let file = file.to_str().context("a plain path")?;
    let flags = [flags, &["--password-file", file]].concat();
    let console = Console::start(scratch, server.world, name, &flags)?;
    let welcome = welcome_of(&console)?;
    let text = |key: &str| welcome[key].as_str().map(str::to_owned).context("a text");
    let (login, account) = (text("login")?, text("account")?);
    Ok(SignedIn { console, login, account })
}

fn password_file(scratch: &ScratchFolder, password: &str) -> Result<PathBuf> {
    let file = scratch.path().join(password.replace(' ', "-"));
    std::fs::write(&file, format!("{password}\n"))?;
    Ok(file)
}

fn welcome_of(console: &Console) -> Result<&Value> {
    console.events.iter().find(|event| event["ev"] == "welcome").context("a welcome")
}

/// What a console is told that does not get in with this password.
fn refusal(scratch: &ScratchFolder, server: &Server, login: &str, password: &str) -> Result<Value> {
    let file = password_file(scratch, password)?;
    let file = file.to_str().context("a plain path")?;
    closed_with(scratch, server, &["--login", login, "--password-file", file])
}

fn closed_with(scratch: &ScratchFolder, server: &Server, flags: &[&str]) -> Result<Value> {
    let mut command = Command::new(binary("console"));
    scratch.confine(&mut command).args(["--server", &server.world.to_string()]).args(flags);
    let said = output(command.args(["--name", "stranger"]).stdin(Stdio::null()))?.stdout;
    let said = String::from_utf8(said)?;
    let events = said.lines().map(serde_json::from_str::<Value>);
    let closed = events.flatten().find(|event| event["ev"] == "error");
    closed.with_context(|| format!("an end, in {said}"))
}

/// Runs a subcommand on the store in this file; returns what it prints.
fn command(store: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(binary("world-server"));
    let output = run(command.args(arguments).arg("--store").arg(store))?;
    Ok(String::from_utf8(output.stdout)?)
}
