//! The server over real sockets: a whole server in this process, and clients that send raw protocol
//! messages.
//!
//! The decisions of the lobby and of rooms are tested beside them; only what needs a socket, a
//! thread or a panic is tested here.

/// Reads messages of the lobby until one of this variant arrives, and returns its content.
macro_rules! find_message {
    ($client:expr, $variant:ident) => {
        loop {
            if let Some(LobbyMessageBody::$variant(found)) = $client.next().await.body {
                break found;
            }
        }
    };
}

mod game_connections;
mod harness;

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game::{Leave, client_to_game};
use ambit_proto::control::world::{
    ClientToWorld, CreateRoom, ListRooms, RequestTicket, Say,
    client_to_world::Body as LobbyRequestBody, world_to_client::Body as LobbyMessageBody,
};
use ambit_proto::frame::{MAX_TO_GAME, MAX_TO_WORLD, encode_frame};
use ambit_transport::quic::ALPN_WORLD;
use ambit_world_server::Server;
use tokio::time::MissedTickBehavior;

use harness::{
    GameClient, RunningServer, ScratchDirectory, TestClient, closed_with, connect, http, registry,
    within,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_player_moves_from_the_lobby_to_a_game_and_back() {
    let server = RunningServer::start(&[]);
    let mut ann = TestClient::hello(&server, "ann").await;
    let ticket = ann.open_room("field").await;
    assert_eq!(ticket.certificate_sha256, server.addresses.fingerprint.0);

    let mut game = GameClient::join(&ticket).await;
    let joined = game.expect_joined().await;
    assert_eq!(joined.room, ticket.room);
    assert!(joined.schema.is_some_and(|schema| schema.game == "field"));
    let datagram = within(game.connection.read_datagram()).await.expect("the first datagram");
    assert!(!datagram.is_empty());

    game.send(client_to_game::Body::Leave(Leave {})).await;
    assert_eq!(game.expect_removed().await, ErrorCode::ErrorUnspecified);
    let left = find_message!(ann, RoomLeft);
    assert_eq!(left.room, ticket.room);
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_valid_once_and_a_second_connection_takes_over() {
    let server = RunningServer::start(&[]);
    let mut ann = TestClient::hello(&server, "ann").await;
    let ticket = ann.open_room("field").await;
    let mut first = GameClient::join(&ticket).await;
    first.expect_joined().await;

    assert_eq!(GameClient::join(&ticket).await.expect_error().await, ErrorCode::TicketUsed);
    let mut forged = ticket.clone();
    // The signature takes 64 bytes; this byte is of what it signs.
    forged.ticket[70] ^= 1;
    assert_eq!(GameClient::join(&forged).await.expect_error().await, ErrorCode::BadTicket);

    let again = ann.request(LobbyRequestBody::RequestTicket(RequestTicket {})).await;
    let LobbyMessageBody::Ticket(again) = again else { panic!("{again:?}") };
    let mut second = GameClient::join(&again).await;
    second.expect_joined().await;
    assert_eq!(first.expect_removed().await, ErrorCode::TakenOver);
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_room_affects_no_other_room() {
    let server = RunningServer::start(&[]);
    let mut ann = TestClient::hello(&server, "ann").await;
    let mut bob = TestClient::hello(&server, "bob").await;
    let bad = ann.open_room("bomb").await;
    let good = bob.open_room("field").await;
    let mut inside = GameClient::join(&good).await;
    inside.expect_joined().await;

    let mut victim = GameClient::join(&bad).await;
    victim.expect_joined().await;
    assert_eq!(victim.expect_removed().await, ErrorCode::RoomCrashed);
    assert_eq!(closed_with(&victim.connection).await, ErrorCode::RoomCrashed);
    let left = find_message!(ann, RoomLeft);
    assert_eq!(left.reason(), ErrorCode::RoomCrashed);

    within(inside.connection.read_datagram()).await.expect("the other room still ticks");
    ann.open_room("field").await;
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_room_leaves_its_thread_running() {
    let server = RunningServer::start(&[]);
    let mut ann = TestClient::hello(&server, "ann").await;
    let bad = ann.open_room("bomb").await;
    // There are as many threads as cores, and a new room goes to the one with the fewest rooms. So
    // with two rooms a thread, one of them shares the bomb's thread.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut neighbours = Vec::new();
    for number in 1..2 * threads {
        let mut owner = TestClient::hello(&server, &format!("owner {number}")).await;
        let ticket = owner.open_room("field").await;
        neighbours.push((owner, ticket));
    }

    let mut victim = GameClient::join(&bad).await;
    victim.expect_joined().await;
    assert_eq!(victim.expect_removed().await, ErrorCode::RoomCrashed);

    // A player who joins now is admitted only by a room that reads messages, and gets data only
    // from one that ticks.
    for (_, ticket) in &neighbours {
        let mut inside = GameClient::join(ticket).await;
        assert_eq!(inside.expect_joined().await.room, ticket.room);
        within(inside.connection.read_datagram()).await.expect("the room still ticks");
    }
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_message_is_refused_and_closes_the_connection() {
    let server = RunningServer::start(&[]);
    let mut oversize = TestClient::hello(&server, "ann").await;
    oversize.to_server.write_all(&(MAX_TO_WORLD as u32 + 1).to_be_bytes()).await.unwrap();
    assert_eq!(closed_with(&oversize.connection).await, ErrorCode::MessageTooLarge);

    let mut nonsense = TestClient::hello(&server, "bob").await;
    nonsense.to_server.write_all(&[0, 0, 0, 3, 0xff, 0xff, 0xff]).await.unwrap();
    assert_eq!(closed_with(&nonsense.connection).await, ErrorCode::Malformed);

    let ticket = TestClient::hello(&server, "cid").await.open_room("field").await;
    let mut game = GameClient::connect(&ticket).await;
    game.to_server.write_all(&(MAX_TO_GAME as u32 + 1).to_be_bytes()).await.unwrap();
    assert_eq!(game.expect_error().await, ErrorCode::MessageTooLarge);
    TestClient::hello(&server, "dan").await;
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_closed_and_blocks_no_other_client() {
    let server = RunningServer::start(&[]);
    let mut reader = TestClient::hello(&server, "reader").await;
    // A few answers fill what QUIC may send; the others wait in the server.
    let mut slow = TestClient::hello_with_window(&server, "slow", 1_024).await;
    let closed = slow.connection.clone();
    let requests = async {
        // Slowly enough that the server accepts some of them: a client is also closed if too many
        // are refused in a row. Each is answered, and no answer is read.
        let mut pace = tokio::time::interval(Duration::from_millis(4));
        // After a stall, no burst makes up for the missed ones.
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for request in 2.. {
            pace.tick().await;
            let message = ClientToWorld {
                request,
                body: Some(LobbyRequestBody::ListRooms(ListRooms { subscribe: true })),
            };
            let written = slow.to_server.write_all(&encode_frame(&message)).await;
            if written.is_err() {
                break;
            }
        }
    };
    within(requests).await;
    assert_eq!(closed_with(&closed).await, ErrorCode::SlowReader);
    let list = LobbyRequestBody::ListRooms(ListRooms::default());
    let answer = reader.request(list).await;
    assert!(matches!(answer, LobbyMessageBody::RoomList(_)), "{answer:?}");
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_behind_in_its_news_stays_and_learns_what_it_has_missed() {
    let server = RunningServer::start(&[]);
    let mut behind = TestClient::hello_with_window(&server, "behind", 1_024).await;
    let subscription = LobbyRequestBody::ListRooms(ListRooms { subscribe: true });
    behind.request(subscription).await;
    // It reads nothing now, while 30 players write as much as they may at once.
    let line = LobbyRequestBody::Say(Say { text: "x".repeat(400), ..Say::default() });
    let mut talkers = Vec::new();
    for number in 0..30 {
        let mut talker = TestClient::hello(&server, &format!("talker {number}")).await;
        for _ in 0..20 {
            let said = talker.request(line.clone()).await;
            assert!(matches!(said, LobbyMessageBody::Done(_)), "{said:?}");
        }
        if number == 29 {
            talker.open_room("field").await;
        }
        talkers.push(talker);
    }
    let mut read = 0;
    let mut missed = 0;
    while read + missed < 600 {
        match behind.next().await.body {
            Some(LobbyMessageBody::Chat(_)) => read += 1,
            Some(LobbyMessageBody::MissedNews(news)) => missed += news.chats,
            other => assert!(
                matches!(
                    other,
                    Some(LobbyMessageBody::RoomList(_) | LobbyMessageBody::RoomChange(_))
                ),
                "{other:?}"
            ),
        }
    }
    assert_eq!(read + missed, 600);
    assert!(missed > 300, "{missed} missed");
    let http_address = server.addresses.http.expect("HTTP is on");
    let metrics = http(http_address, "/metrics").await;
    let counted =
        format!("ambit_drops_total{{queue=\"lobby_out\",reason=\"missed_chat\"}} {missed}");
    assert!(metrics.contains(&counted), "{counted} is not in\n{metrics}");
    // It is a client like any other.
    let said = behind.request(line).await;
    assert!(matches!(said, LobbyMessageBody::Done(_)), "{said:?}");
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_that_asks_for_more_than_the_operator_allows_is_refused() {
    let server = RunningServer::start(&["--room-limit", "tick=30,field.npcs=50"]);
    let mut ann = TestClient::hello(&server, "ann").await;
    for (parameters, capacity, refusal) in [
        (&[("tick", "60")][..], 0, Some("allows 30")),
        (&[("npcs", "51")], 0, Some("allows 50")),
        (&[("budget", "20000")], 0, Some("allows 10000")),
        // All players see all objects.
        (&[("size", "20x20")], 2_000, Some("pairs")),
        (&[("tick", "30"), ("npcs", "50")], 2_000, None),
    ] {
        let given = parameters.iter();
        let given = given.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let create = CreateRoom {
            name: "den".into(),
            game: "field".into(),
            capacity,
            parameters: given.collect(),
            ..CreateRoom::default()
        };
        match (ann.request(LobbyRequestBody::CreateRoom(create)).await, refusal) {
            (LobbyMessageBody::RoomCreated(_), None) => {}
            (LobbyMessageBody::Error(error), Some(reason)) => {
                assert_eq!(error.code(), ErrorCode::BadParameter);
                assert!(error.message.contains(reason), "{}", error.message);
            }
            (other, _) => panic!("{parameters:?}, {capacity} seats: {other:?}"),
        }
    }
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_over_the_limit_and_one_without_a_hello_are_closed() {
    let server = RunningServer::start(&["--max-connections-per-address", "1", "--trusted", "off"]);
    let first = connect(&server.addresses, ALPN_WORLD).await;
    let second = connect(&server.addresses, ALPN_WORLD).await;
    // The lobby may learn of the second one first.
    let mut codes = [closed_with(&first).await, closed_with(&second).await];
    codes.sort_by_key(|code| *code as i32);
    assert_eq!(codes, [ErrorCode::TooManyFromAddress, ErrorCode::Idle]);
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_to_which_nobody_connects_is_closed() {
    let server = RunningServer::start(&["--abandoned", "1s", "--grace", "1s"]);
    let (mut ann, mut bob) =
        (TestClient::hello(&server, "ann").await, TestClient::hello(&server, "bob").await);
    let played = ann.open_room("field").await;
    let mut game = GameClient::join(&played).await;
    game.expect_joined().await;
    let unplayed = bob.open_room("field").await;
    let left = find_message!(bob, RoomLeft);
    assert_eq!((left.room, left.reason()), (unplayed.room, ErrorCode::RoomClosed));
    let list = LobbyRequestBody::ListRooms(ListRooms::default());
    let LobbyMessageBody::RoomList(list) = bob.request(list).await else {
        panic!("expected the rooms")
    };
    let rooms: Vec<_> = list.rooms.iter().map(|room| room.id).collect();
    assert_eq!(rooms, [played.room]);
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_notifies_lobby_and_game_clients() {
    let server = RunningServer::start(&[]);
    let mut ann = TestClient::hello(&server, "ann").await;
    let ticket = ann.open_room("field").await;
    let mut game = GameClient::join(&ticket).await;
    game.expect_joined().await;

    server.server.begin_shutdown();
    find_message!(ann, Goodbye);
    assert_eq!(closed_with(&ann.connection).await, ErrorCode::Draining);
    assert!([ErrorCode::Draining, ErrorCode::RoomClosed].contains(&game.expect_removed().await));
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn http_serves_health_and_metrics() {
    let server = RunningServer::start(&[]);
    let _ann = TestClient::hello(&server, "ann").await;
    let address = server.addresses.http.expect("HTTP is on");
    assert!(http(address, "/healthz").await.starts_with("HTTP/1.1 200"));
    let metrics = http(address, "/metrics").await;
    assert!(metrics.contains("\nambit_connections 1\n"), "{metrics}");
    assert_eq!(metrics.matches("queue=\"handshakes\",reason=\"full\"").count(), 1, "{metrics}");
    assert!(http(address, "/").await.contains("content-encoding: gzip"));
    assert!(http(address, "/status").await.contains("Rooms"));
    assert!(http(address, "/nothing").await.starts_with("HTTP/1.1 404"));
    server.end();
}

#[tokio::test]
async fn a_taken_port_is_reported_as_an_error() {
    let server = RunningServer::start(&[]);
    let address = server.addresses.world;
    let scratch = ScratchDirectory::new();
    let config = scratch.config(&["--listen", &address.to_string()]);
    let error = Server::start(config, registry()).unwrap_err().to_string();
    assert!(error.contains(&format!("port {} is taken", address.port())), "{error}");
    server.end();
}
