//! What a client is told at its birth.

use std::time::Duration;

use super::queue::EVENTS;
use crate::replica::playout::Render;

/// Settings of a client. Everything that chance decides in it comes from `seed`.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The wanted name, 1 to 24 characters; empty for one that the server makes up.
    pub name: String,
    /// For the server's log: `"console 0.1.0"`.
    pub agent: String,
    /// The token of an earlier session that is to go on; empty for a new one.
    pub resume_token: Vec<u8>,
    /// Spreads the pauses before reconnects; differs between the clients of a process.
    pub seed: u64,
    /// How long a broken lobby connection is tried again; zero for not at all. The server keeps a seat for 30 s by default.
    pub reconnect_for: Duration,
    /// Attempts to get back into a game whose connection broke while the lobby's lives, in a row.
    pub game_attempts: u32,
    /// Events that wait for the view, at most.
    pub events: usize,
    /// For crowds of bots that only load a server: poses are noted as received but not decoded, which is most of a client's
    /// work. Link, clock, acknowledgements, inputs, records and events are those of any client. What it costs: objects that
    /// have poses have no position after their `Enter`, count neither as updates nor with an age, and the client never finds
    /// out that it has lost track.
    pub light: bool,
    /// Which room time objects with poses are shown at.
    pub render: Render,
}

impl Default for ClientConfig {
    fn default() -> Self {
        ClientConfig {
            name: String::new(),
            agent: concat!("ambit-client-core ", env!("CARGO_PKG_VERSION")).to_owned(),
            resume_token: Vec::new(),
            seed: 0,
            reconnect_for: Duration::from_mins(1),
            game_attempts: 5,
            events: EVENTS,
            light: false,
            render: Render::Room,
        }
    }
}
