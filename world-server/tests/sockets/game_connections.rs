//! Connections to a game: what is refused, dropped and reported.

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game::{ClientToGame, Join, client_to_game};
use ambit_proto::control::world::{
    RequestTicket, client_to_world::Body as LobbyRequestBody,
    world_to_client::Body as LobbyMessageBody,
};
use ambit_proto::frame::encode_frame;
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::message::{Command, FieldValue, Notice, RefusalReason};
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_transport::quic;
use quinn::Side;

use crate::harness::{GameClient, RunningServer, TestClient, close_reason, http, within};

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_datagrams_gets_an_error_and_keeps_its_ticket() {
    let server = RunningServer::start(&[]);
    let mut ann = TestClient::hello(&server, "ann").await;
    let ticket = ann.open_room("field").await;
    let mut transport = quic::transport_config(Side::Client);
    transport.datagram_receive_buffer_size(None);
    let mut without = GameClient::connect_with(&ticket, transport).await;
    without.send_join(&ticket).await;
    let error = without.next_error().await;
    assert_eq!(error.code(), ErrorCode::Unsupported);
    assert!(
        error.message.contains("does not accept datagrams") && error.message.contains("1150"),
        "{}",
        error.message
    );
    assert!(close_reason(&without.connection).await.contains("datagrams"));

    GameClient::join(&ticket).await.expect_joined().await;
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_connection_without_a_join_is_told_why_it_is_closed() {
    let server = RunningServer::start(&[]);
    let mut ann = TestClient::hello(&server, "ann").await;
    let ticket = ann.open_room("field").await;
    let silent = GameClient::connect(&ticket).await;
    let mut half = GameClient::connect(&ticket).await;
    // QUIC announces a stream with its first byte: here a part of a frame's length.
    half.to_server.write_all(&[0, 0]).await.expect("an open stream");
    let error = half.next_error().await;
    assert_eq!(error.code(), ErrorCode::Idle);
    assert!(error.message.contains("`Join`"), "{}", error.message);
    for connection in [&silent.connection, &half.connection] {
        let reason = close_reason(connection).await;
        assert!(reason.starts_with("idle: no `Join` came"), "{reason}");
    }
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_game_drops_is_reported_to_the_client_and_counted() {
    let server = RunningServer::start(&[]);
    let mut ann = TestClient::hello(&server, "ann").await;
    let ticket = ann.open_room("field").await;
    let mut game = GameClient::join(&ticket).await;
    let schema = game.expect_joined().await.schema.expect("a schema");
    let schema = Schema::try_from(schema).expect("a valid schema");

    let mut link = Link::new(LinkConfig::client());
    let mut now = LocalTime::ZERO;
    let refused = loop {
        // The first one steers, and makes all others outdated.
        let mut command = Command {
            number: 7,
            kind: 0,
            fields: vec![FieldValue::Position(Position::on_ground(1.0, 1.0))],
        };
        let bytes = ambit_proto::wire::encode(&mut command).into();
        link.send_reliable(now, bytes, None).expect("an empty queue");
        let mut datagram = Vec::new();
        link.write_datagram(now, &mut datagram, |_, _| {});
        game.send_datagram(datagram);
        let received = within(game.connection.read_datagram()).await.expect("the room ticks");
        now += Duration::from_millis(50);
        link.handle_datagram(now, &received).expect("well formed");
        let messages = std::iter::from_fn(|| link.poll_event());
        let notices = messages.filter_map(|event| match event {
            LinkEvent::Message(bytes) => Notice::decode(&bytes, &schema, GameTime::ZERO).ok(),
            _ => None,
        });
        let refusal = |notice| match notice {
            Notice::Refused { command, reason } => Some((command, reason)),
            Notice::Event { .. } => None,
        };
        if let Some(refused) = notices.filter_map(refusal).last() {
            break refused;
        }
    };
    let outdated = RefusalReason::Code(ErrorCode::Outdated as u16);
    assert_eq!(refused, (7, outdated));

    for _ in 0..10 {
        game.send_datagram(vec![0xff; 20]);
    }
    let error = game.next_error().await;
    assert_eq!(error.code(), ErrorCode::Malformed);
    assert!(error.message.contains("could not be decoded"), "{}", error.message);
    for _ in 0..500 {
        game.send_datagram(vec![0xff; 20]);
    }
    assert_eq!(game.expect_error().await, ErrorCode::RateLimited);
    within(game.connection.read_datagram()).await.expect("the game goes on");

    let address = server.addresses.http.expect("HTTP is on");
    let counted = |metrics: &str, queue: &str, reason: &str| {
        let series = format!("queue=\"{queue}\",reason=\"{reason}\"}} ");
        let (_, rest) = metrics.split_once(&series).expect("a counter of this kind");
        !rest.starts_with("0\n")
    };
    // Hosts report once a second.
    within(async {
        loop {
            let metrics = http(address, "/metrics").await;
            if counted(&metrics, "game_commands", "outdated")
                && counted(&metrics, "game_datagrams", "malformed")
                && counted(&metrics, "game_inbox", "full")
            {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_breaks_the_game_protocol_is_told_what_was_wrong() {
    let server = RunningServer::start(&[]);
    let mut ann = TestClient::hello(&server, "ann").await;
    let mut ticket = ann.open_room("field").await;
    let unknown = encode_frame(&ClientToGame { body: None });
    let join = ClientToGame { body: Some(client_to_game::Body::Join(Join::default())) };
    for (bytes, code, part) in [
        (encode_frame(&join), ErrorCode::OutOfState, "`Join` is sent once"),
        (vec![0, 0, 0, 3, 0xff, 0xff, 0xff].into(), ErrorCode::Malformed, "does not decode"),
        (vec![0xff; 4].into(), ErrorCode::MessageTooLarge, ""),
    ] {
        let mut game = GameClient::join(&ticket).await;
        game.expect_joined().await;
        // Unknown messages are ignored, and reported once.
        for _ in 0..3 {
            game.to_server.write_all(&unknown).await.expect("an open stream");
        }
        assert_eq!(game.expect_error().await, ErrorCode::UnknownMessage);
        game.to_server.write_all(&bytes).await.expect("an open stream");
        let error = game.next_error().await;
        assert_eq!(error.code(), code, "{}", error.message);
        assert!(error.message.contains(part), "{}", error.message);
        let reason = close_reason(&game.connection).await;
        assert!(reason.ends_with(&error.message), "{reason}");

        let again = ann.request(LobbyRequestBody::RequestTicket(RequestTicket {})).await;
        let LobbyMessageBody::Ticket(again) = again else { panic!("{again:?}") };
        ticket = again;
    }
    server.end();
}
