//! Both kinds of connections against a real endpoint on loopback.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use quinn::{Connection, Endpoint, RecvStream, SendStream, Side};
use rustls::pki_types::PrivateKeyDer;
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;
use web_transport_proto::http::StatusCode;
use web_transport_proto::{
    Capsule, ConnectError, ConnectRequest, ConnectResponse, Frame, Http3CapsuleReader, Setting,
    Settings, VarInt as WebVarInt, error_from_http3,
};

use super::*;
use ambit_transport::quic::{
    Fingerprint, FingerprintVerifier, ResetSecret, client_config, server_config,
    server_endpoint_config, transport_config,
};

use crate::accept::{EndpointCounters, listen};
use crate::driver::ServerEndpoint;

const WORLD_PATH: &str = WEB_PATHS[0].0;
const GAME_PATH: &str = WEB_PATHS[1].0;

#[tokio::test]
async fn a_browser_has_a_stream_and_datagrams_like_a_program() {
    let mut server = Server::start();
    for (path, protocol) in WEB_PATHS {
        let (browser, connection) = server.meet(path).await;
        assert_eq!(connection.1, protocol);
        let connection = connection.0;

        let (mut to_server, mut from_server) = browser.open_bi().await;
        to_server.write_all(b"hello").await.unwrap();
        let (mut to_browser, mut from_browser) = connection.accept_bi().await.unwrap();
        let mut bytes = [0; 5];
        from_browser.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"hello");
        to_browser.write_all(b"there").await.unwrap();
        from_server.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"there");

        // The link's longest datagram.
        assert!(connection.max_datagram_size() >= Some(1_150));
        let mut batch = DatagramBatch::default();
        connection.put_datagram(&mut batch, vec![7; 1_150].into());
        batch.send(&Arc::default()).await;
        assert_eq!(browser.read_datagram().await, vec![7; 1_150]);
        browser.send_datagram(0, b"up");
        assert_eq!(connection.read_datagram().await.unwrap(), "up");
        // Of no session that exists, or not even of one.
        browser.send_datagram(4, b"other");
        browser.connection.send_datagram(Bytes::new()).unwrap();
        browser.send_datagram(0, b"");
        assert_eq!(connection.read_datagram().await.unwrap(), "");
    }
}

#[tokio::test]
async fn a_server_s_close_reaches_a_browser_with_its_code_and_reason() {
    let mut server = Server::start();
    let (browser, (connection, _)) = server.meet(GAME_PATH).await;
    let reason = "é".repeat(1_000);
    connection.close(ErrorCode::Kicked, &reason);
    assert!(connection.is_closed() && !connection.has_quit());
    connection.closed().await;
    assert_eq!(connection.read_datagram().await, None);

    let mut capsules = Http3CapsuleReader::new(browser.answer);
    let Ok(Some(Capsule::CloseWebTransportSession { code, reason })) = capsules.read().await else {
        panic!("no capsule")
    };
    assert_eq!(code, ErrorCode::Kicked as u32);
    assert_eq!(reason, "é".repeat(512));
    // The connection follows if the browser does not end it.
    let ConnectionError::ApplicationClosed(close) = browser.connection.closed().await else {
        panic!("not closed by the server")
    };
    assert_eq!(error_from_http3(close.error_code.into()), Some(code));
}

#[tokio::test]
async fn a_browser_quits_only_by_a_code_that_it_does_not_send_by_itself() {
    let ends = [(Some(PAGE_QUITS), true), (Some(0), false), (None, false), (Some(7), false)];
    for (code, is_quit) in ends {
        let mut server = Server::start();
        let (mut browser, (connection, _)) = server.meet(WORLD_PATH).await;
        browser.end(code).await;
        soon(connection.closed()).await;
        assert_eq!(connection.has_quit(), is_quit, "{code:?}");
    }
    // A page that is closed takes the connection with it: the player may come back.
    let mut server = Server::start();
    let (browser, (connection, _)) = server.meet(WORLD_PATH).await;
    browser.connection.close(VarInt::from_u32(0x100), b"");
    soon(connection.closed()).await;
    assert!(connection.is_closed() && !connection.has_quit());
}

