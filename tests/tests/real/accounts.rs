//! Accounts of devices: the same at every server and after every start, in every program, and in
//! the game.

use std::path::Path;

use ambit_client::AccountId;
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::world::{Hello, client_to_world, world_to_client};
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{Console, ScratchFolder, Server, wait_until};
use ambit_transport::account_proof::{CheckedServer, DeviceAccount};
use ambit_transport::quic::ALPN_WORLD;
use anyhow::{Context, Result, ensure};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

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

/// As browsers do it, which do not show such a certificate to pages.
#[test]
fn a_server_with_a_certificate_of_an_authority_is_known_by_its_name() -> Result<()> {
    let scratch = ScratchFolder::new("account-signed");
    let (certificate, key) = (scratch.path().join("signed.pem"), scratch.path().join("key.pem"));
    write_signed_certificate("play.example.com", &certificate, &key)?;
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let server = Server::start(&scratch, &["--cert", &certificate, "--key", &key])?;
    let account = DeviceAccount::from_seed(&[7; 32]);
    tokio::runtime::Runtime::new()?.block_on(async {
        for (name, expected) in [("play.example.com", true), ("evil.example.com", false)] {
            let mut raw = RawClient::connect(server.world, ALPN_WORLD).await?;
            let account_key = account.public_key().to_vec();
            let hello = Hello { version: WORLD_VERSION, account_key, ..Hello::default() };
            let answer = raw.request_answer(client_to_world::Body::Hello(hello)).await?;
            let Some(world_to_client::Body::Challenge(challenge)) = answer.body else {
                anyhow::bail!("expected a question: {answer:?}")
            };
            let named = CheckedServer::Name(name.to_owned());
            let proof = named.proof(account.prove(&challenge.nonce, &named));
            let answer = raw.request_answer(client_to_world::Body::ProveAccount(proof)).await?;
            let known = match answer.body {
                Some(world_to_client::Body::Welcome(welcome)) => {
                    AccountId::from_bytes(&welcome.account)
                }
                _ => None,
            };
            assert_eq!(known, expected.then(|| account.id()), "{name}");
        }
        Ok(())
    })
}

/// A certificate for a name with that of its authority, and its key.
fn write_signed_certificate(name: &str, certificate: &Path, key: &Path) -> Result<()> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
    let own = KeyPair::generate()?;
    let signed = CertificateParams::new(vec![name.to_owned()])?.signed_by(&own, &authority)?;
    std::fs::write(certificate, signed.pem() + &authority.pem())?;
    std::fs::write(key, own.serialize_pem())?;
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
