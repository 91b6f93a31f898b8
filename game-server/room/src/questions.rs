//! What operators ask a room, and what it answers: both as bytes, since the room may be on another
//! machine.

use ambit_proto::ids::{ObjectId, PlayerId};
use serde::{Deserialize, Serialize};

use crate::network::above::{MapAbove, RoomAbove};
use crate::network::why::Why;
use crate::room::Room;
use crate::saved::{self, BadState};

/// What an operator asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoomQuestion {
    /// What does not change: size, obstacles, kinds.
    Map,
    /// Where all is, and what the client of this player has of it.
    Above {
        /// `None` for no client.
        player: Option<PlayerId>,
    },
    /// Why the client of a player has an object, or has it not.
    Why {
        /// Whose client.
        player: PlayerId,
        /// The object, by the room's number.
        object: ObjectId,
    },
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RoomAnswer {
    /// To [`RoomQuestion::Map`].
    Map(MapAbove),
    /// To [`RoomQuestion::Above`].
    Above(RoomAbove),
    /// To [`RoomQuestion::Why`].
    Why(Why),
}

impl RoomQuestion {
    /// The room's answer.
    pub fn ask(self, room: &mut Room) -> RoomAnswer {
        match self {
            Self::Map => RoomAnswer::Map(room.map_above()),
            Self::Above { player } => RoomAnswer::Above(room.above(player)),
            Self::Why { player, object } => RoomAnswer::Why(room.why(player, object)),
        }
    }

    /// As bytes.
    pub fn encode(self) -> Vec<u8> {
        saved::section(&self)
    }

    /// From bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadState> {
        saved::only_section(bytes)
    }
}

impl RoomAnswer {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        saved::section(self)
    }

    /// From bytes of a host, which may be anything.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadState> {
        saved::only_section(bytes)
    }
}
