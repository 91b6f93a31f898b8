//! What a room wants done after a tick.

use ambit_proto::codes::{Error, ErrorCode};
use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::space::Position;
use bytes::Bytes;

use super::input::TransferId;
use crate::logic::store::AskedOfStore;

#[derive(Clone, Debug, PartialEq)]
pub enum RoomOutput {
    /// Send this now, or never.
    Datagram {
        client: ClientId,
        /// At most `message::MAX_DATAGRAM` bytes.
        bytes: Bytes,
    },
    /// Tell the client that what it sends is of no use; the connection stays open. At most one of
    /// each kind for a client.
    Report { client: ClientId, error: Error },
    /// The client's player has a newer connection: close this one.
    Superseded {
        /// The older connection.
        client: ClientId,
    },
    /// A client has acknowledged nothing for too long and counts as disconnected: close its
    /// connection.
    Unresponsive { client: ClientId },
    /// A player did not come back within the grace period and is out.
    PlayerOut { player: PlayerId, reason: ErrorCode },
    /// The game has put a player out, and why.
    PutOut { player: PlayerId, why: String },
    /// The game has no avatar for the client's player, who is not in the room: a bug of the game.
    WithoutAvatar { client: ClientId, player: PlayerId },
    /// A player's avatar is in a gate to another map: the player asks for a transfer.
    AtGate {
        player: PlayerId,
        /// The map behind the gate.
        map: u32,
        /// The place on that map.
        at: Position,
        /// Where the avatar is now.
        from: Position,
    },
    /// The answer to [`super::RoomInput::ReleaseForTransfer`]. To be sent after the journal of this
    /// tick.
    Departed {
        player: PlayerId,
        transfer: TransferId,
        /// What the avatar takes along; `None` if the player stays.
        carried: Option<Vec<u8>>,
    },
    /// The answer to [`super::RoomInput::AdmitTransfer`]. To be sent after the journal of this
    /// tick.
    Arrived { player: PlayerId, transfer: TransferId },
    /// The game asks this of the store. To be sent after the journal of this tick.
    Store(AskedOfStore),
    /// Tell this the other maps of the world: 1 to `MAX_SHARE_BYTES` bytes. A later one makes up
    /// for one that is lost.
    Share(Vec<u8>),
    /// The client's player has moved to another map. The client closes the connection by itself
    /// once it knows where to go.
    MovedAway { client: ClientId },
    /// The game is over.
    Finished,
}
