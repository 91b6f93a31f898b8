//! The lobby's data as plain values.
//!
//! Converts the messages of `proto/ambit/world.proto` into values with typed ids. An enum number
//! that this build does not know becomes a harmless default. Message types do not leave the lobby
//! part.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_proto::control::{game, world as pb};
use ambit_proto::ids::{PartyId, PlayerId, RoomId};
use ambit_proto::schema::Schema;
use prost::Message as _;
use serde::Serialize;

/// A game that the server can run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GameListing {
    /// The name that `create` expects.
    pub name: String,
    /// One sentence for users.
    pub description: String,
    /// Players needed for a start.
    pub min_players: u32,
    /// Whether a running room may be joined.
    pub join_running: bool,
    /// The parameters of a room in which a player begins at once, without others; none if the game
    /// declares no such room.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub quick_start: Option<BTreeMap<String, String>>,
}

/// With what a room of a game can be created, within the limits of the server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GameDescription {
    /// The game's name.
    pub game: String,
    /// The parameters of every room, and then the game's own.
    pub parameters: Vec<ParameterListing>,
    /// The seats of a room that is created without a number of them.
    pub default_capacity: u32,
    /// The most seats.
    pub max_capacity: u32,
    /// That of a room without parameters; `None` if the server does not tell it, or not in a form
    /// that this build knows.
    #[serde(skip)]
    pub schema: Option<Arc<Schema>>,
}

/// A parameter of a room.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ParameterListing {
    /// As in `key=value`.
    pub key: String,
    /// What players read instead of the key; may be empty.
    pub label: String,
    /// As a player would write it; empty if the server chooses.
    pub default: String,
    /// What it is, its unit, and what raising it costs.
    pub about: String,
    /// The values that may be given.
    #[serde(flatten)]
    pub allowed: AllowedValues,
}

/// The values that a parameter may have; both ends of a range are allowed.
#[expect(missing_docs, reason = "`min`, `max`, `words`: above")]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum AllowedValues {
    /// A whole number.
    Whole { min: u64, max: u64 },
    /// A number, perhaps with a fraction.
    Decimal { min: f64, max: f64 },
    /// `WIDTHxHEIGHT`: the range of each.
    Size { min: f64, max: f64 },
    /// One of some words.
    Word { words: Vec<String> },
    /// Of a kind that this build does not know.
    Unknown,
}

/// A room of the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RoomListing {
    /// Unique, unlike the name.
    #[cfg_attr(test, ts(type = "number"))]
    pub id: RoomId,
    /// Its name; not unique.
    pub name: String,
    /// The game that it plays.
    pub game: String,
    /// Taken seats.
    pub players: u32,
    /// All seats.
    pub capacity: u32,
    /// Whether its game has started.
    pub running: bool,
    /// Whether a password is needed to join.
    #[serde(rename = "password")]
    pub has_password: bool,
    /// The player who may start the game and kick players.
    #[cfg_attr(test, ts(type = "number"))]
    pub host: PlayerId,
    /// The parameters that the room was created with.
    pub parameters: BTreeMap<String, String>,
}

/// A player in the lobby or in a room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlayerListing {
    /// Stays the same if the player takes another name.
    #[cfg_attr(test, ts(type = "number"))]
    pub id: PlayerId,
    /// Its name, unique among the players present.
    pub name: String,
    /// Whether the player is ready.
    pub ready: bool,
    /// Whether the player is the host of the room.
    pub host: bool,
    /// Whether the player is connected (false during the grace period).
    pub connected: bool,
}

/// Players who join rooms together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PartyListing {
    /// The same as long as it exists.
    #[cfg_attr(test, ts(type = "number"))]
    pub id: PartyId,
    /// Whom the others follow into rooms.
    #[cfg_attr(test, ts(type = "number"))]
    pub leader: PlayerId,
    /// All of them. `ready` and `host` mean nothing here.
    pub members: Vec<PlayerListing>,
}

