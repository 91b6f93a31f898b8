//! Browsers are players like all others.

use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::game::game_to_client;
use ambit_proto::control::world::{
    ClientToWorld, CreateRoom, Hello, StartRoom, Ticket, WorldToClient, client_to_world as ask,
    world_to_client as answer,
};
use ambit_proto::frame::encode_frame;
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{Browser, ScratchFolder, Server, server_signal};
use ambit_transport::quic::Fingerprint;
use anyhow::{Context, Result, bail, ensure};
use prost::Message as _;
use serde_json::json;

#[test]
fn a_browser_gets_into_a_room_and_receives_datagrams() -> Result<()> {
    for hosts in ["embedded", "process:1"] {
        let scratch = ScratchFolder::new("browsers");
        let server = Server::start(&scratch, &["--hosts", hosts])?;
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(play(&server)).with_context(|| hosts)?;
    }
    Ok(())
}

async fn play(server: &Server) -> Result<()> {
    let certificates = web_certificates(server)?;
    let mut lobby =
        RawClient::connect_by_web(server.world, "/ambit-world/1", &certificates).await?;
    let answer::Body::Welcome(_) = lobby.hello("ann").await? else { bail!("expected a welcome") };
    let create = CreateRoom { name: "den".into(), game: "field".into(), ..CreateRoom::default() };
    lobby.request_answer(ask::Body::CreateRoom(create)).await?;
    lobby.send_request(ask::Body::StartRoom(StartRoom {})).await?;
    let ticket: Ticket = lobby
        .find(|body| match body {
            answer::Body::Ticket(ticket) => Some(ticket),
            _ => None,
        })
        .await?;
    let certificates = fingerprints(&ticket.web_certificates_sha256)?;
    let host = ticket.address.parse()?;
    let mut game = RawClient::connect_by_web(host, "/ambit-game/1", &certificates).await?;
    let game_to_client::Body::Joined(_) = game.join(ticket.ticket).await? else {
        bail!("expected to join")
    };
    let datagram = game.connection.read_datagram().await?;
    assert_eq!(datagram.first(), Some(&0), "of the session of the first request");
    Ok(())
}

#[test]
fn what_a_page_knows_is_right_after_a_restart() -> Result<()> {
    let scratch = ScratchFolder::new("browsers-again");
    let server = Server::start(&scratch, &[])?;
    let certificates = web_certificates(&server)?;
    server_signal(server.id(), "KILL")?;
    server.wait()?;
    let server = Server::start(&scratch, &[])?;
    assert_eq!(web_certificates(&server)?, certificates);
    tokio::runtime::Runtime::new()?.block_on(async {
        RawClient::connect_by_web(server.world, "/ambit-world/1", &certificates).await?;
        Ok(())
    })
}

/// The certificates that the server says it shows to browsers.
fn web_certificates(server: &Server) -> Result<Vec<Fingerprint>> {
    let (status, text) = server.get("/connect.json")?;
    ensure!(status == 200, "{status}: {text}");
    let page: serde_json::Value = serde_json::from_str(&text)?;
    assert_eq!(page["address"], server.world.to_string());
    let hashes = page["certificates_sha256"].as_array().context("hashes")?;
    let hashes = hashes.iter().map(|hash| {
        let hash = hash.as_str().context("a text")?;
        Ok(hash.parse::<Fingerprint>()?)
    });
    hashes.collect()
}

fn fingerprints(hashes: &[Vec<u8>]) -> Result<Vec<Fingerprint>> {
    ensure!(!hashes.is_empty(), "the ticket names no certificate for browsers");
    let hashes = hashes.iter().map(|hash| Ok(Fingerprint::try_from(&hash[..])?));
    hashes.collect()
}

/// Opens a session and a stream, writes `args.hello`, and returns the first bytes of the answer.
const SAY_HELLO: &str = r#"
    const hashes = args.hashes.map(hex => ({
      algorithm: "sha-256",
      value: Uint8Array.from(hex.match(/../g), byte => parseInt(byte, 16)),
    }));
    const session = new WebTransport(`https://${args.address}${args.path}`,
      { serverCertificateHashes: hashes });
    await session.ready;
    const stream = await session.createBidirectionalStream();
    await stream.writable.getWriter().write(Uint8Array.from(args.hello));
    const { value } = await stream.readable.getReader().read();
    session.close();
    return [...value];
"#;

#[test]
fn chromium_speaks_to_the_lobby_and_knows_the_certificate_by_its_hash() -> Result<()> {
    let scratch = ScratchFolder::new("chromium");
    let server = Server::start(&scratch, &[])?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let browser = Browser::start(&scratch).await?;
        browser.open(&format!("http://{}/", server.http)).await?;
        let certificates = web_certificates(&server)?;
        let hashes: Vec<_> = certificates.iter().map(ToString::to_string).collect();
        let hello = ClientToWorld {
            request: 1,
            body: Some(ask::Body::Hello(Hello {
                version: WORLD_VERSION,
                name: "ann".into(),
                ..Hello::default()
            })),
        };
        let mut args = json!({
            "address": server.world.to_string(),
            "path": "/ambit-world/1",
            "hashes": hashes,
            "hello": encode_frame(&hello).to_vec(),
        });
        let answer = browser.run(SAY_HELLO, args.clone()).await?;
        let answer: Vec<u8> = serde_json::from_value(answer)?;
        let message = WorldToClient::decode(answer.get(4..).context("a frame")?)?;
        let Some(answer::Body::Welcome(welcome)) = message.body else {
            bail!("expected a welcome, not {message:?}")
        };
        assert_eq!(welcome.name, "ann");

        args["path"] = "/other".into();
        let refused = browser.run(SAY_HELLO, args.clone()).await;
        assert!(refused.is_err(), "nothing is served there: {refused:?}");
        args["path"] = "/ambit-world/1".into();
        args["hashes"] = json!(["00".repeat(32)]);
        let refused = browser.run(SAY_HELLO, args).await;
        assert!(refused.is_err(), "another certificate: {refused:?}");
        browser.close().await
    })
}
