//! Clients of Ambit games.
//!
//! ```no_run
//! use std::time::Instant;
//!
//! use ambit_client::GameEvent;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = ambit_client::connect("127.0.0.1:7777").name("ann").await?;
//! let room = client.create_room("meadow", "field").await?;
//! let mut game = room.start().await?;
//! game.send("move", [120.0, 90.0])?;
//! while !game.is_over() {
//!     for event in game.events() {
//!         if let GameEvent::Enter(entered) = event {
//!             println!("{} {} is in sight", entered.kind, entered.id);
//!         }
//!     }
//!     for object in game.frame(Instant::now()).objects() {
//!         println!("{} at {:?}", object.kind(), object.transform().position);
//!     }
//!     tokio::time::sleep(std::time::Duration::from_millis(16)).await;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! - [`connect`] returns a [`Client`]: a player in the lobby. Requests return their answers, or a
//!   [`RequestError`].
//! - [`Client::create_room`] and [`Client::join_room`] return a [`Room`], and [`Room::start`] and
//!   [`Room::play`] return the [`Game`] that it runs.
//! - [`Game::send`] gives a command by its name, as [`Game::schema`] declares it; [`Game::command`]
//!   gives one as a value of the game's own type, where the client knows the game.
//! - [`Game::frame`] returns a [`Frame`]: everything in sight at one time. It is taken without
//!   waiting, so an engine may call it 144 times a second from a thread of its own.
//! - [`Game::events`] and [`Client::events`] return what has happened since the last call;
//!   `next_event` waits for it.
//!
//! Broken connections are restored, and a game that moves to another host goes on; programs learn
//! of it by events and need not react. All of it needs a tokio runtime in the background; only
//! requests are awaited.
//!
//! One layer below, `ambit_client_core::client::Client` is the same client without I/O, for
//! programs with a network and a clock of their own.

#![warn(missing_docs, reason = "authors of clients import this crate")]

mod client;
mod command;
mod connect;
mod error;
mod game;
mod inbox;
mod queue;
mod room;
mod session;

pub use ambit_client_core::client::config::{ClientConfig, InputRate};
pub use ambit_client_core::client::event::{
    ComponentValue, GameEvent, GameStarted, LobbyEvent, MapExtent, NamedField, NamedValue,
    ObjectEntered, ObjectUpdated, SchemaEvent, Welcome,
};
pub use ambit_client_core::client::model::{
    AllowedValues, ChatChannel, ChatMessage, GameDescription, GameListing, ParameterListing,
    PlayerListing, RoomListing,
};
pub use ambit_client_core::client::stats::{ClientStats, RoomLateness};
pub use ambit_client_core::frame::{Frame, FrameEntry, FrameObject, FrameValue, Transform};
pub use ambit_client_core::shell::Traffic;
pub use ambit_client_core::typed_reads::Heard;
pub use ambit_proto::ids::{AccountId, ClientObjectId, ObjectId, PlayerId, RoomId};
pub use ambit_proto::map::{ObstacleShape, StaticMap, StaticObstacle};
pub use ambit_proto::message::{
    FieldValue, TypedCommand, TypedEvent, TypedId, TypedKind, TypedSound,
};
pub use ambit_proto::physics::{self, GamePhysics};
pub use ambit_proto::pose::PoseCoding;
pub use ambit_proto::presentation;
pub use ambit_proto::schema;
pub use ambit_proto::schema::Controls;
pub use ambit_proto::space::Position;
pub use ambit_proto::time::GameTime;
pub use ambit_proto::timeline::Gauge;
pub use ambit_steering::{SharedMotion, Steering};
pub use client::{Client, CreateRoom, JoinRoom, QuickJoin};
pub use command::{Argument, CommandMismatch, CommandWordsError, IntoArguments, SendError};
pub use connect::{Connect, Fingerprint, Impairment, connect};
pub use error::{ConnectError, ErrorCode, PlayError, ReadError, ReadMismatch, RequestError};
pub use game::Game;
pub use room::Room;
