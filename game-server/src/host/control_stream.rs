//! The host's half of a game connection's control stream.
//!
//! Messages for one client come out of a bounded queue and go to the stream, in order; after the
//! last one the connection is closed with its code. A client that does not read is closed with
//! `slow_reader`.

use std::time::Duration;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::{GameToClient, Out, game_to_client};
use ambit_proto::frame::encode_frame;
use quinn::{Connection, SendStream, VarInt};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Control messages that may wait for one client. A game connection sees two or three in its life;
/// more than this means that the client does not read, and it is closed.
pub(crate) const QUEUE: usize = 16;

/// How long a message may take into the stream before the client counts as one that does not read.
const WRITE_WITHIN: Duration = Duration::from_secs(5);

/// How long the last message may take to reach the client, and the client to close the connection
/// by itself. A close by this end may overtake what the client has not read yet.
const LAST_WITHIN: Duration = Duration::from_millis(500);

/// Something to tell a client.
pub(crate) enum Control {
    /// And go on.
    Message(GameToClient),
    /// And close the connection with this code.
    Last(GameToClient, ErrorCode),
}

/// "You are out of the game."
pub(crate) fn out(reason: ErrorCode, message: &str) -> game_to_client::Body {
    game_to_client::Body::Out(Out {
        reason: reason.into(),
        message: message.into(),
    })
}

/// Writes what comes through `queue` until the last message or the end of the connection.
pub(crate) async fn write(
    connection: Connection,
    mut stream: SendStream,
    mut queue: mpsc::Receiver<Control>,
) {
    while let Some(control) = queue.recv().await {
        let (message, last) = match control {
            Control::Message(message) => (message, None),
            Control::Last(message, code) => (message, Some(code)),
        };
        match timeout(WRITE_WITHIN, stream.write_all(&encode_frame(&message))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return,
            Err(_) => return close(&connection, ErrorCode::SlowReader),
        }
        if let Some(code) = last {
            return part(&connection, stream, code).await;
        }
    }
}

/// Writes one last message and closes the connection.
pub(crate) async fn refuse(
    connection: &Connection,
    mut stream: SendStream,
    message: &GameToClient,
    code: ErrorCode,
) {
    if let Ok(Ok(())) = timeout(WRITE_WITHIN, stream.write_all(&encode_frame(message))).await {
        part(connection, stream, code).await;
    } else {
        close(connection, code);
    }
}

async fn part(connection: &Connection, mut stream: SendStream, code: ErrorCode) {
    let _ = stream.finish();
    let _ = timeout(LAST_WITHIN, stream.stopped()).await;
    let _ = timeout(LAST_WITHIN, connection.closed()).await;
    close(connection, code);
}

/// Closes at once: QUIC's application error code is the error code's number, the reason is its
/// name.
pub(crate) fn close(connection: &Connection, code: ErrorCode) {
    connection.close(VarInt::from_u32(code as u32), codes::name(code).as_bytes());
}
