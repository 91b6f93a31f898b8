//! What a host and its WorldServer send each other.
//!
//! The shells convert it from and to protobufs ([`crate::protobuf`]).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::stats::HostStats;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::Error;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ambit_room::logic::store::{AskedOfStore, StoreAnswer, StoreNumber};
use ambit_room::recording::Header;
use ambit_room::room::{TransferArrival, TransferId};

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
    /// Run this room: a new one, or one that has run at another host. If that has sent more than
    /// fits into one message, [`Self::RoomPiece`]s bring the first parts.
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

/// An order that concerns one room.
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
    /// Right behind the order that opens a room which is started: these players are in it, and
    /// about to come into the game.
    ExpectPlayers(Vec<PlayerId>),
    /// A player has another name.
    RenamePlayer {
        player: PlayerId,
        /// The new name.
        name: String,
    },
    /// The other map has a seat for the player: remove the avatar.
    ReleaseForTransfer { player: PlayerId, transfer: TransferId },
    /// The gate is closed for this player, who stays.
    RefuseTransfer(PlayerId),
    /// A player arrives from another map of the world.
    AdmitTransfer(TransferArrival),
    /// Another map of the world tells this.
    MapShare {
        /// The number of that map.
        map: u32,
        /// Empty if that map has ended.
        share: Vec<u8>,
    },
    /// The store's answer to [`HostMessage::Store`].
    Stored {
        /// That of the request.
        number: StoreNumber,
        answer: StoreAnswer,
    },
    /// An operator asks ([`ambit_room::questions`]).
    Ask { number: u64, question: Vec<u8> },
    /// Hand the room over after the next tick at which its game allows that
    /// ([`HostMessage::RoomHandedOver`]), and wait for the WorldServer.
    Move,
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
    Arrived { room: RoomId, player: PlayerId, transfer: TransferId },
    /// A room's game asks this of the store.
    Store(RoomId, AskedOfStore),
    /// A map of a world tells this the others.
    Share(RoomId, Vec<u8>),
    /// A part of a room's state that does not fit into one message, and goes before the next part.
    /// [`Self::Snapshot`] brings the last one.
    SnapshotPiece(RoomId, RoomSnapshot),
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
    Answered { room: RoomId, number: u64, answer: Vec<u8> },
    /// This host lives.
    Heartbeat(u64),
    /// This host was asked to end, and does so with its last messages about its rooms.
    HandingOver,
    /// What the host has counted, once a second.
    Stats(Box<HostStats>),
    /// From a host's watcher, on a link of its own: the process whose first host has this instance
    /// has ended.
    ProcessEnded(Vec<u8>),
}

/// A host that can run rooms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReady {
    /// Of the protocol between the two.
    pub version: u32,
    /// Where players connect.
    pub address: String,
    /// SHA-256 of the certificate (DER) that players are shown.
    pub certificate_sha256: Vec<u8>,
    /// Rooms at most.
    pub capacity: u32,
    /// For people: process id, name of the machine.
    pub label: String,
    /// Threads that run rooms at the same time.
    pub cores: u32,
    /// Random bytes of this host. A WorldServer recognises by them a host that another one knew.
    pub instance: Vec<u8>,
    /// The rooms that the host runs already.
    pub rooms: Vec<RoomHere>,
    /// What its rooms are made of: only hosts of the same build go on with them.
    pub build: String,
    /// The time by which this host judges tickets, in seconds since 1970; 0 if it does not say it.
    pub ticket_time_unix_s: u64,
    /// Of a process that is several hosts, the instance of its first one. Empty if the process is
    /// this host alone.
    pub process: Vec<u8>,
}

/// A room that a host runs already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomHere {
    pub room: RoomId,
    /// How often it was given to a host.
    pub incarnation: u32,
}

impl HostMessage {
    /// Whether a newer message makes up for this one if it is lost; of an answer, another question.
    pub fn is_expendable(&self) -> bool {
        matches!(self, Self::Heartbeat(_) | Self::Stats(_) | Self::Answered { .. })
    }
}
