//! Events for views: what happens in the lobby, and what happens in a game.
//!
//! A view takes [`ViewEvent`]s in order and reads positions and gauges directly from the client; it
//! never sees a message, an alias or a component number. Everything that happens in a game carries
//! `t`, the estimated room time at which the event was emitted. For each id there is exactly one
//! `Enter` and, when the object leaves or the game connection ends, exactly one `Leave`; all other
//! events about it come between the two.
//!
//! As JSON (serde) an event is an object with `ev`, its name. The lines of the console and the
//! events of a web page are made of it, and `client-core/web/ts/events.ts` has its types. Keys may
//! be added; none changes its meaning.

#![expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::ids::{AccountId, ClientObjectId, PartyId, PlayerId, RoomId};
use ambit_proto::map::StaticMap;
use ambit_proto::message::TypedId;
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use serde::{Serialize, Serializer};

use super::json::{account_text, duration_ms, ms, place, text};
use super::model::{
    ChatMessage, GameDescription, GameListing, PartyListing, PlayerListing, RoomListing,
};
use super::stats::RoomLateness;
pub use super::values::{
    BorrowedValue, ComponentValue, Facing, NamedCounts, NamedField, NamedValue, field_key,
    hexadecimal, rows_by_name,
};
use super::values::{components, fields, moved_components};
use crate::command_words;

/// An event that a view may want to show.
#[derive(Clone, Debug, derive_more::From, PartialEq)]
pub enum ViewEvent {
    /// Of the lobby, with the number of the request that it answers, or 0.
    #[from(skip)]
    Lobby(u64, LobbyEvent),
    /// Of the game that the player is in.
    Game(GameEvent),
}

impl From<LobbyEvent> for ViewEvent {
    fn from(event: LobbyEvent) -> Self {
        ViewEvent::Lobby(0, event)
    }
}

