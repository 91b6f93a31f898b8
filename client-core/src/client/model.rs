//! What the lobby tells, as plain values.
//!
//! The messages of `proto/ambit/world.proto` come in, and what is in them comes out with ids that
//! cannot be mixed up; a number that this build does not know becomes a harmless default. No
//! message type goes beyond the lobby part.

use std::collections::BTreeMap;

use ambit_proto::control::world as pb;
use ambit_proto::ids::{PlayerId, RoomId};

/// A game that the server can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameListing {
    /// What `create` calls it.
    pub name: String,
    /// One sentence for people.
    pub description: String,
    /// Players that a start needs.
    pub min_players: u32,
    /// Whether a running room may be joined.
    pub join_running: bool,
}

/// A room of the lobby.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomListing {
    /// Its number.
    pub id: RoomId,
    /// Its name; not unique.
    pub name: String,
    /// The game that it plays.
    pub game: String,
    /// Seats taken.
    pub players: u32,
    /// Seats in all.
    pub capacity: u32,
    /// Whether its game has started.
    pub running: bool,
    /// Whether a password is needed to join.
    pub has_password: bool,
    /// The player who may start it and kick.
    pub host: PlayerId,
    /// What it was created with.
    pub parameters: BTreeMap<String, String>,
}

/// Somebody in the lobby or in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerListing {
    /// Its number.
    pub id: PlayerId,
    /// Its name, unique among those present.
    pub name: String,
    /// Whether it has said that it is ready.
    pub ready: bool,
    /// Whether it is its room's host.
    pub host: bool,
    /// Whether its connection is there (false within the grace period).
    pub connected: bool,
}

/// Who hears what is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatAudience {
    /// Everybody in the lobby.
    Lobby,
    /// Everybody in one's room.
    Room,
    /// One player.
    Player(PlayerId),
    /// One player, by name.
    PlayerNamed(String),
}

/// A line of chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Where it was said.
    pub channel: ChatChannel,
    /// Who said it.
    pub from: PlayerId,
    /// The name at that moment.
    pub from_name: String,
    /// What was said.
    pub text: String,
}

/// Where something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatChannel {
    /// To everybody in the lobby.
    Lobby,
    /// To everybody in one's room.
    Room,
    /// To one player alone.
    Whisper,
}

impl ChatChannel {
    /// `"lobby"`, `"room"` or `"whisper"`.
    pub fn name(self) -> &'static str {
        match self {
            ChatChannel::Lobby => "lobby",
            ChatChannel::Room => "room",
            ChatChannel::Whisper => "whisper",
        }
    }
}

/// The way into a running game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameTicket {
    /// The room.
    pub room: RoomId,
    /// The host: `"127.0.0.1:7777"`; an unspecified IP address stands for the lobby server's.
    pub address: String,
    /// SHA-256 of the certificate that the host shows; no other one is accepted.
    pub certificate_sha256: [u8; 32],
    /// What the host is shown.
    pub ticket: Vec<u8>,
    /// How often the player's place has changed its host: a higher one than before says that the
    /// game goes on elsewhere.
    pub incarnation: u32,
    /// Which of the world's maps the player is on, from 0.
    pub map: u32,
}

impl From<pb::GameInfo> for GameListing {
    fn from(game: pb::GameInfo) -> Self {
        let pb::GameInfo {
            name,
            description,
            min_players,
            join_running,
        } = game;
        GameListing {
            name,
            description,
            min_players,
            join_running,
        }
    }
}

impl From<pb::Room> for RoomListing {
    fn from(room: pb::Room) -> Self {
        let pb::Room {
            id,
            name,
            game,
            players,
            capacity,
            running,
            has_password,
            host,
            parameters,
        } = room;
        let (id, host) = (RoomId(id), PlayerId(host));
        RoomListing {
            id,
            name,
            game,
            players,
            capacity,
            running,
            has_password,
            host,
            parameters,
        }
    }
}

impl From<pb::Player> for PlayerListing {
    fn from(player: pb::Player) -> Self {
        let pb::Player {
            id,
            name,
            ready,
            host,
            connected,
        } = player;
        PlayerListing {
            id: PlayerId(id),
            name,
            ready,
            host,
            connected,
        }
    }
}

impl From<pb::Chat> for ChatMessage {
    fn from(chat: pb::Chat) -> Self {
        let channel = match chat.channel() {
            pb::Channel::Lobby => ChatChannel::Lobby,
            pb::Channel::Room => ChatChannel::Room,
            pb::Channel::Whisper => ChatChannel::Whisper,
        };
        ChatMessage {
            channel,
            from: PlayerId(chat.from),
            from_name: chat.from_name,
            text: chat.text,
        }
    }
}

/// A ticket whose fingerprint is no SHA-256 leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ticket's certificate fingerprint has {0} bytes, not 32")]
pub struct InvalidTicket(usize);

impl TryFrom<pb::Ticket> for GameTicket {
    type Error = InvalidTicket;

    fn try_from(ticket: pb::Ticket) -> Result<Self, InvalidTicket> {
        let pb::Ticket {
            room,
            address,
            certificate_sha256,
            ticket,
            incarnation,
            map,
        } = ticket;
        let length = certificate_sha256.len();
        let certificate_sha256 = certificate_sha256
            .try_into()
            .map_err(|_| InvalidTicket(length))?;
        Ok(GameTicket {
            room: RoomId(room),
            address,
            certificate_sha256,
            ticket,
            incarnation,
            map,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_without_a_fingerprint_is_refused() {
        let ticket = pb::Ticket {
            certificate_sha256: vec![0; 31],
            ..pb::Ticket::default()
        };
        assert_eq!(GameTicket::try_from(ticket), Err(InvalidTicket(31)));
    }

    #[test]
    fn a_channel_that_this_build_does_not_know_reads_as_the_lobby() {
        let chat = pb::Chat {
            channel: 99,
            ..pb::Chat::default()
        };
        assert_eq!(ChatMessage::from(chat).channel, ChatChannel::Lobby);
    }
}
