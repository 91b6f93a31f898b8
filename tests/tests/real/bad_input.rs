//! Misbehaving peers: each gets a clear error or a closed connection, and no other client is
//! affected.
//!
//! In each test a correct console plays in a room at the same time. It must get no error, and the
//! server must release all resources of the bad peers.

use std::net::SocketAddr;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game::game_to_client;
use ambit_proto::control::world::{
    ClientToWorld, CreateRoom, Hello, JoinRoom, LeaveRoom, ListRooms, Say, StartRoom, Ticket,
    client_to_world as ask, world_to_client as answer,
};
use ambit_proto::frame::encode_frame;
use ambit_proto::message::{Command, FieldValue, Notice, RefusalReason};
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{Console, Metrics, ScratchFolder, Server};
use ambit_transport::quic::{ALPN_GAME, ALPN_WORLD};
use anyhow::Result;

#[test]
fn another_protocol_version_gets_a_clear_answer() -> Result<()> {
    beside_a_console("version", async |server| {
        let mut raw = RawClient::connect(server, ALPN_WORLD).await?;
        let answer =
            raw.request_answer(ask::Body::Hello(Hello { version: 99, ..Hello::default() })).await?;
        let Some(answer::Body::Error(error)) = answer.body else { panic!("{answer:?}") };
        assert_eq!(error.code(), ErrorCode::VersionMismatch);
        assert!(error.message.contains("99") && error.message.contains('2'), "{}", error.message);
        raw.wait_closed().await?;
        Ok(())
    })
}

#[test]
fn random_bytes_are_answered_or_closed() -> Result<()> {
    beside_a_console("random", async |server| {
        for seed in 0..40 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let alpn = if seed % 2 == 0 { ALPN_WORLD } else { ALPN_GAME };
            let mut raw = RawClient::connect(server, alpn).await?;
            let mut bytes: Vec<u8> = (0..rng.usize(1..400)).map(|_| rng.u8(..)).collect();
            if seed % 4 < 2 {
                // A frame of a plausible length, with random contents.
                let length = (bytes.len() as u32).to_be_bytes();
                bytes.splice(0..0, length);
            }
            raw.write(&bytes).await?;
            let _ = raw.write(&bytes).await;
            if seed % 3 == 0 {
                raw.connection.close(7u32.into(), b"enough");
            }
            raw.wait_closed().await?;
        }
        Ok(())
    })
}

#[test]
fn a_frame_that_is_too_large_closes_the_connection() -> Result<()> {
    beside_a_console("oversize", async |server| {
        let mut raw = RawClient::connect(server, ALPN_WORLD).await?;
        raw.hello("giant").await?;
        raw.write(&u32::MAX.to_be_bytes()).await?;
        let code = raw
            .find(|body| match body {
                answer::Body::Goodbye(goodbye) => Some(goodbye.code()),
                answer::Body::Error(error) => Some(error.code()),
                _ => None,
            })
            .await;
        if let Ok(code) = code {
            assert_eq!(code, ErrorCode::MessageTooLarge);
        }
        raw.wait_closed().await?;
        Ok(())
    })
}

