//! The actix actor of one lobby connection: a framed stream on one side, the lobby on the other.
//!
//! Frames from the client go to the lobby one at a time: the next one is read once the lobby has
//! handled the last. QUIC's flow control therefore slows down a client that sends too fast, and no
//! other client is affected. Frames to the client wait in a queue that is bounded in number and
//! bytes. A client that does not read is disconnected with `slow_reader`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use actix::prelude::*;
use ambit_proto::codes::ErrorCode;
use ambit_transport::frame::MAX_TO_WORLD;
use ambit_transport::frame_reader::{FrameError, FrameReader};
use bytes::Bytes;
use quinn::{RecvStream, SendStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::actor::WorldServer;
use crate::actor::messages::{
    ClientFrame, CloseSession, Connect, Disconnect, Malformed, SendFrame, SessionAddress,
};
use crate::client_connection::ClientConnection;
use crate::lobby::ConnId;

/// Frames that may wait for one client. A busy lobby sends a client about ten frames a second; a
/// client that is further behind has stopped reading. Nothing is dropped: the connection is closed,
/// and the player may come back.
const QUEUE_FRAMES: usize = 256;

/// Bytes that may wait for one client, in addition to QUIC's buffers. A single frame may be larger.
const QUEUE_BYTES: usize = 1 << 20;

/// How long the write of one frame may take before the client counts as one that does not read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the last frames may take to reach the client, and the client to close the connection. A
/// close by this end may overtake data that the client has not read yet.
const LAST_FRAMES_TIMEOUT: Duration = Duration::from_millis(500);

/// The actor; see the module.
pub(crate) struct ClientSession {
    connection: ClientConnection,
    world: Addr<WorldServer>,
    /// Both halves of the queue until the client opens its stream; then the writer owns the
    /// receiving half.
    outgoing: mpsc::Sender<QueuedFrame>,
    queue: Option<mpsc::Receiver<QueuedFrame>>,
    queued_bytes: Arc<AtomicUsize>,
    slow_readers: Arc<AtomicU64>,
}

enum QueuedFrame {
    Frame(Bytes),
    Close { code: ErrorCode, message: String },
}

/// The result of the registration in the lobby, and the client's stream if it opened one.
struct OpenedSession {
    conn: ConnId,
    streams: Option<(SendStream, RecvStream)>,
}

impl ClientSession {
    /// Creates a session for a new connection. `slow_readers` counts the clients that are
    /// disconnected for not reading.
    pub(crate) fn new(
        connection: ClientConnection,
        world: Addr<WorldServer>,
        slow_readers: Arc<AtomicU64>,
    ) -> Self {
        let (outgoing, queue) = mpsc::channel(QUEUE_FRAMES);
        Self {
            connection,
            world,
            outgoing,
            queue: Some(queue),
            queued_bytes: Arc::default(),
            slow_readers,
        }
    }

    fn start_streams(&mut self, opened: OpenedSession, ctx: &mut Context<Self>) {
        let conn = opened.conn;
        let (Some((to_client, from_client)), Some(queue)) = (opened.streams, self.queue.take())
        else {
            return self.finish(conn, ctx);
        };
        let writing = write_frames(
            self.connection.clone(),
            to_client,
            queue,
            Arc::clone(&self.queued_bytes),
        );
        ctx.spawn(writing.into_actor(self).map(|timely, actor, _| {
            if !timely {
                actor.close_slow_reader();
            }
        }));
        let reading = read_frames(
            self.connection.clone(),
            from_client,
            self.world.clone(),
            conn,
        );
        ctx.spawn(
            reading
                .into_actor(self)
                .map(move |(), actor, ctx| actor.finish(conn, ctx)),
        );
    }

    /// Notifies the lobby that the connection is closed, and stops the actor.
    fn finish(&mut self, conn: ConnId, ctx: &mut Context<Self>) {
        let notified = self.world.send(Disconnect {
            conn,
            quit: self.connection.has_quit(),
        });
        ctx.spawn(notified.into_actor(self).map(|_, _, ctx| ctx.stop()));
    }

    fn enqueue(&mut self, outgoing: QueuedFrame) {
        let bytes = outgoing.size_bytes();
        let waiting = self.queued_bytes.load(Relaxed);
        let fits = waiting == 0 || waiting + bytes <= QUEUE_BYTES;
        self.queued_bytes.fetch_add(bytes, Relaxed);
        if !fits || self.outgoing.try_send(outgoing).is_err() {
            self.close_slow_reader();
        }
    }

    fn close_slow_reader(&self) {
        if !self.connection.is_closed() {
            self.slow_readers.fetch_add(1, Relaxed);
            self.connection
                .close(ErrorCode::SlowReader, "messages were not read");
        }
    }
}

impl QueuedFrame {
    fn size_bytes(&self) -> usize {
        match self {
            Self::Frame(frame) => frame.len(),
            Self::Close { .. } => 0,
        }
    }
}

impl Actor for ClientSession {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(QUEUE_FRAMES);
        let connect = Connect {
            address: self.connection.address(),
            session: SessionAddress {
                frames: ctx.address().recipient(),
                close: ctx.address().recipient(),
            },
            connection: self.connection.clone(),
        };
        let (connection, registered) = (self.connection.clone(), self.world.send(connect));
        ctx.spawn(self.connection.clone().discard_probes().into_actor(self));
        let opening = async move {
            let conn = registered.await.ok()?;
            Some(OpenedSession {
                conn,
                streams: connection.streams().await,
            })
        };
        ctx.spawn(opening.into_actor(self).map(|opened, actor, ctx| {
            if let Some(opened) = opened {
                actor.start_streams(opened, ctx);
            } else {
                actor
                    .connection
                    .close(ErrorCode::ServerError, "the lobby has ended");
                ctx.stop();
            }
        }));
    }
}

