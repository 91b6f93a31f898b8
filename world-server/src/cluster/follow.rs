//! The follower's side: the link to the leader, and the clients that are relayed over it.

use std::sync::Arc;
use std::time::Duration;

use crate::directory::{Follow, Lead, Leader, Relay};
use ambit_proto::codes::{self, ErrorCode};
use ambit_transport::frame::encode_frame;
use ambit_transport::key_proof::KeyProof;
use ambit_transport::quic::{self, ALPN_PEER, Fingerprint, FingerprintVerifier};
use anyhow::Context as _;
use quinn::{Connection, ConnectionError, Endpoint, RecvStream, SendStream, VarInt};
use tokio::net::lookup_host;
use tokio::time::timeout;

use super::{ClusterMember, FOLLOWER, LEADER, VERSION, exchange_heartbeats, read_message};

/// How long the leader may take to accept a follower.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(400);
/// How long a client may take to open its stream, and how long the last frames may take to reach
/// it.
const STREAM_TIMEOUT: Duration = Duration::from_secs(5);
const LAST_FRAMES_TIMEOUT: Duration = Duration::from_millis(500);
/// The code that resets a relayed stream when the client was lost without quitting.
const CLIENT_LOST: VarInt = VarInt::from_u32(1);

pub(super) struct LeaderLink {
    pub(super) connection: Connection,
    /// The endpoint of this link alone.
    endpoint: Endpoint,
    heartbeat_streams: (SendStream, RecvStream),
}

impl LeaderLink {
    /// Keeps the link until it ends. Returns the reason.
    pub(super) async fn run_until_lost(self) -> String {
        let why = exchange_heartbeats(self.heartbeat_streams.0, self.heartbeat_streams.1).await;
        self.endpoint.close(
            VarInt::from_u32(ErrorCode::ErrorUnspecified as u32),
            b"the link has ended",
        );
        why
    }
}

impl ClusterMember {
    /// Connects to the leader and registers as a follower.
    pub(super) async fn connect_to_leader(&self, leader: &Leader) -> anyhow::Result<LeaderLink> {
        timeout(ANSWER_TIMEOUT, self.connect_without_timeout(leader))
            .await
            .context("the leader did not answer in time")?
    }

    async fn connect_without_timeout(&self, leader: &Leader) -> anyhow::Result<LeaderLink> {
        let fingerprint = Fingerprint::try_from(&leader.certificate_sha256[..])?;
        let address = lookup_host(&leader.address)
            .await?
            .next()
            .context("the leader's address does not resolve")?;
        let local = if address.is_ipv4() {
            ([0; 4], 0).into()
        } else {
            ([0; 16], 0).into()
        };
        let mut endpoint = Endpoint::client(local)?;
        let verifier: Arc<FingerprintVerifier> = FingerprintVerifier::pinned(fingerprint);
        endpoint.set_default_client_config(quic::relay_client_config(ALPN_PEER, verifier));
        let connection = endpoint.connect(address, "ambit")?.await?;
        let proof = KeyProof::new(&connection, self.key.as_bytes());
        let proof = proof.context("the connection has ended")?;
        let mut signs = connection.open_bi().await?;
        let follow = Follow {
            version: VERSION,
            key_proof: proof.make(FOLLOWER),
            address: self.public_address.clone(),
            certificate_sha256: self.fingerprint.0.to_vec(),
        };
        signs.0.write_all(&encode_frame(&follow)).await?;
        let Lead { epoch, key_proof } = read_message(&mut signs.1).await?;
        // Whoever can write to the directory can name any address in it.
        anyhow::ensure!(
            proof.check(LEADER, &key_proof),
            "the server at the leader's address does not have the key of `--host-key`"
        );
        tracing::debug!(epoch, "the leader accepted this server as a follower");
        Ok(LeaderLink {
            connection,
            endpoint,
            heartbeat_streams: signs,
        })
    }
}

/// Relays a client's stream to the leader until the client, the leader or this server closes it.
pub(crate) async fn relay_client(client: Connection, leader: Connection) {
    let again =
        |why: &str| client.close(VarInt::from_u32(ErrorCode::TryAgain as u32), why.as_bytes());
    let Ok(Ok((mut to_client, mut from_client))) =
        timeout(STREAM_TIMEOUT, client.accept_bi()).await
    else {
        return client.close(
            VarInt::from_u32(ErrorCode::Idle as u32),
            b"no stream was opened",
        );
    };
    let Ok((mut to_leader, mut from_leader)) = leader.open_bi().await else {
        return again("the leading server was lost; connect again");
    };
    let preamble = encode_frame(&Relay {
        address: client.remote_address().ip().to_string(),
    });
    if to_leader.write_all(&preamble).await.is_err() {
        return again("the leading server was lost; connect again");
    }
    let stopped = to_leader.stopped();
    let up = async {
        let _ = tokio::io::copy(&mut from_client, &mut to_leader).await;
        std::future::pending::<()>().await;
    };
    let down = tokio::io::copy(&mut from_leader, &mut to_client);
    tokio::select! {
        () = up => {}
        _ = down => {
            // The leader has finished its half; the code of the close comes with `STOP_SENDING`.
            let _ = to_client.finish();
            let code = match timeout(2 * LAST_FRAMES_TIMEOUT, stopped).await {
                Ok(Ok(Some(code))) => code,
                _ => VarInt::from_u32(ErrorCode::TryAgain as u32),
            };
            let _ = timeout(LAST_FRAMES_TIMEOUT, client.closed()).await;
            let name = i32::try_from(code.into_inner())
                .map(codes::name_of_number)
                .unwrap_or_default();
            client.close(code, name.as_bytes());
        }
        _ = leader.closed() => again("the leading server was lost; connect again"),
        () = discard_probes(&client) => {}
    }
    let quit = matches!(
        client.close_reason(),
        Some(ConnectionError::ApplicationClosed(close)) if close.error_code == VarInt::from_u32(0)
    );
    let _ = to_leader.reset(if quit {
        VarInt::from_u32(0)
    } else {
        CLIENT_LOST
    });
}

/// Reads and discards the client's probe datagrams until the connection ends.
async fn discard_probes(client: &Connection) {
    while client.read_datagram().await.is_ok() {}
}
