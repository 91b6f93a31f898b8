//! The server over real sockets: a whole server in this process, and clients that send raw protocol
//! messages.
//!
//! The decisions of the lobby and of rooms are tested beside them; only what needs a socket, a
//! thread or a panic is tested here.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game::{
    ClientToGame, GameToClient, Join, Leave, client_to_game, game_to_client,
};
use ambit_proto::control::world::{
    ClientToWorld, CreateRoom, Hello, ListRooms, RequestTicket, StartRoom, Ticket, WorldToClient,
    client_to_world::Body as LobbyRequestBody, world_to_client::Body as LobbyMessageBody,
};
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::message::{Action, Command, Notice};
use ambit_proto::schema::{Codec, ComponentSpec, ObjectKind, Schema};
use ambit_proto::time::LocalTime;
use ambit_room::config::{BadParameter, Parameters};
use ambit_room::logic::game::{Game, Refusal};
use ambit_room::logic::registry::{GameInfo, Registry};
use ambit_room::logic::world::World;
use ambit_transport::frame::{
    MAX_FROM_GAME, MAX_FROM_WORLD, MAX_TO_GAME, MAX_TO_WORLD, encode_frame,
};
use ambit_transport::frame_reader::FrameReader;
use ambit_transport::quic::{self, ALPN_GAME, ALPN_WORLD, Fingerprint, FingerprintVerifier};
use ambit_world_server::config::Config;
use ambit_world_server::{Addresses, Server};
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, RecvStream, SendStream, Side,
    TransportConfig, VarInt,
};
use tokio::time::MissedTickBehavior;