impl Handler<SendFrame> for ClientSession {
    type Result = ();

    fn handle(&mut self, SendFrame(frame): SendFrame, _: &mut Self::Context) {
        self.enqueue(QueuedFrame::Frame(frame));
    }
}

impl Handler<CloseSession> for ClientSession {
    type Result = ();

    fn handle(&mut self, CloseSession { code, message }: CloseSession, _: &mut Self::Context) {
        if self.queue.is_some() {
            // There is no stream yet for a last message.
            self.connection.close(code, &message);
        } else {
            self.enqueue(QueuedFrame::Close { code, message });
        }
    }
}

/// Forwards frames to the lobby until the connection ends.
async fn read_frames(
    connection: ClientConnection,
    from_client: RecvStream,
    world: Addr<WorldServer>,
    conn: ConnId,
) {
    let mut frames = FrameReader::new(from_client, MAX_TO_WORLD);
    let broken = loop {
        let next = tokio::select! {
            next = frames.next_frame() => next,
            () = connection.closed() => break None,
        };
        match next {
            Ok(Some(frame)) => {
                if world.send(ClientFrame { conn, frame }).await.is_err() {
                    connection.close(ErrorCode::ServerError, "the lobby has ended");
                    break None;
                }
            }
            // The client has finished its half of the stream. It closes the connection next, or
            // this end does.
            Ok(None) => {
                connection.record_end(None);
                let _ = timeout(LAST_FRAMES_TIMEOUT, connection.closed()).await;
                connection.close(ErrorCode::ErrorUnspecified, "the stream was closed");
                break None;
            }
            // The connection was lost, or the client has reset its stream.
            Err(FrameError::Io(error)) => {
                connection.record_end(Some(&error));
                connection.close(ErrorCode::Malformed, "the stream was reset");
                break None;
            }
            Err(FrameError::TooLarge(_)) => break Some(ErrorCode::MessageTooLarge),
            Err(FrameError::Malformed(_) | FrameError::Cut) => break Some(ErrorCode::Malformed),
        }
    };
    if let Some(code) = broken {
        // The lobby closes the connection in answer.
        let _ = world.send(Malformed { conn, code }).await;
        connection.closed().await;
    }
    if let Some(code) = connection.stop_code() {
        let _ = frames.into_inner().stop(code);
    }
}

