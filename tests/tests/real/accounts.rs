//! Accounts of devices: the same at every server and after every start, in every program, and in
//! the game.

use ambit_client::AccountId;
use ambit_tests::real::{Console, ScratchFolder, Server, wait_until};
use anyhow::{Context, Result, ensure};

/// The account that a console's game shows for its own avatar.
fn shown_in_game(console: &mut Console) -> Result<String> {
    wait_until("the own avatar", || {
        let seen = console.run_command("objects", "objects")?;
        let objects = seen["objects"].as_array().context("a list")?;
        let own = objects.iter().find(|object| object["own"] == true);
        Ok(own.and_then(|own| own["components"]["account"].as_str().map(str::to_owned)))
    })
}

#[test]
fn a_player_has_the_same_account_tomorrow_and_games_know_it() -> Result<()> {
    let scratch = ScratchFolder::new("account");
    let server = Server::start_with_test_games(&scratch, &["--hosts", "process:1"])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let welcome = ann.events.iter().find(|event| event["ev"] == "welcome").context("a welcome")?;
    let account = welcome["account"].as_str().context("an account")?.to_owned();
    ensure!(account.len() == 32, "{account}");
    ann.run_command("create den game=greeting size=30x30", "created")?;
    ann.run_command("start", "started")?;
    assert_eq!(shown_in_game(&mut ann)?, account);

    // Another device, and none.
    let elsewhere = scratch.path().join("other");
    let other = elsewhere.to_str().context("a plain path")?;
    for (file, has_one) in [(other, true), ("off", false)] {
        let mut bob = Console::start(&scratch, server.world, "bob", &["--account", file])?;
        bob.run_command("join 1", "started")?;
        let shown = shown_in_game(&mut bob)?;
        ensure!(shown != account && shown.is_empty() != has_one, "{shown}");
        bob.quit()?;
    }
    ann.quit()?;
    drop(server);

    // Another server, with a certificate of its own, and other programs.
    let second = ScratchFolder::new("account-second");
    let server = Server::start_with_test_games(&second, &[])?;
    let known_hosts = second.path().join("known_hosts");
    let file = scratch.path().join("config/ambit/account");
    let runtime = tokio::runtime::Runtime::new()?;
    let connect = ambit_client::connect(server.world.to_string()).known_hosts(known_hosts);
    let client = runtime.block_on(async { connect.account_file(file).await })?;
    assert_eq!(client.account().map(|id: AccountId| id.to_string()), Some(account));
    runtime.block_on(client.quit());
    Ok(())
}

#[test]
fn a_file_that_is_no_account_is_named() -> Result<()> {
    let scratch = ScratchFolder::new("account-broken");
    let file = scratch.path().join("broken");
    std::fs::write(&file, "no account")?;
    let name = file.to_str().context("a plain path")?;
    let mut command = std::process::Command::new(ambit_tests::real::binary("console"));
    scratch.confine(&mut command).args(["--server", "127.0.0.1:9", "--account", name]);
    let output = command.stdin(std::process::Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(!output.status.success(), "{said}");
    ensure!(said.contains(name) && said.contains("holds no account"), "{said}");
    assert_eq!(std::fs::read_to_string(&file)?, "no account");
    Ok(())
}
