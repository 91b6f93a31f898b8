//! What the owner of a [`PolledClient`](crate::PolledClient) has to do: outputs of the client's
//! core, with bytes in place of messages.

use std::fmt::Write as _;

use ambit_client_core::client::lobby::ClusterServer;
use bytes::Bytes;
use serde_json::{Value as Json, json};

/// An action for the owner.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Dial the first of these that answers; close the lobby's connection before, if there is one.
    /// None of them stands for the configured servers.
    ConnectWorld {
        /// Those that the lobby has announced.
        servers: Vec<ClusterServer>,
        /// Addresses of the configured servers that have not refused the session.
        configured: Vec<String>,
    },
    /// Send these bytes on the lobby's stream.
    World(Bytes),
    /// Close the lobby's connection.
    CloseWorld,
    /// Close it in such a way that the player may come back.
    AbandonWorld,
    /// Dial the host; close the game's connection before, if there is one.
    ConnectGame {
        /// `HOST:PORT`; an unspecified IP address stands for the lobby server's.
        address: String,
        /// SHA-256 of the host's certificates for browsers.
        certificates: Vec<[u8; 32]>,
    },
    /// Send these bytes on the game's stream.
    Game(Bytes),
    /// Send this datagram to the host.
    Datagram(Bytes),
    /// Close the game's connection.
    CloseGame,
    /// Sign this with the private key of the player's account; then call
    /// [`prove_account`](crate::PolledClient::prove_account).
    ProveAccount(Bytes),
}

impl Output {
    /// The number by which other languages know it; 0 is none.
    pub fn number(&self) -> u32 {
        match self {
            Output::ConnectWorld { .. } => 1,
            Output::World(_) => 2,
            Output::CloseWorld => 3,
            Output::ConnectGame { .. } => 4,
            Output::Game(_) => 5,
            Output::Datagram(_) => 6,
            Output::CloseGame => 7,
            Output::AbandonWorld => 8,
            Output::ProveAccount(_) => 9,
        }
    }

    /// What to send, or to sign.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Output::World(bytes)
            | Output::Game(bytes)
            | Output::Datagram(bytes)
            | Output::ProveAccount(bytes) => bytes,
            _ => &[],
        }
    }

    /// Whom to dial: `{"servers": [{"address", "certificates_sha256"}], "configured": [address]}`.
    pub fn target(&self) -> Json {
        match self {
            Output::ConnectWorld { servers, configured } => {
                let servers = servers
                    .iter()
                    .map(|known| server(&known.address, &known.web_certificates_sha256));
                json!({ "servers": servers.collect::<Vec<_>>(), "configured": configured })
            }
            Output::ConnectGame { address, certificates } => {
                json!({ "servers": [server(address, certificates)], "configured": [] })
            }
            _ => Json::Null,
        }
    }
}

fn server(address: &str, certificates: &[[u8; 32]]) -> Json {
    let certificates: Vec<String> = certificates.iter().map(hex).collect();
    json!({ "address": address, "certificates_sha256": certificates })
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes all");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_dialled_by_its_address_and_its_certificates() {
        let mut certificate = [0xab; 32];
        certificate[0] = 0x01;
        let connect = Output::ConnectGame {
            address: "0.0.0.0:7777".to_owned(),
            certificates: vec![certificate],
        };
        let hex = format!("01{}", "ab".repeat(31));
        let server = json!({ "address": "0.0.0.0:7777", "certificates_sha256": [hex] });
        let expected = json!({ "servers": [server], "configured": [] });
        assert_eq!((connect.number(), connect.target()), (4, expected));
    }
}
