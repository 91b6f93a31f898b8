//! Events for views.
//!
//! A view takes [`ViewEvent`]s in order and reads positions and gauges directly from the client; it
//! never sees a message, an alias or a component number. Everything that happens in a game carries
//! `t`, the estimated room time at which the event was emitted. For each id there is exactly one
//! `Enter` and, when the object leaves or the game connection ends, exactly one `Leave`; all other
//! events about it come between the two.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::decimal::Decimal;
use ambit_proto::ids::{ClientObjectId, PlayerId, RoomId};
use ambit_proto::map::StaticMap;
use ambit_proto::message::{FieldValue, TypedId};
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::Gauge;

use super::model::{ChatMessage, GameDescription, GameListing, PlayerListing, RoomListing};
use super::stats::RoomLateness;

/// An event that a view may want to show. `request` is the number of the request that the event
/// answers, or 0.
#[expect(missing_docs, reason = "above, or the variant explains the field")]
#[derive(Clone, Debug, PartialEq)]
pub enum ViewEvent {
    /// The state of the connections.
    Connection(ConnectionStatus),
    /// The lobby accepted the client: after the first connection and after each reconnect.
    Welcome(Welcome),
    /// The answer to `ListRooms`. As a notification (only while subscribed): the rooms after some
    /// of their changes were dropped.
    Rooms { request: u64, rooms: Vec<RoomListing> },
    /// A room is new or has changed; only while subscribed.
    RoomChanged(RoomListing),
    /// A room was removed; only while subscribed.
    RoomGone(RoomId),
    /// The requested room was created, and the player is in it.
    Created { request: u64, room: RoomListing },
    /// The player is in a room.
    Joined {
        request: u64,
        room: RoomListing,
        /// The members of the room.
        players: Vec<PlayerListing>,
    },
    /// The player is back in the lobby. If a game ran, all its objects have left before this event.
    Left {
        request: u64,
        room: RoomId,
        /// The reason: `"left"` if the player asked for it, else an error code (`"kicked"`,
        /// `"host_died"`...).
        code: String,
        /// The reason in words.
        message: String,
    },
    /// A request was executed; there is no other answer.
    Done { request: u64 },
    /// The players in a room or in the lobby.
    Players {
        request: u64,
        /// The room; `None` for all players in the lobby.
        room: Option<RoomId>,
        players: Vec<PlayerListing>,
    },
    /// With what a room of a game can be created.
    Game { request: u64, description: GameDescription },
    /// A player, perhaps the client's own, has a new name.
    Renamed {
        request: u64,
        player: PlayerId,
        /// The name in use now.
        name: String,
    },
    /// A player, perhaps the client's own, has sent a chat message.
    Chat(ChatMessage),
    /// The server has dropped chat messages, since this client did not read them as fast as they
    /// came.
    ChatMissed { count: u64 },
    /// The player is in the game.
    Started(GameStarted),
    /// The game wants its objects simulated, but this client has no physics for these kinds
    /// ([`ClientConfig::motions`](super::config::ClientConfig::motions)): it draws them between the
    /// host's poses. At most once a room, after `Started`.
    PhysicsMissing {
        /// Room time at which this event was emitted.
        t: GameTime,
        /// The game's name.
        game: String,
        /// The names of the kinds.
        kinds: Vec<String>,
    },
    /// The room's ticks take longer than they may, or not any more; or it begins to lose ticks, or
    /// loses none any more.
    RoomLate {
        /// Room time at which this event was emitted.
        t: GameTime,
        /// How late it is.
        lateness: RoomLateness,
    },
    /// Progress of the transfer of the static map. May be dropped if the view does not read.
    MapProgress {
        /// Room time at which this event was emitted.
        t: GameTime,
        /// Bytes received so far.
        received: usize,
        /// Bytes in all.
        total: usize,
    },
    /// The static map has arrived: at most once a game, some time after `Started`.
    Map {
        /// Room time at which this event was emitted.
        t: GameTime,
        /// The map; the client keeps it, too.
        map: Arc<StaticMap>,
        /// Size of the encoded map.
        bytes: usize,
    },
    /// An object came into sight.
    Enter(ObjectEntered),
    /// Something about an object has changed. May be dropped if the view does not read: the newest
    /// state can be read directly. Poses cause updates only if the view asks for them
    /// (`Client::watch`).
    Update(ObjectUpdated),
    /// An object went out of sight.
    Leave {
        id: ClientObjectId,
        /// Room time at which this event was emitted.
        t: GameTime,
    },
    /// Something happened in the game; its schema declares the kinds of events.
    Event(GameEvent),
    /// An error that a player should know of.
    Error(Failure),
}

