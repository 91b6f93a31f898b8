//! Accounts: a client that says that it has one is asked to prove it before its session is opened.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::AccountId;
use ambit_proto::time::LocalTime;
use ambit_transport::account_proof::{CheckedServer, KEY_BYTES, account_of, is_proof};
use ambit_transport::quic::Fingerprint;

use crate::lobby::output::ConnId;
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::server_marks::ServerMarks;
use crate::lobby::sessions::connections::{Asked, AskedAccount};
use crate::lobby::text::PlayerName;
use crate::lobby::{Lobby, RequestOutcome};

impl Lobby {
    /// Sets as what clients know this server.
    pub fn set_marks(&mut self, marks: ServerMarks) {
        self.marks = marks;
    }

    /// Sets the certificate that tickets for the embedded host name.
    pub fn set_embedded_certificate(&mut self, certificate: Fingerprint) {
        self.fleet.set_embedded_certificate(certificate);
    }

    /// Asks for the proof of an account.
    pub(super) fn ask_for_proof(
        &mut self,
        conn: ConnId,
        key: [u8; KEY_BYTES],
        name: Option<PlayerName>,
    ) -> RequestOutcome {
        let nonce = self.players.random_bytes();
        let connection = self.connections.open_mut(conn).expect("a hello came on it");
        connection.asked = Some(Asked::Proof(AskedAccount { key, nonce, name }));
        RequestOutcome::Immediate(Body::Challenge(world::Challenge { nonce: nonce.to_vec() }))
    }

    /// Opens the session that waits for this proof.
    pub(in crate::lobby) fn handle_proof(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        proof: &world::ProveAccount,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let connection = self.connections.open_mut(conn);
        let asked = connection.and_then(|connection| {
            connection.asked.take_if(|asked| matches!(asked, Asked::Proof(_)))
        });
        let Some(Asked::Proof(asked)) = asked else {
            let message =
                "prove_account answers a challenge, which follows a hello with an account";
            return Err(LobbyRefusal::new(ErrorCode::OutOfState, message));
        };
        let account = self.check_proof(&asked, proof)?;
        let player = self.open_session(now, conn, asked.name, Some(account))?;
        let welcome = self.welcome(now, conn, player, false);
        Ok(RequestOutcome::Immediate(Body::Welcome(welcome)))
    }

    fn check_proof(
        &self,
        asked: &AskedAccount,
        proof: &world::ProveAccount,
    ) -> Result<AccountId, LobbyRefusal> {
        let refusal = |message: &str| Err(LobbyRefusal::new(ErrorCode::BadAccount, message));
        let server = CheckedServer::of_proof(proof);
        let Some(server) = server.filter(|server| self.is_known_as(server)) else {
            return refusal(if proof.name.is_empty() {
                "the proof of the account is for another server; do not use what stands between \
                 this client and the server, or tell the operator"
            } else {
                "the proof of the account is for another server: this one's certificate does not \
                 have the name that the client has dialled; tell the operator"
            });
        };
        if !is_proof(&asked.key, &asked.nonce, &server, &proof.signature) {
            return refusal("the proof of the account is wrong: the client lacks its private key");
        }
        Ok(account_of(&asked.key))
    }

    fn is_known_as(&self, server: &CheckedServer) -> bool {
        match server {
            // With one that is not this server's, the client would have taken another one.
            CheckedServer::Certificates(all) => {
                all.iter().all(|sha256| self.has_certificate(Fingerprint(*sha256)))
            }
            CheckedServer::Name(name) => {
                self.marks.names.iter().any(|own| own.eq_ignore_ascii_case(name))
            }
        }
    }

    fn has_certificate(&self, certificate: Fingerprint) -> bool {
        let of_cluster = self.servers.servers.iter().flat_map(|server| {
            std::iter::once(&server.certificate_sha256).chain(&server.web_certificates_sha256)
        });
        self.marks.certificates.contains(&certificate)
            || of_cluster.into_iter().any(|known| **known == certificate.0)
    }
}
