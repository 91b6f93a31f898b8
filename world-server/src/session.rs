//! One lobby connection: a framed stream on one side, the lobby on the other.
//!
//! Frames from the client go to the lobby one at a time: the next one is read once the lobby has
//! handled the last, and there is space for its answer. QUIC's flow control therefore slows down a
//! client that sends too fast, and no other client is affected. Few requests of all sessions wait
//! for the lobby at once, in their turn: what else waits for it, such as reports of hosts and the
//! check of its health, waits for no more than these. Frames to the client wait in an
//! [`OutgoingQueue`]. A client that does not read is disconnected with `slow_reader`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use actix::Addr;
use ambit_endpoint::driver::{RecvStream, SendStream};
use ambit_lobby::ConnId;
use ambit_proto::codes::ErrorCode;
use ambit_proto::frame::MAX_TO_WORLD;
use ambit_transport::frame_reader::{FrameError, FrameReader};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::actor::WorldServer;
use crate::actor::calls::{call, in_lobby};
use crate::client_connection::ClientConnection;
use crate::outgoing::{NextOutgoing, OutgoingQueue};

/// How long the write of one frame may take before the client counts as one that does not read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the last frames may take to reach the client, and the client to close the connection. A
/// close by this end may overtake data that the client has not read yet.
const LAST_FRAMES_TIMEOUT: Duration = Duration::from_millis(500);

const LOBBY_ENDED: &str = "the lobby has ended";

/// Requests of all sessions that may wait for the lobby at once. The longest take it a millisecond.
const WAITING_REQUESTS: usize = 64;

/// What all sessions share.
#[derive(Debug)]
pub(crate) struct CommonToSessions {
    /// Clients that were disconnected for not reading.
    pub(crate) slow_readers: AtomicU64,
    /// Places for requests in the lobby's mailbox; given in the order of asking.
    places: Semaphore,
}

impl Default for CommonToSessions {
    fn default() -> Self {
        Self { slow_readers: AtomicU64::new(0), places: Semaphore::new(WAITING_REQUESTS) }
    }
}

/// Serves a new connection until it ends.
pub(crate) async fn serve(
    connection: ClientConnection,
    world: Addr<WorldServer>,
    common: Arc<CommonToSessions>,
) {
    let queue = Arc::new(OutgoingQueue::default());
    let (client, sent) = (connection.clone(), Arc::clone(&queue));
    let Ok(conn) = world.send(call(|world, ctx| world.connect(ctx, client, sent))).await else {
        return connection.close(ErrorCode::ServerError, LOBBY_ENDED);
    };
    let session =
        ClientSession { conn, connection, world, queue, write_timeout: WRITE_TIMEOUT, common };
    session.run().await;
}

/// A connection that the lobby knows.
struct ClientSession {
    conn: ConnId,
    connection: ClientConnection,
    world: Addr<WorldServer>,
    queue: Arc<OutgoingQueue>,
    write_timeout: Duration,
    common: Arc<CommonToSessions>,
}

impl ClientSession {
    async fn run(self) {
        self.connection.discard_probes();
        if let Some((to_client, from_client)) = self.connection.streams().await {
            self.queue.start_writer();
            tokio::select! {
                () = self.read_frames(from_client) => {}
                () = self.write_all_frames(to_client) => {}
            }
        }
        let quit = self.connection.has_quit();
        let conn = self.conn;
        let _ = self.world.send(call(move |world, ctx| world.disconnect(ctx, conn, quit))).await;
    }

