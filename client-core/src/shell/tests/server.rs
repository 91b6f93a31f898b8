//! A minimal lobby and a minimal host on loopback.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ambit_proto::control::game::{self, ClientToGame, GameToClient};
use ambit_proto::control::world::client_to_world::Body as LobbyRequestBody;
use ambit_proto::control::world::world_to_client::Body as LobbyMessageBody;
use ambit_proto::control::world::{self as pb, ClientToWorld, WorldToClient};
use ambit_proto::frame::{FrameDecoder, encode_frame};
use ambit_proto::ids::Alias;
use ambit_proto::link::{Link, LinkConfig, LinkEvent};
use ambit_proto::message::{
    BodyContext, Command, FieldValue, Notice, Record, end_records, write_record, write_stamp,
};
use ambit_proto::schema::{Component, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::wire;
use ambit_transport::quic::{ALPN_GAME, ALPN_WORLD, Fingerprint, negotiated_alpn, server_config};
use prost::Message;
use quinn::{Connection, Endpoint, RecvStream, SendStream};
use rustls::pki_types::PrivateKeyDer;

use crate::shell::clock::ShellClock;
use crate::trust::KnownHosts;

pub(super) struct Server {
    pub(super) address: String,
    pub(super) fingerprint: Fingerprint,
    endpoint: Endpoint,
    connections: Arc<Mutex<Vec<Connection>>>,
    /// The code with which new connections are closed; 0 accepts them.
    refusal: Arc<AtomicU32>,
    /// How many clients have said hello.
    sessions: Arc<AtomicU32>,
    config: quinn::ServerConfig,
}

impl Server {
    pub(super) fn start() -> Self {
        let (config, fingerprint) = certificate();
        let endpoint = Endpoint::server(config.clone(), ([127, 0, 0, 1], 0).into());
        let endpoint = endpoint.expect("a free port");
        let port = endpoint.local_addr().expect("bound").port();
        let server = Server {
            address: format!("127.0.0.1:{port}"),
            fingerprint,
            endpoint: endpoint.clone(),
            connections: Arc::default(),
            refusal: Arc::default(),
            sessions: Arc::default(),
            config,
        };
        let connections = server.connections.clone();
        let refusal = server.refusal.clone();
        let sessions = server.sessions.clone();
        tokio::spawn(async move {
            while let Some(incoming) = endpoint.accept().await {
                let Ok(connection) = incoming.await else {
                    continue;
                };
                let code = refusal.load(Ordering::Relaxed);
                if code != 0 {
                    connection.close(code.into(), b"not now");
                    continue;
                }
                connections.lock().expect("the worker does not panic").push(connection.clone());
                let ticket = LobbyMessageBody::Ticket(pb::Ticket {
                    room: 7,
                    address: format!("0.0.0.0:{port}"),
                    certificate_sha256: fingerprint.0.to_vec(),
                    web_certificates_sha256: Vec::new(),
                    ticket: b"let me in".to_vec(),
                    incarnation: 1,
                    map: 0,
                });
                let sessions = sessions.clone();
                tokio::spawn(async move {
                    match negotiated_alpn(&connection) {
                        Some(protocol) if protocol == ALPN_GAME => host(connection).await,
                        _ => lobby(connection, ticket, &sessions).await,
                    }
                });
            }
        });
        server
    }

    pub(super) fn change_certificate(&mut self) {
        let (config, fingerprint) = certificate();
        self.fingerprint = fingerprint;
        self.endpoint.set_server_config(Some(config));
    }

    /// Presents the certificate of another server.
    pub(super) fn use_certificate_of(&mut self, other: &Self) {
        self.fingerprint = other.fingerprint;
        self.endpoint.set_server_config(Some(other.config.clone()));
    }

    pub(super) fn sessions(&self) -> u32 {
        self.sessions.load(Ordering::Relaxed)
    }

    pub(super) fn refuse(&self, code: u32) {
        self.refusal.store(code, Ordering::Relaxed);
    }

    pub(super) fn drop_connections(&self, code: u32) {
        for connection in self.connections.lock().expect("the worker does not panic").drain(..) {
            connection.close(code.into(), b"");
        }
    }

    /// Waits until no client is connected.
    pub(super) async fn wait_until_empty(self) {
        let connections =
            std::mem::take(&mut *self.connections.lock().expect("the worker does not panic"));
        for connection in connections {
            connection.closed().await;
        }
    }
}

/// A known-hosts file in a directory that is removed with the second value.
pub(super) fn hosts() -> (KnownHosts, impl Drop) {
    struct Scratch(PathBuf);
    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory =
        std::env::temp_dir().join(format!("ambit-shell-{}-{number}", std::process::id()));
    (KnownHosts::from_path(directory.join("known_hosts")), Scratch(directory))
}

fn certificate() -> (quinn::ServerConfig, Fingerprint) {
    let made = rcgen::generate_simple_self_signed(["ambit".into()]).expect("a certificate");
    let certificate = made.cert.der().clone();
    let fingerprint = Fingerprint::of(&certificate);
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config =
        server_config(vec![certificate], key, &[ALPN_WORLD, ALPN_GAME]).expect("a key that fits");
    (config, fingerprint)
}

async fn lobby(connection: Connection, ticket: LobbyMessageBody, sessions: &AtomicU32) {
    let Ok((mut out, mut back)) = connection.accept_bi().await else {
        return;
    };
    let mut decoder = FrameDecoder::new(1 << 20);
    while let Some(ClientToWorld { request, body }) = read(&mut back, &mut decoder).await {
        if matches!(body, Some(LobbyRequestBody::Hello(_))) {
            sessions.fetch_add(1, Ordering::Relaxed);
        }
        let room = Some(pb::Room { id: 7, ..pb::Room::default() });
        let received = match body {
            Some(LobbyRequestBody::Hello(hello)) => vec![LobbyMessageBody::Welcome(pb::Welcome {
                name: hello.name,
                player: 3,
                resumed: !hello.resume_token.is_empty(),
                resume_token: vec![9; 16],
                ..pb::Welcome::default()
            })],
            Some(LobbyRequestBody::JoinRoom(_)) => {
                vec![
                    LobbyMessageBody::RoomJoined(pb::RoomJoined { room, players: Vec::new() }),
                    ticket.clone(),
                ]
            }
            Some(LobbyRequestBody::RequestTicket(_)) => vec![ticket.clone()],
            _ => vec![LobbyMessageBody::Done(pb::Done {})],
        };
        for body in received {
            write(&mut out, &WorldToClient { request, body: Some(body) }).await;
        }
    }
}

/// A room with one avatar, which answers each command with an event that has its number.
async fn host(connection: Connection) {
    let Ok((mut out, mut back)) = connection.accept_bi().await else {
        return;
    };
    let mut decoder = FrameDecoder::new(1 << 20);
    let Some(ClientToGame { .. }) = read(&mut back, &mut decoder).await else {
        return;
    };
    let clock = ShellClock::start();
    let schema = Schema::example();
    let joined = game::Joined {
        room: 7,
        delay_ms: 150,
        tick_hz: 20,
        schema: Some((&schema).into()),
        presentation: schema.presentation.to_block(),
        ..Default::default()
    };
    write(&mut out, &GameToClient { body: Some(game::game_to_client::Body::Joined(joined)) }).await;

    let mut link = Link::new(LinkConfig::default());
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    loop {
        tokio::select! {
            datagram = connection.read_datagram() => {
                let Ok(datagram) = datagram else { return };
                link.handle_datagram(clock.now(), &datagram).expect("a datagram of the client");
            }
            _ = ticks.tick() => tick(&mut link, clock, &connection, &schema),
        }
    }
}

fn tick(link: &mut Link, clock: ShellClock, connection: &Connection, schema: &Schema) {
    let now = clock.now();
    link.handle_timeout(now);
    while let Some(event) = link.poll_event() {
        let LinkEvent::Message(message) = event else {
            continue;
        };
        let command: Command = wire::decode(&message).expect("a command");
        let effect = GameTime::from_micros(now.micros()) + Duration::from_millis(150);
        let here = FieldValue::Position(Position::on_ground(1.0, 1.0));
        let fields = vec![FieldValue::None, here, FieldValue::Number(command.number.into())];
        let mut notice = Notice::Event { kind: 0, effect, fields };
        let room_now = GameTime::from_micros(now.micros());
        link.send_reliable(now, notice.encode(schema, room_now).into(), None)
            .expect("the queue is not full");
    }
    let stamp = GameTime::from_micros(now.micros());
    let components = vec![(0, Component::at_rest(GameTime::ZERO, Position::on_ground(1.0, 1.0)))];
    let alias = Alias { slot: 0, epoch: 0 };
    let mut enter = Record::Enter { alias, kind: 0, at: GameTime::ZERO, own: true, components };
    let mut bytes = Vec::new();
    link.write_datagram(now, &mut bytes, |writer, _| {
        let base = write_stamp(stamp, writer);
        let context =
            BodyContext { schema, delay: Duration::from_millis(150), approximate_now: stamp };
        write_record(&mut enter, &context, base, writer);
        end_records(writer);
    });
    let _ = connection.send_datagram(bytes.into());
}

async fn read<M: Message + Default>(
    stream: &mut RecvStream,
    decoder: &mut FrameDecoder,
) -> Option<M> {
    loop {
        if let Some(frame) = decoder.poll_frame().expect("short frames") {
            return Some(M::decode(frame).expect("a message"));
        }
        let chunk = stream.read_chunk(usize::MAX, true).await.ok()??;
        decoder.push(&chunk.bytes);
    }
}

async fn write(stream: &mut SendStream, message: &impl Message) {
    let _ = stream.write_chunk(encode_frame(message)).await;
}
