//! Which messages to clients are news, which may be dropped where too many wait: what they have led
//! to is sent later.

use ambit_proto::control::world::{WorldToClient, world_to_client::Body};

use crate::output::MissedNews;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// It must arrive.
    Essential,
    /// A change of the list of rooms.
    Rooms,
    /// A change of a room's members.
    Players,
    /// A line of chat.
    Chat,
    /// The list of rooms, or of a room's members, for a client that has missed changes.
    List(NewsList),
}

/// The lists that take the place of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewsList {
    /// Of rooms.
    Rooms,
    /// Of the members of a room.
    Players,
}

impl FrameKind {
    /// What the frame of this message is for.
    pub fn of(message: &WorldToClient) -> Self {
        match &message.body {
            _ if message.request != 0 => Self::Essential,
            Some(Body::RoomChange(_)) => Self::Rooms,
            Some(Body::RoomList(_)) => Self::List(NewsList::Rooms),
            Some(Body::PlayerChange(_) | Body::Renamed(_)) => Self::Players,
            Some(Body::PlayerList(_)) => Self::List(NewsList::Players),
            Some(Body::Chat(_)) => Self::Chat,
            _ => Self::Essential,
        }
    }

    /// What a client without this frame has missed.
    pub fn as_missed(self) -> MissedNews {
        MissedNews {
            rooms: matches!(self, Self::Rooms | Self::List(NewsList::Rooms)),
            players: matches!(self, Self::Players | Self::List(NewsList::Players)),
            chats: u64::from(self == Self::Chat),
        }
    }

    /// The name in metrics, if the frame may be dropped.
    pub fn drop_name(self) -> Option<&'static str> {
        match self {
            Self::Essential => None,
            Self::Rooms | Self::List(NewsList::Rooms) => Some("lobby_out/missed_rooms"),
            Self::Players | Self::List(NewsList::Players) => Some("lobby_out/missed_players"),
            Self::Chat => Some("lobby_out/missed_chat"),
        }
    }
}

impl NewsList {
    /// The changes whose place it takes.
    pub fn changes(self) -> FrameKind {
        match self {
            Self::Rooms => FrameKind::Rooms,
            Self::Players => FrameKind::Players,
        }
    }
}
