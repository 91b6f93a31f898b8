//! By what clients know this server and those of its cluster: proofs of accounts name a server.

use ambit_proto::control::world;
use ambit_transport::account_proof::CheckedServer;
use ambit_transport::quic::Fingerprint;

use crate::server_marks::ServerMarks;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct KnownServers {
    /// The servers of the cluster.
    list: world::Servers,
    /// As what clients know this server, or the servers of its cluster.
    marks: ServerMarks,
}

impl KnownServers {
    pub(super) fn set_marks(&mut self, marks: ServerMarks) {
        self.marks = marks;
    }

    /// Sets the list. Returns it if it is another one.
    pub(super) fn set_list(&mut self, list: world::Servers) -> Option<&world::Servers> {
        (self.list != list).then(|| {
            self.list = list;
            &self.list
        })
    }

    /// The servers at which clients can resume their sessions; `None` if this one is alone.
    pub(super) fn list(&self) -> Option<&world::Servers> {
        Some(&self.list).filter(|list| !list.servers.is_empty())
    }

    /// Whether a proof for this server is one for us.
    pub(super) fn are_known_as(&self, server: &CheckedServer) -> bool {
        match server {
            // With one that is not this server's, the client would have taken another one.
            CheckedServer::Certificates(all) => {
                all.iter().all(|sha256| self.have_certificate(Fingerprint(*sha256)))
            }
            CheckedServer::Name(name) => {
                self.marks.names.iter().any(|own| own.eq_ignore_ascii_case(name))
            }
        }
    }

    fn have_certificate(&self, certificate: Fingerprint) -> bool {
        let of_cluster = self.list.servers.iter().flat_map(|server| {
            std::iter::once(&server.certificate_sha256).chain(&server.web_certificates_sha256)
        });
        self.marks.certificates.contains(&certificate)
            || of_cluster.into_iter().any(|known| **known == certificate.0)
    }
}
