//! What a player may ask of the lobby.
//!
//! A [`Request`] goes in, the message's body comes out. A request that was under way when the
//! connection broke is asked again after a resume if [`Request::may_repeat`]; nobody knows what
//! became of the others, and the player is told so.

use std::collections::BTreeMap;

use ambit_proto::control::world as pb;
use ambit_proto::control::world::client_to_world::Body;
use ambit_proto::ids::{PlayerId, RoomId};

use super::model::Audience;

/// Something to ask of the lobby; the answer comes as an event with the request's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The rooms, and if `subscribe` each change of them until the next `ListRooms`.
    ListRooms {
        /// Whether changes are to follow.
        subscribe: bool,
    },
    /// A new room, with the player as its host.
    CreateRoom(CreateRoom),
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
        to: Audience,
        /// 1 to 500 characters.
        text: String,
    },
    /// Somebody is to leave the room; the room's host only.
    Kick(PlayerId),
}

/// What a new room is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateRoom {
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

impl Request {
    /// Whether asking twice does no more than asking once.
    pub fn may_repeat(&self) -> bool {
        match self {
            Request::ListRooms { .. }
            | Request::CreateRoom(_)
            | Request::JoinRoom { .. }
            | Request::SetReady(_)
            | Request::ListPlayers { .. }
            | Request::SetName(_) => true,
            Request::LeaveRoom | Request::StartRoom | Request::Say { .. } | Request::Kick(_) => {
                false
            }
        }
    }

    /// The request in a player's words, for messages.
    pub fn what(&self) -> &'static str {
        match self {
            Request::ListRooms { .. } => "list rooms",
            Request::CreateRoom(_) => "create a room",
            Request::JoinRoom { .. } => "join a room",
            Request::LeaveRoom => "leave the room",
            Request::StartRoom => "start the game",
            Request::SetReady(_) => "set ready",
            Request::ListPlayers { .. } => "list players",
            Request::SetName(_) => "change the name",
            Request::Say { .. } => "say something",
            Request::Kick(_) => "kick a player",
        }
    }

    pub(super) fn body(&self) -> Body {
        match self.clone() {
            Request::ListRooms { subscribe } => Body::ListRooms(pb::ListRooms { subscribe }),
            Request::CreateRoom(CreateRoom {
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
            Request::JoinRoom { room, password } => Body::JoinRoom(pb::JoinRoom {
                room: room.0,
                password,
            }),
            Request::LeaveRoom => Body::LeaveRoom(pb::LeaveRoom {}),
            Request::StartRoom => Body::StartRoom(pb::StartRoom {}),
            Request::SetReady(ready) => Body::SetReady(pb::SetReady { ready }),
            Request::ListPlayers { everybody } => Body::ListPlayers(pb::ListPlayers { everybody }),
            Request::SetName(name) => Body::SetName(pb::SetName { name }),
            Request::Say { to, text } => Body::Say(say(to, text)),
            Request::Kick(player) => Body::Kick(pb::Kick { player: player.0 }),
        }
    }
}

fn say(to: Audience, text: String) -> pb::Say {
    let mut say = pb::Say {
        text,
        ..pb::Say::default()
    };
    match to {
        Audience::Lobby => say.set_channel(pb::Channel::Lobby),
        Audience::Room => say.set_channel(pb::Channel::Room),
        Audience::Player(player) => {
            say.set_channel(pb::Channel::Whisper);
            say.to = player.0;
        }
        Audience::Named(name) => {
            say.set_channel(pb::Channel::Whisper);
            say.to_name = name;
        }
    }
    say
}
