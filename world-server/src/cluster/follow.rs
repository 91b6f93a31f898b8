//! The follower's side: the link to the leader, and the clients that are relayed over it.

use std::sync::Arc;
use std::time::Duration;

use ambit_endpoint::player_connection::PlayerConnection;
use ambit_lobby::directory::{Follow, Lead, Leader, Relay, Sign};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::frame::encode_frame;
use ambit_transport::key_proof::KeyProof;
use ambit_transport::quic::{self, ALPN_PEER, Fingerprint, FingerprintVerifier};
use anyhow::Context as _;
use quinn::{Connection, Endpoint, RecvStream, SendStream, VarInt};
use tokio::net::lookup_host;
use tokio::sync::watch;
use tokio::time::timeout;

use super::ServerList;
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
    pub(super) async fn run_until_lost(self, servers: &ServerList) -> String {
        let next = || Sign { web_certificates_sha256: servers.own().web_certificates_sha256 };
        let why = exchange_heartbeats(self.heartbeat_streams, next, watch::Sender::default()).await;
        self.endpoint
            .close(VarInt::from_u32(ErrorCode::ErrorUnspecified as u32), b"the link has ended");
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
        let local = if address.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
        let mut endpoint = Endpoint::client(local)?;
        let verifier: Arc<FingerprintVerifier> = FingerprintVerifier::pinned(fingerprint);
        endpoint.set_default_client_config(quic::relay_client_config(ALPN_PEER, verifier));
        let connection = endpoint.connect(address, "ambit")?.await?;
        let proof = KeyProof::new(&connection, self.key.as_bytes());
        let proof = proof.context("the connection has ended")?;
        let mut signs = connection.open_bi().await?;
        let own = self.servers.own();
        let follow = Follow {
            version: VERSION,
            key_proof: proof.make(FOLLOWER),
            address: own.address,
            certificate_sha256: own.certificate_sha256,
            names: self.servers.own_names(),
        };
        signs.0.write_all(&encode_frame(&follow)).await?;
        let Lead { epoch, key_proof } = read_message(&mut signs.1).await?;
        // A writer to the directory can name any address in it.
        anyhow::ensure!(
            proof.check(LEADER, &key_proof),
            "the server at the leader's address does not have the key of `--host-key`"
        );
        tracing::debug!(epoch, "the leader accepted this server as a follower");
        Ok(LeaderLink { connection, endpoint, heartbeat_streams: signs })
    }
}

/// Relays a client's stream to the leader until the client, the leader or this server closes it.
pub(crate) async fn relay_client(client: PlayerConnection, leader: Connection) {
    let again = |why: &str| client.close(ErrorCode::TryAgain, why);
    let Ok(Ok((mut to_client, mut from_client))) =
        timeout(STREAM_TIMEOUT, client.accept_bi()).await
    else {
        return client.close(ErrorCode::Idle, "no stream was opened");
    };
    let Ok((mut to_leader, mut from_leader)) = leader.open_bi().await else {
        return again("the leading server was lost; connect again");
    };
    let preamble = encode_frame(&Relay { address: client.remote_address().ip().to_string() });
    if to_leader.write_all(&preamble).await.is_err() {
        return again("the leading server was lost; connect again");
    }
    client.discard_datagrams();
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
            to_client.finish();
            let code = match timeout(2 * LAST_FRAMES_TIMEOUT, stopped).await {
                Ok(Ok(Some(code))) => u32::try_from(code.into_inner()).ok(),
                _ => None,
            };
            let code = code.unwrap_or(ErrorCode::TryAgain as u32);
            let _ = timeout(LAST_FRAMES_TIMEOUT, client.closed()).await;
            let name = i32::try_from(code).map(codes::name_of_number);
            client.close_with(code, &name.unwrap_or_default());
        }
        _ = leader.closed() => again("the leading server was lost; connect again"),
        () = client.closed() => {}
    }
    let _ = to_leader.reset(if client.has_quit() { VarInt::from_u32(0) } else { CLIENT_LOST });
}
