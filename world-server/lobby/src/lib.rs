//! What decides in a lobby: players, rooms, chat, and the placement of rooms on hosts. Pure: no
//! clock, thread, lock, socket or random source.
//!
//! A [`Lobby`] is made of parts that own their state: `Sessions` (who is there), `Rooms` (what they
//! play, on which maps), `Fleet` (where), `Records` (what another server needs to go on),
//! `OrderGate` (what waits until that is stored).
//!
//! **In** go connections ([`Lobby::handle_connect`]), frames of clients ([`Lobby::handle_frame`]),
//! what hosts report ([`Lobby::handle_host`]), what came of jobs for the store, what operators want
//! done, and the records from which a lobby is restored, each with the time of its arrival. Frames
//! are bytes, and any bytes are survived; their source is `proto/ambit/world.proto`. Records are
//! those of [`directory`]; one that cannot be read is logged and removed. All else are values that
//! were read already, as [`ambit_host_protocol::messages`] are.
//!
//! **Out** come [`LobbyAction`]s, to be carried out in their order: messages, connections to close,
//! orders to hosts, records, jobs. Nothing is called back.
//!
//! The shells only carry: the actor of `ambit-world-server`, and the simulator in `tests`. They
//! report each new connection, and with [`Lobby::handle_disconnect`] that it is closed, by either
//! end. After each call they call [`Lobby::poll_output`] until that returns `None`, then
//! [`Lobby::handle_timeout`] at [`Lobby::next_deadline`].
//!
//! **What always holds,** checked after each step of a random run:
//! 1. Each request gets exactly one answer, unless the lobby closes its connection or the
//!    connection is lost. The answer comes before the events that the request causes.
//! 2. A player is in at most one room, and on one of its maps. A room's taken seats are its
//!    players, never more than its capacity, and its host is one of them. A room without players is
//!    removed, with all its maps.
//! 3. No two players have the same name.
//! 4. What one peer can make the lobby remember or send is bounded: each limit stands in
//!    [`LobbyConfig`] or beside its constant.
//! 5. The same inputs at the same times give the same outputs.
//!
//! **Cost:** a call costs what it changes, and a message for each player that it concerns. Lists of
//! rooms and players cost their length; how many of them a client gets, and how much chat all get,
//! has a budget. What waits between two polls is what one call can cause; what waits for the
//! directory is bounded for each connection and host.

mod catalog;
mod chat;
mod config;
pub mod directory;
mod effects;
mod fleet;
mod frame_kind;
mod known_servers;
mod lobby;
mod lobby_records;
mod operator_event;
mod operator_orders;
mod operators;
mod order_gate;
mod output;
mod pending_writes;
mod planned_end;
mod records;
mod refusal;
mod report_limit;
mod request;
mod rooms;
mod server_marks;
mod server_secret;
mod sessions;
mod shutdown;
mod stats;
mod store_job;
mod text;
mod timers;
mod worlds;

#[cfg(test)]
mod tests;

pub use config::{
    BadWorld, CheckParameters, CostLimit, Entropy, LobbyConfig, LobbyGame, OperatedWorld,
};
pub use fleet::hosts::{Host, HostReport, Origin};
pub use fleet::placement::{HostCandidate, Placement, PlacementRequest, ReportedLoad};
pub use fleet::policy::PlacementPolicy;
pub use fleet::pool::ChildPoolConfig;
pub use fleet::silence::HostSilence;
pub use frame_kind::{FrameKind, NewsList};
pub use lobby::Lobby;
pub use operator_event::{OPERATOR_EVENTS, OperatorEvent, is_for_guests};
pub use operator_orders::{
    OperatedMap, OperatedPlayer, OperatedRoom, OperatorAudience, OperatorOrder, OperatorProblem,
    read_reason,
};
pub use output::{ConnId, HostId, JobSource, LobbyAction, MissedNews, RecordKey, UnknownRecordKey};
pub use report_limit::ReportLimit;
pub use rooms::password_guesses::{GuessesBy, GuessesByNetwork};
pub use server_marks::ServerMarks;
pub use server_secret::ServerSecret;
pub use sessions::account_job::{AccountJob, AccountOutcome, AccountWays, Secret};
pub use stats::LobbyStats;
pub use store_job::{StoreJob, StoreOutcome};
pub use text::{is_player_name, look_alike};