impl ViewEvent {
    /// The request that this answers; `Some(0)` for an event of such a kind that answers none.
    pub fn request(&self) -> Option<u64> {
        match self {
            Self::Rooms { request, .. }
            | Self::Created { request, .. }
            | Self::Joined { request, .. }
            | Self::Left { request, .. }
            | Self::Done { request }
            | Self::Players { request, .. }
            | Self::Game { request, .. }
            | Self::Renamed { request, .. } => Some(*request),
            Self::Error(failure) => match failure.subject {
                ErrorSubject::Request(request) => Some(request),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The state of the connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// The client dials the lobby.
    Connecting {
        /// Number of the attempt in a row, from 1.
        attempt: u32,
    },
    /// The lobby's connection broke; the client will reconnect.
    Broken {
        /// What failed, in words.
        reason: String,
        /// The pause before the next attempt.
        retry_in: Duration,
    },
    /// The lobby's connection is closed for good, and with it everything else: the last event.
    Closed {
        /// A stable code: `"quit"`, `"could_not_connect"`, `"taken_over"`, `"draining"`...
        code: String,
        /// What happened, and what to do.
        message: String,
    },
    /// The game's connection broke while the lobby is connected; the client will reconnect.
    GameBroken {
        /// What failed, in words.
        reason: String,
        /// The pause before the next attempt.
        retry_in: Duration,
    },
    /// The game's host was asked and has not answered for a second: the line may be dead. What is
    /// shown is as old. After 3 s of silence the client dials anew.
    GameSilent {
        /// How long nothing has arrived.
        silence: Duration,
    },
    /// The game's host is heard again.
    GameHeard,
    /// The game's connection is closed for good. Joining the room again opens a new one.
    GameClosed {
        /// A stable code.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
}

/// The lobby accepted the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// The player's number in the lobby.
    pub player: PlayerId,
    /// The name in use.
    pub name: String,
    /// Whether this continues an earlier session.
    pub resumed: bool,
    /// The room of a resumed session; `Joined` follows.
    pub room: Option<RoomId>,
    /// How long the server keeps the session of a broken connection.
    pub grace: Duration,
    /// The games that the server can run.
    pub games: Vec<GameListing>,
}

/// The player is in the game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameStarted {
    /// The room's number in the lobby.
    pub room: RoomId,
    /// The address of the game host, from the ticket: `"127.0.0.1:7777"`; an unspecified IP address
    /// stands for the lobby server's.
    pub address: String,
    /// Whether the player was in this game before and the connection had broken.
    pub is_rejoin: bool,
    /// Index of the map within the world, from 0. A different number than before means that the
    /// player went through a gate.
    pub map_number: u32,
    /// The estimated room time.
    pub t: GameTime,
    /// The local lag: a command sent at `t` takes effect at `t + delay`.
    pub delay: Duration,
    /// How often the room simulates and sends, in ticks a second.
    pub tick_hz: u32,
    /// The map's size; the obstacles come later, with [`ViewEvent::Map`].
    pub map: MapExtent,
    /// The game's name, as in [`GameListing`].
    pub game: String,
    /// The objects, events, commands and refusals of the game.
    pub schema: Arc<Schema>,
}

/// Size of the map and zones of interest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MapExtent {
    /// Extent on x, in metres.
    pub width_m: f32,
    /// Extent on y, in metres.
    pub height_m: f32,
    /// Edge of a cell, in metres.
    pub cell_m: f32,
    /// Radius of the inner zone, in cells.
    pub inner: u32,
    /// Radius of the outer zone, in cells.
    pub outer: u32,
}

/// An object came into sight.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectEntered {
    /// The object.
    pub id: ClientObjectId,
    /// Name of the object's kind.
    pub kind: Arc<str>,
    /// Whether it is the player's own avatar or, if it is room-wide, the player's own.
    pub own: bool,
    /// Room time at which this event was emitted.
    pub t: GameTime,
    /// The position at `t`; `None` if it is room-wide.
    pub position: Option<Position>,
    /// All known components at `t`, the path included.
    pub components: Vec<NamedValue<ComponentValue>>,
}

impl ObjectEntered {
    /// Whether it is the player's avatar.
    pub fn is_avatar(&self) -> bool {
        self.own && self.position.is_some()
    }

    /// Its id for a typed command, such as `Id<Walker>`, if it is of that kind.
    pub fn typed_id<T: TypedId>(&self) -> Option<T> {
        T::of_client(&self.kind, self.id)
    }
}

/// Something about an object has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectUpdated {
    /// The object.
    pub id: ClientObjectId,
    /// Room time at which this event was emitted: on arrival, mostly before the update takes
    /// effect.
    pub t: GameTime,
    /// When the update takes effect; `t` if that time has passed.
    pub at: GameTime,
    /// The received components, with their values at `at`.
    pub components: Vec<NamedValue<ComponentValue>>,
}