/// Something that happens in the lobby, or the answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "ev", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum LobbyEvent {
    /// The client dials the lobby.
    Connecting {
        /// Number of the attempt in a row, from 1.
        attempt: u32,
    },
    /// The lobby accepted the client: after the first connection and after each reconnect.
    Welcome(Welcome),
    /// The connection to the lobby broke. The client restores it; a game goes on meanwhile.
    Interrupted {
        /// What failed.
        reason: String,
        /// The pause before the next attempt.
        #[serde(rename = "retry_in_ms", serialize_with = "duration_ms")]
        #[cfg_attr(test, ts(type = "number"))]
        retry_in: Duration,
    },
    /// The rooms: the answer to a request, or while they are watched what they are after the
    /// connection was restored, or after some of their changes were dropped.
    Rooms {
        /// All of them.
        rooms: Vec<RoomListing>,
    },
    /// A room is new or has changed; only while they are watched.
    RoomChanged {
        /// As it is now.
        room: RoomListing,
    },
    /// A room was removed; only while they are watched.
    RoomGone {
        /// Its number.
        #[cfg_attr(test, ts(type = "number"))]
        room: RoomId,
    },
    /// The requested room was created, and the player is in it.
    #[cfg_attr(test, ts(type = "{ ev: \"created\"; room: number } & RoomListing"))]
    Created {
        /// The room.
        #[serde(flatten, serialize_with = "numbered")]
        room: RoomListing,
    },
    /// The player is in a room. Without a request it is that of a resumed session.
    #[cfg_attr(
        test,
        ts(type = "{ ev: \"joined\"; room: number; members: Array<PlayerListing> } & RoomListing")
    )]
    Joined {
        /// The room.
        #[serde(flatten, serialize_with = "numbered")]
        room: RoomListing,
        /// All its members.
        #[serde(rename = "members")]
        players: Vec<PlayerListing>,
    },
    /// The player is back in the lobby. If a game ran, all its objects have left before this event.
    Left {
        /// The room.
        #[cfg_attr(test, ts(type = "number"))]
        room: RoomId,
        /// A stable code: `"left"` if the player asked for it, else an error code (`"kicked"`,
        /// `"host_died"`, `"session_expired"`...).
        #[serde(rename = "reason")]
        code: String,
        /// What happened.
        message: String,
    },
    /// A request was executed; there is no other answer.
    Done,
    /// The members of the player's room, whenever they have changed; or as an answer those of the
    /// room or all players in the lobby.
    Players {
        /// The room; `None` for all players in the lobby.
        #[cfg_attr(test, ts(type = "number | null"))]
        room: Option<RoomId>,
        /// All of them.
        players: Vec<PlayerListing>,
    },
    /// With what a room of a game can be created.
    Game(GameDescription),
    /// All that the server has stored of the player's account.
    AccountData {
        /// An object of JSON.
        json: String,
    },
    /// A player, perhaps the client's own, has a new name.
    Renamed {
        /// The player.
        #[cfg_attr(test, ts(type = "number"))]
        player: PlayerId,
        /// The name in use now.
        name: String,
    },
    /// A player invites this one to a party: `LobbyRequest::JoinParty` accepts.
    Invited {
        /// The party.
        #[cfg_attr(test, ts(type = "number"))]
        party: PartyId,
        /// Who leads it.
        #[cfg_attr(test, ts(type = "number"))]
        player: PlayerId,
        /// The name of that player.
        name: String,
    },
    /// The player's party, whenever it has changed; `None` when the player is in none any more.
    Party {
        /// As it is now.
        party: Option<PartyListing>,
    },
    /// A player, perhaps the client's own, has sent a chat message.
    Chat(ChatMessage),
    /// The server has dropped chat messages, since this client did not read them as fast as they
    /// came.
    #[serde(rename = "notice", serialize_with = "chat_missed")]
    #[cfg_attr(test, ts(type = "NoticeEvent"))]
    ChatMissed {
        /// How many.
        count: u64,
    },
    /// An error: the answer to a request, or one that belongs to none.
    Error {
        /// A stable code: an error code of the protocol, or one of [`codes`].
        code: String,
        /// What happened, and what to do.
        message: String,
    },
    /// Events were dropped since the last one, because they were not read in time.
    Missed {
        /// How many.
        count: u64,
    },
    /// The connection is closed for good, and with it everything else: the last event.
    Closed {
        /// A stable code: `"quit"`, `"could_not_connect"`, `"taken_over"`, `"draining"`...
        code: String,
        /// What happened, and what to do.
        message: String,
    },
}

