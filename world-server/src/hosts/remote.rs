//! Hosts that connect by themselves: `game-server --world ADDR`, over QUIC (ALPN `ambit-host/1`).
//!
//! The host authenticates this server by its certificate. This server authenticates the host by a
//! proof that it has the key of `--host-key` (`peer_door`), before it reads the first message.

use std::time::Duration;

use actix::Addr;
use ambit_endpoint::driver::{DrivenConnection, RecvStream, SendStream};
use ambit_host::host_link::world_end_over;
use ambit_host_protocol::messages::HostMessage;
use ambit_lobby::Origin;
use ambit_proto::codes::{self, ErrorCode};
use quinn::{ConnectionError, VarInt};

use super::{DisconnectCause, HostSession, first_message};
use crate::actor::WorldServer;
use crate::actor::calls::call;

/// Serves a host's connection until it ends. If the host did not close it on purpose, the host may
/// still hold a serving lease: the end is reported only after `silence`, when the lease is over.
/// The host has proved that it has the key.
pub(crate) async fn serve(
    connection: DrivenConnection,
    (output, input): (SendStream, RecvStream),
    silence: Duration,
    world: Addr<WorldServer>,
) {
    let remote = connection.remote_address();
    let (mut link, carrying) = world_end_over(input, output);
    tokio::spawn(async move {
        if let Err(error) = carrying.await {
            tracing::debug!(%remote, "the stream of a host failed: {error}");
        }
    });
    let registered = match first_message(&mut link).await {
        // From a host's watcher, which asks again until this server closes the connection.
        Ok(HostMessage::ProcessEnded(process)) => {
            let ended = call(move |world, ctx| world.end_process(ctx, &process));
            let _ = world.send(ended).await;
            return close(&connection, ErrorCode::ErrorUnspecified);
        }
        Ok(first) => {
            let admit = |_: &_| Ok(());
            HostSession::register_with(first, link, world.clone(), Origin::Remote, admit).await
        }
        Err(reason) => Err(reason),
    };
    match registered {
        Ok(session) => {
            session.run(|| wait_for_end(&connection, silence)).await;
            close(&connection, ErrorCode::ErrorUnspecified);
        }
        Err(reason) => {
            tracing::warn!(%remote, "host refused: {reason}");
            // An ended lobby counts nothing.
            let _ = world.send(call(|world, _| world.count_refused_host())).await;
            close(&connection, ErrorCode::BadTicket);
        }
    }
}

async fn wait_for_end(connection: &DrivenConnection, silence: Duration) -> DisconnectCause {
    let dials_again = VarInt::from_u32(ErrorCode::TryAgain as u32);
    match connection.close_reason() {
        Some(ConnectionError::ApplicationClosed(close)) if close.error_code == dials_again => {}
        None
        | Some(
            ConnectionError::ApplicationClosed(_)
            | ConnectionError::LocallyClosed
            | ConnectionError::Reset,
        ) => {
            return DisconnectCause::new("its connection ended");
        }
        Some(_) => {}
    }
    // The host keeps its rooms for a while, and may reconnect within that time.
    tokio::time::sleep(silence).await;
    DisconnectCause::new("its connection broke")
}

fn close(connection: &DrivenConnection, code: ErrorCode) {
    connection.close(VarInt::from_u32(code as u32), codes::name(code).as_bytes());
}
