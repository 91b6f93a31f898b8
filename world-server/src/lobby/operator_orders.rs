//! What operators see of players, what they order, and why an order fails.

use std::net::IpAddr;

use ambit_proto::control::world;
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::standing::OperatorRole;
use ambit_store::BanTerm;

/// A player as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperatedPlayer {
    pub(crate) id: PlayerId,
    pub(crate) name: String,
    pub(crate) account: Option<AccountId>,
    /// `None` within the grace period.
    pub(crate) address: Option<IpAddr>,
    pub(crate) room: Option<RoomId>,
    pub(crate) role: Option<OperatorRole>,
    /// Why it may not chat, and until when.
    pub(crate) mute: Option<BanTerm>,
}

/// A room as an operator sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OperatedRoom {
    /// As players see it.
    pub(crate) shown: world::Room,
    pub(crate) is_locked: bool,
}

/// What an operator wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OperatorOrder {
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
}

/// Whom an operator's message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperatorAudience {
    /// All who are connected.
    All,
    /// The members of a room.
    Room(RoomId),
    /// One player.
    Player(PlayerId),
}

/// Why an order was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OperatorProblem {
    #[error("there is no player with the id {0}")]
    NoSuchPlayer(PlayerId),
    #[error("there is no room with the id {0}")]
    NoSuchRoom(RoomId),
    /// Of a session: it is not muted.
    #[error("the player {0} is not muted")]
    NotMuted(PlayerId),
    /// Of a message or a reason.
    #[error("{0}")]
    BadText(String),
}
