//! Requests of a player to the lobby.
//!
//! A [`LobbyRequest`] goes in, the message body comes out. After a break, the requests with
//! [`LobbyRequest::may_repeat`] are resent. The outcome of the others is unknown, and the client
//! reports that to the player.

use std::collections::BTreeMap;

use ambit_proto::control::world as pb;
use ambit_proto::control::world::client_to_world::Body;
use ambit_proto::ids::{PartyId, PlayerId, RoomId};

use super::model::ChatAudience;

/// A request to the lobby; the answer is an event with the request's number.
///
/// Other languages write it as JSON: `"leave_room"`, `{"set_ready": true}`,
/// `{"join_room": {"room": 7}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "snake_case"))]
pub enum LobbyRequest {
    /// Lists the rooms, and if `subscribe`, reports each change until the next `ListRooms`.
    ListRooms {
        /// Whether to report changes.
        subscribe: bool,
    },
    /// Creates a room, with the player as its host.
    CreateRoom(NewRoom),
    /// Takes a seat in a room.
    JoinRoom {
        /// As in the list of rooms.
        #[cfg_attr(test, ts(type = "number"))]
        room: RoomId,
        /// Empty for none.
        #[cfg_attr(test, ts(optional, as = "Option<String>"))]
        password: String,
    },
    /// Takes a seat in a room of this game without a password, the fullest one of several; or in a
    /// new one, which starts as soon as enough players are there.
    QuickJoin {
        /// One of the games listed in `Welcome`.
        game: String,
        /// What the room must have been created with. In JSON, numbers and flags may stand for
        /// their text.
        #[cfg_attr(test, ts(optional, type = "NewRoom[\"parameters\"]"))]
        parameters: BTreeMap<String, String>,
    },
    /// Returns to the lobby.
    LeaveRoom,
    /// Starts the game; for the room's host only.
    StartRoom,
    /// Sets whether the player is ready.
    SetReady(bool),
    /// Sets what the player wishes in rooms that it joins from now on: a class, a team. At most 8
    /// names, with their values of together 256 bytes.
    SetWishes(
        #[cfg_attr(test, ts(type = "NonNullable<NewRoom[\"parameters\"]>"))]
        BTreeMap<String, String>,
    ),
    /// Invites a player, by name, to the party that the player leads, or to a new one.
    Invite(String),
    /// Accepts the invitation to a party: where its leader goes, the player comes, too.
    JoinParty(#[cfg_attr(test, ts(type = "number"))] PartyId),
    /// Leaves the party; or as its leader puts this member out.
    LeaveParty {
        /// Another member; without one the player leaves.
        #[cfg_attr(test, ts(optional, type = "number"))]
        player: Option<PlayerId>,
    },
    /// Lists the players in the room, or if `everybody`, all in the lobby.
    ListPlayers {
        /// All players in the lobby instead of those in the player's room.
        everybody: bool,
    },
    /// Asks with what a room of a game can be created.
    DescribeGame {
        /// One of the games listed in `Welcome`.
        game: String,
    },
    /// Asks for all that the server has stored of the player's account.
    ReadAccount,
    /// Deletes it; then the session ends. In no room.
    EraseAccount,
    /// Sets another password for the account of a session with a password.
    SetPassword {
        /// The one that it has.
        password: String,
        /// 8 to 128 characters.
        new_password: String,
    },
    /// Changes the player's name.
    SetName(String),
    /// Sends a chat message.
    Say {
        /// One player, or all in the room or the lobby.
        to: ChatAudience,
        /// 1 to 500 characters.
        text: String,
    },
    /// Removes a player from the room; for the room's host only.
    Kick(#[cfg_attr(test, ts(type = "number"))] PlayerId),
}

/// The settings of a new room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NewRoom {
    /// 1 to 32 characters.
    pub name: String,
    /// One of the games listed in `Welcome`.
    pub game: String,
    /// Seats; 0 for the server's default.
    #[cfg_attr(test, ts(optional, as = "Option<u32>"))]
    pub capacity: u32,
    /// The game's and the room's own settings. In JSON, numbers and flags may stand for their text.
    #[cfg_attr(test, ts(optional, type = "Record<string, string | number | boolean>"))]
    pub parameters: BTreeMap<String, String>,
    /// Empty for none.
    #[cfg_attr(test, ts(optional, as = "Option<String>"))]
    pub password: String,
    /// Makes the request idempotent: a repeated request with the same key creates no second room.
    /// The caller chooses it at random. In JSON a list of 16 numbers.
    #[cfg_attr(test, ts(optional, as = "Option<Vec<u8>>"))]
    pub key: [u8; 16],
}

impl LobbyRequest {
    /// Whether repeating the request has no further effect.
    pub fn may_repeat(&self) -> bool {
        match self {
            LobbyRequest::ListRooms { .. }
            | LobbyRequest::CreateRoom(_)
            | LobbyRequest::JoinRoom { .. }
            | LobbyRequest::QuickJoin { .. }
            | LobbyRequest::SetReady(_)
            | LobbyRequest::SetWishes(_)
            | LobbyRequest::JoinParty(_)
            | LobbyRequest::ListPlayers { .. }
            | LobbyRequest::DescribeGame { .. }
            | LobbyRequest::ReadAccount
            | LobbyRequest::SetName(_) => true,
            LobbyRequest::LeaveRoom
            | LobbyRequest::StartRoom
            | LobbyRequest::Invite(_)
            | LobbyRequest::LeaveParty { .. }
            | LobbyRequest::EraseAccount
            | LobbyRequest::SetPassword { .. }
            | LobbyRequest::Say { .. }
            | LobbyRequest::Kick(_) => false,
        }
    }