/// Something that happens in a game.
///
/// A program that only draws needs none of these: each [`Frame`](crate::frame::Frame) is complete.
/// Events are for what has a moment: sounds, messages, refusals, the end. Objects have ids, which
/// are those in frames; `t` is room time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "ev", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum GameEvent {
    /// The player is in the game; or the game goes on after an interruption, at another host, or on
    /// another map: then all objects have left and enter again, with new ids.
    Started(GameStarted),
    /// An object came into sight.
    Enter(#[cfg_attr(test, ts(type = "ObjectEntered & ObjectState"))] ObjectEntered),
    /// Something about an object has changed, perhaps from a moment to come on. May be dropped if
    /// the view does not read: the newest state can be read directly. Poses cause updates only if
    /// the view asks for them (`Client::watch`).
    Update(#[cfg_attr(test, ts(type = "ObjectUpdated & ObjectState"))] ObjectUpdated),
    /// An object went out of sight.
    Leave {
        /// The object.
        #[cfg_attr(test, ts(type = "number"))]
        id: ClientObjectId,
        /// Room time at which this event was emitted.
        #[serde(serialize_with = "ms")]
        #[cfg_attr(test, ts(type = "number"))]
        t: GameTime,
    },
    /// Something that the game's schema declares: a hit, a goal. It mostly arrives before it takes
    /// effect, so that a view can prepare. In JSON its fields are beside its other keys.
    Event(#[cfg_attr(test, ts(type = "SchemaEvent & { [field: string]: unknown }"))] SchemaEvent),
    /// The host has taken a command, which is final: it survives the death of the host with all
    /// its effects; the game may still refuse it. A command that was confirmed after
    /// it had expired has none. Only with
    /// [`ClientConfig::confirmations`](super::config::ClientConfig::confirmations).
    Confirmed {
        /// Room time at which this event was emitted.
        #[serde(serialize_with = "ms")]
        #[cfg_attr(test, ts(type = "number"))]
        t: GameTime,
        /// The number of the command.
        command: u32,
        /// When it takes effect, for all players; some ticks earlier if the first confirmation was
        /// lost.
        #[serde(serialize_with = "ms")]
        #[cfg_attr(test, ts(type = "number"))]
        effect: GameTime,
    },
    /// The game refused a command, or the command was lost.
    Refused {
        /// The number that the command got when it was sent.
        command: u32,
        /// A stable code: a refusal of the game's schema, or a code of the protocol. `"try_again"`
        /// if the connection broke or the map changed first: the game may have executed it.
        code: String,
        /// Why.
        message: String,
        /// The command in words, as a user types it.
        what: String,
    },
    /// The game wants its objects simulated, but this client has no physics for these kinds: it
    /// draws them between the host's poses. At most once a room, after `Started`.
    #[serde(rename = "notice", serialize_with = "physics_missing")]
    #[cfg_attr(test, ts(type = "NoticeEvent"))]
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
    #[serde(rename = "notice", serialize_with = "room_late")]
    #[cfg_attr(test, ts(skip))] // A `NoticeEvent`, too.
    RoomLate {
        /// Room time at which this event was emitted.
        t: GameTime,
        /// How late it is.
        lateness: RoomLateness,
    },
    /// The obstacles are known, or have changed: the static map has arrived, some time after
    /// `Started`, or an object with obstacles came into sight, went or has other ones.
    Map {
        /// Room time at which this event was emitted.
        #[serde(serialize_with = "ms")]
        #[cfg_attr(test, ts(type = "number"))]
        t: GameTime,
        /// All obstacles that are known; the client keeps them, too. In JSON their number.
        #[serde(rename = "obstacles", serialize_with = "obstacle_count")]
        #[cfg_attr(test, ts(type = "number"))]
        map: Arc<StaticMap>,
        /// Size of the static map, if it has arrived; 0 if obstacles of objects have changed.
        bytes: usize,
    },
    /// Progress of the transfer of the static map. May be dropped if the view does not read.
    MapProgress {
        /// Room time at which this event was emitted.
        #[serde(serialize_with = "ms")]
        #[cfg_attr(test, ts(type = "number"))]
        t: GameTime,
        /// Bytes received.
        received: usize,
        /// Bytes in all.
        total: usize,
    },
    /// The game's connection broke while the lobby is connected. The client restores it.
    Interrupted {
        /// What failed.
        reason: String,
        /// The pause before the next attempt.
        #[serde(rename = "retry_in_ms", serialize_with = "duration_ms")]
        #[cfg_attr(test, ts(type = "number"))]
        retry_in: Duration,
    },
    /// The game's host was asked and has not answered for a second: the line may be dead, and what
    /// is shown is as old. After 3 s of silence the client dials again.
    Silent {
        /// How long nothing has arrived.
        #[serde(rename = "silent_ms", serialize_with = "duration_ms")]
        #[cfg_attr(test, ts(type = "number"))]
        silence: Duration,
    },
    /// The game's host is heard again.
    Heard,
    /// The host reports an error that belongs to no command.
    Error {
        /// A stable code.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
    /// Events were dropped since the last one, because they were not read in time.
    Missed {
        /// How many.
        count: u64,
    },
    /// The player is not in the game any more: the last event. After `"game_unreachable"` the
    /// player still has the seat in the room, and may leave and join it again.
    Ended {
        /// A stable code: `"left"`, `"kicked"`, `"room_closed"`, `"quit"`, `"game_unreachable"`...
        code: String,
        /// What happened, and what to do.
        message: String,
    },
}

impl GameEvent {
    /// Whether a later read of the state makes up for it: dropped first when events are not read.
    pub fn is_update(&self) -> bool {
        matches!(self, GameEvent::Update(_) | GameEvent::MapProgress { .. })
    }
}

/// The lobby accepted the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Welcome {
    /// The player's number in the lobby.
    #[cfg_attr(test, ts(type = "number"))]
    pub player: PlayerId,
    /// The name in use.
    pub name: String,
    /// Whether this continues an earlier session. Otherwise that one, with its seat, had expired.
    pub resumed: bool,
    /// The room of a resumed session; `Joined` follows.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub room: Option<RoomId>,
    /// How long the server keeps the session of a broken connection.
    #[serde(rename = "grace_ms", serialize_with = "duration_ms")]
    #[cfg_attr(test, ts(type = "number"))]
    pub grace: Duration,
    /// The player's account, if the session has one.
    #[serde(serialize_with = "account_text")]
    #[cfg_attr(test, ts(type = "string | null"))]
    pub account: Option<AccountId>,
    /// Of an account with a password, in the session that has signed in: what the player signs in
    /// with.
    pub login: Option<String>,
    /// The games that the server can run.
    pub games: Vec<GameListing>,
}

/// The player is in the game.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GameStarted {
    /// The room's number in the lobby.
    #[cfg_attr(test, ts(type = "number"))]
    pub room: RoomId,
    /// The address of the game host, from the ticket: `"127.0.0.1:7777"`; an unspecified IP address
    /// stands for the lobby server's.
    pub address: String,
    /// Whether the player was in this game before and the connection had broken.
    #[serde(rename = "again")]
    pub is_rejoin: bool,
    /// Index of the map within the world, from 0. A different number than before means that the
    /// player went through a gate.
    #[serde(rename = "map")]
    pub map_number: u32,
    /// The estimated room time.
    #[serde(serialize_with = "ms")]
    #[cfg_attr(test, ts(type = "number"))]
    pub t: GameTime,
    /// The local lag: a command sent at `t` takes effect at `t + delay`.
    #[serde(serialize_with = "duration_ms")]
    #[cfg_attr(test, ts(type = "number"))]
    pub delay: Duration,
    /// How often the room simulates and sends, in ticks a second.
    #[serde(rename = "tick")]
    pub tick_hz: u32,
    /// The map's size; the obstacles come later, with [`GameEvent::Map`].
    #[serde(flatten)]
    pub map: MapExtent,
    /// The game's name, as in [`GameListing`].
    pub game: String,
    /// The objects, events, commands and refusals of the game. In JSON its commands: name, form,
    /// one line of help, and the suggested key.
    #[serde(rename = "commands", serialize_with = "commands")]
    #[cfg_attr(test, ts(type = "Array<unknown>"))]
    pub schema: Arc<Schema>,
}

/// Size of the map and zones of interest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MapExtent {
    /// Extent on x, in metres.
    #[serde(rename = "width")]
    pub width_m: f32,
    /// Extent on y, in metres.
    #[serde(rename = "height")]
    pub height_m: f32,
    /// Edge of a cell, in metres.
    #[serde(rename = "cell")]
    pub cell_m: f32,
    /// Radius of the inner zone, in cells.
    pub inner: u32,
    /// Radius of the outer zone, in cells.
    pub outer: u32,
}

