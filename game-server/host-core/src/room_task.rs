//! What the host core tells a room.

use ambit_host_protocol::messages::RoomOrder;
use ambit_proto::codes::ErrorCode;

/// What a running room is told: what the WorldServer orders, and what follows from its other orders
/// and from the end of the link.
#[derive(Clone, Debug, PartialEq, derive_more::From)]
pub enum RoomTask {
    #[from]
    Order(RoomOrder),
    /// Send a snapshot: another WorldServer may have none.
    SendSnapshot,
    /// The room ends for all, for this reason.
    Close(ErrorCode),
    /// End here: the room goes on at another host.
    HandOver,
}