    /// A description of the request for messages.
    pub fn description(&self) -> &'static str {
        match self {
            LobbyRequest::ListRooms { .. } => "list rooms",
            LobbyRequest::CreateRoom(_) => "create a room",
            LobbyRequest::JoinRoom { .. } => "join a room",
            LobbyRequest::QuickJoin { .. } => "join any room",
            LobbyRequest::LeaveRoom => "leave the room",
            LobbyRequest::StartRoom => "start the game",
            LobbyRequest::SetReady(_) => "set ready",
            LobbyRequest::SetWishes(_) => "set wishes",
            LobbyRequest::Invite(_) => "invite a player",
            LobbyRequest::JoinParty(_) => "join a party",
            LobbyRequest::LeaveParty { .. } => "leave the party",
            LobbyRequest::ListPlayers { .. } => "list players",
            LobbyRequest::DescribeGame { .. } => "describe a game",
            LobbyRequest::ReadAccount => "read the account",
            LobbyRequest::EraseAccount => "delete the account",
            LobbyRequest::SetPassword { .. } => "change the password",
            LobbyRequest::SetName(_) => "change the name",
            LobbyRequest::Say { .. } => "say something",
            LobbyRequest::Kick(_) => "kick a player",
        }
    }

    pub(super) fn to_body(&self) -> Body {
        match self.clone() {
            LobbyRequest::ListRooms { subscribe } => Body::ListRooms(pb::ListRooms { subscribe }),
            LobbyRequest::CreateRoom(new) => Body::CreateRoom(pb::CreateRoom {
                name: new.name,
                game: new.game,
                capacity: new.capacity,
                parameters: new.parameters,
                password: new.password,
                key: new.key.to_vec(),
            }),
            LobbyRequest::JoinRoom { room, password } => {
                Body::JoinRoom(pb::JoinRoom { room: room.0, password })
            }
            LobbyRequest::QuickJoin { game, parameters } => {
                Body::QuickJoin(pb::QuickJoin { game, parameters })
            }
            LobbyRequest::Invite(player) => Body::Invite(pb::Invite { player }),
            LobbyRequest::JoinParty(party) => Body::JoinParty(pb::JoinParty { party: party.0 }),
            LobbyRequest::LeaveParty { player } => {
                Body::LeaveParty(pb::LeaveParty { player: player.map_or(0, |player| player.0) })
            }
            LobbyRequest::SetWishes(wishes) => Body::SetWishes(pb::SetWishes { wishes }),
            LobbyRequest::LeaveRoom => Body::LeaveRoom(pb::LeaveRoom {}),
            LobbyRequest::StartRoom => Body::StartRoom(pb::StartRoom {}),
            LobbyRequest::SetReady(ready) => Body::SetReady(pb::SetReady { ready }),
            LobbyRequest::ListPlayers { everybody } => {
                Body::ListPlayers(pb::ListPlayers { everybody })
            }
            LobbyRequest::DescribeGame { game } => Body::DescribeGame(pb::DescribeGame { game }),
            LobbyRequest::ReadAccount => Body::ReadAccount(pb::ReadAccount {}),
            LobbyRequest::EraseAccount => Body::EraseAccount(pb::EraseAccount {}),
            LobbyRequest::SetPassword { password, new_password } => {
                Body::SetPassword(pb::SetPassword { password, new_password })
            }
            LobbyRequest::SetName(name) => Body::SetName(pb::SetName { name }),
            LobbyRequest::Say { to, text } => Body::Say(say(to, text)),
            LobbyRequest::Kick(player) => Body::Kick(pb::Kick { player: player.0 }),
        }
    }
}

fn say(to: ChatAudience, text: String) -> pb::Say {
    let mut say = pb::Say { text, ..pb::Say::default() };
    match to {
        ChatAudience::Lobby => say.set_channel(pb::Channel::Lobby),
        ChatAudience::Room => say.set_channel(pb::Channel::Room),
        ChatAudience::Party => say.set_channel(pb::Channel::Party),
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