/// Writes queued frames until the last one or the end of the connection. Returns `false` if the
/// client does not read.
async fn write_frames(
    connection: ClientConnection,
    mut to_client: SendStream,
    mut queue: mpsc::Receiver<QueuedFrame>,
    queued_bytes: Arc<AtomicUsize>,
) -> bool {
    while let Some(outgoing) = queue.recv().await {
        match outgoing {
            QueuedFrame::Frame(frame) => {
                match timeout(WRITE_TIMEOUT, to_client.write_all(&frame)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return true,
                    Err(_) => return false,
                }
                queued_bytes.fetch_sub(frame.len(), Relaxed);
            }
            QueuedFrame::Close { code, message } => {
                let _ = to_client.finish();
                let _ = timeout(LAST_FRAMES_TIMEOUT, to_client.stopped()).await;
                let _ = timeout(LAST_FRAMES_TIMEOUT, connection.closed()).await;
                connection.close(code, &message);
                return true;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use ambit_host::endpoint;
    use ambit_host::identity::ServerIdentity;
    use ambit_transport::frame::MAX_FROM_WORLD;
    use ambit_transport::quic::{self, ALPN_WORLD, FingerprintVerifier};
    use ambit_transport::ticket::TicketSigner;
    use quinn::{Connection, ConnectionError, Endpoint, VarInt};
    use tokio::sync::{oneshot, watch};

    use super::*;
    use crate::actor::LobbyClock;
    use crate::lobby::{Lobby, LobbyConfig};

    #[test]
    fn a_client_that_does_not_read_is_closed_as_slow_and_counted() {
        System::new().block_on(async {
            let (near, far) = connect().await;
            let slow_readers = Arc::new(AtomicU64::new(0));
            let session = ClientSession::new(
                ClientConnection::Direct(far),
                world(),
                Arc::clone(&slow_readers),
            )
            .start();
            let (mut to_server, _unread) = near.open_bi().await.unwrap();
            to_server.write_all(&[0]).await.unwrap();
            // More than the client's window, QUIC's buffer and the queue together can hold.
            for _ in 0..64 {
                // The actor stops soon after it has closed the connection.
                let _ = session.send(SendFrame(vec![0; 64 << 10].into())).await;
            }
            let ConnectionError::ApplicationClosed(close) = near.closed().await else {
                panic!("not closed by the server")
            };
            assert_eq!(
                close.error_code,
                VarInt::from_u32(ErrorCode::SlowReader as u32)
            );
            assert_eq!(slow_readers.load(Relaxed), 1);
        });
    }

    #[test]
    fn frames_sent_before_a_close_arrive() {
        System::new().block_on(async {
            let (near, far) = connect().await;
            let session =
                ClientSession::new(ClientConnection::Direct(far), world(), Arc::default()).start();
            let (mut to_server, from_server) = near.open_bi().await.unwrap();
            // An incomplete frame, so that the lobby gets nothing.
            to_server.write_all(&[0]).await.unwrap();
            let mut frames = FrameReader::new(from_server, MAX_FROM_WORLD);
            session
                .send(SendFrame(vec![0, 0, 0, 2, 7, 8].into()))
                .await
                .unwrap();
            assert_eq!(
                frames.next_frame().await.unwrap().as_deref(),
                Some(&[7, 8][..])
            );
            session
                .send(SendFrame(vec![0, 0, 0, 1, 9].into()))
                .await
                .unwrap();
            session
                .send(CloseSession {
                    code: ErrorCode::Kicked,
                    message: "out".into(),
                })
                .await
                .unwrap();
            assert_eq!(
                frames.next_frame().await.unwrap().as_deref(),
                Some(&[9][..])
            );
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

    fn world() -> Addr<WorldServer> {
        let check = Box::new(|_: &str, _: &_| Ok(()));
        let signer = TicketSigner::from_seed(&[1; 32]);
        let lobby = Lobby::new(
            LobbyConfig::default(),
            Vec::new(),
            check,
            Box::new(|| [2; 16]),
            signer,
        );
        WorldServer::new(
            lobby,
            LobbyClock::start().0,
            watch::channel(0).0,
            None,
            None,
            oneshot::channel().0,
        )
        .start()
    }

    /// The client's end and the server's end of a new connection. Their endpoints live as long as
    /// they do.
    async fn connect() -> (Connection, Connection) {
        let identity = ServerIdentity::generate().unwrap();
        let loopback = "127.0.0.1:0".parse().unwrap();
        let server = endpoint::listen(loopback, &identity, &[ALPN_WORLD]).unwrap();
        let mut client = Endpoint::client(loopback).unwrap();
        let verifier = FingerprintVerifier::pinned(identity.fingerprint());
        client.set_default_client_config(quic::client_config(ALPN_WORLD, verifier));
        let near = client
            .connect(server.local_addr().unwrap(), "ambit")
            .unwrap();
        let (near, far) = tokio::join!(near, async { server.accept().await.unwrap().await });
        (near.unwrap(), far.unwrap())
    }
}
