//! Which component serves a connection, by its protocol and by what this server does in a cluster.

use std::sync::Arc;
use std::time::Duration;

use ambit_endpoint::player_connection::PlayerConnection;
use ambit_host::host::GameHost;
use ambit_proto::codes::ErrorCode;
use ambit_transport::quic::{ALPN_GAME, ALPN_HOST, ALPN_PEER, ALPN_WORLD};
use tokio::sync::watch;

use crate::client_connection::ClientConnection;
use crate::cluster::{ClusterRole, FollowerAcceptor, ServerList, relay_client};
use crate::hosts::remote;
use crate::peer_door::{PeerDoor, host_streams};
use crate::session::{self, CommonToSessions};

/// How long a client may wait until a leader is elected.
const ROLE_TIMEOUT: Duration = Duration::from_secs(3);

/// Dispatches connections by protocol.
#[derive(Clone)]
pub(super) struct ConnectionRouter {
    pub(super) roles: watch::Receiver<ClusterRole>,
    pub(super) servers: ServerList,
    pub(super) sessions: Arc<CommonToSessions>,
    pub(super) embedded: Option<GameHost>,
    pub(super) host_key: Option<String>,
    pub(super) host_silence: Duration,
    /// For hosts and servers that have not proved yet that they have the key.
    pub(super) door: PeerDoor,
}

impl ConnectionRouter {
    /// Players get tasks of their own: this one has space for the largest of all that is served.
    pub(super) async fn serve(mut self, connection: PlayerConnection, alpn: Vec<u8>) {
        if alpn == ALPN_WORLD {
            // Only clients wait: hosts and servers retry by themselves.
            let _ =
                tokio::time::timeout(ROLE_TIMEOUT, self.roles.wait_for(ClusterRole::is_settled))
                    .await;
        }
        let role = self.roles.borrow().clone();
        let close = |code: ErrorCode, why: &str| connection.close(code, why);
        match (alpn.as_slice(), role, self.embedded, self.host_key) {
            (ALPN_WORLD, ClusterRole::Leading { world, .. }, ..) => {
                let connection = ClientConnection::Direct(connection);
                tokio::spawn(session::serve(connection, world, self.sessions));
            }
            (ALPN_WORLD, ClusterRole::Following { link, .. }, ..) => {
                relay_client(connection, link).await;
            }
            (ALPN_WORLD, ClusterRole::Seeking, ..) => {
                close(ErrorCode::TryAgain, "the servers elect a leader; connect again");
            }
            (ALPN_GAME, _, Some(host), _) => {
                tokio::spawn(async move { host.serve(connection).await });
            }
            (ALPN_HOST, ClusterRole::Leading { world, .. }, _, Some(key)) => {
                let connection = connection.into_quic();
                let proof = host_streams(&connection, key.as_bytes());
                if let Some(streams) = self.door.admit(&connection, proof).await {
                    remote::serve(connection, streams, self.host_silence, world).await;
                }
            }
            // The reason is for a program: the leader's address.
            (ALPN_HOST, ClusterRole::Following { address, .. }, ..) => {
                close(ErrorCode::TryAgain, &address);
            }
            (ALPN_PEER, ClusterRole::Leading { world, epoch }, _, Some(key)) => {
                let acceptor =
                    FollowerAcceptor { key, epoch, world, servers: self.servers, door: self.door };
                acceptor.serve(connection.into_quic(), self.sessions).await;
            }
            (ALPN_HOST | ALPN_PEER, ..) => close(ErrorCode::TryAgain, ""),
            // The handshake refuses unknown protocols. A browser's session names its own later: it
            // may ask for a game where no host is embedded.
            _ => close(ErrorCode::OutOfState, "this server does not support this protocol"),
        }
    }
}
