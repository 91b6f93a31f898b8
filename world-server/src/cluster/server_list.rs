//! The servers of a cluster, as clients learn of them: the leader and its followers.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use actix::Addr;
use ambit_endpoint::endpoint_core::ConnectionKey;
use ambit_host::web_certificates::WebCertificates;
use ambit_lobby::ServerMarks;
use ambit_lobby::directory::Sign;
use ambit_proto::control::world::{Server, Servers};
use ambit_transport::quic::Fingerprint;
use tokio::sync::{Mutex, watch};

use super::PROBE_INTERVAL;
use crate::actor::WorldServer;
use crate::actor::calls::in_lobby;

/// Followers at most: clients get the list of all of them.
const MAX_FOLLOWERS: usize = 64;
/// The certificate that a server shows to browsers, and the next one.
const MAX_CERTIFICATES: usize = 2;
const SHA256_BYTES: usize = 32;

/// This server, and its followers while it leads.
#[derive(Clone)]
pub(crate) struct ServerList {
    /// The address for players.
    address: String,
    fingerprint: Fingerprint,
    certificates: Arc<WebCertificates>,
    /// By the id of their connection.
    followers: Arc<Mutex<BTreeMap<ConnectionKey, Follower>>>,
}

struct Follower {
    server: Server,
    /// In its certificate. Clients do not need them: they are for the proofs of accounts.
    names: Vec<String>,
}

impl ServerList {
    pub(crate) fn new(
        address: String,
        fingerprint: Fingerprint,
        certificates: Arc<WebCertificates>,
    ) -> Self {
        Self { address, fingerprint, certificates, followers: Arc::default() }
    }

    /// This server's entry.
    pub(super) fn own(&self) -> Server {
        Server {
            address: self.address.clone(),
            certificate_sha256: self.fingerprint.0.to_vec(),
            web_certificates_sha256: self.certificates.to_message(),
        }
    }

    /// The names in this server's certificate.
    pub(super) fn own_names(&self) -> Vec<String> {
        self.certificates.names()
    }

    /// Gives the lobby the list, and again when this server's certificates change, for ever.
    pub(super) async fn keep_published(self, world: Addr<WorldServer>) {
        let mut changes = self.certificates.changes();
        loop {
            self.change(&world, |_| true).await;
            // The sender is in `self`.
            let _ = changes.changed().await;
        }
    }

    pub(super) async fn insert(
        &self,
        id: ConnectionKey,
        server: Server,
        names: Vec<String>,
        world: &Addr<WorldServer>,
    ) {
        self.change(world, |all| {
            let is_free = all.len() < MAX_FOLLOWERS;
            if is_free {
                all.insert(id, Follower { server, names });
            }
            is_free
        })
        .await;
    }

    pub(super) async fn remove(&self, id: ConnectionKey, world: &Addr<WorldServer>) {
        self.change(world, |all| all.remove(&id).is_some()).await;
    }

    /// Notes the certificates that a follower shows to browsers, for ever.
    pub(super) async fn note_signs(
        &self,
        id: ConnectionKey,
        mut signs: watch::Receiver<Sign>,
        world: &Addr<WorldServer>,
    ) -> Infallible {
        while signs.changed().await.is_ok() {
            let mut certificates = signs.borrow_and_update().web_certificates_sha256.clone();
            certificates.retain(|sha256| sha256.len() == SHA256_BYTES);
            certificates.truncate(MAX_CERTIFICATES);
            self.change(world, |all| match all.get_mut(&id) {
                Some(Follower { server, .. }) => {
                    server.web_certificates_sha256 = certificates;
                    true
                }
                None => false,
            })
            .await;
        }
        std::future::pending().await
    }

    /// Gives the lobby the list if `change` says that it is another one.
    async fn change(
        &self,
        world: &Addr<WorldServer>,
        change: impl FnOnce(&mut BTreeMap<ConnectionKey, Follower>) -> bool,
    ) {
        // The lock is held until the list is published, so that lists are published in order.
        let mut followers = self.followers.lock().await;
        if change(&mut followers) {
            let servers = followers.values().map(|follower| follower.server.clone());
            let servers = servers.chain([self.own()]).collect();
            let list = Servers { servers, probe_ms: PROBE_INTERVAL.as_millis() as u32 };
            let names = followers.values().flat_map(|follower| follower.names.iter().cloned());
            let names = names.chain(self.own_names()).collect();
            let marks = ServerMarks { certificates: Vec::new(), names };
            let set = in_lobby(|lobby, _| {
                lobby.set_marks(marks);
                lobby.set_servers(list);
            });
            let _ = world.send(set).await;
        }
    }
}
