//! What a player may ask of the lobby.
//!
//! A [`LobbyRequest`] goes in, the message's body comes out. A request that was under way when the
//! connection broke is asked again after a resume if [`LobbyRequest::may_repeat`]; nobody knows
//! what became of the others, and the player is told so.

use std::collections::BTreeMap;

use ambit_proto::control::world as pb;
use ambit_proto::control::world::client_to_world::Body;
use ambit_proto::ids::{PlayerId, RoomId};

use super::model::ChatAudience;

/// Something to ask of the lobby; the answer comes as an event with the request's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LobbyRequest {
    /// The rooms, and if `subscribe` each change of them until the next `ListRooms`.
    ListRooms {
        /// Whether changes are to follow.
        subscribe: bool,
    },
    /// A new room, with the player as its host.
    CreateRoom(NewRoom),
    /// A seat in a room.
    JoinRoom {
        /// The room.
        room: RoomId,
        /// Empty for none.
        password: String,
    },
    /// Back to the lobby.
    LeaveRoom,
    /// The start of the game; the room's host only.
    StartRoom,
    /// Whether the player is ready.
    SetReady(bool),
    /// Who is there.
    ListPlayers {
        /// In the whole lobby; else in one's room.
        everybody: bool,
    },
    /// Another name.
    SetName(String),
    /// A line of chat.
    Say {
        /// Who is to hear it.
        to: ChatAudience,
        /// 1 to 500 characters.
        text: String,
    },
    /// Somebody is to leave the room; the room's host only.
    Kick(PlayerId),
}

/// What a new room is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRoom {
    /// 1 to 32 characters.
    pub name: String,
    /// One of the games of `Welcome`.
    pub game: String,
    /// Seats; 0 for the server's default.
    pub capacity: u32,
    /// The game's and the room's own settings.
    pub parameters: BTreeMap<String, String>,
    /// Empty for none.
    pub password: String,
    /// Makes the request idempotent: asked again with the same key, no second room is made. Random,
    /// the caller's choice.
    pub key: [u8; 16],
}

impl LobbyRequest {
    /// Whether asking twice does no more than asking once.
    pub fn may_repeat(&self) -> bool {
        match self {
            LobbyRequest::ListRooms { .. }
            | LobbyRequest::CreateRoom(_)
            | LobbyRequest::JoinRoom { .. }
            | LobbyRequest::SetReady(_)
            | LobbyRequest::ListPlayers { .. }
            | LobbyRequest::SetName(_) => true,
            LobbyRequest::LeaveRoom
            | LobbyRequest::StartRoom
            | LobbyRequest::Say { .. }
            | LobbyRequest::Kick(_) => false,
        }
    }

    /// The request in a player's words, for messages.
    pub fn description(&self) -> &'static str {
        match self {
            LobbyRequest::ListRooms { .. } => "list rooms",
            LobbyRequest::CreateRoom(_) => "create a room",
            LobbyRequest::JoinRoom { .. } => "join a room",
            LobbyRequest::LeaveRoom => "leave the room",
            LobbyRequest::StartRoom => "start the game",
            LobbyRequest::SetReady(_) => "set ready",
            LobbyRequest::ListPlayers { .. } => "list players",
            LobbyRequest::SetName(_) => "change the name",
            LobbyRequest::Say { .. } => "say something",
            LobbyRequest::Kick(_) => "kick a player",
        }
    }

    pub(super) fn to_body(&self) -> Body {
        match self.clone() {
            LobbyRequest::ListRooms { subscribe } => Body::ListRooms(pb::ListRooms { subscribe }),
            LobbyRequest::CreateRoom(NewRoom {
                name,
                game,
                capacity,
                parameters,
                password,
                key,
            }) => {
                let key = key.to_vec();
                Body::CreateRoom(pb::CreateRoom {
                    name,
                    game,
                    capacity,
                    parameters,
                    password,
                    key,
                })
            }
            LobbyRequest::JoinRoom { room, password } => Body::JoinRoom(pb::JoinRoom {
                room: room.0,
                password,
            }),
            LobbyRequest::LeaveRoom => Body::LeaveRoom(pb::LeaveRoom {}),
            LobbyRequest::StartRoom => Body::StartRoom(pb::StartRoom {}),
            LobbyRequest::SetReady(ready) => Body::SetReady(pb::SetReady { ready }),
            LobbyRequest::ListPlayers { everybody } => {
                Body::ListPlayers(pb::ListPlayers { everybody })
            }
            LobbyRequest::SetName(name) => Body::SetName(pb::SetName { name }),
            LobbyRequest::Say { to, text } => Body::Say(say(to, text)),
            LobbyRequest::Kick(player) => Body::Kick(pb::Kick { player: player.0 }),
        }
    }
}

fn say(to: ChatAudience, text: String) -> pb::Say {
    let mut say = pb::Say {
        text,
        ..pb::Say::default()
    };
    match to {
        ChatAudience::Lobby => say.set_channel(pb::Channel::Lobby),
        ChatAudience::Room => say.set_channel(pb::Channel::Room),
        ChatAudience::Player(player) => {
            say.set_channel(pb::Channel::Whisper);
            say.to = player.0;
        }
        ChatAudience::PlayerNamed(name) => {
            say.set_channel(pb::Channel::Whisper);
            say.to_name = name;
        }
    }
    say
}