/// An event of the game. It is emitted on arrival, mostly before it takes effect, so that a view
/// can prepare. The objects that it names are in sight; if one of them is about to come into sight,
/// the event waits for it, at most until its effect time.
#[derive(Clone, Debug, PartialEq)]
pub struct GameEvent {
    /// The event's name in the game's schema.
    pub name: Arc<str>,
    /// Room time at which this event was emitted.
    pub t: GameTime,
    /// Room time at which it takes effect.
    pub effect: GameTime,
    /// Whether it arrived after its effect time.
    pub late: bool,
    /// The event's data by name.
    pub fields: Vec<NamedField>,
}

/// A field of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedField {
    /// The name in the game's schema.
    pub name: Arc<str>,
    /// None also for an object that is not in sight.
    pub value: FieldValue<ClientObjectId>,
    /// The name of a choice.
    pub choice: Option<Arc<str>>,
}

/// A value with its name in the game's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValue<T> {
    /// The name in the game's schema.
    pub name: Arc<str>,
    /// A component as of the time that the event states.
    pub value: T,
}

/// The value of a component at a given time. `T` is `&str` where a text is only borrowed.
#[derive(Clone, Debug, PartialEq)]
pub enum ComponentValue<T = String> {
    /// The position of an object that moves along a path.
    Path {
        /// At the time of the event.
        position: Position,
        /// The last known point of the path and its time; `None` at rest.
        to: Option<(Position, GameTime)>,
    },
    /// The pose of an object that moves freely.
    Pose {
        /// At the time of the event.
        position: Position,
        /// At the time of the event.
        facing: Facing,
        /// Whether the object moves.
        moves: bool,
    },
    /// A value with a rate of change.
    Gauge(Gauge),
    /// A component declared as `Codec::Flag`.
    Flag(bool),
    /// A component declared as `Codec::Number`.
    Number(i64),
    /// A component declared as `Codec::Decimal`: a half float or an angle.
    Decimal(Decimal),
    /// A component declared as `Codec::Text`.
    Text(T),
}

impl ComponentValue<&str> {
    /// The same value with a copy of its text.
    pub fn to_owned_text(&self) -> ComponentValue {
        match *self {
            ComponentValue::Path { position, to } => ComponentValue::Path { position, to },
            ComponentValue::Pose { position, facing, moves } => {
                ComponentValue::Pose { position, facing, moves }
            }
            ComponentValue::Gauge(gauge) => ComponentValue::Gauge(gauge),
            ComponentValue::Flag(flag) => ComponentValue::Flag(flag),
            ComponentValue::Number(number) => ComponentValue::Number(number),
            ComponentValue::Decimal(decimal) => ComponentValue::Decimal(decimal),
            ComponentValue::Text(text) => ComponentValue::Text(text.to_owned()),
        }
    }
}

/// The orientation of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Facing {
    /// Objects of this kind never turn.
    Fixed,
    /// About the vertical, in radians, counter-clockwise from the east.
    Yaw(f32),
    /// Any orientation: a unit quaternion, x, y, z, w.
    Free([f32; 4]),
}

/// An error that a player should know of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What the error refers to.
    pub subject: ErrorSubject,
    /// A stable code: an error code of the protocol, or one of [`codes`].
    pub code: String,
    /// What happened, and what to do.
    pub message: String,
}

/// What an error refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorSubject {
    /// A request to the lobby.
    Request(u64),
    /// A command in the game.
    Command(u32),
    /// The lobby, but none of the requests.
    Lobby,
    /// The game, but none of the commands.
    Game,
}

/// Error codes of the client itself, in addition to those of the protocol. They are stable, too.
pub mod codes {
    /// The connection could not be established.
    pub const COULD_NOT_CONNECT: &str = "could_not_connect";
    /// The connection broke.
    pub const CONNECTION_LOST: &str = "connection_lost";
    /// The server presents another certificate than before.
    pub const CERTIFICATE_CHANGED: &str = "certificate_changed";
    /// The known-hosts file could not be read or written.
    pub const KNOWN_HOSTS: &str = "known_hosts";
    /// The peer didn't answer in time.
    pub const NO_ANSWER: &str = "no_answer";
    /// The peer sent what this client doesn't understand.
    pub const BAD_MESSAGE: &str = "bad_message";
    /// The view does not read its events.
    pub const EVENTS_UNREAD: &str = "events_unread";
    /// The game can't be reached; the lobby is still connected.
    pub const GAME_UNREACHABLE: &str = "game_unreachable";
    /// The session ran out while the connection was broken.
    pub const SESSION_EXPIRED: &str = "session_expired";
    /// The player left the room.
    pub const LEFT: &str = "left";
    /// The player quit.
    pub const QUIT: &str = "quit";
}
