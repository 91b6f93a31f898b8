//! A server's TLS that ends with the handshake.
//!
//! rustls keeps its buffers, the transcript and keys for records as long as a session lives: 3.8 kB
//! a connection. QUIC uses none of that after the handshake: it has keys of its own, their updates
//! follow from two secrets, and these servers send no tickets. So what is left of a session are
//! those secrets, the protocol, and the bytes that proofs of a key are bound to ([`LABEL`]).
//!
//! A client's TLS messages after the handshake are an error, as they are to rustls (RFC 9001,
//! section 6). During the handshake all is as in quinn's `TlsSession`.

use std::any::Any;
use std::io::Cursor;
use std::sync::Arc;

use quinn_proto::crypto::rustls::{HandshakeData, NoInitialCipherSuite, QuicServerConfig};
use quinn_proto::crypto::{
    ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectionId, Side, TransportError, TransportErrorCode};
use rustls::quic::{Connection, KeyChange, Secrets, ServerConnection, Version};

use crate::key_proof::{LABEL, PROOF_BYTES};

/// TLS's alert for a message that must not come (RFC 8446, section 6.2).
const UNEXPECTED_MESSAGE: u8 = 10;

/// Begins sessions that end with their handshakes; see the module.
pub(super) struct BriefTls {
    tls: Arc<rustls::ServerConfig>,
    quic: Arc<QuicServerConfig>,
}

impl BriefTls {
    pub(super) fn new(tls: rustls::ServerConfig) -> Result<Self, NoInitialCipherSuite> {
        let tls = Arc::new(tls);
        let quic = Arc::new(QuicServerConfig::try_from(Arc::clone(&tls))?);
        Ok(Self { tls, quic })
    }
}

impl ServerConfig for BriefTls {
    fn initial_keys(&self, version: u32, id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        self.quic.initial_keys(version, id)
    }

    fn retry_tag(&self, version: u32, id: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.quic.retry_tag(version, id, packet)
    }

    fn start_session(
        self: Arc<Self>,
        version: u32,
        params: &TransportParameters,
    ) -> Box<dyn Session> {
        let mut own = Vec::new();
        params.write(&mut own);
        let tls = ServerConnection::new(Arc::clone(&self.tls), tls_version(version), own)
            .expect("TLS 1.3 with QUIC's cipher suites");
        Box::new(BriefSession {
            quic: Arc::clone(&self.quic),
            version,
            handshake: Some(Box::new(Connection::Server(tls))),
            has_data: false,
            protocol: None,
            next_secrets: None,
            binding: None,
        })
    }
}

/// As quinn maps the versions that it supports.
fn tls_version(version: u32) -> Version {
    if (0xff00_001d..=0xff00_0020).contains(&version) { Version::V1Draft } else { Version::V1 }
}

struct BriefSession {
    quic: Arc<QuicServerConfig>,
    version: u32,
    /// `None` once it is done.
    handshake: Option<Box<Connection>>,
    /// Whether it was told that there is a protocol.
    has_data: bool,
    protocol: Option<Vec<u8>>,
    next_secrets: Option<Secrets>,
    /// The exporter's bytes for [`LABEL`], once the handshake is done.
    binding: Option<[u8; PROOF_BYTES]>,
}

impl Session for BriefSession {
    fn initial_keys(&self, id: &ConnectionId, _: Side) -> Keys {
        self.quic.initial_keys(self.version, id).expect("the handshake began with this version")
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        let protocol = self.protocol.clone();
        self.has_data
            .then(|| Box::new(HandshakeData { protocol, server_name: None }) as Box<dyn Any>)
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.handshake.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        let refuse = |code, reason| TransportError { code, frame: None, reason };
        let Some(tls) = &mut self.handshake else {
            let code = TransportErrorCode::crypto(UNEXPECTED_MESSAGE);
            return Err(refuse(code, "TLS ended with the handshake".to_owned()));
        };
        tls.read_hs(bytes).map_err(|error| {
            let violation = TransportErrorCode::PROTOCOL_VIOLATION;
            let of_alert = |alert| TransportErrorCode::crypto(u8::from(alert));
            refuse(tls.alert().map_or(violation, of_alert), error.to_string())
        })?;
        self.protocol = tls.alpn_protocol().map(<[u8]>::to_vec);
        let has_data = self.protocol.is_some() || !tls.is_handshaking();
        Ok(has_data && !std::mem::replace(&mut self.has_data, has_data))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let of_peer = self.handshake.as_ref().and_then(|tls| tls.quic_transport_parameters());
        let read = |bytes| TransportParameters::read(Side::Server, &mut Cursor::new(bytes));
        Ok(of_peer.map(read).transpose()?)
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let tls = self.handshake.as_mut()?;
        let keys = match tls.write_hs(buffer) {
            Some(KeyChange::Handshake { keys }) => keys,
            Some(KeyChange::OneRtt { keys, next }) => {
                self.next_secrets = Some(next);
                keys
            }
            None => {
                if !tls.is_handshaking() && buffer.is_empty() {
                    self.binding =
                        tls.export_keying_material([0; PROOF_BYTES], LABEL, Some(&[])).ok();
                    self.handshake = None;
                }
                return None;
            }
        };
        Some(Keys {
            header: KeyPair {
                local: Box::new(keys.local.header),
                remote: Box::new(keys.remote.header),
            },
            packet: KeyPair {
                local: Box::new(keys.local.packet),
                remote: Box::new(keys.remote.packet),
            },
        })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next_secrets.as_mut()?.next_packet_keys();
        Some(KeyPair { local: Box::new(keys.local), remote: Box::new(keys.remote) })
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    /// After the handshake only what proofs of a key need.
    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        let is_known = label == LABEL && context.is_empty() && output.len() == PROOF_BYTES;
        let binding = self.binding.filter(|_| is_known).ok_or(ExportKeyingMaterialError)?;
        output.copy_from_slice(&binding);
        Ok(())
    }
}