/// Time limit of a step, much longer than any step takes.
const STEP_TIMEOUT: Duration = Duration::from_secs(20);

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
    let datagram = within(game.connection.read_datagram())
        .await
        .expect("the first datagram");
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

    assert_eq!(
        GameClient::join(&ticket).await.expect_error().await,
        ErrorCode::TicketUsed
    );
    let mut forged = ticket.clone();
    // The signature takes 64 bytes; this byte is of what it signs.
    forged.ticket[70] ^= 1;
    assert_eq!(
        GameClient::join(&forged).await.expect_error().await,
        ErrorCode::BadTicket
    );

    let again = ann
        .request(LobbyRequestBody::RequestTicket(RequestTicket {}))
        .await;
    let LobbyMessageBody::Ticket(again) = again else {
        panic!("{again:?}")
    };
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
    let (bad, good) = (ann.open_room("bomb").await, bob.open_room("field").await);
    let mut inside = GameClient::join(&good).await;
    inside.expect_joined().await;

    let mut victim = GameClient::join(&bad).await;
    victim.expect_joined().await;
    assert_eq!(victim.expect_removed().await, ErrorCode::RoomCrashed);
    assert_eq!(
        closed_with(&victim.connection).await,
        ErrorCode::RoomCrashed
    );
    let left = find_message!(ann, RoomLeft);
    assert_eq!(left.reason(), ErrorCode::RoomCrashed);

    within(inside.connection.read_datagram())
        .await
        .expect("the other room still ticks");
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
        within(inside.connection.read_datagram())
            .await
            .expect("the room still ticks");
    }
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_message_is_refused_and_closes_the_connection() {
    let server = RunningServer::start(&[]);
    let mut oversize = TestClient::hello(&server, "ann").await;
    oversize
        .to_server
        .write_all(&(MAX_TO_WORLD as u32 + 1).to_be_bytes())
        .await
        .unwrap();
    assert_eq!(
        closed_with(&oversize.connection).await,
        ErrorCode::MessageTooLarge
    );

    let mut nonsense = TestClient::hello(&server, "bob").await;
    nonsense
        .to_server
        .write_all(&[0, 0, 0, 3, 0xff, 0xff, 0xff])
        .await
        .unwrap();
    assert_eq!(
        closed_with(&nonsense.connection).await,
        ErrorCode::Malformed
    );

    let ticket = TestClient::hello(&server, "cid")
        .await
        .open_room("field")
        .await;
    let mut game = GameClient::connect(&ticket).await;
    game.to_server
        .write_all(&(MAX_TO_GAME as u32 + 1).to_be_bytes())
        .await
        .unwrap();
    assert_eq!(game.expect_error().await, ErrorCode::MessageTooLarge);
    TestClient::hello(&server, "dan").await;
    server.end();
}

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
    assert!(
        close_reason(&without.connection)
            .await
            .contains("datagrams")
    );

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
    half.to_server
        .write_all(&[0, 0])
        .await
        .expect("an open stream");
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
    game.expect_joined().await;

    let mut link = Link::new(LinkConfig::client());
    let mut now = LocalTime::ZERO;
    let refused = loop {
        // The first one steers, and makes all others outdated.
        let mut command = Command {
            number: 7,
            action: Action::Move { x: 1.0, y: 1.0 },
        };
        let bytes = ambit_proto::wire::encode(&mut command).into();
        link.send_reliable(now, bytes, None)
            .expect("an empty queue");
        let mut datagram = Vec::new();
        link.write_datagram(now, &mut datagram, |_, _| {});
        game.send_datagram(datagram);
        let received = within(game.connection.read_datagram())
            .await
            .expect("the room ticks");
        now += Duration::from_millis(50);
        link.handle_datagram(now, &received).expect("well formed");
        let messages = std::iter::from_fn(|| link.poll_event());
        let notices = messages.filter_map(|event| match event {
            LinkEvent::Message(bytes) => ambit_proto::wire::decode::<Notice>(&bytes).ok(),
            _ => None,
        });
        let refusal = |notice| match notice {
            Notice::Refused { command, code } => Some((command, code)),
            Notice::Event { .. } => None,
        };
        if let Some(refused) = notices.filter_map(refusal).last() {
            break refused;
        }
    };
    assert_eq!(refused, (7, ErrorCode::Outdated as u16));

    for _ in 0..10 {
        game.send_datagram(vec![0xff; 20]);
    }
    let error = game.next_error().await;
    assert_eq!(error.code(), ErrorCode::Malformed);
    assert!(
        error.message.contains("could not be decoded"),
        "{}",
        error.message
    );
    for _ in 0..500 {
        game.send_datagram(vec![0xff; 20]);
    }
    assert_eq!(game.expect_error().await, ErrorCode::RateLimited);
    within(game.connection.read_datagram())
        .await
        .expect("the game goes on");

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
    let join = ClientToGame {
        body: Some(client_to_game::Body::Join(Join::default())),
    };
    for (bytes, code, part) in [
        (
            encode_frame(&join),
            ErrorCode::OutOfState,
            "`Join` is sent once",
        ),
        (
            vec![0, 0, 0, 3, 0xff, 0xff, 0xff].into(),
            ErrorCode::Malformed,
            "does not decode",
        ),
        (vec![0xff; 4].into(), ErrorCode::MessageTooLarge, ""),
    ] {
        let mut game = GameClient::join(&ticket).await;
        game.expect_joined().await;
        // Unknown messages are ignored, and reported once.
        for _ in 0..3 {
            game.to_server
                .write_all(&unknown)
                .await
                .expect("an open stream");
        }
        assert_eq!(game.expect_error().await, ErrorCode::UnknownMessage);
        game.to_server
            .write_all(&bytes)
            .await
            .expect("an open stream");
        let error = game.next_error().await;
        assert_eq!(error.code(), code, "{}", error.message);
        assert!(error.message.contains(part), "{}", error.message);
        let reason = close_reason(&game.connection).await;
        assert!(reason.ends_with(&error.message), "{reason}");

        let again = ann
            .request(LobbyRequestBody::RequestTicket(RequestTicket {}))
            .await;
        let LobbyMessageBody::Ticket(again) = again else {
            panic!("{again:?}")
        };
        ticket = again;
    }
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
    assert!(
        matches!(answer, LobbyMessageBody::RoomList(_)),
        "{answer:?}"
    );
    server.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_over_the_limit_and_one_without_a_hello_are_closed() {
    let server = RunningServer::start(&["--max-connections-per-address", "1"]);
    let first = connect(&server.addresses, ALPN_WORLD).await;
    let second = connect(&server.addresses, ALPN_WORLD).await;
    assert_eq!(closed_with(&second).await, ErrorCode::TooManyFromAddress);
    assert_eq!(closed_with(&first).await, ErrorCode::Idle, "no hello came");
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
    assert_eq!(
        metrics
            .matches("queue=\"handshakes\",reason=\"full\"")
            .count(),
        1,
        "{metrics}"
    );
    assert!(http(address, "/").await.contains("<h2>Rooms</h2>"));
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
    assert!(
        error.contains(&format!("port {} is taken", address.port())),
        "{error}"
    );
    server.end();
}

/// A server for one test, with a directory of its own.
struct RunningServer {
    server: Server,
    addresses: Addresses,
    _scratch: ScratchDirectory,
}

struct ScratchDirectory(PathBuf);

impl RunningServer {
    fn start(arguments: &[&str]) -> Self {
        let scratch = ScratchDirectory::new();
        let server = Server::start(scratch.config(arguments), registry()).expect("a server");
        Self {
            addresses: server.addresses(),
            server,
            _scratch: scratch,
        }
    }