#[test]
fn unknown_messages_and_requests_out_of_state_get_named_errors() -> Result<()> {
    beside_a_console("state", async |server| {
        let mut raw = RawClient::connect(server, ALPN_WORLD).await?;
        let early = raw.request_answer(ask::Body::ListRooms(ListRooms::default())).await?;
        assert_eq!(code(early.body.as_ref()), Some(ErrorCode::OutOfState));
        raw.hello("odd").await?;
        // Field 99 of `ClientToWorld` does not exist.
        raw.write(&encode_frame(&ClientToWorld { request: 900, body: None })).await?;
        let unknown = raw.find(|body| code(Some(&body))).await?;
        assert_eq!(unknown, ErrorCode::UnknownMessage);
        // Field 15 was a request once; earlier clients may still send it.
        raw.write(&[0, 0, 0, 6, 0x08, 14, 0x7a, 2, 0x08, 12]).await?;
        let removed = raw.find(|body| code(Some(&body))).await?;
        assert_eq!(removed, ErrorCode::UnknownMessage);
        let start = raw.request_answer(ask::Body::StartRoom(StartRoom {})).await?;
        assert_eq!(code(start.body.as_ref()), Some(ErrorCode::NotInRoom));
        let join = raw
            .request_answer(ask::Body::JoinRoom(JoinRoom { room: 4_711, ..JoinRoom::default() }))
            .await?;
        assert_eq!(code(join.body.as_ref()), Some(ErrorCode::NoSuchRoom));
        let long = raw
            .request_answer(ask::Body::Say(Say { text: "x".repeat(5_000), ..Say::default() }))
            .await?;
        assert_eq!(code(long.body.as_ref()), Some(ErrorCode::BadText));
        let bell = raw
            .request_answer(ask::Body::Say(Say { text: "\u{7}".to_owned(), ..Say::default() }))
            .await?;
        assert_eq!(code(bell.body.as_ref()), Some(ErrorCode::BadText));
        let again = raw.hello("odd").await?;
        assert_eq!(code(Some(&again)), Some(ErrorCode::OutOfState));
        Ok(())
    })
}

#[test]
fn a_client_that_asks_too_often_gets_an_error_and_is_closed() -> Result<()> {
    beside_a_console("often", async |server| {
        let mut raw = RawClient::connect(server, ALPN_WORLD).await?;
        raw.hello("eager").await?;
        let request =
            ClientToWorld { request: 77, body: Some(ask::Body::ListRooms(ListRooms::default())) };
        for _ in 0..600 {
            if raw.write(&encode_frame(&request)).await.is_err() {
                break;
            }
        }
        let limited = raw
            .find(|body| code(Some(&body)).filter(|&code| code == ErrorCode::RateLimited))
            .await?;
        assert_eq!(limited, ErrorCode::RateLimited);
        // It goes on, however slow the machine is.
        for _ in 0..20_000 {
            if raw.write(&encode_frame(&request)).await.is_err() {
                break;
            }
        }
        raw.wait_closed().await?;
        Ok(())
    })
}

#[test]
fn a_client_that_never_reads_is_closed() -> Result<()> {
    beside_a_console("never-reads", async |server| {
        let mut raw = RawClient::connect(server, ALPN_WORLD).await?;
        raw.hello("never-reads").await?;
        raw.request_answer(ask::Body::ListRooms(ListRooms { subscribe: true })).await?;
        // Other clients chat; this client reads nothing, and its queue fills up.
        let mut talkers = Vec::new();
        for number in 0..8 {
            let mut talker = RawClient::connect(server, ALPN_WORLD).await?;
            talker.hello(&format!("talker{number}")).await?;
            talkers.push(talker);
        }
        let reader = raw.connection.clone();
        while reader.close_reason().is_none() {
            for talker in &mut talkers {
                talker
                    .request_answer(ask::Body::Say(Say {
                        text: "words ".repeat(80),
                        ..Say::default()
                    }))
                    .await?;
            }
        }
        Ok(())
    })
}

