//! Events: what happens in the lobby, and what happens in a game.

use std::sync::Arc;
use std::time::Duration;

pub use ambit_client_core::client::event::{
    ComponentValue, GameEvent as SchemaEvent, NamedField, NamedValue, ObjectEntered, ObjectUpdated,
};
use ambit_client_core::client::model::{ChatMessage, PlayerListing, RoomListing};
use ambit_client_core::client::stats::RoomLateness;
use ambit_proto::ids::{ClientObjectId, PlayerId, RoomId};
use ambit_proto::map::StaticMap;
pub use ambit_proto::message::FieldValue;
use ambit_proto::time::GameTime;

use crate::queue::Queued;

/// Something that happens in the lobby, beside the answers to requests.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LobbyEvent {
    /// A player, perhaps the own one, has said something.
    Chat(ChatMessage),
    /// The server has dropped chat messages, since this client did not read them as fast as they
    /// came.
    ChatMissed {
        /// How many.
        count: u64,
    },
    /// The rooms, as they are after the connection was restored, or after the server has dropped
    /// changes of them; only while they are watched.
    Rooms(Vec<RoomListing>),
    /// A room is new or has changed; only while they are watched.
    RoomChanged(RoomListing),
    /// A room was removed; only while they are watched.
    RoomGone(RoomId),
    /// The members of the player's room have changed. It takes the place of an older one that was
    /// not read yet.
    Players {
        /// The room.
        room: RoomId,
        /// All its members.
        players: Vec<PlayerListing>,
    },
    /// Another player has a new name.
    Renamed {
        /// The player.
        player: PlayerId,
        /// The name in use now.
        name: String,
    },
    /// The player is in a room without having asked for it just now: in that of a resumed session.
    Joined {
        /// The room.
        room: RoomListing,
        /// All its members.
        players: Vec<PlayerListing>,
    },
    /// The player was removed from the room.
    Left {
        /// The room.
        room: RoomId,
        /// A stable code: `"kicked"`, `"host_died"`, `"session_expired"`...
        code: String,
        /// What happened.
        message: String,
    },
    /// The connection to the lobby broke. The client restores it; a game goes on meanwhile.
    Interrupted {
        /// What failed.
        reason: String,
        /// The pause before the next attempt.
        retry_in: Duration,
    },
    /// The connection to the lobby is restored.
    Resumed {
        /// Whether the session is a new one: the old one, with its seat, had expired.
        is_new_session: bool,
    },
    /// The lobby reports an error that belongs to no request.
    Error {
        /// A stable code.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
    /// So many events were dropped since the last one, because they were not read in time.
    Missed(u64),
    /// The connection is closed for good: the last event.
    Closed {
        /// A stable code: `"quit"`, `"taken_over"`, `"draining"`, `"connection_lost"`...
        code: String,
        /// What happened, and what to do.
        message: String,
    },
}

/// Something that happens in a game.
///
/// A program that only draws needs none of these: each [`Frame`](crate::Frame) is complete. Events
/// are for what has a moment: sounds, messages, refusals, the end. Objects have ids, which are
/// those in frames; `t` is room time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GameEvent {
    /// An object came into sight.
    Enter(ObjectEntered),
    /// Something about an object has changed, perhaps from a moment to come on. Dropped first when
    /// events are not read in time.
    Update(ObjectUpdated),
    /// An object went out of sight.
    Leave {
        /// The object.
        id: ClientObjectId,
        /// Room time at which this event was emitted.
        t: GameTime,
    },
    /// Something that the game's schema declares: a hit, a goal. It mostly arrives before it takes
    /// effect, so that a view can prepare.
    Event(SchemaEvent),
    /// The game refused a command, or the command was lost.
    Refused {
        /// The number that [`Game::send`](crate::Game::send) returned.
        command: u32,
        /// A stable code: a refusal of the game's schema, or a code of the protocol. `"try_again"`
        /// if the connection broke or the map changed first: the game may have executed it.
        code: String,
        /// Why.
        message: String,
    },
    /// The game wants these kinds to be simulated by the client, which has no physics for them:
    /// they are drawn between the host's poses. Comes once a game; [`Connect::motion`] registers
    /// some.
    ///
    /// [`Connect::motion`]: crate::Connect::motion
    PhysicsMissing {
        /// Names of the kinds.
        kinds: Vec<String>,
    },
    /// The room has more to do than its host can, or not any more; or it begins to lose ticks, or
    /// loses none any more.
    RoomLate(RoomLateness),
    /// The static map has arrived; [`Game::map`](crate::Game::map) returns it, too.
    Map(Arc<StaticMap>),
    /// So many bytes of the static map have arrived. Dropped first when events are not read.
    MapProgress {
        /// Bytes received so far.
        received: usize,
        /// Bytes in all.
        total: usize,
    },
    /// The game's connection broke. The client restores it.
    Interrupted {
        /// What failed.
        reason: String,
        /// The pause before the next attempt.
        retry_in: Duration,
    },
    /// The game's host was asked and has not answered for a second: the line may be dead, and what
    /// is shown is as old. After 3 s of silence the client dials anew.
    Silent {
        /// How long nothing has arrived.
        silence: Duration,
    },
    /// The game's host is heard again.
    Heard,
    /// The game goes on after an interruption, at another host, or on another map. All objects have
    /// left and enter again, with new ids.
    Resumed {
        /// Index of the map within the world, from 0. Another number than before means that the
        /// player went through a gate.
        map_number: u32,
    },
    /// The host reports an error that belongs to no command.
    Error {
        /// A stable code.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
    /// So many events were dropped since the last one, because they were not read in time.
    Missed(u64),
    /// The player is not in the game any more: the last event. After `"game_unreachable"` the
    /// player still has the seat in the room, and may leave and join it again.
    Ended {
        /// A stable code: `"left"`, `"kicked"`, `"room_closed"`, `"quit"`, `"game_unreachable"`...
        code: String,
        /// What happened, and what to do.
        message: String,
    },
}

impl Queued for LobbyEvent {
    fn is_update(&self) -> bool {
        matches!(self, LobbyEvent::RoomChanged(_))
    }

    fn missed(count: u64) -> Self {
        LobbyEvent::Missed(count)
    }
}

impl Queued for GameEvent {
    fn is_update(&self) -> bool {
        matches!(self, GameEvent::Update(_) | GameEvent::MapProgress { .. })
    }

    fn missed(count: u64) -> Self {
        GameEvent::Missed(count)
    }
}