/// The recipients of a chat message. In JSON: `"lobby"`, `"room"`, `"party"`,
/// `{"player_named": "ann"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "snake_case"))]
pub enum ChatAudience {
    /// All players in the lobby.
    Lobby,
    /// All players in the sender's room.
    Room,
    /// All members of the sender's party.
    Party,
    /// One player, by id.
    Player(#[cfg_attr(test, ts(type = "number"))] PlayerId),
    /// One player, by name.
    PlayerNamed(String),
}

/// A chat message, as its receivers get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChatMessage {
    /// Where it was sent.
    pub channel: ChatChannel,
    /// The sender, perhaps the client's own player.
    #[serde(rename = "from_id")]
    #[cfg_attr(test, ts(type = "number"))]
    pub from: PlayerId,
    /// The sender's name when the message was sent.
    #[serde(rename = "from")]
    pub from_name: String,
    /// The receiver of a whisper.
    #[serde(rename = "to_id")]
    #[cfg_attr(test, ts(type = "number | null"))]
    pub to: Option<PlayerId>,
    /// 1 to 500 characters.
    pub text: String,
}

/// Where a chat message was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ChatChannel {
    /// To all players in the lobby.
    Lobby,
    /// To all players in the room.
    Room,
    /// To one player only.
    Whisper,
    /// To all members of the party.
    Party,
}

/// A ticket for a running game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameTicket {
    /// The room that the ticket is for.
    pub room: RoomId,
    /// The host: `"127.0.0.1:7777"`; an unspecified IP address stands for the lobby server's.
    pub address: String,
    /// SHA-256 of the certificate that the host presents; no other one is accepted.
    pub certificate_sha256: [u8; 32],
    /// The certificates that the host shows to browsers, now or next: their SHA-256. Empty if
    /// browsers know the authority that has signed it.
    pub web_certificates_sha256: Vec<[u8; 32]>,
    /// The secret to present to the host.
    pub ticket: Vec<u8>,
    /// How often the player's game has moved to another host. A higher number than before means
    /// that the game continues elsewhere.
    pub incarnation: u32,
    /// Index of the map within the world, from 0.
    pub map: u32,
}

impl From<pb::GameInfo> for GameListing {
    fn from(game: pb::GameInfo) -> Self {
        GameListing {
            name: game.name,
            description: game.description,
            min_players: game.min_players,
            join_running: game.join_running,
            quick_start: Some(game.quick_start).filter(|parameters| !parameters.is_empty()),
        }
    }
}

impl From<pb::GameDescription> for GameDescription {
    fn from(description: pb::GameDescription) -> Self {
        let parameters = description.parameters.into_iter();
        let schema = game::Schema::decode(&description.schema[..]).ok();
        GameDescription {
            game: description.game,
            parameters: parameters.map(ParameterListing::from).collect(),
            default_capacity: description.default_capacity,
            max_capacity: description.max_capacity,
            schema: schema
                .and_then(|schema| Schema::from_message(schema, &description.presentation).ok())
                .map(Arc::new),
        }
    }
}

impl From<pb::Parameter> for ParameterListing {
    fn from(parameter: pb::Parameter) -> Self {
        use pb::parameter::Allowed;
        ParameterListing {
            key: parameter.key,
            label: parameter.label,
            default: parameter.default_value,
            about: parameter.about,
            allowed: match parameter.allowed {
                Some(Allowed::Whole(pb::WholeRange { min, max })) => {
                    AllowedValues::Whole { min, max }
                }
                Some(Allowed::Decimal(pb::DecimalRange { min, max })) => {
                    AllowedValues::Decimal { min, max }
                }
                Some(Allowed::Size(pb::DecimalRange { min, max })) => {
                    AllowedValues::Size { min, max }
                }
                Some(Allowed::Word(pb::Words { words })) => AllowedValues::Word { words },
                None => AllowedValues::Unknown,
            },
        }
    }
}

impl From<pb::Room> for RoomListing {
    fn from(room: pb::Room) -> Self {
        RoomListing {
            id: RoomId(room.id),
            name: room.name,
            game: room.game,
            players: room.players,
            capacity: room.capacity,
            running: room.running,
            has_password: room.has_password,
            host: PlayerId(room.host),
            parameters: room.parameters,
        }
    }
}