/// An object came into sight.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ObjectEntered {
    /// The object.
    #[cfg_attr(test, ts(type = "number"))]
    pub id: ClientObjectId,
    /// Name of the object's kind.
    #[serde(serialize_with = "text")]
    pub kind: Arc<str>,
    /// Whether it is the player's own avatar or, if it is room-wide, the player's own.
    pub own: bool,
    /// Room time at which this event was emitted.
    #[serde(serialize_with = "ms")]
    #[cfg_attr(test, ts(type = "number"))]
    pub t: GameTime,
    /// The position at `t`; `None` if it is room-wide.
    #[serde(flatten, serialize_with = "place")]
    #[cfg_attr(test, ts(skip))]
    pub position: Option<Position>,
    /// All known components at `t`, the path included.
    #[serde(flatten, serialize_with = "components")]
    #[cfg_attr(test, ts(skip))]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ObjectUpdated {
    /// The object.
    #[cfg_attr(test, ts(type = "number"))]
    pub id: ClientObjectId,
    /// Room time at which this event was emitted: on arrival, mostly before the update takes
    /// effect.
    #[serde(serialize_with = "ms")]
    #[cfg_attr(test, ts(type = "number"))]
    pub t: GameTime,
    /// When the update takes effect; `t` if that time has passed.
    #[serde(skip)]
    pub at: GameTime,
    /// The received components, with their values at `at`.
    #[serde(flatten, serialize_with = "moved_components")]
    #[cfg_attr(test, ts(skip))]
    pub components: Vec<NamedValue<ComponentValue>>,
}

