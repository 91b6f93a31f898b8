//! The configuration of a client.

use std::time::Duration;

use ambit_proto::pose::PoseCoding;
use ambit_steering::SharedMotion;

use super::event_queue::DEFAULT_MAX_EVENTS;
use crate::replica::PoseDecoding;
use crate::replica::jitter_buffer::RenderTiming;

/// How a player proves who it is. A server says which ways it takes, if it refuses one.
#[derive(Clone, Default, PartialEq, Eq, derive_more::Debug)]
pub enum SignIn {
    /// Not at all.
    #[default]
    Guest,
    /// By the key pair of an account with this public key: the shell proves it
    /// ([`ClientOutput::ProveAccount`](super::ClientOutput::ProveAccount)).
    Key([u8; 32]),
    /// By a password.
    Password {
        /// `Welcome.login` of the session in which the account was made (`ann#48213`). For a new
        /// account the part before the `#`.
        login: String,
        /// 8 to 128 characters.
        #[debug(skip)]
        password: String,
        /// Whether an account is made.
        is_new: bool,
    },
    /// By a token of the operator's service.
    Token(#[debug(skip)] String),
}

/// Settings of a client. All randomness in it follows from `seed`.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The wanted name, 1 to 24 characters; empty to let the server choose one.
    pub name: String,
    /// For the server's log: `"console 0.1.0"`.
    pub agent: String,
    /// The token of an earlier session to resume; empty for a new session.
    pub resume_token: Vec<u8>,
    /// How the player proves who it is when a new session is opened.
    pub sign_in: SignIn,
    /// Seeds the pauses before reconnects; must differ between the clients of a process.
    pub seed: u64,
    /// How long the client tries to restore a broken lobby connection; zero for not at all. By
    /// default the server keeps a seat for 30 s. The default here is longer: a player who has lost
    /// the seat still gets a new session.
    pub reconnect_for: Duration,
    /// How many times in a row the client tries to reconnect to a game while the lobby is
    /// connected.
    pub game_attempts: u32,
    /// Whether each command that the host has received is an event
    /// ([`GameEvent::Confirmed`](super::event::GameEvent::Confirmed)). Not by default: most views
    /// show what the command has done.
    pub confirmations: bool,
    /// Maximum number of events that wait for the view.
    pub max_events: usize,
    /// `Light` is for bots that only put load on a server: it saves most of a client's work. All
    /// but the poses works as in any client. Objects with poses have no position after their
    /// `Enter`; their poses are not counted as updates and have no measured age; and the client
    /// does not detect that it has lost track.
    pub pose_decoding: PoseDecoding,
    /// How the host is asked to code poses, at each join.
    pub coding: PoseCoding,
    /// How far behind room time objects with poses are shown.
    pub render: RenderTiming,
    /// What this client shares with games: physics, or how avatars are steered; each game's shared
    /// crate has its own. Objects of simulated kinds without physics are drawn between the host's
    /// poses, and [`GameEvent::PhysicsMissing`](super::event::GameEvent::PhysicsMissing) says so.
    pub motions: Vec<SharedMotion>,
    /// Whether the client predicts the player's own avatar: from its inputs in a game that it
    /// simulates, and from commands that walk it. Without a choice, it predicts avatars that are
    /// steered, and those that walk.
    pub predict: Option<bool>,
    /// How often held keys are sent; a change is sent at once in any case.
    pub inputs: InputRate,
    /// The games are recorded ones: the host's datagrams, which another client has answered, come
    /// at the room times at which they were sent. Nothing is sent to the host, and what a replay
    /// shows depends on what comes alone. The player's own avatar is not predicted.
    pub is_replay: bool,
}

/// How often a client sends the held keys. 60 Hz sends three times as many datagrams (about 10
/// bytes each, plus headers), and a lost input is repeated after 17 ms instead of 50 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputRate {
    /// Every 50 ms.
    #[default]
    Hz20,
    /// Every 16.7 ms.
    Hz60,
}

impl InputRate {
    /// Time between two datagrams with inputs.
    pub const fn interval(self) -> Duration {
        match self {
            InputRate::Hz20 => Duration::from_millis(50),
            InputRate::Hz60 => Duration::from_micros(16_667),
        }
    }
}

/// Parses the rate in Hz, as users write it.
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
            sign_in: SignIn::Guest,
            seed: 0,
            reconnect_for: Duration::from_mins(1),
            game_attempts: 5,
            confirmations: false,
            max_events: DEFAULT_MAX_EVENTS,
            pose_decoding: PoseDecoding::default(),
            coding: PoseCoding::default(),
            render: RenderTiming::default(),
            motions: Vec::new(),
            predict: None,
            inputs: InputRate::default(),
            is_replay: false,
        }
    }
}
