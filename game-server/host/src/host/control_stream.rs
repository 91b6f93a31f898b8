//! The host's half of a game connection's control stream.
//!
//! Messages for one client come out of a bounded queue and go to the stream, in order. After the
//! last one the connection is closed with its code. A client that does not read is closed with
//! `slow_reader`. Whatever the reason for a close is, it is in the last message, in the reason of
//! QUIC's close frame, or in both.

use std::time::Duration;

use ambit_endpoint::driver::SendStream;
use ambit_endpoint::player_connection::PlayerConnection;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::{GameToClient, game_to_client};
use ambit_proto::control::world::Error;
use ambit_proto::frame::encode_frame;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Control messages that may wait for one client. A game connection sees fewer than ten in its
/// life; more than this means that the client does not read, and it is closed.
pub(crate) const QUEUE: usize = 16;

/// How long a message may take into the stream before the client counts as one that does not read.
const WRITE_WITHIN: Duration = Duration::from_secs(5);

/// How long the last message may take into the stream if it is also the first, to reach the client,
/// and the client to close the connection by itself. A close by this end may overtake what the
/// client has not read yet.
const LAST_WITHIN: Duration = Duration::from_millis(500);

/// Why a client is closed with `slow_reader`.
pub(crate) const UNREAD: &str = "this client does not read the game stream";

/// A client's connection and the queue of its control stream.
pub(crate) struct GameConnection {
    pub(crate) connection: PlayerConnection,
    pub(crate) control: mpsc::Sender<Control>,
}

/// A message for a client. In a box: a queue has space for twice [`QUEUE`] of them at once.
pub(crate) enum Control {
    /// The connection stays open.
    Message(Box<GameToClient>),
    /// The connection is closed with this code.
    Last(Box<GameToClient>, ErrorCode),
}

impl Control {
    /// Reports an error; the connection stays open.
    pub(crate) fn error(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Message(Box::new(error_message(codes::error(code, message))))
    }

    /// Reports an error, with whose code the connection is closed.
    pub(crate) fn last_error(error: Error) -> Self {
        let code = error.code();
        Self::Last(Box::new(error_message(error)), code)
    }
}

/// Writes what comes through `queue` until the last message or the end of the connection.
pub(crate) async fn write(
    connection: PlayerConnection,
    mut stream: SendStream,
    mut queue: mpsc::Receiver<Control>,
) {
    while let Some(control) = queue.recv().await {
        let (message, last) = match control {
            Control::Message(message) => (message, None),
            Control::Last(message, code) => (message, Some(code)),
        };
        match timeout(WRITE_WITHIN, stream.write_all(&encode_frame(&*message))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return,
            Err(_) => return close(&connection, ErrorCode::SlowReader, UNREAD),
        }
        if let Some(code) = last {
            return Box::pin(finish(&connection, stream, code, reason_of(&message))).await;
        }
    }
}

/// Writes an error as the only message, and closes the connection. Without a stream the close frame
/// alone has the reason.
pub(crate) async fn refuse(
    connection: &PlayerConnection,
    stream: Option<SendStream>,
    error: Error,
) {
    let code = error.code();
    let reason = error.message.clone();
    let Some(mut stream) = stream else {
        return close(connection, code, &reason);
    };
    let frame = encode_frame(&error_message(error));
    if let Ok(Ok(())) = timeout(LAST_WITHIN, stream.write_all(&frame)).await {
        finish(connection, stream, code, &reason).await;
    } else {
        close(connection, code, &reason);
    }
}

async fn finish(
    connection: &PlayerConnection,
    mut stream: SendStream,
    code: ErrorCode,
    reason: &str,
) {
    stream.finish();
    let _ = timeout(LAST_WITHIN, stream.stopped()).await;
    let _ = timeout(LAST_WITHIN, connection.closed()).await;
    close(connection, code, reason);
}

/// Closes at once. QUIC's application error code is the error code's number; the reason is its
/// name, a colon and the reason in words.
pub(crate) fn close(connection: &PlayerConnection, code: ErrorCode, reason: &str) {
    let reason = format!("{}: {reason}", codes::name(code));
    connection.close(code, &reason);
}

fn error_message(error: Error) -> GameToClient {
    GameToClient { body: Some(game_to_client::Body::Error(error)) }
}

/// Why the connection ends, as the last message says it.
fn reason_of(message: &GameToClient) -> &str {
    match &message.body {
        Some(game_to_client::Body::Error(error)) => &error.message,
        Some(game_to_client::Body::Out(out)) => &out.message,
        Some(game_to_client::Body::Joined(_) | game_to_client::Body::Late(_)) | None => "",
    }
}