    fn end(self) {
        self.server.shutdown().expect("a clean end");
    }
}

impl ScratchDirectory {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("ambit-sockets-{}-{number}", std::process::id())))
    }

    fn config(&self, arguments: &[&str]) -> Config {
        let data = self.0.display().to_string();
        let mut all = vec!["world-server", "--http", "127.0.0.1:0", "--data-dir", &data];
        if !arguments.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        all.extend(arguments);
        Config::from_arguments(all).expect("good arguments")
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn registry() -> Registry {
    let info = GameInfo {
        name: "bomb",
        description: "panics when a player joins",
        min_players: 1,
        join_running: true,
        parameters: &[],
    };
    ambit_game_server::standard().with(info, make_bomb)
}

#[expect(clippy::unnecessary_wraps, reason = "as the registry wants it")]
fn make_bomb(_: &Parameters) -> Result<Box<dyn Game>, BadParameter> {
    Ok(Box::new(Bomb))
}

/// A game that panics when a player joins.
struct Bomb;

impl Game for Bomb {
    fn schema(&self) -> Schema {
        let path = ComponentSpec::public("path", Codec::Path);
        let player = ObjectKind {
            name: "player".into(),
            components: vec![path],
            ..ObjectKind::default()
        };
        Schema {
            game: "bomb".into(),
            kinds: vec![player],
            ..Schema::default()
        }
    }

    fn start(&mut self, _: &mut World) {}

    fn join(&mut self, _: &mut World, _: PlayerId, _: &str) -> ObjectId {
        panic!("the bomb panics when a player joins");
    }

    fn leave(&mut self, _: &mut World, _: PlayerId) {}

    fn command(&mut self, _: &mut World, _: PlayerId, _: &Action) -> Result<(), Refusal> {
        Err(Refusal(ErrorCode::UnknownCommand))
    }

    fn step(&mut self, _: &mut World, _: Duration) {}
}

/// A lobby connection.
struct TestClient {
    connection: Connection,
    to_server: SendStream,
    from_server: FrameReader<RecvStream>,
    request: u64,
}

impl TestClient {
    async fn hello(server: &RunningServer, name: &str) -> Self {
        let connection = connect(&server.addresses, ALPN_WORLD).await;
        Self::hello_over(connection, name).await
    }

    /// As `hello`, from a client that lets the server send `window_bytes` beyond what it has read.
    async fn hello_with_window(server: &RunningServer, name: &str, window_bytes: u32) -> Self {
        let Addresses {
            world, fingerprint, ..
        } = server.addresses;
        let mut transport = quic::transport_config(Side::Client);
        transport.stream_receive_window(VarInt::from_u32(window_bytes));
        let verifier = FingerprintVerifier::pinned(fingerprint);
        let mut config = quic::client_config(ALPN_WORLD, verifier);
        config.transport_config(Arc::new(transport));
        Self::hello_over(dial_with(world, config).await, name).await
    }

    async fn hello_over(connection: Connection, name: &str) -> Self {
        let (to_server, from_server) = connection.open_bi().await.expect("a stream");
        let from_server = FrameReader::new(from_server, MAX_FROM_WORLD);
        let mut client = Self {
            connection,
            to_server,
            from_server,
            request: 0,
        };
        let hello = Hello {
            version: ambit_proto::control::WORLD_VERSION,
            name: name.into(),
            ..Hello::default()
        };
        let answer = client.request(LobbyRequestBody::Hello(hello)).await;
        assert!(matches!(answer, LobbyMessageBody::Welcome(_)), "{answer:?}");
        client
    }

    async fn request(&mut self, body: LobbyRequestBody) -> LobbyMessageBody {
        self.request += 1;
        let message = ClientToWorld {
            request: self.request,
            body: Some(body),
        };
        self.to_server
            .write_all(&encode_frame(&message))
            .await
            .expect("an open stream");
        loop {
            let message = self.next().await;
            if message.request == self.request {
                return message.body.expect("a known answer");
            }
        }
    }

    /// Creates a room, starts it, and returns the ticket.
    async fn open_room(&mut self, game: &str) -> Ticket {
        let room = CreateRoom {
            name: format!("a {game}"),
            game: game.into(),
            ..CreateRoom::default()
        };
        let created = self.request(LobbyRequestBody::CreateRoom(room)).await;
        assert!(
            matches!(created, LobbyMessageBody::RoomCreated(_)),
            "{created:?}"
        );
        let started = self
            .request(LobbyRequestBody::StartRoom(StartRoom {}))
            .await;
        assert!(matches!(started, LobbyMessageBody::Done(_)), "{started:?}");
        find_message!(self, Ticket)
    }

    async fn next(&mut self) -> WorldToClient {
        within(self.from_server.next())
            .await
            .expect("a message")
            .expect("an open stream")
    }
}

/// A game connection.
struct GameClient {
    connection: Connection,
    to_server: SendStream,
    from_server: FrameReader<RecvStream>,
}

impl GameClient {
    async fn connect(ticket: &Ticket) -> Self {
        Self::connect_with(ticket, quic::transport_config(Side::Client)).await
    }

    async fn connect_with(ticket: &Ticket, transport: TransportConfig) -> Self {
        let pin =
            Fingerprint::try_from(ticket.certificate_sha256.as_slice()).expect("a fingerprint");
        let mut config = quic::client_config(ALPN_GAME, FingerprintVerifier::pinned(pin));
        config.transport_config(Arc::new(transport));
        let address = ticket.address.parse().expect("an address");
        let connection = dial_with(address, config).await;
        let (to_server, from_server) = connection.open_bi().await.expect("a stream");
        Self {
            connection,
            to_server,
            from_server: FrameReader::new(from_server, MAX_FROM_GAME),
        }
    }

    async fn join(ticket: &Ticket) -> Self {
        let mut game = Self::connect(ticket).await;
        game.send_join(ticket).await;
        game
    }

    async fn send_join(&mut self, ticket: &Ticket) {
        self.send(client_to_game::Body::Join(Join {
            version: ambit_proto::message::VERSION,
            ticket: ticket.ticket.clone(),
        }))
        .await;
    }

    async fn send(&mut self, body: client_to_game::Body) {
        let message = ClientToGame { body: Some(body) };
        self.to_server
            .write_all(&encode_frame(&message))
            .await
            .expect("an open stream");
    }

    fn send_datagram(&self, bytes: Vec<u8>) {
        self.connection
            .send_datagram(bytes.into())
            .expect("an open connection");
    }

    async fn next(&mut self) -> game_to_client::Body {
        let message: Option<GameToClient> =
            within(self.from_server.next()).await.expect("a message");
        message
            .expect("an open stream")
            .body
            .expect("a known message")
    }

    async fn expect_joined(&mut self) -> ambit_proto::control::game::Joined {
        match self.next().await {
            game_to_client::Body::Joined(joined) => joined,
            other => panic!("{other:?}"),
        }
    }

    async fn expect_error(&mut self) -> ErrorCode {
        self.next_error().await.code()
    }

    async fn next_error(&mut self) -> ambit_proto::codes::Error {
        match self.next().await {
            game_to_client::Body::Error(error) => error,
            other => panic!("{other:?}"),
        }
    }

    async fn expect_removed(&mut self) -> ErrorCode {
        match self.next().await {
            game_to_client::Body::Out(out) => out.reason(),
            other => panic!("{other:?}"),
        }
    }
}

async fn connect(addresses: &Addresses, alpn: &[u8]) -> Connection {
    dial(addresses.world, addresses.fingerprint, alpn).await
}

async fn dial(address: SocketAddr, pin: Fingerprint, alpn: &[u8]) -> Connection {
    dial_with(
        address,
        quic::client_config(alpn, FingerprintVerifier::pinned(pin)),
    )
    .await
}

async fn dial_with(address: SocketAddr, config: ClientConfig) -> Connection {
    let mut endpoint =
        Endpoint::client("127.0.0.1:0".parse().expect("an address")).expect("a socket");
    endpoint.set_default_client_config(config);
    within(endpoint.connect(address, "ambit").expect("a good name"))
        .await
        .expect("a connection")
}

/// The code with which the server closed the connection.
async fn closed_with(connection: &Connection) -> ErrorCode {
    match within(connection.closed()).await {
        ConnectionError::ApplicationClosed(close) => {
            ErrorCode::try_from(close.error_code.into_inner() as i32).expect("a known code")
        }
        other => panic!("{other}"),
    }
}

/// The text with which the server closed the connection.
async fn close_reason(connection: &Connection) -> String {
    match within(connection.closed()).await {
        ConnectionError::ApplicationClosed(close) => {
            String::from_utf8_lossy(&close.reason).into_owned()
        }
        other => panic!("{other}"),
    }
}

async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(STEP_TIMEOUT, future)
        .await
        .expect("an answer in time")
}

async fn http(address: SocketAddr, path: &str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("HTTP");
    let request = format!("GET {path} HTTP/1.1\r\nhost: ambit\r\nconnection: close\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("an open stream");
    let mut answer = String::new();
    within(stream.read_to_string(&mut answer))
        .await
        .expect("an answer");
    answer
}