    /// Forwards frames to the lobby until the connection ends.
    async fn read_frames(&self, from_client: RecvStream) {
        let connection = &self.connection;
        let conn = self.conn;
        let mut frames = FrameReader::new(from_client, MAX_TO_WORLD);
        let broken = loop {
            let next = tokio::select! {
                next = async {
                    self.queue.wait_for_space().await;
                    frames.next_frame().await
                } => next,
                () = connection.closed() => break None,
            };
            match next {
                Ok(Some(frame)) => {
                    let place = self.common.places.acquire().await;
                    let taken = call(move |world, ctx| world.take_frame(ctx, conn, &frame));
                    let handled = self.world.send(taken).await;
                    drop(place);
                    match handled {
                        Ok(Duration::ZERO) => {}
                        Ok(pause) => {
                            let _ = timeout(pause, connection.closed()).await;
                        }
                        Err(_) => {
                            connection.close(ErrorCode::ServerError, LOBBY_ENDED);
                            break None;
                        }
                    }
                }
                // The client has finished its half of the stream. It closes the connection next,
                // or this end does.
                Ok(None) => {
                    connection.record_end(None);
                    let _ = timeout(LAST_FRAMES_TIMEOUT, connection.closed()).await;
                    connection.close(ErrorCode::ErrorUnspecified, "the stream was closed");
                    break None;
                }
                // The connection was lost, or the client has reset its stream, which a browser does
                // when it ends the session: how it ended is known a little later.
                Err(FrameError::Io(error)) => {
                    connection.record_end(Some(&error));
                    let _ = timeout(LAST_FRAMES_TIMEOUT, connection.closed()).await;
                    connection.close(ErrorCode::Malformed, "the stream was reset");
                    break None;
                }
                Err(FrameError::TooLarge(_)) => break Some(ErrorCode::MessageTooLarge),
                Err(FrameError::Malformed(_) | FrameError::Cut) => {
                    break Some(ErrorCode::Malformed);
                }
            }
        };
        if let Some(code) = broken {
            // The lobby closes the connection in answer.
            let refused = in_lobby(move |lobby, now| lobby.handle_malformed(now, conn, code));
            let _ = self.world.send(refused).await;
            connection.closed().await;
        }
        if let Some(code) = connection.stop_code() {
            frames.into_inner().stop(code);
        }
    }

    /// Writes what waits for the client. Never returns: the reader detects the end of the
    /// connection.
    async fn write_all_frames(&self, to_client: SendStream) {
        if !self.write_frames(to_client).await && !self.connection.is_closed() {
            self.common.slow_readers.fetch_add(1, Relaxed);
            self.connection.close(ErrorCode::SlowReader, "messages were not read");
        }
        std::future::pending::<()>().await;
    }