#[test]
fn a_quit_counts_if_the_connection_ends_right_after_it() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).enable_all().build().unwrap()
    };
    let servers = runtime();
    let browsers = runtime();
    let mut server = {
        let _inside = servers.enter();
        Server::start()
    };
    browsers.block_on(async {
        for _ in 0..20 {
            let (mut browser, (connection, _)) = server.meet(WORLD_PATH).await;
            // The server stands still meanwhile, and then gets both at once.
            let (go_on, stop) = std::sync::mpsc::sync_channel::<()>(0);
            servers.spawn(async move { stop.recv() });
            let before = browser.connection.stats().frame_tx.stream;
            browser.send_end(Some(PAGE_QUITS)).await;
            let quic = &browser.connection;
            let is_sent = async {
                while quic.stats().frame_tx.stream == before {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            soon(is_sent).await;
            quic.close(VarInt::from_u32(0x100), b"");
            // quinn counts nothing of a connection that it closes: time for it to send that.
            tokio::time::sleep(Duration::from_millis(20)).await;
            drop(go_on);
            // Whichever way the end is noticed.
            tokio::select! {
                () = soon(connection.closed()) => {}
                end = connection.read_datagram() => assert_eq!(end, None),
                stream = connection.accept_bi() => assert!(stream.is_err()),
            }
            assert!(connection.has_quit());
        }
    });
}

#[tokio::test]
async fn a_request_that_is_reset_or_broken_ends_the_session() {
    // A kibibyte that means nothing: a frame with one capsule. The server reads 64 of them.
    let idle = [&[0x00, 0x43, 0xfd, 0x19, 0x43, 0xfa][..], &[0; 1_018]].concat();
    let too_long_a_frame = vec![0x00, 0x80, 2, 0, 0];
    for broken in [None, Some(too_long_a_frame), Some(idle.repeat(65))] {
        let mut server = Server::start();
        let (mut browser, (connection, _)) = server.meet(WORLD_PATH).await;
        match broken {
            None => browser.question.reset(VarInt::from_u32(0x10c)).unwrap(),
            Some(bytes) => drop(browser.question.write_all(&bytes).await),
        }
        soon(connection.closed()).await;
        assert!(connection.is_closed() && !connection.has_quit());
        let ConnectionError::ApplicationClosed(close) = soon(browser.connection.closed()).await
        else {
            panic!("not closed by the server")
        };
        let code = error_from_http3(close.error_code.into());
        assert_eq!(code, Some(ErrorCode::Malformed as u32));
    }
}

#[tokio::test]
async fn a_session_at_another_path_is_refused() {
    let mut server = Server::start();
    let refused = Browser::start(&server, "/elsewhere").await;
    assert_eq!(refused.err(), Some(StatusCode::NOT_FOUND));
    // The server goes on.
    server.meet(WORLD_PATH).await;
}

#[tokio::test]
async fn the_settings_are_those_that_browsers_look_for() {
    let server = Server::start();
    let connection = server.connect().await;
    let mut control = soon(connection.accept_uni()).await.unwrap();
    let settings = soon(Settings::read(&mut control)).await.unwrap();
    let value = |id: u32| {
        let value = settings.get(&Setting(WebVarInt::from_u32(id)));
        value.map(|value| value.into_inner())
    };
    // Extended CONNECT, by which a session is opened (RFC 9220).
    assert_eq!(value(0x08), Some(1));
    // Datagrams (RFC 9297), which QUIC has to allow, too; and their number in the drafts.
    assert_eq!(value(0x33), Some(1));
    assert_eq!(value(0xff_d277), Some(1));
    assert!(connection.max_datagram_size().is_some());
    // WebTransport as of draft 2, which Chromium and Firefox look for, with its limit.
    assert_eq!(value(0x2b60_3742), Some(1));
    assert_eq!(value(0x2b60_3743), Some(1));
    // The limit as of draft 7 says the same since then. Without it, Safari 26.4 and later give up
    // their own request; with it and nothing newer, they open sessions and streams.
    assert_eq!(value(0xc671_706a), Some(1));
    // The limit as of draft 13, its successor in draft 15, and the first limits on bytes and
    // streams of a session. A server that sends these has to grant a session credit in capsules,
    // and to keep within the browser's. This server does not, and Safari sends nothing without
    // credit.
    for newer in [0x14e9_cd29, 0x2c7c_f000, 0x2b61, 0x2b64, 0x2b65] {
        assert_eq!(value(newer), None, "{newer:#x}");
    }
}

#[tokio::test]
async fn what_is_not_webtransport_ends_alone_with_a_code_of_http3() {
    let mut server = Server::start();
    // An empty frame of settings, and those of a browser.
    let plain = &[0, 4, 0][..];
    let mut of_browser = Vec::new();
    let mut settings = Settings::default();
    settings.enable_webtransport(1);
    settings.encode(&mut of_browser);
    let of_browser = &of_browser[..];
    for (settings, request, code) in [
        (&[0][..], &[][..], 0x104),
        (&[0, 0, 1, 1], &[], 0x10a),
        (&[0, 4, 1, 0x40], &[], 0x109),
        (&[0, 4, 0xc0, 0, 1, 0, 0, 0, 0, 0], &[], 0x107),
        // It is answered, see below.
        (plain, &[0, 4, 0], 0x100),
        (of_browser, &[0, 0], 0x105),
        (of_browser, &[1, 3, 0, 0, 0x80], 0x200),
        (of_browser, &[1, 9], 0x10d),
        // `:method: GET` alone.
        (of_browser, &[1, 3, 0, 0, 0xd1], 0x10e),
    ] {
        let connection = server.connect().await;
        let mut control = connection.open_uni().await.unwrap();
        control.write_all(settings).await.unwrap();
        if settings == [0] {
            control.finish().unwrap();
        }
        let (mut question, _answer) = connection.open_bi().await.unwrap();
        question.write_all(request).await.unwrap();
        question.finish().unwrap();
        assert_eq!(close_code(&connection).await, code, "{settings:?} {request:?}");
    }
    server.meet(WORLD_PATH).await;
}

#[tokio::test]
async fn requests_for_no_session_get_an_answer() {
    // `:scheme: https`, `:path: /`, `:authority: a`.
    let address = [0xd7, 0xc1, 0x50, 1, b'a'];
    let get = [&[1, 8, 0, 0, 0xd1], &address[..]].concat();
    let protocol = [&[0x27, 2], &b":protocol"[..], &[9], b"websocket"].concat();
    let length = 3 + address.len() + protocol.len();
    let other = [&[1, length as u8, 0, 0, 0xcf], &address[..], &protocol].concat();
    let mut server = Server::start();
    for (request, speaks_webtransport, status) in [
        (&get, true, StatusCode::NOT_FOUND),
        (&get, false, StatusCode::NOT_FOUND),
        (&other, true, StatusCode::NOT_IMPLEMENTED),
    ] {
        let connection = server.connect().await;
        let mut settings = Settings::default();
        if speaks_webtransport {
            settings.enable_webtransport(1);
        }
        let mut control = connection.open_uni().await.unwrap();
        settings.write(&mut control).await.unwrap();
        let (mut question, mut answer) = connection.open_bi().await.unwrap();
        question.write_all(request).await.unwrap();
        let Err(ConnectError::WrongStatus(answered)) = ConnectResponse::read(&mut answer).await
        else {
            panic!("it is no session")
        };
        assert_eq!(answered, Some(status));
        assert_eq!(close_code(&connection).await, 0x100);
    }
    // Beside a session one is rejected, and so is a stream of another session.
    let (browser, (connection, _)) = server.meet(WORLD_PATH).await;
    for bytes in [&get[..], &[0x40, 0x41, 4]] {
        let (mut question, mut answer) = browser.connection.open_bi().await.unwrap();
        question.write_all(bytes).await.unwrap();
        let serve = connection.accept_bi();
        tokio::select! {
            stream = serve => panic!("{stream:?} is none of the session"),
            rejected = answer.read_chunk(1, true) => {
                let code = VarInt::from_u32(0x10b);
                assert_eq!(rejected, Err(quinn::ReadError::Reset(code)));
            }
        }
    }
    let (mut to_server, _) = browser.open_bi().await;
    to_server.write_all(b"x").await.unwrap();
    assert!(soon(connection.accept_bi()).await.is_ok());
}

/// The code by which the server ends the connection.
async fn close_code(connection: &Connection) -> u64 {
    match soon(connection.closed()).await {
        ConnectionError::ApplicationClosed(close) => close.error_code.into(),
        other => panic!("not closed by the server: {other}"),
    }
}

/// A server on loopback that hands over what it has accepted.
struct Server {
    endpoint: ServerEndpoint,
    pin: Fingerprint,
    accepted: mpsc::Receiver<(PlayerConnection, Vec<u8>)>,
}

impl Server {
    fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["ambit".into()]).expect("a certificate");
        let certificate = made.cert.der().clone();
        let pin = Fingerprint::of(&certificate);
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = server_config(vec![certificate], key, &[ALPN_WORLD, ALPN_WEB])
            .expect("a key that fits");
        let (sender, accepted) = mpsc::channel(8);
        let serve = move |connection, protocol| {
            let _ = sender.try_send((connection, protocol));
            std::future::ready(())
        };
        let socket = std::net::UdpSocket::bind(loopback()).expect("a free port");
        let resets = ResetSecret::random().expect("random bytes");
        let counters = Arc::new(EndpointCounters::default());
        let endpoint =
            listen(socket, server_endpoint_config(&resets), config, counters, || {}, serve);
        let endpoint = endpoint.expect("an endpoint");
        Self { endpoint, pin, accepted }
    }

    /// A connection by HTTP/3.
    async fn connect(&self) -> Connection {
        let mut client = Endpoint::client(loopback()).expect("a socket");
        let mut config = client_config(ALPN_WEB, FingerprintVerifier::pinned(self.pin));
        let mut transport = transport_config(Side::Client);
        transport.max_concurrent_uni_streams(VarInt::from_u32(3));
        config.transport_config(Arc::new(transport));
        client.set_default_client_config(config);
        let address = self.endpoint.local_addr();
        client.connect(address, "ambit").unwrap().await.unwrap()
    }

    /// A browser with a session, and what the server has of it.
    async fn meet(&mut self, path: &str) -> (Browser, (PlayerConnection, Vec<u8>)) {
        let browser = Browser::start(self, path).await.expect("a session");
        (browser, self.accepted.recv().await.expect("a server"))
    }
}

