//! A server in this process, and clients that send raw protocol messages to it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game::{
    ClientToGame, GameToClient, Join, client_to_game, game_to_client,
};
use ambit_proto::control::world::{
    ClientToWorld, CreateRoom, Hello, StartRoom, Ticket, WorldToClient,
    client_to_world::Body as LobbyRequestBody, world_to_client::Body as LobbyMessageBody,
};
use ambit_proto::frame::{MAX_FROM_GAME, MAX_FROM_WORLD, encode_frame};
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::schema::{Codec, ComponentSpec, ObjectKind, Schema};
use ambit_room::config::{BadParameter, Parameters};
use ambit_room::logic::game::{Game, Left};
use ambit_room::logic::registry::{GameInfo, Registry};
use ambit_room::logic::world::World;
use ambit_transport::frame_reader::FrameReader;
use ambit_transport::quic::{self, ALPN_GAME, ALPN_WORLD, Fingerprint, FingerprintVerifier};
use ambit_world_server::config::Config;
use ambit_world_server::{Addresses, Server};
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, RecvStream, SendStream, Side,
    TransportConfig, VarInt,
};

/// Time limit of a step, much longer than any step takes.
pub(crate) const STEP_TIMEOUT: Duration = Duration::from_secs(20);

/// A server for one test, with a directory of its own.
pub(crate) struct RunningServer {
    pub(crate) server: Server,
    pub(crate) addresses: Addresses,
    pub(crate) _scratch: ScratchDirectory,
}

pub(crate) struct ScratchDirectory(PathBuf);

impl RunningServer {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let scratch = ScratchDirectory::new();
        let server = Server::start(scratch.config(arguments), registry()).expect("a server");
        Self { addresses: server.addresses(), server, _scratch: scratch }
    }

    pub(crate) fn end(self) {
        self.server.shutdown().expect("a clean end");
    }
}

