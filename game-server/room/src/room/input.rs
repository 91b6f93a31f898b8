//! What goes into a room at a tick, and into its journal.

use ambit_proto::ids::{AccountId, ClientId, PlayerId};
use ambit_proto::keymap::KeySample;
use ambit_proto::pose::PoseCoding;
use ambit_proto::space::Position;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;
use ambit_proto::wishes::Wishes;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::logic::game::{GameCommand, Left};
use crate::logic::store::{StoreAnswer, StoreNumber};
use crate::network::load_level::LoadLevel;

/// The client of every player in a journal: a room that replays inputs has no connections.
pub const REPLAY_CLIENT: ClientId = ClientId(u32::MAX);

/// One input of a room.
///
/// The host gives a room all kinds but [`RoomInput::Command`], [`RoomInput::Sample`] and
/// [`RoomInput::Ping`]. The room's journal of a tick ([`super::Room::journal`]) has all kinds but
/// [`RoomInput::Datagram`], [`RoomInput::SetLoadLevel`] and [`RoomInput::ConfirmUntil`], which
/// concern the network alone: it holds the commands and samples that were decoded from datagrams
/// and accepted, and what was measured of the clients. A recording holds
/// what the host gave, so that a replay runs the network too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RoomInput {
    /// A player with a valid ticket has connected, for the first time or again.
    Join {
        /// The new connection; [`REPLAY_CLIENT`] in a journal.
        client: ClientId,
        player: PlayerId,
        name: String,
        /// The account of the player's session, if it has one.
        account: Option<AccountId>,
        /// How the client wants its poses to be coded; [`PoseCoding::Auto`] in a journal.
        coding: PoseCoding,
    },
    /// What a player is beyond a player, from now on: before the join, if it is anything.
    Standing { player: PlayerId, standing: Standing },
    /// What a player wishes who is about to join for the first time, if it is anything.
    Wishes { player: PlayerId, wishes: Wishes },
    /// These players were in the room when it was started: the game may wait for them. Before the
    /// first tick.
    Expect { players: Vec<PlayerId> },
    /// A player's connection has ended; the avatar stays for the grace period.
    Disconnect {
        /// The connection; [`REPLAY_CLIENT`] in a journal. Ignored if the player has a newer one.
        client: ClientId,
        player: PlayerId,
    },
    /// A player has left for good.
    Remove { player: PlayerId, why: Left },
    /// A player has another name.
    Rename {
        player: PlayerId,
        /// The new name.
        name: String,
    },
    /// A player at a gate may transfer to another map.
    ReleaseForTransfer {
        player: PlayerId,
        /// The transfer that the lobby has begun.
        transfer: TransferId,
    },
    /// A player at a gate may not transfer to another map.
    RefuseTransfer { player: PlayerId },
    /// A player transfers from another map; the client connects afterwards.
    AdmitTransfer(TransferArrival),
    /// A command of a player. The game may refuse it.
    Command {
        player: PlayerId,
        /// The client's number for it.
        number: u32,
        command: GameCommand,
    },
    /// A sample of a player's controls.
    Sample {
        player: PlayerId,
        /// The room's time at which it arrived.
        at: GameTime,
        /// The keys that were held, and the axes.
        sample: KeySample,
    },
    /// The store has answered a request of the game.
    Stored { number: StoreNumber, answer: StoreAnswer },
    /// What a calendar's clock shows at this tick: once in a room, and when it has been set.
    Calendar {
        /// Milliseconds since 1970, UTC.
        unix_ms: u64,
    },
    /// Another map of the world has told this, or is no more.
    MapShare {
        map: u32,
        /// As in [`RoomOutput::Share`](super::RoomOutput::Share); empty for a map that has ended.
        share: Vec<u8>,
    },
    /// The room runs at a host that it was given to for this time.
    BeginIncarnation(u32),
    /// A datagram of a client.
    Datagram {
        client: ClientId,
        /// The room's time at which it arrived. Later than the time of the tick if that runs late.
        at: GameTime,
        #[serde(with = "crate::saved::datagram")]
        bytes: Bytes,
    },
    /// From this tick on, the room sends at this load level, because it is late.
    SetLoadLevel(LoadLevel),
    /// From this tick on, clients are confirmed only what the ticks up to this time received, since
    /// the host may still lose later ones; `None` for everything.
    ConfirmUntil(Option<GameTime>),
    /// The round trip to a player's client, as the room has measured it.
    Ping {
        player: PlayerId,
        /// In milliseconds.
        ping_ms: u16,
    },
}

/// The lobby's number of a transfer. It grows with each transfer of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TransferId(pub u64);

/// A player who transfers from another map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferArrival {
    pub player: PlayerId,
    pub transfer: TransferId,
    pub name: String,
    /// The account of the player's session, if it has one.
    pub account: Option<AccountId>,
    /// What the player is in the world.
    pub standing: Standing,
    /// Where the avatar appears.
    pub at: Position,
    /// The state that the avatar brings along, in the game's own format.
    pub carried: Vec<u8>,
}
