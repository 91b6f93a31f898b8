//! What views are told.
//!
//! A view takes [`ViewEvent`]s in order and reads hot values (positions, gauges) directly from the
//! client; it never sees a message, an alias or a component number. Everything that happens in a
//! game carries `t`, the estimated room time at which it was told. For each id there is exactly one
//! `ObjectEntered` and, when the object goes or the game connection ends, exactly one `Leave`; all
//! else about it comes in between.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::map::StaticMap;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::Gauge;

use super::model::{ChatMessage, GameListing, PlayerListing, RoomListing};

/// Something that a view may want to show. `request` is the number of the request that it answers,
/// 0 for news.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewEvent {
    /// The state of the connections.
    Connection(ConnectionStatus),
    /// The lobby is open: after the first connect and after each reconnect.
    Welcome(Welcome),
    /// The rooms that there are.
    Rooms {
        /// The request.
        request: u64,
        /// All rooms.
        rooms: Vec<RoomListing>,
    },
    /// A room is new or has changed; while subscribed.
    RoomChanged(RoomListing),
    /// A room is gone; while subscribed.
    RoomGone(RoomId),
    /// The room that was asked for is there, and the player is in it.
    Created {
        /// The request.
        request: u64,
        /// The new room.
        room: RoomListing,
    },
    /// The player is in a room.
    Joined {
        /// The request.
        request: u64,
        /// The room.
        room: RoomListing,
        /// Who is in it.
        players: Vec<PlayerListing>,
    },
    /// The player is back in the lobby. If a game ran, all its objects have left before.
    OmittedPoses {
        /// The request.
        request: u64,
        /// The room.
        room: RoomId,
        /// Why: `"left"` if the player asked for it, else an error code (`"kicked"`,
        /// `"host_died"`...).
        code: String,
        /// Why, in words.
        message: String,
    },
    /// A request was carried out, and there is nothing else to say.
    Done {
        /// The request.
        request: u64,
    },
    /// Who is there.
    Players {
        /// The request.
        request: u64,
        /// Of which room; `Unchanged` for everybody.
        room: Option<RoomId>,
        /// The players.
        players: Vec<PlayerListing>,
    },
    /// Somebody, perhaps the player, has another name.
    Renamed {
        /// The request.
        request: u64,
        /// Who.
        player: PlayerId,
        /// The name in use now.
        name: String,
    },
    /// Somebody said something.
    Chat(ChatMessage),
    /// The player is in the game.
    GameStarted(GameStarted),
    /// What stands around and never moves is under way. May be dropped when nobody reads.
    MapProgress {
        /// When this was told.
        t: GameTime,
        /// Bytes that have arrived.
        received: usize,
        /// Bytes in all.
        total: usize,
    },
    /// What stands around and never moves is known: once a game at most, some time after
    /// `GameStarted`.
    Map {
        /// When this was told.
        t: GameTime,
        /// The map; the client has it, too.
        map: Arc<StaticMap>,
        /// How long it was on the wire.
        bytes: usize,
    },
    /// An object came into sight.
    ObjectEntered(ObjectEntered),
    /// Something about an object has changed. May be dropped when nobody reads: the newest state
    /// can be read directly. Poses are told only to a view that asks for them (`Client::watch`),
    /// and otherwise read.
    ObjectUpdated(ObjectUpdated),
    /// An object went out of sight.
    Leave {
        /// The object.
        id: u32,
        /// When this was told.
        t: GameTime,
    },
    /// Something happened.
    Event(GameEvent),
    /// Something went wrong that a player should know of.
    Error(Failure),
}

/// The state of the connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// The lobby is being called, for the `attempt`th time in a row.
    Connecting {
        /// From 1.
        attempt: u32,
    },
    /// The lobby's connection broke; it is tried again.
    Broken {
        /// What broke it.
        reason: String,
        /// The pause before the next attempt.
        retry_in: Duration,
    },
    /// The lobby's connection is gone for good, and with it everything else: the last event.
    Closed {
        /// A stable name: `"quit"`, `"could_not_connect"`, `"taken_over"`, `"draining"`...
        code: String,
        /// What happened, and what to do.
        message: String,
    },
    /// The game's connection broke while the lobby's lives; it is tried again.
    GameBroken {
        /// What broke it.
        reason: String,
        /// The pause before the next attempt.
        retry_in: Duration,
    },
    /// The game's connection is gone for good; joining the room again opens another one.
    GameClosed {
        /// A stable name.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
}

/// The lobby is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// The player's number.
    pub player: PlayerId,
    /// The name in use.
    pub name: String,
    /// Whether an earlier session goes on.
    pub resumed: bool,
    /// The room of a resumed session; `Joined` follows.
    pub room: Option<RoomId>,
    /// How long a broken connection may stay away.
    pub grace: Duration,
    /// The games that the server can run.
    pub games: Vec<GameListing>,
}