impl ScratchDirectory {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("ambit-sockets-{}-{number}", std::process::id())))
    }

    pub(crate) fn config(&self, arguments: &[&str]) -> Config {
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

pub(crate) fn registry() -> Registry {
    let info = GameInfo::new("bomb", "panics when a player joins");
    ambit_game_server::standard().with(info, make_bomb)
}

#[expect(clippy::unnecessary_wraps, reason = "as the registry wants it")]
pub(crate) fn make_bomb(_: &Parameters) -> Result<Box<dyn Game>, BadParameter> {
    Ok(Box::new(Bomb))
}

/// A game that panics when a player joins.
pub(crate) struct Bomb;

impl Game for Bomb {
    fn schema(&self) -> Schema {
        let path = ComponentSpec::public("path", Codec::Path);
        let player =
            ObjectKind { name: "player".into(), components: vec![path], ..ObjectKind::default() };
        Schema { game: "bomb".into(), kinds: vec![player], ..Schema::default() }
    }

    fn start(&mut self, _: &mut World) {}

    fn join(&mut self, _: &mut World, _: PlayerId, _: &str) -> ObjectId {
        panic!("the bomb panics when a player joins");
    }

    fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

    fn step(&mut self, _: &mut World, _: Duration) {}
}

/// A lobby connection.
pub(crate) struct TestClient {
    pub(crate) connection: Connection,
    pub(crate) to_server: SendStream,
    pub(crate) from_server: FrameReader<RecvStream>,
    pub(crate) request: u64,
}

impl TestClient {
    pub(crate) async fn hello(server: &RunningServer, name: &str) -> Self {
        let connection = connect(&server.addresses, ALPN_WORLD).await;
        Self::hello_over(connection, name).await
    }

    /// As `hello`, from a client that lets the server send `window_bytes` beyond what it has read.
    pub(crate) async fn hello_with_window(
        server: &RunningServer,
        name: &str,
        window_bytes: u32,
    ) -> Self {
        let Addresses { world, fingerprint, .. } = server.addresses;
        let mut transport = quic::transport_config(Side::Client);
        transport.stream_receive_window(VarInt::from_u32(window_bytes));
        let verifier = FingerprintVerifier::pinned(fingerprint);
        let mut config = quic::client_config(ALPN_WORLD, verifier);
        config.transport_config(Arc::new(transport));
        Self::hello_over(dial_with(world, config).await, name).await
    }

    pub(crate) async fn hello_over(connection: Connection, name: &str) -> Self {
        let (to_server, from_server) = connection.open_bi().await.expect("a stream");
        let from_server = FrameReader::new(from_server, MAX_FROM_WORLD);
        let mut client = Self { connection, to_server, from_server, request: 0 };
        let hello = Hello {
            version: ambit_proto::control::WORLD_VERSION,
            name: name.into(),
            ..Hello::default()
        };
        let answer = client.request(LobbyRequestBody::Hello(hello)).await;
        assert!(matches!(answer, LobbyMessageBody::Welcome(_)), "{answer:?}");
        client
    }

    pub(crate) async fn request(&mut self, body: LobbyRequestBody) -> LobbyMessageBody {
        self.request += 1;
        let message = ClientToWorld { request: self.request, body: Some(body) };
        self.to_server.write_all(&encode_frame(&message)).await.expect("an open stream");
        loop {
            let message = self.next().await;
            if message.request == self.request {
                return message.body.expect("a known answer");
            }
        }
    }

    /// Creates a room, starts it, and returns the ticket.
    pub(crate) async fn open_room(&mut self, game: &str) -> Ticket {
        let room =
            CreateRoom { name: format!("a {game}"), game: game.into(), ..CreateRoom::default() };
        let created = self.request(LobbyRequestBody::CreateRoom(room)).await;
        assert!(matches!(created, LobbyMessageBody::RoomCreated(_)), "{created:?}");
        let started = self.request(LobbyRequestBody::StartRoom(StartRoom {})).await;
        assert!(matches!(started, LobbyMessageBody::Done(_)), "{started:?}");
        find_message!(self, Ticket)
    }

    pub(crate) async fn next(&mut self) -> WorldToClient {
        within(self.from_server.next()).await.expect("a message").expect("an open stream")
    }
}

/// A game connection.
pub(crate) struct GameClient {
    pub(crate) connection: Connection,
    pub(crate) to_server: SendStream,
    pub(crate) from_server: FrameReader<RecvStream>,
}

impl GameClient {
    pub(crate) async fn connect(ticket: &Ticket) -> Self {
        Self::connect_with(ticket, quic::transport_config(Side::Client)).await
    }

    pub(crate) async fn connect_with(ticket: &Ticket, transport: TransportConfig) -> Self {
        let pin =
            Fingerprint::try_from(ticket.certificate_sha256.as_slice()).expect("a fingerprint");
        let mut config = quic::client_config(ALPN_GAME, FingerprintVerifier::pinned(pin));
        config.transport_config(Arc::new(transport));
        let address = ticket.address.parse().expect("an address");
        let connection = dial_with(address, config).await;
        let (to_server, from_server) = connection.open_bi().await.expect("a stream");
        Self { connection, to_server, from_server: FrameReader::new(from_server, MAX_FROM_GAME) }
    }

    pub(crate) async fn join(ticket: &Ticket) -> Self {
        let mut game = Self::connect(ticket).await;
        game.send_join(ticket).await;
        game
    }

    pub(crate) async fn send_join(&mut self, ticket: &Ticket) {
        self.send(client_to_game::Body::Join(Join {
            version: ambit_proto::message::VERSION,
            ticket: ticket.ticket.clone(),
            coding: 0,
        }))
        .await;
    }

    pub(crate) async fn send(&mut self, body: client_to_game::Body) {
        let message = ClientToGame { body: Some(body) };
        self.to_server.write_all(&encode_frame(&message)).await.expect("an open stream");
    }

    pub(crate) fn send_datagram(&self, bytes: Vec<u8>) {
        self.connection.send_datagram(bytes.into()).expect("an open connection");
    }

    pub(crate) async fn next(&mut self) -> game_to_client::Body {
        let message: Option<GameToClient> =
            within(self.from_server.next()).await.expect("a message");
        message.expect("an open stream").body.expect("a known message")
    }

    pub(crate) async fn expect_joined(&mut self) -> ambit_proto::control::game::Joined {
        match self.next().await {
            game_to_client::Body::Joined(joined) => joined,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn expect_error(&mut self) -> ErrorCode {
        self.next_error().await.code()
    }

    pub(crate) async fn next_error(&mut self) -> ambit_proto::codes::Error {
        match self.next().await {
            game_to_client::Body::Error(error) => error,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn expect_removed(&mut self) -> ErrorCode {
        match self.next().await {
            game_to_client::Body::Out(out) => out.reason(),
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) async fn connect(addresses: &Addresses, alpn: &[u8]) -> Connection {
    dial(addresses.world, addresses.fingerprint, alpn).await
}

pub(crate) async fn dial(address: SocketAddr, pin: Fingerprint, alpn: &[u8]) -> Connection {
    dial_with(address, quic::client_config(alpn, FingerprintVerifier::pinned(pin))).await
}

pub(crate) async fn dial_with(address: SocketAddr, config: ClientConfig) -> Connection {
    let mut endpoint =
        Endpoint::client("127.0.0.1:0".parse().expect("an address")).expect("a socket");
    endpoint.set_default_client_config(config);
    within(endpoint.connect(address, "ambit").expect("a good name")).await.expect("a connection")
}

/// The code with which the server closed the connection.
pub(crate) async fn closed_with(connection: &Connection) -> ErrorCode {
    match within(connection.closed()).await {
        ConnectionError::ApplicationClosed(close) => {
            ErrorCode::try_from(close.error_code.into_inner() as i32).expect("a known code")
        }
        other => panic!("{other}"),
    }
}

/// The text with which the server closed the connection.
pub(crate) async fn close_reason(connection: &Connection) -> String {
    match within(connection.closed()).await {
        ConnectionError::ApplicationClosed(close) => {
            String::from_utf8_lossy(&close.reason).into_owned()
        }
        other => panic!("{other}"),
    }
}

pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(STEP_TIMEOUT, future).await.expect("an answer in time")
}

pub(crate) async fn http(address: SocketAddr, path: &str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("HTTP");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("an open stream");
    let mut answer = Vec::new();
    within(stream.read_to_end(&mut answer)).await.expect("an answer");
    // The page is compressed.
    String::from_utf8_lossy(&answer).into_owned()
}
