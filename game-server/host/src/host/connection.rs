//! One game connection, from the ticket to its end.
//!
//! The client opens the control stream and sends its ticket; a valid one leads to a room. From then
//! on the endpoint's thread puts datagrams, each with the room's time at its arrival, into the
//! room's inbox, until the connection ends. This task reads the control stream.
//!
//! What always holds: nothing of a client is dropped in silence. A connection that this end closes
//! has the reason in its last message or in the close frame. What is dropped otherwise is counted,
//! and the client gets one message for each kind.

use std::sync::Arc;
use std::time::Duration;

use ambit_endpoint::driver::{DatagramSink, RecvStream, SendStream};
use ambit_endpoint::player_connection::PlayerConnection;
use ambit_host_core::room_host::AdmittedClient;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::{ClientToGame, Join, client_to_game};
use ambit_proto::control::world::Error;
use ambit_proto::frame::MAX_TO_GAME;
use ambit_proto::ids::ClientId;
use ambit_proto::link::MAX_DATAGRAM;
use tokio::sync::mpsc;

use super::control_stream::{self, Control, GameConnection, close};
use super::counters::DropReason;
use super::inbox::{SHARE, Slot};
use super::inlet::RoomInlet;
use super::room_mailbox::{NewClient, RoomCall};
use super::shared::{ROOM_GIVEN_UP, Shared};
use ambit_host_core::clock::RoomClock;
use ambit_transport::frame_reader::{FrameError, FrameReader};

/// How long a client may take from the handshake to its `Join`.
const JOIN_WITHIN: Duration = Duration::from_secs(5);

type ControlReader = FrameReader<RecvStream>;

/// The queue of a client's control stream, which ends when the room drops its sender.
type Reports = mpsc::WeakSender<Control>;

/// A client with a valid ticket.
struct TicketHolder {
    admitted: AdmittedClient,
    inlet: Arc<RoomInlet>,
    from_client: ControlReader,
    to_client: SendStream,
}

/// Serves a connection to its end.
pub(crate) async fn serve(shared: Arc<Shared>, connection: PlayerConnection) {
    let permit = match shared.greetings.take(connection.remote_address().ip()) {
        Ok(permit) => permit,
        Err(limit) => {
            shared.counters.dropped(limit.into());
            let reason = "too many connections have not sent a `Join` yet; try again later";
            return close(&connection, limit.code(), reason);
        }
    };
    let mut to_client = None;
    // Forgotten once it is done: this task stays.
    let greeting = Box::pin(greet(&shared, &connection, &mut to_client));
    let greeted = tokio::time::timeout(JOIN_WITHIN, greeting).await;
    match greeted.unwrap_or_else(|_| Err(late_join())) {
        Ok(holder) => {
            drop(permit);
            play(&shared, connection, holder).await;
        }
        Err(error) => {
            let remote = connection.remote_address();
            tracing::debug!(%remote, code = error.name, "game connection refused");
            control_stream::refuse(&connection, to_client, error).await;
        }
    }
}

fn late_join() -> Error {
    let seconds = JOIN_WITHIN.as_secs();
    codes::error(
        ErrorCode::Idle,
        format!("no `Join` came on the game stream within {seconds} s of the handshake"),
    )
}

/// Reads the `Join` and finds the room, or says why the client is refused. `to_client` is where a
/// client that has opened the stream reads so.
async fn greet(
    shared: &Shared,
    connection: &PlayerConnection,
    to_client: &mut Option<SendStream>,
) -> Result<TicketHolder, Error> {
    let (sending, receiving) = connection
        .accept_bi()
        .await
        .map_err(|error| codes::error(ErrorCode::ErrorUnspecified, error.to_string()))?;
    *to_client = Some(sending);
    let mut from_client = FrameReader::new(receiving, MAX_TO_GAME);
    let join = read_join(&mut from_client).await?;
    // Before the ticket is used up: it is still good once the client has what it lacks.
    check_datagrams(connection.max_datagram_size())?;
    let (admitted, inlet) = admit(shared, join).await?;
    Ok(TicketHolder {
        admitted,
        inlet,
        from_client,
        to_client: to_client.take().expect("it was opened"),
    })
}

/// The longest datagram that the client takes is long enough for the game's.
fn check_datagrams(largest: Option<usize>) -> Result<(), Error> {
    let limit = match largest {
        Some(largest) if largest >= MAX_DATAGRAM => return Ok(()),
        Some(largest) => format!("accepts datagrams of at most {largest} bytes"),
        None => "does not accept datagrams".to_owned(),
    };
    let message = format!(
        "this client's QUIC {limit}; the game needs them of at least {MAX_DATAGRAM} bytes: set the \
         transport parameter max_datagram_frame_size to 1200 or more"
    );
    Err(codes::error(ErrorCode::Unsupported, message))
}

async fn read_join(from_client: &mut ControlReader) -> Result<Join, Error> {
    match from_client.next::<ClientToGame>().await {
        Ok(Some(ClientToGame { body: Some(client_to_game::Body::Join(join)) })) => Ok(join),
        Ok(Some(ClientToGame { body: Some(client_to_game::Body::Leave(_)) }) | None) => {
            Err(codes::error(ErrorCode::OutOfState, "the first message has to be `Join`"))
        }
        Ok(Some(ClientToGame { body: None })) => Err(codes::error(
            ErrorCode::UnknownMessage,
            "this message is not known here; the first one has to be `Join`",
        )),
        Err(FrameError::TooLarge(error)) => {
            Err(codes::error(ErrorCode::MessageTooLarge, error.to_string()))
        }
        Err(error) => Err(codes::error(ErrorCode::Malformed, error.to_string())),
    }
}