/// The player is in the game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameStarted {
    /// The room.
    pub room: RoomId,
    /// Where the game runs, as the ticket says: `"127.0.0.1:7777"`; an unspecified IP address
    /// stands for the lobby server's.
    pub address: String,
    /// Whether the connection was there before and had broken.
    pub is_rejoin: bool,
    /// Which of the world's maps this is, from 0; another one than before: the player has gone
    /// through a gate.
    pub map_number: u32,
    /// Room time.
    pub t: GameTime,
    /// The local lag: what is commanded at `t` takes effect at `t + delay`.
    pub delay: Duration,
    /// Ticks a second.
    pub tick_hz: u32,
    /// The map.
    pub map: MapExtent,
    /// The game's name.
    pub game: String,
    /// The spells, in the order of their numbers.
    pub spells: Vec<String>,
}

/// Extent of the map and zones of interest.
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
    /// The client's name for it: ascending, never used twice.
    pub id: u32,
    /// What it is.
    pub kind: Arc<str>,
    /// Whether it is the player's avatar.
    pub own: bool,
    /// When this was told.
    pub t: GameTime,
    /// Where it is at `t`.
    pub position: Position,
    /// Everything else that is known of it, at `t`; the path is among them.
    pub components: Vec<NamedValue<ComponentValue>>,
}

/// Something about an object has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectUpdated {
    /// The object.
    pub id: u32,
    /// When this was told: on arrival, mostly ahead of its effect.
    pub t: GameTime,
    /// When it takes effect; `t` if that has passed.
    pub at: GameTime,
    /// What was received, as it is at `at`.
    pub components: Vec<NamedValue<ComponentValue>>,
}

/// Something happened; told on arrival, mostly ahead of its effect, so that a view can prepare for
/// it. Objects that it names are in sight; for one that is about to come into sight it waits, until
/// its effect time at most.
#[derive(Clone, Debug, PartialEq)]
pub struct GameEvent {
    /// What.
    pub name: Arc<str>,
    /// When this was told.
    pub t: GameTime,
    /// When it takes effect.
    pub effect: GameTime,
    /// Whether it came after its effect time.
    pub late: bool,
    /// Who, where, how much.
    pub fields: Vec<NamedValue<FieldValue>>,
}

/// Something with its name in the game's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValue<T> {
    /// The name.
    pub name: Arc<str>,
    /// The thing.
    pub value: T,
}

/// A component's value at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum ComponentValue {
    /// Where an object is, and where it will come to rest.
    Path {
        /// At the time of the event.
        position: Position,
        /// The end of what is known of the way; `Unchanged` at rest.
        to: Option<(Position, GameTime)>,
    },
    /// Where an object is that may move in any way.
    Pose {
        /// At the time of the event.
        position: Position,
        /// How it is turned.
        facing: Facing,
        /// Whether it is under way.
        moves: bool,
    },
    /// A value with a rate of change.
    Gauge(Gauge),
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// How an object is turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Facing {
    /// Objects of its kind never turn.
    Fixed,
    /// About the vertical, in radians, counter-clockwise from the east.
    Yaw(f32),
    /// In any way: a unit quaternion, x, y, z, w.
    Free([f32; 4]),
}

/// A field of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue {
    /// An object, or `Unchanged` if it is not in sight.
    Object(Option<u32>),
    /// A position.
    Position(Position),
    /// A number.
    Number(i64),
}

/// Something went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it is about.
    pub subject: ErrorSubject,
    /// A stable name: an error code of the protocol, or one of [`codes`].
    pub code: String,
    /// What happened, and what to do.
    pub message: String,
}

/// What a failure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorSubject {
    /// A request to the lobby.
    Request(u64),
    /// A command in the game.
    Command(u32),
    /// The lobby in general.
    Lobby,
    /// The game in general.
    Game,
}

/// Error codes of the client itself, beside those of the protocol. Stable as well.
pub mod codes {
    /// No connection came about.
    pub const COULD_NOT_CONNECT: &str = "could_not_connect";
    /// The connection broke.
    pub const CONNECTION_LOST: &str = "connection_lost";
    /// The server shows another certificate than before.
    pub const CERTIFICATE_CHANGED: &str = "certificate_changed";
    /// The known-hosts file could not be read or written.
    pub const KNOWN_HOSTS: &str = "known_hosts";
    /// The peer didn't answer in time.
    pub const NO_ANSWER: &str = "no_answer";
    /// The peer sent what this client doesn't understand.
    pub const BAD_MESSAGE: &str = "bad_message";
    /// Nobody reads the events.
    pub const EVENTS_UNREAD: &str = "events_unread";
    /// The game can't be reached; the lobby is still there.
    pub const GAME_UNREACHABLE: &str = "game_unreachable";
    /// The session ran out while the connection was broken.
    pub const SESSION_EXPIRED: &str = "session_expired";
    /// The player left by its own wish.
    pub const LEFT: &str = "left";
    /// The player quit.
    pub const QUIT: &str = "quit";
}