#[test]
fn forged_foreign_and_reused_tickets_are_refused() -> Result<()> {
    // An expired ticket would take half a minute; the unit tests of `ambit_transport::ticket`
    // cover it.
    beside_a_console_with_server("ticket", async |running| {
        let server = running.world;
        let mut raw = RawClient::connect(server, ALPN_WORLD).await?;
        raw.hello("cheat").await?;
        let ticket = ticket(&mut raw, "mine").await?;
        let good = ticket.ticket.clone();

        assert_eq!(refusal(server, b"nothing of the kind".to_vec()).await?, ErrorCode::BadTicket);
        for position in [0, good.len() / 2, good.len() - 1] {
            let mut forged = good.clone();
            forged[position] ^= 1;
            assert_eq!(refusal(server, forged).await?, ErrorCode::BadTicket, "byte {position}");
        }
        let mut first = RawClient::connect(server, ALPN_GAME).await?;
        assert!(matches!(first.join(good.clone()).await?, game_to_client::Body::Joined(_)));
        assert_eq!(refusal(server, good).await?, ErrorCode::TicketUsed);

        // A ticket of another server, which signs with another key.
        let elsewhere = ScratchFolder::new("ticket-elsewhere");
        let other = Server::start(&elsewhere, &[])?;
        let mut client = RawClient::connect(other.world, ALPN_WORLD).await?;
        client.hello("client").await?;
        let foreign = self::ticket(&mut client, "theirs").await?;
        assert_eq!(refusal(server, foreign.ticket).await?, ErrorCode::BadTicket);

        // A ticket that was valid until its only player left and the room was closed.
        let mut leaving = RawClient::connect(server, ALPN_WORLD).await?;
        leaving.hello("leaving").await?;
        let expired = self::ticket(&mut leaving, "shortlived").await?;
        running.wait_for_metrics("the third room", |metrics| metrics["ambit_host_rooms"] == 3.0)?;
        leaving.request_answer(ask::Body::LeaveRoom(LeaveRoom {})).await?;
        running.wait_for_metrics("the end of the third room", |metrics| {
            metrics["ambit_host_rooms"] == 2.0
        })?;
        assert_eq!(refusal(server, expired.ticket).await?, ErrorCode::BadTicket);

        let refused = |metrics: &Metrics| -> Vec<(String, f64)> {
            let series = metrics.iter().filter_map(|(series, &count)| {
                let reason = series
                    .strip_prefix("ambit_tickets_refused_total{reason=\"")?
                    .strip_suffix("\"}")?;
                Some((reason.to_owned(), count))
            });
            series.collect()
        };
        let has_seven =
            |metrics: &Metrics| refused(metrics).iter().map(|(_, count)| count).sum::<f64>() >= 7.0;
        let metrics = running.wait_for_metrics("seven refused tickets", has_seven)?;
        let expected = [("foreign", 1.0), ("forged", 4.0), ("malformed", 1.0), ("used", 1.0)];
        assert_eq!(refused(&metrics), expected.map(|(reason, count)| (reason.to_owned(), count)));
        Ok(())
    })
}

#[test]
fn malformed_datagrams_change_nothing() -> Result<()> {
    beside_a_console("datagrams", async |server| {
        let mut lobby = RawClient::connect(server, ALPN_WORLD).await?;
        lobby.hello("noise").await?;
        let ticket = ticket(&mut lobby, "noisy").await?;
        let mut game = RawClient::connect(server, ALPN_GAME).await?;
        assert!(matches!(game.join(ticket.ticket.clone()).await?, game_to_client::Body::Joined(_)));
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..rng.usize(0..1_100)).map(|_| rng.u8(..)).collect();
            game.connection.send_datagram(bytes.into())?;
        }
        // The client is still in the game: state continues to arrive.
        game.connection.read_datagram().await?;
        Ok(())
    })
}