/// The client's half of a session, as browsers do it.
struct Browser {
    connection: Connection,
    question: SendStream,
    answer: RecvStream,
    _settings: SendStream,
}

impl Browser {
    async fn start(server: &Server, path: &str) -> Result<Self, StatusCode> {
        let connection = server.connect().await;
        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        let mut own = connection.open_uni().await.unwrap();
        settings.write(&mut own).await.unwrap();
        let mut its = connection.accept_uni().await.unwrap();
        let settings = Settings::read(&mut its).await.unwrap();
        assert_eq!(settings.supports_webtransport(), 1);

        let (mut question, mut answer) = connection.open_bi().await.unwrap();
        let url = format!("https://{}{path}", server.endpoint.local_addr());
        let request = ConnectRequest::new(url.parse::<url::Url>().unwrap());
        request.write(&mut question).await.unwrap();
        match ConnectResponse::read(&mut answer).await {
            Err(ConnectError::WrongStatus(Some(status))) => return Err(status),
            response => assert_eq!(response.unwrap().status, StatusCode::OK),
        }
        Ok(Self { connection, question, answer, _settings: own })
    }

    async fn open_bi(&self) -> (SendStream, RecvStream) {
        let mut stream = self.connection.open_bi().await.unwrap();
        let mut header = Vec::new();
        Frame::WEBTRANSPORT.encode(&mut header);
        WebVarInt::from_u32(0).encode(&mut header);
        stream.0.write_all(&header).await.unwrap();
        stream
    }

