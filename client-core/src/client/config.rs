//! What a client is told at its birth.

use std::time::Duration;

use super::event_queue::DEFAULT_MAX_EVENTS;
use crate::replica::jitter_buffer::RenderTiming;

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
    /// How long a broken lobby connection is tried again; zero for not at all. The server keeps a
    /// seat for 30 s by default.
    pub reconnect_for: Duration,
    /// Attempts to get back into a game whose connection broke while the lobby's lives, in a row.
    pub game_attempts: u32,
    /// Events that wait for the view, at most.
    pub max_events: usize,
    /// For crowds of bots that only load a server: poses are noted as received but not decoded,
    /// which is most of a client's work. Link, clock, acknowledgements, inputs, records and events
    /// are those of any client. What it costs: objects that have poses have no position after their
    /// `ObjectEntered`, count neither as updates nor with an age, and the client never finds out
    /// that it has lost track.
    pub light: bool,
    /// Which room time objects with poses are shown at.
    pub render: RenderTiming,
    /// Whether the player's own avatar is shown ahead, as its inputs will have moved it, in a game
    /// that is simulated.
    pub predict: bool,
    /// How often held keys are told; a change leaves at once in any case.
    pub inputs: InputRate,
}

/// How often a client tells the game which keys are held. What the higher rate costs: three times
/// the datagrams, of some 10 bytes each and the line's own; what it brings: what was lost is
/// repeated after 17 ms rather than after 50.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputRate {
    /// 20 times a second.
    #[default]
    Hz20,
    /// 60 times a second.
    Hz60,
}

impl InputRate {
    /// Between two times.
    pub const fn interval(self) -> Duration {
        match self {
            InputRate::Hz20 => Duration::from_millis(50),
            InputRate::Hz60 => Duration::from_micros(16_667),
        }
    }
}

/// The number as people write it.
impl std::str::FromStr for InputRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "20" => Ok(InputRate::Hz20),
            "60" => Ok(InputRate::Hz60),
            _ => Err("expected 20 or 60".to_owned()),
        }
    }
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
            max_events: DEFAULT_MAX_EVENTS,
            light: false,
            render: RenderTiming::default(),
            inputs: InputRate::default(),
            predict: false,
        }
    }
}
