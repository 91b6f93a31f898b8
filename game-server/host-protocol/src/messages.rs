//! What a host and its WorldServer send each other, and what the host tells its rooms.
//!
//! The shells convert it from and to protobufs ([`crate::protobuf`]).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::generated::{HostReady, HostStats, LateRoom};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::Error;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ambit_room::logic::store::AskedOfStore;
use ambit_room::recording::Header;
use ambit_room::room::{RoomInput, TransferId};

/// An order of the WorldServer.
#[derive(Clone, Debug, PartialEq)]
pub enum WorldOrder {
    /// The first one: what the WorldServer expects of a host.
    Configure(HostSettings),
    /// A part of what the last host has sent of a room that is to go on here. [`Self::OpenRoom`]
    /// brings the last part.
    RoomPiece {
        room: RoomId,
        /// As in the order that opens the room.
        incarnation: u32,
        /// Goes behind the pieces before it: its state to theirs, and its journal to theirs.
        piece: SavedRoom,
    },
    /// Run this room: a new one, or one that has run at another host.
    OpenRoom(RoomAssignment, Option<RoomResume>),
    /// End this room.
    CloseRoom {
        room: RoomId,
        /// What its players receive.
        reason: ErrorCode,
    },
    /// The WorldServer gives this room, which was handed over, to another host.
    RoomTaken(RoomId),
    /// Something for one of the rooms.
    Room(RoomId, RoomOrder),
    /// The heartbeats up to this number have arrived. The lease counts from when it was sent.
    AcknowledgeHeartbeat { number: u64, lease: Duration },
    /// The journal entries up to this number have arrived.
    AcknowledgeJournal(u64),
    /// Close all rooms, and end.
    Drain,
    /// Hand all rooms over, and end.
    HandOver,
}

/// What the WorldServer expects of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings {
    /// Of the protocol between the two.
    pub version: u32,
    /// The public key that tickets are checked against.
    pub ticket_key: Vec<u8>,
    /// How long a player whose connection is lost keeps the avatar, in milliseconds.
    pub grace_ms: u32,
    /// Whether rooms are to be saved at the WorldServer, so that they can go on elsewhere.
    pub saves_rooms: bool,
    /// How long the host's lease is; zero for a host without one.
    pub lease: Duration,
    /// After how much silence a host without a lease is given up; zero for never.
    pub silence: Duration,
}

/// A room for a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomAssignment {
    pub room: RoomId,
    pub game: String,
    pub parameters: BTreeMap<String, String>,
    pub seed: u64,
    /// The number of seats.
    pub capacity: u32,
    /// How often the room was given to a host, this time included.
    pub incarnation: u32,
}

impl RoomAssignment {
    /// What a room is made from.
    pub fn into_header(self, grace_ms: u32) -> Header {
        Header {
            game: self.game,
            room: self.room.0,
            seed: self.seed,
            capacity: self.capacity,
            grace_ms,
            parameters: self.parameters,
        }
    }
}

/// How a room goes on at another host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomResume {
    /// What the last host has sent of it.
    pub saved: SavedRoom,
    /// The room's time as the order was sent.
    pub now: GameTime,
    /// The room's members by the lobby; `None` if that does not know better than the snapshot.
    pub members: Option<Vec<RoomMember>>,
}

/// A player with a seat in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomMember {
    pub player: PlayerId,
    /// The player's present name.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RoomOrder {
    /// A player has left for good.
    RemovePlayer {
        player: PlayerId,
        /// What the client receives.
        reason: ErrorCode,
        /// The player's tickets up to this serial are revoked. A player who came with a newer one
        /// has come back since, and stays.
        revoked_until: u64,
    },
    /// Only these players have seats.
    SyncMembers {
        members: Vec<RoomMember>,
        /// The tickets of all others up to this serial are revoked.
        revoked_until: u64,
    },
    /// An input of the room: a name, a transfer.
    Input(RoomInput),
    /// An operator asks ([`ambit_room::questions`]).
    Ask { number: u64, question: Vec<u8> },
    /// Send a snapshot: another WorldServer may have none.
    SendSnapshot,
    /// Hand the room over after the next tick at which its game allows that
    /// ([`HostMessage::RoomHandedOver`]), and wait for the WorldServer.
    Move,
    /// The room ends for all, for this reason.
    Close(ErrorCode),
    /// End here: the room goes on at another host.
    HandOver,
}

/// A message to the WorldServer.
#[derive(Clone, Debug, PartialEq)]
pub enum HostMessage {
    /// The first one: this host can run rooms.
    Ready(HostReady),
    /// The answer to [`WorldOrder::OpenRoom`].
    RoomOpened {
        room: RoomId,
        /// Why it does not run here; `None` if it does.
        error: Option<Error>,
    },
    /// A room has ended by itself.
    RoomClosed {
        room: RoomId,
        reason: ErrorCode,
        /// The reason in words, for people.
        message: String,
    },
    /// A player is out of a room for good.
    PlayerOut {
        room: RoomId,
        player: PlayerId,
        reason: ErrorCode,
        /// What the game says, if it has put the player out.
        message: String,
    },
    /// A player requests a transfer to another map.
    AtGate {
        room: RoomId,
        player: PlayerId,
        /// The map behind the gate.
        map: u32,
        /// The place on that map.
        at: Position,
        /// Where the avatar is now.
        from: Position,
    },
    /// A player has left a room by a transfer.
    Departed {
        room: RoomId,
        player: PlayerId,
        transfer: TransferId,
        /// What the avatar takes along; `None` if the player stays.
        carried: Option<Vec<u8>>,
    },
    /// A player has come into a room by a transfer.
    Arrived {
        room: RoomId,
        player: PlayerId,
        transfer: TransferId,
    },
    /// A room's game asks this of the store.
    Store(RoomId, AskedOfStore),
    /// A map of a world tells this the others.
    Share(RoomId, Vec<u8>),
    /// A room after its last tick.
    Snapshot(RoomId, RoomSnapshot),
    /// The last snapshot is the whole room, and no tick follows here.
    RoomHandedOver(RoomId),
    /// The inputs of one tick of a room.
    Journal {
        room: RoomId,
        entry: JournalEntry,
        /// The entry's number among all that this host sends.
        number: u64,
    },
    /// The answer to [`RoomOrder::Ask`]; empty if the room is asked too often.
    Answered {
        room: RoomId,
        number: u64,
        answer: Vec<u8>,
    },
    /// This host lives.
    Heartbeat(u64),
    /// This host was asked to end, and does so with its last messages about its rooms.
    HandingOver,
    Stats(Box<HostStats>),
}

impl HostMessage {
    /// Whether a newer message makes up for this one if it is lost; of an answer, another question.
    pub fn is_expendable(&self) -> bool {
        matches!(self, Self::Heartbeat(_) | Self::Stats(_) | Self::Answered { .. })
    }
}

impl LateRoom {
    /// Which of two rooms is later: that with the higher rank.
    pub fn rank(&self) -> (u64, u32, u64) {
        (self.recent_ticks_skipped, self.load_level, self.ticks_skipped)
    }
}