    /// Sends a datagram of the session whose request's number is four times that.
    fn send_datagram(&self, quarter: u8, bytes: &[u8]) {
        let datagram = [&[quarter], bytes].concat();
        self.connection.send_datagram(datagram.into()).unwrap();
    }

    async fn read_datagram(&self) -> Vec<u8> {
        let datagram = self.connection.read_datagram().await.unwrap();
        assert_eq!(datagram[0], 0);
        datagram[1..].to_vec()
    }

    /// Ends the session, with a capsule if there is a code.
    async fn end(&mut self, code: Option<u32>) {
        self.send_end(code).await;
        soon(self.connection.closed()).await;
    }

    async fn send_end(&mut self, code: Option<u32>) {
        if let Some(code) = code {
            let reason = String::new();
            let mut capsule = Vec::new();
            Capsule::CloseWebTransportSession { code, reason }.encode(&mut capsule);
            let mut frame = Vec::new();
            Frame::DATA.encode(&mut frame);
            WebVarInt::from_u32(capsule.len() as u32).encode(&mut frame);
            frame.extend(capsule);
            self.question.write_all(&frame).await.unwrap();
        }
        self.question.finish().unwrap();
    }
}

/// Waits; for less than the time that a handshake may take, and a silent connection stays.
async fn soon<T>(event: impl Future<Output = T>) -> T {
    let within = tokio::time::timeout(Duration::from_secs(5), event);
    within.await.expect("it takes no time")
}

fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}