impl From<pb::Player> for PlayerListing {
    fn from(player: pb::Player) -> Self {
        PlayerListing {
            id: PlayerId(player.id),
            name: player.name,
            ready: player.ready,
            host: player.host,
            connected: player.connected,
        }
    }
}

impl PartyListing {
    /// `None` if the player is in no party any more.
    pub(crate) fn of(change: pb::PartyChange) -> Option<Self> {
        (change.party != 0).then(|| Self {
            id: PartyId(change.party),
            leader: PlayerId(change.leader),
            members: change.players.into_iter().map(PlayerListing::from).collect(),
        })
    }
}

impl From<pb::Chat> for ChatMessage {
    fn from(chat: pb::Chat) -> Self {
        let channel = match chat.channel() {
            pb::Channel::Lobby => ChatChannel::Lobby,
            pb::Channel::Room => ChatChannel::Room,
            pb::Channel::Whisper => ChatChannel::Whisper,
            pb::Channel::Party => ChatChannel::Party,
        };
        ChatMessage {
            channel,
            from: PlayerId(chat.from),
            from_name: chat.from_name,
            to: (channel == ChatChannel::Whisper).then_some(PlayerId(chat.to)),
            text: chat.text,
        }
    }
}

/// A ticket is invalid if its fingerprint is no SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ticket's certificate fingerprint has {0} bytes, not 32")]
pub struct InvalidTicket(usize);

/// Those that are SHA-256, of the two at most that a server sends.
pub(super) fn web_certificates(sent: Vec<Vec<u8>>) -> Vec<[u8; 32]> {
    let sent = sent.into_iter().take(2);
    sent.filter_map(|sha256| sha256.try_into().ok()).collect()
}

impl TryFrom<pb::Ticket> for GameTicket {
    type Error = InvalidTicket;

    fn try_from(ticket: pb::Ticket) -> Result<Self, InvalidTicket> {
        let length = ticket.certificate_sha256.len();
        Ok(GameTicket {
            room: RoomId(ticket.room),
            address: ticket.address,
            certificate_sha256: ticket
                .certificate_sha256
                .try_into()
                .map_err(|_| InvalidTicket(length))?,
            web_certificates_sha256: web_certificates(ticket.web_certificates_sha256),
            ticket: ticket.ticket,
            incarnation: ticket.incarnation,
            map: ticket.map,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_without_a_fingerprint_is_refused() {
        let ticket = pb::Ticket { certificate_sha256: vec![0; 31], ..pb::Ticket::default() };
        assert_eq!(GameTicket::try_from(ticket), Err(InvalidTicket(31)));
    }

    #[test]
    fn the_description_of_a_game_has_its_schema_if_that_is_valid() {
        let schema = Schema::example();
        let mut description = pb::GameDescription {
            presentation: schema.presentation.to_block(),
            schema: game::Schema::from(&schema).encode_to_vec(),
            ..pb::GameDescription::default()
        };
        assert_eq!(GameDescription::from(description.clone()).schema, Some(Arc::new(schema)));
        description.presentation.push('}');
        assert_eq!(GameDescription::from(description.clone()).schema, None);
        description.schema = vec![0xff];
        assert_eq!(GameDescription::from(description).schema, None);
    }

    #[test]
    fn a_game_that_declares_no_quick_start_has_none() {
        let listing = |parameters: &[(&str, &str)]| {
            let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
            let quick_start: BTreeMap<_, _> = parameters.iter().map(owned).collect();
            GameListing::from(pb::GameInfo { quick_start, ..pb::GameInfo::default() }).quick_start
        };
        assert_eq!(listing(&[]), None);
        let pilots = BTreeMap::from([("pilots".to_owned(), "6".to_owned())]);
        assert_eq!(listing(&[("pilots", "6")]), Some(pilots));
    }

    #[test]
    fn an_unknown_chat_channel_is_read_as_the_lobby() {
        let chat = pb::Chat { channel: 99, ..pb::Chat::default() };
        assert_eq!(ChatMessage::from(chat).channel, ChatChannel::Lobby);
    }
}