/// An event of the game. It is emitted on arrival, mostly before it takes effect, so that a view
/// can prepare. The objects that it names are in sight; if one of them is about to come into sight,
/// the event waits for it, at most until its effect time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SchemaEvent {
    /// The event's name in the game's schema.
    #[serde(serialize_with = "text")]
    pub name: Arc<str>,
    /// Room time at which this event was emitted.
    #[serde(serialize_with = "ms")]
    #[cfg_attr(test, ts(type = "number"))]
    pub t: GameTime,
    /// Room time at which it takes effect.
    #[serde(serialize_with = "ms")]
    #[cfg_attr(test, ts(type = "number"))]
    pub effect: GameTime,
    /// Whether it arrived after its effect time.
    pub late: bool,
    /// The event's data by name.
    #[serde(flatten, serialize_with = "fields")]
    #[cfg_attr(test, ts(skip))]
    pub fields: Vec<NamedField>,
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

/// A room with its number once more: what the player is in.
fn numbered<S: Serializer>(listing: &RoomListing, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Numbered<'r> {
        room: RoomId,
        #[serde(flatten)]
        listing: &'r RoomListing,
    }
    Numbered { room: listing.id, listing }.serialize(to)
}

fn obstacle_count<S: Serializer>(map: &Arc<StaticMap>, to: S) -> Result<S::Ok, S::Error> {
    map.obstacles.len().serialize(to)
}

/// The commands of a game: name, form, one line of help, and the suggested key.
fn commands<S: Serializer>(schema: &Arc<Schema>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Listing<'c> {
        name: &'c str,
        usage: String,
        help: &'c str,
        key: &'c Option<String>,
    }
    to.collect_seq(command_words::with_presentations(schema).map(|(command, shown)| Listing {
        name: &command.name,
        usage: command_words::usage(command),
        help: &shown.help,
        key: &shown.key,
    }))
}

/// What a player should know and is no error, with the numbers behind it.
#[derive(Serialize)]
struct NoticeLine<T> {
    code: &'static str,
    message: String,
    #[serde(flatten)]
    values: T,
}

fn chat_missed<S: Serializer>(count: &u64, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Values {
        count: u64,
    }
    let message = format!("{count} chat messages came too fast and are lost");
    NoticeLine { code: "chat_missed", message, values: Values { count: *count } }.serialize(to)
}

fn physics_missing<S: Serializer>(
    t: &GameTime,
    game: &str,
    kinds: &[String],
    to: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Values<'m> {
        t: u64,
        game: &'m str,
        kinds: &'m [String],
    }
    let message = format!(
        "this client has no physics of {game} for {}: it shows them between the host's poses",
        kinds.join(", ")
    );
    let values = Values { t: t.millis(), game, kinds };
    NoticeLine { code: "physics_missing", message, values }.serialize(to)
}

fn room_late<S: Serializer>(
    t: &GameTime,
    lateness: &RoomLateness,
    to: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Values {
        t: u64,
        load_level: u32,
        ticks_run: u32,
        ticks_due: u32,
    }
    let RoomLateness { is_late, loses_ticks, load_level, ticks_run, ticks_due } = *lateness;
    let (code, message) = if loses_ticks {
        (
            "room_overloaded",
            format!(
                "the room is overloaded: it ran {ticks_run} of the last {ticks_due} ticks, and \
                 objects far away are updated less often"
            ),
        )
    } else if is_late {
        (
            "room_late",
            "the room has more to do than its host can: objects far away are updated less often"
                .into(),
        )
    } else {
        ("room_in_time", "the room is in time again".into())
    };
    let values = Values { t: t.millis(), load_level, ticks_run, ticks_due };
    NoticeLine { code, message, values }.serialize(to)
}
