//! What the page has to do: outputs of the client's core, with bytes in place of messages.

use std::fmt::Write as _;

use ambit_client_core::client::lobby::ClusterServer;
use bytes::Bytes;
use serde_json::{Value as Json, json};

/// An action for the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WebOutput {
    /// Dial the first of these that answers; close the lobby's connection before, if there is one.
    /// None of them stands for the configured servers.
    ConnectWorld {
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
    ConnectGame { address: String, certificates: Vec<[u8; 32]> },
    /// Send these bytes on the game's stream.
    Game(Bytes),
    /// Send this datagram to the host.
    Datagram(Bytes),
    /// Close the game's connection.
    CloseGame,
}

impl WebOutput {
    /// The number by which `ts/driver.ts` knows it; 0 is none.
    pub(crate) fn number(&self) -> u32 {
        match self {
            WebOutput::ConnectWorld { .. } => 1,
            WebOutput::World(_) => 2,
            WebOutput::CloseWorld => 3,
            WebOutput::ConnectGame { .. } => 4,
            WebOutput::Game(_) => 5,
            WebOutput::Datagram(_) => 6,
            WebOutput::CloseGame => 7,
            WebOutput::AbandonWorld => 8,
        }
    }

    /// What to send.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            WebOutput::World(bytes) | WebOutput::Game(bytes) | WebOutput::Datagram(bytes) => bytes,
            _ => &[],
        }
    }

    /// Whom to dial: `{"servers": [{"address", "certificates_sha256"}], "configured": [address]}`.
    pub(crate) fn target(&self) -> Json {
        match self {
            WebOutput::ConnectWorld { servers, configured } => {
                let servers = servers
                    .iter()
                    .map(|known| server(&known.address, &known.web_certificates_sha256));
                json!({ "servers": servers.collect::<Vec<_>>(), "configured": configured })
            }
            WebOutput::ConnectGame { address, certificates } => {
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
        let connect = WebOutput::ConnectGame {
            address: "0.0.0.0:7777".to_owned(),
            certificates: vec![certificate],
        };
        let hex = format!("01{}", "ab".repeat(31));
        let server = json!({ "address": "0.0.0.0:7777", "certificates_sha256": [hex] });
        let expected = json!({ "servers": [server], "configured": [] });
        assert_eq!((connect.number(), connect.target()), (4, expected));
    }
}