    /// Writes frames until the last one or the end of the connection. Returns `false` if the client
    /// does not read.
    async fn write_frames(&self, mut to_client: SendStream) -> bool {
        loop {
            match self.queue.next().await {
                NextOutgoing::Write(frame) => {
                    match timeout(self.write_timeout, to_client.write_all(&frame)).await {
                        Ok(Ok(())) => {}
                        Ok(Err(_)) => return true,
                        Err(_) => return false,
                    }
                }
                NextOutgoing::Report(missed) => {
                    let conn = self.conn;
                    let caught_up =
                        in_lobby(move |lobby, now| lobby.handle_caught_up(now, conn, missed));
                    let _ = self.world.send(caught_up).await;
                }
                NextOutgoing::Close { code, message } => {
                    to_client.finish();
                    let _ = timeout(LAST_FRAMES_TIMEOUT, to_client.stopped()).await;
                    let _ = timeout(LAST_FRAMES_TIMEOUT, self.connection.closed()).await;
                    self.connection.close(code, &message);
                    return true;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use actix::{Actor as _, System};
    use ambit_endpoint::driver::ServerEndpoint;
    use ambit_endpoint::player_connection::PlayerConnection;
    use ambit_host::endpoint;
    use ambit_host::identity::ServerIdentity;
    use ambit_host::web_certificates::WebCertificates;
    use ambit_lobby::FrameKind;
    use ambit_proto::frame::MAX_FROM_WORLD;
    use ambit_transport::quic::{self, ALPN_WORLD, FingerprintVerifier};
    use quinn::{Connection, ConnectionError, Endpoint, VarInt};
    use tokio::sync::mpsc;

    use super::*;
    use crate::actor::tests::idle::{hold, world_server};

    #[test]
    fn a_client_that_does_not_read_is_closed_as_slow_and_counted() {
        System::new().block_on(async {
            let (near, far, _server) = connect().await;
            let common = Arc::new(CommonToSessions::default());
            let queue = serve_connection(far, Arc::clone(&common));
            let (mut to_server, _unread) = near.open_bi().await.unwrap();
            to_server.write_all(&[0]).await.unwrap();
            // More than the client's window and QUIC's buffer can hold.
            while near.close_reason().is_none() {
                queue.push(FrameKind::Essential, &vec![0; 64 << 10].into());
                tokio::task::yield_now().await;
            }
            let ConnectionError::ApplicationClosed(close) = near.closed().await else {
                panic!("not closed by the server")
            };
            assert_eq!(close.error_code, VarInt::from_u32(ErrorCode::SlowReader as u32));
            assert_eq!(common.slow_readers.load(Relaxed), 1);
        });
    }

    #[test]
    fn frames_sent_before_a_close_arrive() {
        System::new().block_on(async {
            let (near, far, _server) = connect().await;
            let queue = serve_connection(far, Arc::default());
            let (mut to_server, from_server) = near.open_bi().await.unwrap();
            // An incomplete frame, so that the lobby gets nothing.
            to_server.write_all(&[0]).await.unwrap();
            let mut frames = FrameReader::new(from_server, MAX_FROM_WORLD);
            queue.push(FrameKind::Essential, &vec![0, 0, 0, 2, 7, 8].into());
            assert_eq!(frames.next_frame().await.unwrap().as_deref(), Some(&[7, 8][..]));
            queue.push(FrameKind::Essential, &vec![0, 0, 0, 1, 9].into());
            assert!(queue.close(ErrorCode::Kicked, "out"));
            assert_eq!(frames.next_frame().await.unwrap().as_deref(), Some(&[9][..]));
            assert!(frames.next_frame().await.unwrap().is_none());
            let ConnectionError::ApplicationClosed(close) = near.closed().await else {
                panic!("not closed by the server")
            };
            assert_eq!(
                (close.error_code, &close.reason[..]),
                (VarInt::from_u32(ErrorCode::Kicked as u32), &b"out"[..])
            );
        });
    }

    #[test]
    fn few_requests_of_all_sessions_wait_in_the_lobby_s_mailbox() {
        System::new().block_on(async {
            let thread = actix::Arbiter::new();
            let world = WorldServer::start_in_arbiter(&thread.handle(), |_| world_server());
            let release = hold(&thread).await;

            let common = Arc::new(CommonToSessions::default());
            let mut clients = Vec::new();
            for number in 0..WAITING_REQUESTS + 4 {
                let (near, far, server) = connect().await;
                let session = ClientSession {
                    conn: ConnId(number as u64),
                    connection: ClientConnection::Direct(far),
                    world: world.clone(),
                    queue: Arc::default(),
                    write_timeout: WRITE_TIMEOUT,
                    common: Arc::clone(&common),
                };
                tokio::spawn(session.run());
                let (mut to_server, from_server) = near.open_bi().await.unwrap();
                to_server.write_all(&[0, 0, 0, 0]).await.unwrap();
                clients.push((near, to_server, from_server, server));
            }
            while common.places.available_permits() > 0 {
                tokio::task::yield_now().await;
            }
            // There is space for everything else.
            assert!(world.try_send(call(|world, _| world.snapshot())).is_ok());
            drop(release);
            while common.places.available_permits() < WAITING_REQUESTS {
                tokio::task::yield_now().await;
            }
        });
    }

    /// Serves the connection with a short time limit for writes. Returns what waits for the client.
    fn serve_connection(
        connection: PlayerConnection,
        common: Arc<CommonToSessions>,
    ) -> Arc<OutgoingQueue> {
        let queue = Arc::new(OutgoingQueue::default());
        let session = ClientSession {
            conn: ConnId(1),
            connection: ClientConnection::Direct(connection),
            world: world_server().start(),
            queue: Arc::clone(&queue),
            write_timeout: Duration::from_millis(200),
            common,
        };
        tokio::spawn(session.run());
        queue
    }

    /// The client's end and the server's end of a new connection, and the server's endpoint, which
    /// has to live as long.
    async fn connect() -> (Connection, PlayerConnection, ServerEndpoint) {
        let identity = ServerIdentity::generate().unwrap();
        let certificates = Arc::new(WebCertificates::new(&identity).unwrap());
        let loopback = "127.0.0.1:0".parse().unwrap();
        let resets = quic::ResetSecret::random().unwrap();
        let listener = endpoint::listen(loopback, &certificates, &resets, &[ALPN_WORLD]).unwrap();
        let address = listener.local_addr();
        let (accepting, mut accepted) = mpsc::channel(1);
        let serve = move |connection, _| {
            let _ = accepting.try_send(connection);
            std::future::ready(())
        };
        let server = listener.serve(Arc::default(), || {}, serve).unwrap();
        let mut client = Endpoint::client(loopback).unwrap();
        let verifier = FingerprintVerifier::pinned(identity.fingerprint());
        client.set_default_client_config(quic::client_config(ALPN_WORLD, verifier));
        let near = client.connect(address, "ambit").unwrap();
        let (near, far) = tokio::join!(near, accepted.recv());
        (near.unwrap(), far.unwrap(), server)
    }
}
