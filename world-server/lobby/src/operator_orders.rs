//! What operators see of players, what they order, and why an order fails.

use std::net::IpAddr;

use ambit_proto::control::world;
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::standing::OperatorRole;
use ambit_store::BanTerm;

use crate::output::{ConnId, HostId};
use crate::refusal::LobbyRefusal;
use crate::text::ChatText;

/// The sender of an operator's message. No player can have this name: brackets are not allowed.
const SENDER: &str = "[server]";

/// A line of chat from the server; `to` is the receiver of a whisper, or 0.
pub(crate) fn server_line(channel: world::Channel, to: u64, text: String) -> world::Chat {
    let from_name = SENDER.to_owned();
    world::Chat { channel: channel.into(), from: 0, from_name, text, to }
}

/// A player as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatedPlayer {
    /// Of its session.
    pub id: PlayerId,
    /// As players see it.
    pub name: String,
    /// `None` for a guest.
    pub account: Option<AccountId>,
    /// `None` within the grace period.
    pub address: Option<IpAddr>,
    /// `None` within the grace period.
    pub conn: Option<ConnId>,
    /// What the client says that it is; empty within the grace period.
    pub agent: String,
    /// When the session was opened, in seconds since 1970.
    pub since: i64,
    /// The room that it is in, as players see it.
    pub room: Option<RoomId>,
    /// The map of that room on which it is.
    pub map: Option<u32>,
    /// The host of that map.
    pub host: Option<HostId>,
    /// If its account is one of an operator.
    pub role: Option<OperatorRole>,
    /// Why it may not chat, and until when.
    pub mute: Option<BanTerm>,
}

/// A room as an operator sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatedRoom {
    /// As players see it.
    pub shown: world::Room,
    /// Whether an operator lets no more players in.
    pub is_locked: bool,
    /// The host of its first map.
    pub host: Option<HostId>,
    /// The number of its maps that are open.
    pub maps: usize,
}

/// A map of a room's world, as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatedMap {
    /// By which logs and metrics name it.
    pub id: RoomId,
    /// The room that players come into.
    pub room: RoomId,
    /// Its number in the room's world, from 0.
    pub map: u32,
    /// `None` if none runs it now.
    pub host: Option<HostId>,
    /// Those who are on the way to it or from it count, too.
    pub players: u32,
    /// Whether its game runs.
    pub is_running: bool,
}

/// What an operator wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorOrder {
    /// End the session of a player, who reads why and may come back.
    Kick { player: PlayerId, reason: String },
    /// Let a session that has no account say nothing in chat. (The store has mutes of accounts.)
    Mute { player: PlayerId, term: BanTerm },
    /// Let it chat again.
    Unmute { player: PlayerId },
    /// Let no more players into a room, or let them in again.
    SetLock { room: RoomId, is_locked: bool },
    /// Send a line of chat.
    Say { to: OperatorAudience, text: String },
    /// Close a room, with all of its maps; its members read why.
    CloseRoom { room: RoomId, reason: String },
    /// Move the rooms of a host elsewhere, and give it no more, or give it rooms again.
    DrainHost { host: HostId, is_drained: bool },
    /// Shut the server down after these minutes.
    End { minutes: u32, reason: String },
    /// The server stays.
    CallOffEnd,
}

/// Whom an operator's message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorAudience {
    /// All who are connected.
    All,
    /// The members of a room.
    Room(RoomId),
    /// One player.
    Player(PlayerId),
}

/// Why an order was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperatorProblem {
    /// Or it has left.
    #[error("there is no player with the id {0}")]
    NoSuchPlayer(PlayerId),
    /// Or it has ended.
    #[error("there is no room with the id {0}")]
    NoSuchRoom(RoomId),
    /// Of a question to its game.
    #[error("the room {0} does not run now")]
    NotRunning(RoomId),
    /// Of one more question.
    #[error("too many questions wait for answers of rooms: ask again")]
    TooManyQuestions,
    /// Or it is gone.
    #[error("there is no host with the id {0}")]
    NoSuchHost(u64),
    /// Of the end that is to be called off.
    #[error("the server is not about to shut down")]
    NoEndPlanned,
    /// Of a session: it is not muted.
    #[error("the player {0} is not muted")]
    NotMuted(PlayerId),
    /// Of a message or a reason, or a time that is too long.
    #[error("{0}")]
    BadText(String),
}

/// A reason that players may be shown; it may be missing.
pub fn read_reason(reason: &str) -> Result<String, OperatorProblem> {
    if reason.trim().is_empty() {
        return Ok(String::new());
    }
    ChatText::parse_reason(reason).map(ChatText::into_string).map_err(bad_text)
}

pub(crate) fn bad_text(refusal: LobbyRefusal) -> OperatorProblem {
    OperatorProblem::BadText(refusal.message)
}
