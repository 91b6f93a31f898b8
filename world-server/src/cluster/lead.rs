//! The leader's side: the links of the followers, and the clients that come over them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::directory::{Follow, Lead, Relay};
use actix::Addr;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{Server, Servers};
use ambit_transport::frame::encode_frame;
use ambit_transport::key_proof::KeyProof;
use ambit_transport::quic;
use anyhow::Context as _;
use quinn::{Connection, VarInt};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{FOLLOWER, LEADER, PROBE_INTERVAL, VERSION, exchange_heartbeats, read_message};
use crate::actor::WorldServer;
use crate::actor::messages::SetServers;
use crate::client_connection::ClientConnection;
use crate::peer_door::{NoProof, PeerDoor};
use crate::session::{self, CommonToSessions};

/// How long a new follower may take to read the answer, and a relayed client to be introduced.
const HELLO_TIMEOUT: Duration = Duration::from_secs(2);
/// Followers at most: clients get the list of all of them.
const MAX_FOLLOWERS: usize = 64;

/// The followers, by the id of their connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers(Arc<Mutex<BTreeMap<usize, Server>>>);

/// Accepts a server that wants to follow.
pub(crate) struct FollowerAcceptor {
    /// This server's entry in the list that clients get.
    pub(crate) own_server: Server,
    pub(crate) key: String,
    pub(crate) epoch: u64,
    pub(crate) world: Addr<WorldServer>,
    pub(crate) followers: Followers,
    pub(crate) door: PeerDoor,
}

impl FollowerAcceptor {
    /// Serves a follower's link until it ends.
    pub(crate) async fn serve(self, connection: Connection, common: Arc<CommonToSessions>) {
        let remote = connection.remote_address();
        let proof = prove_follower(&connection, &self.key);
        let Some(proved) = self.door.admit(&connection, proof).await else {
            return;
        };
        let accepted = accept_follower(&connection, proved, self.epoch);
        let why = match timeout(HELLO_TIMEOUT, accepted).await {
            Ok(Ok((server, signs))) => {
                tracing::info!(%remote, address = server.address, "a WorldServer follows this one");
                let id = connection.stable_id();
                self.change_followers(|all| {
                    if all.len() < MAX_FOLLOWERS {
                        all.insert(id, server);
                    }
                })
                .await;
                let why = tokio::select! {
                    why = exchange_heartbeats(signs.0, signs.1) => why,
                    () = accept_clients(&connection, &self.world, &common) => {
                        "the connection ended".to_owned()
                    }
                };
                self.change_followers(|all| drop(all.remove(&id))).await;
                why
            }
            Ok(Err(error)) => format!("{error:#}"),
            Err(_) => "it did not read the answer in time".to_owned(),
        };
        tracing::info!(%remote, "a WorldServer stopped following: {why}");
        connection.close(VarInt::from_u32(ErrorCode::TryAgain as u32), b"");
    }

    async fn change_followers(&self, change: impl FnOnce(&mut BTreeMap<usize, Server>)) {
        // The lock is held until the list is published, so that lists are published in order.
        let mut all = self.followers.0.lock().await;
        change(&mut all);
        publish_servers(
            &self.world,
            all.values().cloned().chain([self.own_server.clone()]),
        )
        .await;
    }
}

/// Gives the lobby the current list of servers.
pub(super) async fn publish_servers(
    world: &Addr<WorldServer>,
    servers: impl IntoIterator<Item = Server>,
) {
    let servers = servers.into_iter().collect();
    let _ = world
        .send(SetServers(Servers {
            servers,
            probe_ms: PROBE_INTERVAL.as_millis() as u32,
        }))
        .await;
}

/// A server that has proved that it has the key.
struct ProvedFollower {
    follow: Follow,
    proof: KeyProof,
    signs: (quinn::SendStream, quinn::RecvStream),
}

/// Waits for the first message of a follower, which has the proof.
async fn prove_follower(connection: &Connection, key: &str) -> Result<ProvedFollower, NoProof> {
    let first = async {
        let mut signs = connection.accept_bi().await?;
        let follow: Follow = read_message(&mut signs.1).await?;
        let proof = KeyProof::new(connection, key.as_bytes());
        let proof = proof.context("the connection has ended")?;
        anyhow::Ok(ProvedFollower {
            follow,
            proof,
            signs,
        })
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
    connection: &Connection,
    ProvedFollower {
        follow,
        proof,
        mut signs,
    }: ProvedFollower,
    epoch: u64,
) -> anyhow::Result<(Server, (quinn::SendStream, quinn::RecvStream))> {
    anyhow::ensure!(
        follow.version == VERSION,
        "it speaks version {}, this server {VERSION}",
        follow.version
    );
    quic::allow_relayed_streams(connection);
    let lead = Lead {
        epoch,
        key_proof: proof.make(LEADER),
    };
    signs.0.write_all(&encode_frame(&lead)).await?;
    Ok((
        Server {
            address: follow.address,
            certificate_sha256: follow.certificate_sha256,
        },
        signs,
    ))
}

/// Starts a session for each further stream: each is a relayed client.
async fn accept_clients(
    connection: &Connection,
    world: &Addr<WorldServer>,
    common: &Arc<CommonToSessions>,
) {
    while let Ok((to_client, mut from_client)) = connection.accept_bi().await {
        let (world, common) = (world.clone(), Arc::clone(common));
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
