//! Hosts that come by themselves: `game-server --world ADDR`, over QUIC (ALPN `ambit-host/1`).
//!
//! The host knows this server by its certificate; this server knows the host by the key of
//! `--host-key`, which its first message shows.

use std::time::Duration;

use actix::Addr;
use ambit_game_server::admission::AdmissionPermit;
use ambit_game_server::carrier::world_end_over;
use ambit_proto::codes::{self, ErrorCode};
use quinn::{Connection, ConnectionError, VarInt};
use ring::digest::{SHA256, digest};

use super::HostSession;
use crate::actor::WorldServer;
use crate::lobby::Origin;

/// How long a new connection may take to open its stream.
const STREAM_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves a host's connection to its end. One that does not end by the host's own will may leave it
/// with a lease: nobody hears of the end before that is over, which is within `silence`. `greeting`
/// is given back once the key was shown.
pub(crate) async fn serve(
    connection: Connection,
    key: String,
    silence: Duration,
    world: Addr<WorldServer>,
    greeting: AdmissionPermit,
) {
    let remote = connection.remote_address();
    let Ok(Ok((output, input))) =
        tokio::time::timeout(STREAM_TIMEOUT, connection.accept_bi()).await
    else {
        return close(&connection, ErrorCode::Idle);
    };
    let (link, carrying) = world_end_over(input, output);
    tokio::spawn(async move {
        if let Err(error) = carrying.await {
            tracing::debug!(%remote, "a host's stream: {error}");
        }
    });
    let admit = |ready: &ambit_proto::control::host::HostReady| {
        if secrets_match(&ready.key, key.as_bytes()) {
            Ok(())
        } else {
            Err("it does not have the key of `--host-key`".into())
        }
    };
    match HostSession::register(link, world, Origin::Remote, admit).await {
        Ok(attended) => {
            drop(greeting);
            attended
                .run(|| wait_for_end_reason(&connection, silence))
                .await;
            close(&connection, ErrorCode::ErrorUnspecified);
        }
        Err(reason) => {
            tracing::warn!(%remote, "a host was not let in: {reason}");
            close(&connection, ErrorCode::BadTicket);
        }
    }
}

async fn wait_for_end_reason(connection: &Connection, silence: Duration) -> String {
    let dials_again = VarInt::from_u32(ErrorCode::TryAgain as u32);
    match connection.close_reason() {
        Some(ConnectionError::ApplicationClosed(close)) if close.error_code == dials_again => {}
        None
        | Some(
            ConnectionError::ApplicationClosed(_)
            | ConnectionError::LocallyClosed
            | ConnectionError::Reset,
        ) => {
            return "its connection ended".to_owned();
        }
        Some(_) => {}
    }
    // It keeps its rooms for a while, and may be back with them before that is over.
    tokio::time::sleep(silence).await;
    "its connection broke".to_owned()
}

/// Compares digests, so that the time that it takes tells nothing about the secret.
pub(crate) fn secrets_match(shown: &[u8], secret: &[u8]) -> bool {
    digest(&SHA256, shown).as_ref() == digest(&SHA256, secret).as_ref()
}

fn close(connection: &Connection, code: ErrorCode) {
    connection.close(VarInt::from_u32(code as u32), codes::name(code).as_bytes());
}