async fn admit(shared: &Shared, join: Join) -> Result<(AdmittedClient, Arc<RoomInlet>), Error> {
    let admitted = shared.admit(join).await?;
    // The room may have ended meanwhile.
    let Some(inlet) = shared.rooms.get(&admitted.ticket.room).map(|inlet| Arc::clone(&inlet))
    else {
        return Err(codes::error(ErrorCode::RoomNotRunning, "the room does not run any more"));
    };
    Ok((admitted, inlet))
}

async fn play(shared: &Arc<Shared>, connection: PlayerConnection, holder: TicketHolder) {
    let TicketHolder { admitted, inlet, from_client, to_client } = holder;
    let client = inlet.next_client();
    let (control, queue) = mpsc::channel(control_stream::QUEUE);
    tokio::spawn(control_stream::write(connection.clone(), to_client, queue));
    let reports = control.downgrade();
    let new = NewClient {
        client,
        admitted,
        connection: GameConnection { connection: connection.clone(), control },
    };
    // These wait while the mailbox is full: each connection has one message in it at most. After
    // this one the answer to the `Join` is in the queue, so all reports follow it.
    let is_attached = tokio::select! {
        is_attached = inlet.way_in.mailbox.call(RoomCall::Attach(Box::new(new))) => is_attached,
        () = inlet.given_up.cancelled() => return give_up(&connection),
    };
    if !is_attached {
        return close(&connection, ErrorCode::RoomClosed, "the room was closed");
    }
    let slot = inlet.way_in.inbox.slot(client);
    let sink = datagram_sink(Arc::clone(shared), inlet.way_in.clock, slot, reports.clone());
    connection.give_datagrams_to(sink);
    tokio::select! {
        () = connection.closed() => {}
        () = inlet.given_up.cancelled() => return give_up(&connection),
        error = read_control(shared, &inlet, client, from_client, &reports) => {
            let code = error.code();
            let reason = error.message.clone();
            if !report(&reports, Control::last_error(error)) {
                close(&connection, code, &reason);
            }
            connection.closed().await;
        }
    }
    tokio::select! {
        _ = inlet.way_in.mailbox.call(RoomCall::Detach(client)) => {}
        () = inlet.given_up.cancelled() => {}
    }
}

/// The room's thread answers nothing any more.
fn give_up(connection: &PlayerConnection) {
    close(connection, ErrorCode::RoomCrashed, ROOM_GIVEN_UP);
}

/// Puts a message into the client's queue. `false` if the room has ended the connection already, or
/// the client does not read and is about to be closed for it.
fn report(reports: &Reports, message: Control) -> bool {
    reports.upgrade().is_some_and(|control| control.try_send(message).is_ok())
}

/// Puts a client's datagrams into the room's inbox. What has arrived is there before the end of the
/// connection is known.
fn datagram_sink(
    shared: Arc<Shared>,
    clock: RoomClock,
    mut slot: Slot,
    reports: Reports,
) -> DatagramSink {
    let mut is_reported = false;
    Box::new(move |now, datagram| {
        if slot.push(clock.room_time(shared.clock.time_of(now)), datagram) {
            return;
        }
        shared.counters.dropped(DropReason::InboxFull);
        if !std::mem::replace(&mut is_reported, true) {
            let message = format!(
                "more than {SHARE} datagrams of this client came within a tick; the rest is \
                 dropped, now and whenever it happens again"
            );
            report(&reports, Control::error(ErrorCode::RateLimited, message));
        }
    })
}

/// Ends only when the client breaks the protocol, and returns how; a client may close its half of
/// the stream.
async fn read_control(
    shared: &Shared,
    inlet: &RoomInlet,
    client: ClientId,
    mut from_client: ControlReader,
    reports: &Reports,
) -> Error {
    let mut is_reported = false;
    loop {
        match from_client.next::<ClientToGame>().await {
            Ok(Some(ClientToGame { body: Some(client_to_game::Body::Leave(_)) })) => {
                // Posted, since a client that leaves may close the connection at once. Nothing is
                // read after that: a client that goes on must not fill the room's queue.
                let _ = inlet.post(RoomCall::Left(client));
                return std::future::pending().await;
            }
            Ok(Some(ClientToGame { body: Some(client_to_game::Body::Join(_)) })) => {
                let message = "this connection has joined already; `Join` is sent once";
                return codes::error(ErrorCode::OutOfState, message);
            }
            // A newer client may send what this host does not know, and goes on without it.
            Ok(Some(ClientToGame { body: None })) => {
                shared.counters.dropped(DropReason::ControlUnknown);
                if !std::mem::replace(&mut is_reported, true) {
                    let message = "this host does not know this message; it ignores all such";
                    report(reports, Control::error(ErrorCode::UnknownMessage, message));
                }
            }
            Ok(None) | Err(FrameError::Io(_)) => return std::future::pending().await,
            Err(FrameError::TooLarge(error)) => {
                return codes::error(ErrorCode::MessageTooLarge, error.to_string());
            }
            Err(error @ (FrameError::Malformed(_) | FrameError::Cut)) => {
                return codes::error(ErrorCode::Malformed, error.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_without_long_enough_datagrams_is_refused_with_a_reason() {
        assert_eq!(check_datagrams(Some(MAX_DATAGRAM)), Ok(()));
        for (largest, part) in [(None, "does not accept"), (Some(1_149), "at most 1149 bytes")] {
            let error = check_datagrams(largest).expect_err("too short");
            assert_eq!(error.code(), ErrorCode::Unsupported);
            assert!(error.message.contains(part), "{}", error.message);
            assert!(error.message.contains("max_datagram_frame_size"));
        }
    }
}