#[test]
fn invalid_positions_are_refused() -> Result<()> {
    use ambit_proto::link::{Link, LinkConfig, LinkEvent};
    use ambit_proto::time::{GameTime, LocalTime};
    beside_a_console("positions", async |server| {
        let mut lobby = RawClient::connect(server, ALPN_WORLD).await?;
        lobby.hello("lost").await?;
        let ticket = ticket(&mut lobby, "nowhere").await?;
        let mut game = RawClient::connect(server, ALPN_GAME).await?;
        let game_to_client::Body::Joined(joined) = game.join(ticket.ticket.clone()).await? else {
            panic!("the host lets it join");
        };
        let schema = Schema::try_from(joined.schema.expect("a schema"))?;
        let mut link = Link::new(LinkConfig::default());
        let mut clock = 0;
        let places = [(200.5, 5.0), (5.0, 200.01), (16_000.0, 16_000.0)];
        for (number, (x, y)) in places.into_iter().enumerate() {
            let mut command = Command {
                number: number as u32,
                kind: 0,
                fields: vec![FieldValue::Position(Position::on_ground(x, y))],
            };
            let bytes = ambit_proto::wire::encode(&mut command);
            link.send_reliable(LocalTime::from_millis(clock), bytes.into(), None)
                .expect("room in the queue");
        }
        let mut refused = std::collections::BTreeSet::new();
        while refused.len() < places.len() {
            clock += 20;
            let now = LocalTime::from_millis(clock);
            let mut datagram = Vec::new();
            link.write_datagram(now, &mut datagram, |_, _| {});
            game.connection.send_datagram(datagram.into())?;
            let received = game.connection.read_datagram().await?;
            link.handle_datagram(now, &received)?;
            while let Some(event) = link.poll_event() {
                if let LinkEvent::Message(bytes) = event
                    && let Notice::Refused { command, reason } =
                        Notice::decode(&bytes, &schema, GameTime::ZERO)?
                {
                    let bad_position = RefusalReason::Code(ErrorCode::BadPosition as u16);
                    assert_eq!(reason, bad_position);
                    refused.insert(command);
                }
            }
        }
        Ok(())
    })
}

#[test]
fn half_open_connections_are_closed() -> Result<()> {
    beside_a_console("halfopen", async |server| {
        // A handshake without a stream; a stream without a hello.
        let silent = RawClient::connect(server, ALPN_WORLD).await?;
        let game = RawClient::connect(server, ALPN_GAME).await?;
        silent.wait_closed().await?;
        game.wait_closed().await?;
        Ok(())
    })
}

#[test]
fn silent_connections_do_not_block_players() -> Result<()> {
    beside_a_console_with_server("silent", async |server| {
        let mut silent = Vec::new();
        for alpn in [ALPN_WORLD, ALPN_GAME] {
            silent.extend(RawClient::connect_silent(server.world, alpn, 300).await?);
        }
        assert!(server.metrics()?["ambit_connections_made_total"] >= 301.0);
        let world = server.world;
        // On another thread, so that the silent connections still answer QUIC packets.
        tokio::task::spawn_blocking(move || visit(world)).await??;
        for connection in silent {
            connection.closed().await;
        }
        server
            .wait_for_metrics("the console alone", |metrics| metrics["ambit_connections"] == 1.0)?;
        Ok(())
    })
}

#[test]
fn a_flooding_client_that_never_reads_affects_only_itself() -> Result<()> {
    beside_a_console_with_server("shout", async |server| {
        let mut lobby = RawClient::connect(server.world, ALPN_WORLD).await?;
        lobby.hello("loud").await?;
        // Joins the console's room, which is the first one of its server.
        let join = ask::Body::JoinRoom(JoinRoom { room: 1, ..JoinRoom::default() });
        let ticket = request_ticket(&mut lobby, join).await?;
        let mut game = RawClient::connect(server.world, ALPN_GAME).await?;
        assert!(matches!(game.join(ticket.ticket).await?, game_to_client::Body::Joined(_)));
        let before_kib = server.resident_kib()?;
        // From here on neither its datagrams nor its control stream are read.
        let datagram = bytes::Bytes::from(vec![7; 1_000]);
        for _ in 0..30_000 {
            game.connection.send_datagram_wait(datagram.clone()).await?;
        }
        let dropped = "ambit_drops_total{queue=\"game_inbox\",reason=\"full\"}";
        let metrics = server.wait_for_metrics("the drops", |metrics| metrics[dropped] > 0.0)?;
        let grown_kib = server.resident_kib()?.saturating_sub(before_kib);
        println!(
            "{} of 30,000 datagrams dropped, the server grew by {grown_kib} KiB",
            metrics[dropped]
        );
        // The datagrams are 30 MB.
        assert!(grown_kib < 10 << 10, "the server grew by {grown_kib} KiB");
        Ok(())
    })
}

