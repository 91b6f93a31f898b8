//! The leader's side: the links of the followers, and the clients that come over them.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use ambit_endpoint::driver::{DrivenConnection, RecvStream, SendStream};
use ambit_lobby::directory::{Follow, Lead, Relay, Sign};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::Server;
use ambit_proto::frame::encode_frame;
use ambit_transport::key_proof::KeyProof;
use ambit_transport::quic::{MAX_RELAYED_STREAMS, PEER_SEND_WINDOW_BYTES};
use anyhow::Context as _;
use quinn::VarInt;
use tokio::sync::watch;
use tokio::time::timeout;

use super::server_list::ServerList;
use super::{FOLLOWER, LEADER, VERSION, exchange_heartbeats, read_message};
use crate::actor::WorldServer;
use crate::client_connection::ClientConnection;
use crate::peer_door::{NoProof, PeerDoor, key_proof};
use crate::session::{self, CommonToSessions};

/// How long a new follower may take to read the answer, and a relayed client to be introduced.
const HELLO_TIMEOUT: Duration = Duration::from_secs(2);
/// Accepts a server that wants to follow.
pub(crate) struct FollowerAcceptor {
    pub(crate) key: String,
    pub(crate) epoch: u64,
    pub(crate) world: Addr<WorldServer>,
    pub(crate) servers: ServerList,
    pub(crate) door: PeerDoor,
}

impl FollowerAcceptor {
    /// Serves a follower's link until it ends.
    pub(crate) async fn serve(self, connection: DrivenConnection, common: Arc<CommonToSessions>) {
        let remote = connection.remote_address();
        let proof = prove_follower(&connection, &self.key);
        let Some(proved) = self.door.admit(&connection, proof).await else {
            return;
        };
        let accepted = accept_follower(&connection, proved, self.epoch);
        let why = match timeout(HELLO_TIMEOUT, accepted).await {
            Ok(Ok(AcceptedFollower { server, names, signs })) => {
                tracing::info!(%remote, address = server.address, "a WorldServer follows this one");
                let id = connection.key();
                self.servers.insert(id, server, names, &self.world).await;
                let heard = watch::Sender::default();
                let noting = self.servers.note_signs(id, heard.subscribe(), &self.world);
                let why = tokio::select! {
                    why = exchange_heartbeats(signs, Sign::default, heard) => why,
                    never = noting => match never {},
                    () = accept_clients(&connection, &self.world, &common) => {
                        "the connection ended".to_owned()
                    }
                };
                self.servers.remove(id, &self.world).await;
                why
            }
            Ok(Err(error)) => format!("{error:#}"),
            Err(_) => "it did not read the answer in time".to_owned(),
        };
        tracing::info!(%remote, "a WorldServer stopped following: {why}");
        connection.close(VarInt::from_u32(ErrorCode::TryAgain as u32), b"");
    }
}

/// A server that has proved that it has the key.
struct ProvedFollower {
    follow: Follow,
    proof: KeyProof,
    signs: (SendStream, RecvStream),
}

/// One that has read that it follows this server.
struct AcceptedFollower {
    server: Server,
    names: Vec<String>,
    signs: (SendStream, RecvStream),
}

/// Waits for the first message of a follower, which has the proof.
async fn prove_follower(
    connection: &DrivenConnection,
    key: &str,
) -> Result<ProvedFollower, NoProof> {
    let first = async {
        let mut signs = connection.accept_bi().await?;
        let follow: Follow = read_message(&mut signs.1).await?;
        let proof = key_proof(connection, key.as_bytes()).await;
        let proof = proof.context("the connection has ended")?;
        anyhow::Ok(ProvedFollower { follow, proof, signs })
    };
    let first = first.await;
    let proved = first.map_err(|error| NoProof::Other(format!("{error:#}")))?;
    if proved.proof.check(FOLLOWER, &proved.follow.key_proof) {
        Ok(proved)
    } else {
        Err(NoProof::WrongKey)
    }
}

async fn accept_follower(
    connection: &DrivenConnection,
    ProvedFollower { follow, proof, mut signs }: ProvedFollower,
    epoch: u64,
) -> anyhow::Result<AcceptedFollower> {
    anyhow::ensure!(
        follow.version == VERSION,
        "it speaks version {}, this server {VERSION}",
        follow.version
    );
    // As many streams as it has clients.
    connection.set_max_bi_streams(MAX_RELAYED_STREAMS);
    connection.set_windows(VarInt::MAX, PEER_SEND_WINDOW_BYTES);
    let lead = Lead { epoch, key_proof: proof.make(LEADER) };
    signs.0.write_all(&encode_frame(&lead)).await?;
    let server = Server {
        address: follow.address,
        certificate_sha256: follow.certificate_sha256,
        web_certificates_sha256: Vec::new(),
    };
    Ok(AcceptedFollower { server, names: follow.names, signs })
}

/// Starts a session for each further stream: each is a relayed client.
async fn accept_clients(
    connection: &DrivenConnection,
    world: &Addr<WorldServer>,
    common: &Arc<CommonToSessions>,
) {
    while let Ok((to_client, mut from_client)) = connection.accept_bi().await {
        let world = world.clone();
        let common = Arc::clone(common);
        tokio::spawn(async move {
            let Ok(Ok(relay)) =
                timeout(HELLO_TIMEOUT, read_message::<Relay>(&mut from_client)).await
            else {
                return;
            };
            let Ok(address) = relay.address.parse::<IpAddr>() else {
                return;
            };
            let connection = ClientConnection::relayed(address, (to_client, from_client));
            session::serve(connection, world, common).await;
        });
    }
}
