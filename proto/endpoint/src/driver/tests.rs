//! An endpoint's thread against quinn's clients, on loopback.

use std::net::Ipv4Addr;

use ambit_transport::quic::{
    ALPN_GAME, FingerprintVerifier, ResetSecret, client_config, server_config,
    server_endpoint_config,
};
use quinn::{Connection, Endpoint};
use quinn_proto::TransportErrorCode;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

use super::*;

/// Hands over what connects.
struct Everyone(mpsc::Sender<DrivenConnection>);

impl Reception for Everyone {
    type Permit = ();

    fn admit(&mut self, _: AskingPeer) -> Result<(), Turned> {
        Ok(())
    }

    fn serve(&mut self, connection: DrivenConnection, (): ()) {
        let _ = self.0.try_send(connection);
    }

    fn note_failed(&mut self, _: SocketAddr, _: &ConnectionError) {}

    fn note_wire(&mut self, _: &WireBytes) {}
}

/// A server, and clients of it.
struct Pair {
    server: ServerEndpoint,
    connected: mpsc::Receiver<DrivenConnection>,
    client: Endpoint,
}

impl Pair {
    fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["ambit".into()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = server_config(vec![made.cert.der().clone()], key, &[ALPN_GAME]).unwrap();
        let ids = server_endpoint_config(&ResetSecret::random().unwrap());
        let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (sender, connected) = mpsc::channel(8);
        let server = ServerEndpoint::start(socket, ids, config, Everyone(sender)).unwrap();
        let mut client = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let trust = FingerprintVerifier::with_policy(|_: &str, _| true);
        client.set_default_client_config(client_config(ALPN_GAME, trust));
        Self { server, connected, client }
    }

    async fn connect(&mut self) -> (Connection, DrivenConnection) {
        let near = self.client.connect(self.server.local_addr(), "ambit").unwrap();
        (near.await.unwrap(), self.connected.recv().await.unwrap())
    }
}

#[tokio::test]
async fn datagrams_and_streams_go_both_ways() {
    let mut pair = Pair::start();
    let (near, far) = pair.connect().await;
    assert_eq!(far.protocol(), ALPN_GAME);
    near.send_datagram(Bytes::from_static(b"up")).unwrap();
    assert_eq!(far.read_datagram().await.unwrap(), "up");
    far.send_datagram(Bytes::from_static(b"down"));
    assert_eq!(near.read_datagram().await.unwrap(), "down");
    near.send_datagram(Bytes::from_static(b"before the sink")).unwrap();
    let (mut to_server, mut from_server) = near.open_bi().await.unwrap();
    to_server.write_all(b"hello").await.unwrap();
    let (mut to_client, mut from_client) = far.accept_bi().await.unwrap();
    let mut bytes = [0; 5];
    from_client.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"hello");
    // What came before is there by now.
    let (given, mut taken) = mpsc::channel(8);
    far.give_datagrams_to(Box::new(move |_, bytes| drop(given.try_send(bytes))));
    near.send_datagram(Bytes::from_static(b"to the sink")).unwrap();
    assert_eq!(taken.recv().await.unwrap(), "before the sink");
    assert_eq!(taken.recv().await.unwrap(), "to the sink");
    // More than all windows hold, so both ends have to wait for each other.
    let long = vec![7; 1 << 20];
    let writing = tokio::spawn(async move {
        to_client.write_all(&long).await.unwrap();
        to_client.finish();
        to_client.stopped().await.unwrap()
    });
    assert_eq!(from_server.read_to_end(2 << 20).await.unwrap(), vec![7; 1 << 20]);
    assert_eq!(writing.await.unwrap(), None);
    to_server.finish().unwrap();
    assert_eq!(from_client.read(&mut bytes).await.unwrap(), 0);
}

#[tokio::test]
async fn an_end_has_its_code_and_reason_on_both_sides() {
    let mut pair = Pair::start();
    let (near, far) = pair.connect().await;
    far.close(VarInt::from_u32(7), b"out");
    assert_eq!(far.close_reason(), Some(ConnectionError::LocallyClosed));
    let ConnectionError::ApplicationClosed(close) = near.closed().await else {
        panic!("not closed by the server")
    };
    assert_eq!((close.error_code, &close.reason[..]), (VarInt::from_u32(7), &b"out"[..]));

    let (near, far) = pair.connect().await;
    near.close(VarInt::from_u32(3), b"quit");
    assert!(matches!(far.closed().await, ConnectionError::ApplicationClosed(_)));
    assert!(far.accept_bi().await.is_err() && far.read_datagram().await.is_err());
    assert_eq!(far.keying_material(b"label").await, None);
}

#[tokio::test]
async fn a_connection_without_handles_is_closed() {
    let mut pair = Pair::start();
    let (near, far) = pair.connect().await;
    let (mut to_server, _from_server) = near.open_bi().await.unwrap();
    to_server.write_all(b"x").await.unwrap();
    let streams = far.accept_bi().await.unwrap();
    drop(far);
    near.send_datagram(Bytes::from_static(b"a stream keeps it")).unwrap();
    assert_eq!(near.close_reason(), None);
    drop(streams);
    let ConnectionError::ApplicationClosed(close) = near.closed().await else {
        panic!("not closed by the server")
    };
    assert_eq!(close.error_code, VarInt::from_u32(0));
}

#[tokio::test]
async fn a_closed_endpoint_ends_all_and_refuses_new_peers() {
    let mut pair = Pair::start();
    let (near, _far) = pair.connect().await;
    pair.server.close(VarInt::from_u32(1), b"the end");
    assert!(matches!(near.closed().await, ConnectionError::ApplicationClosed(_)));
    pair.server.wait_idle().await;
    let refused = pair.client.connect(pair.server.local_addr(), "ambit").unwrap().await;
    let Err(ConnectionError::ConnectionClosed(close)) = refused else { panic!("{refused:?}") };
    assert_eq!(close.error_code, TransportErrorCode::CONNECTION_REFUSED);
}