/// A player joins, plays and quits.
fn visit(world: SocketAddr) -> Result<()> {
    let scratch = ScratchFolder::new("visitor");
    let mut bob = Console::start(&scratch, world, "bob", &[])?;
    bob.run_command("create another game=field npcs=0", "created")?;
    bob.run_command("start", "started")?;
    let own =
        bob.wait_until("his avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    bob.type_in("watch on")?;
    bob.type_in("move 110 110")?;
    bob.wait_until("his first steps", |event| event["ev"] == "update" && event["id"] == own["id"])?;
    assert_eq!(bob.quit()?.0, 0);
    Ok(())
}

/// Runs a misbehaving peer while a console plays in a room; the console must get no error.
fn beside_a_console(name: &str, bad: impl AsyncFnOnce(SocketAddr) -> Result<()>) -> Result<()> {
    beside_a_console_with_server(name, async |server: &Server| bad(server.world).await)
}

/// Like [`beside_a_console`], for tests that also read the server's metrics.
fn beside_a_console_with_server(
    name: &str,
    bad: impl AsyncFnOnce(&Server) -> Result<()>,
) -> Result<()> {
    let scratch = ScratchFolder::new(name);
    let mut server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create quiet game=field npcs=5", "created")?;
    ann.run_command("start", "started")?;
    ann.wait_until("her avatar", |event| event["ev"] == "enter" && event["own"] == true)?;
    ann.type_in("move 110 110")?;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(bad(&server))?;
    runtime.shutdown_background();

    ann.type_in("move 100 100")?;
    let stats = ann.run_command("stats", "stats")?;
    let noticed = ann
        .events
        .iter()
        .find(|event| ["error", "left"].contains(&event["ev"].as_str().unwrap_or_default()));
    assert_eq!(noticed, None, "{stats}");
    let log = server.take_log();
    assert!(
        !log.iter().any(|line| line.contains("ERROR") || line.contains("panicked")),
        "{log:#?}"
    );
    assert_eq!(ann.quit()?.0, 0);
    // The resources of the bad peers are released.
    server.wait_for_metrics("the end of all connections", |metrics| {
        metrics["ambit_connections"] == 0.0
    })?;
    Ok(())
}

/// Creates a room, starts it and gets a ticket for it.
async fn ticket(raw: &mut RawClient, room: &str) -> Result<Ticket> {
    let create = CreateRoom {
        name: room.to_owned(),
        game: "field".to_owned(),
        key: vec![7; 16],
        ..CreateRoom::default()
    };
    let created = raw.request_answer(ask::Body::CreateRoom(create)).await?;
    assert!(matches!(created.body, Some(answer::Body::RoomCreated(_))), "{created:?}");
    request_ticket(raw, ask::Body::StartRoom(StartRoom {})).await
}

/// Sends a request that is answered with a ticket.
async fn request_ticket(raw: &mut RawClient, body: ask::Body) -> Result<Ticket> {
    raw.write(&encode_frame(&ClientToWorld { request: 1_000, body: Some(body) })).await?;
    raw.find(|body| if let answer::Body::Ticket(ticket) = body { Some(ticket) } else { None }).await
}

async fn refusal(server: SocketAddr, ticket: Vec<u8>) -> Result<ErrorCode> {
    let mut game = RawClient::connect(server, ALPN_GAME).await?;
    let game_to_client::Body::Error(error) = game.join(ticket).await? else {
        panic!("a bad ticket was accepted")
    };
    game.wait_closed().await?;
    Ok(error.code())
}

fn code(body: Option<&answer::Body>) -> Option<ErrorCode> {
    match body {
        Some(answer::Body::Error(error)) => Some(error.code()),
        _ => None,
    }
}
