//! One game connection, from the ticket to its end.
//!
//! The client opens the control stream and sends its ticket; a valid one leads to a room. From then
//! on this task carries datagrams, each with the room's time at its arrival, into the room's inbox,
//! until the connection ends. Another task reads the control stream, so that a datagram does not
//! wake it.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::{
    ClientToGame, GameToClient, Join, client_to_game, game_to_client,
};
use ambit_proto::control::world::Error;
use ambit_proto::ids::ClientId;
use ambit_transport::frame::MAX_TO_GAME;
use quinn::{Connection, RecvStream, SendStream};
use tokio::sync::mpsc;

use super::Shared;
use super::actor::{Attach, ClientLeft, Detach, GameConnection};
use super::control_stream::{self, close};
use super::counters::DropReason;
use super::inbox::Slot;
use super::inlet::RoomInlet;
use crate::host_core::clock::RoomClock;
use ambit_transport::frame_reader::{FrameError, FrameReader};
use ambit_transport::ticket::Ticket;

/// How long a client may take from the handshake to its `Join`.
const JOIN_WITHIN: Duration = Duration::from_secs(5);

type ControlReader = FrameReader<RecvStream>;

/// A client with a valid ticket.
struct TicketHolder {
    ticket: Ticket,
    inlet: Arc<RoomInlet>,
    from_client: ControlReader,
    to_client: SendStream,
}

/// Serves a connection to its end.
pub(crate) async fn serve(shared: Arc<Shared>, connection: Connection) {
    let permit = match shared.greetings.take(connection.remote_address().ip()) {
        Ok(permit) => permit,
        Err(limit) => {
            shared.counters.dropped(limit.into());
            return close(&connection, limit.code());
        }
    };
    let greeted = tokio::time::timeout(JOIN_WITHIN, greet(&shared, &connection)).await;
    drop(permit);
    match greeted {
        Ok(Some(holder)) => play(&shared, connection, holder).await,
        Ok(None) => {}
        Err(_) => close(&connection, ErrorCode::Idle),
    }
}

/// Reads the `Join` and finds the room; a client without a valid ticket is refused.
async fn greet(shared: &Shared, connection: &Connection) -> Option<TicketHolder> {
    let (to_client, from_client) = connection.accept_bi().await.ok()?;
    let mut from_client = FrameReader::new(from_client, MAX_TO_GAME);
    let entry = match read_join(&mut from_client).await {
        Ok(join) => admit(shared, &join),
        Err(error) => Err(error),
    };
    match entry {
        Ok((ticket, inlet)) => Some(TicketHolder {
            ticket,
            inlet,
            from_client,
            to_client,
        }),
        Err(error) => {
            let remote = connection.remote_address();
            tracing::debug!(%remote, code = error.name, "game connection refused");
            let code = error.code();
            let message = GameToClient {
                body: Some(game_to_client::Body::Error(error)),
            };
            control_stream::refuse(connection, to_client, &message, code).await;
            None
        }
    }
}

async fn read_join(from_client: &mut ControlReader) -> Result<Join, Error> {
    match from_client.next::<ClientToGame>().await {
        Ok(Some(ClientToGame {
            body: Some(client_to_game::Body::Join(join)),
        })) => Ok(join),
        Ok(
            Some(ClientToGame {
                body: Some(client_to_game::Body::Leave(_)),
            })
            | None,
        ) => Err(codes::error(
            ErrorCode::OutOfState,
            "the first message has to be `Join`",
        )),
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

fn admit(shared: &Shared, join: &Join) -> Result<(Ticket, Arc<RoomInlet>), Error> {
    let ticket = shared.core().admit(shared.time(), join)?;
    // The room may have ended meanwhile.
    let Some(inlet) = shared
        .rooms
        .get(&ticket.room)
        .map(|inlet| Arc::clone(&inlet))
    else {
        return Err(codes::error(
            ErrorCode::RoomNotRunning,
            "the room does not run any more",
        ));
    };
    Ok((ticket, inlet))
}

async fn play(shared: &Arc<Shared>, connection: Connection, holder: TicketHolder) {
    let TicketHolder {
        ticket,
        inlet,
        from_client,
        to_client,
    } = holder;
    let client = inlet.next_client();
    let (control, queue) = mpsc::channel(control_stream::QUEUE);
    tokio::spawn(control_stream::write(connection.clone(), to_client, queue));
    let attach = Attach {
        client,
        ticket,
        connection: GameConnection {
            connection: connection.clone(),
            control,
        },
    };
    // These wait while the mailbox is full: each connection has one message in it at most.
    if inlet.actor.send(attach).await.is_err() {
        return close(&connection, ErrorCode::RoomClosed);
    }
    let slot = inlet.inbox.slot(client);
    let mut reading = tokio::spawn(read_datagrams(
        Arc::clone(shared),
        connection.clone(),
        inlet.clock,
        slot,
    ));
    let ended = tokio::select! {
        _ = &mut reading => true,
        () = read_control(&connection, &inlet, client, from_client) => false,
    };
    if !ended {
        // The connection is closed, so the reader ends too. What it has read counts before the end
        // does.
        let _ = reading.await;
    }
    let _ = inlet.actor.send(Detach(client)).await;
}

/// Ends with the connection.
async fn read_datagrams(
    shared: Arc<Shared>,
    connection: Connection,
    clock: RoomClock,
    mut slot: Slot,
) {
    while let Ok(datagram) = connection.read_datagram().await {
        if !slot.push(clock.room_time(shared.clock.now()), datagram) {
            shared.counters.dropped(DropReason::InboxFull);
        }
    }
}

/// Ends only when the client breaks the protocol; a client may close its half of the stream.
async fn read_control(
    connection: &Connection,
    inlet: &RoomInlet,
    client: ClientId,
    mut from_client: ControlReader,
) {
    let code = loop {
        match from_client.next::<ClientToGame>().await {
            Ok(Some(ClientToGame {
                body: Some(client_to_game::Body::Leave(_)),
            })) => {
                // Posted, since a client that leaves may close the connection at once. Nothing is
                // read after that: a client that goes on must not fill the room's queue.
                let _ = inlet.post(ClientLeft(client));
                return std::future::pending().await;
            }
            Ok(Some(ClientToGame {
                body: Some(client_to_game::Body::Join(_)),
            })) => break ErrorCode::OutOfState,
            // A newer client may send what this host does not know; it needs no answer.
            Ok(Some(ClientToGame { body: None })) => {}
            Ok(None) | Err(FrameError::Io(_)) => return std::future::pending().await,
            Err(FrameError::TooLarge(_)) => break ErrorCode::MessageTooLarge,
            Err(FrameError::Malformed(_) | FrameError::Cut) => break ErrorCode::Malformed,
        }
    };
    close(connection, code);
}
