//! What a game consists of.

use ambit_proto::presentation::EventPresentation;
use ambit_proto::schema::{Controls, EventKind};
use ambit_room::logic::world::TimerPayload;
use ambit_room::saved::{self, BadState};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::kind::DeclaredKind;
use crate::parameters::Parameters;
use crate::player_value::PlayerValue;

/// What a game consists of: its kinds, events, timers, controls and parameters, and what it keeps
/// of each player, listed above the game's struct.
///
/// ```
/// # use ambit::prelude::*;
/// # #[derive(Kind)]
/// # struct Walker { path: Path }
/// # #[derive(Event)]
/// # struct Damage { target: Id<Walker>, amount: i64 }
/// # #[derive(Serialize, Deserialize)]
/// # enum Timer { Respawn(Id<Walker>) }
/// # #[derive(Controls)]
/// # enum Key { #[key("space")] Jump }
/// #[derive(Default, Serialize, Deserialize, Declare)]
/// #[declare(kinds(Walker), events(Damage), timer = Timer, controls = Key)]
/// struct Stroll;
/// ```
///
/// A game is saved with its room, so that the room continues when its host dies: it is
/// `Serialize` and `Deserialize`. `#[declare(unsaved)]` opts out; the rooms of such a game end with
/// their host, unless it implements [`Game::save`](crate::Game::save) and
/// [`Game::restore`](crate::Game::restore).
///
/// What is saved has the names of fields and variants, so a build with another field reads it:
/// `#[serde(default)]` is all that it takes. Where a type has changed, `#[declare(version = 1)]`
/// and [`Game::upgrade`](crate::Game::upgrade) read the old one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not declare what it consists of",
    label = "`Declare` is missing",
    note = "add `Declare` to the derives of `{Self}`, and below them \
            `#[declare(kinds(...), events(...))]`"
)]
pub trait Declare: Sized {
    /// What the game is reminded of.
    type Timer: SavedTimer;
    /// What players hold down and press.
    type Controls: Controls;
    /// What its rooms can be created with.
    type Parameters: Parameters;
    /// What is stored of a player's account for this game: [`World::profile`].
    ///
    /// [`World::profile`]: crate::World::profile
    type Profile: PlayerValue;
    /// What a room keeps of a player until the player leaves it: [`World::seat`].
    ///
    /// [`World::seat`]: crate::World::seat
    type Seat: PlayerValue;
    /// Whether it is.
    #[doc(hidden)]
    const HAS_TIMERS: bool;
    #[doc(hidden)]
    const HAS_PROFILES: bool;
    /// The version of the crate that declares the game; empty if it has none.
    #[doc(hidden)]
    const VERSION: &'static str;
    /// `#[declare(version = 3)]`: of what the game saves, so that a later build knows what it reads
    /// ([`Game::upgrade`](crate::Game::upgrade)). 0 without it.
    const SAVED_VERSION: u32;

    #[doc(hidden)]
    fn kinds() -> Vec<DeclaredKind>;

    #[doc(hidden)]
    fn events() -> Vec<(EventKind, EventPresentation)>;

    #[doc(hidden)]
    fn save_fields(&self) -> Option<Vec<u8>>;

    #[doc(hidden)]
    fn read_fields(saved: &[u8]) -> Result<Self, BadState>;
}

/// The timers of a game that declares none. For timers, write an enum, derive `Serialize` and
/// `Deserialize` for it, and name it above the game: `#[declare(timer = Timer)]`. Then
/// [`Game::timer`](crate::Game::timer) takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoTimer {}

/// The timers that a game has declared: the game names them in `#[declare(timer = ...)]`.
#[diagnostic::on_unimplemented(
    message = "`{G}` does not declare the timers `{Self}`",
    label = "not the timers of this game",
    note = "add `timer = {Self}` to `#[declare(...)]` above `{G}`; a game has one type of timers, \
            so write an enum with a variant for each purpose"
)]
pub trait TimerOf<G: Declare>: Sized {
    #[doc(hidden)]
    fn into_declared(self) -> G::Timer;
}

/// Timers that can be saved with their room.
#[diagnostic::on_unimplemented(
    message = "the timers `{Self}` cannot be saved with their room",
    label = "`Serialize` and `Deserialize` are missing",
    note = "add `#[derive(Serialize, Deserialize)]` to `{Self}`"
)]
pub trait SavedTimer: Sized {
    #[doc(hidden)]
    fn to_payload(&self) -> Result<TimerPayload, String>;

    #[doc(hidden)]
    fn from_payload(payload: &[u8]) -> Result<Self, BadState>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> SavedTimer for T {
    fn to_payload(&self) -> Result<TimerPayload, String> {
        saved::try_of(self).map(|bytes| TimerPayload::from_slice(&bytes))
    }

    fn from_payload(payload: &[u8]) -> Result<Self, BadState> {
        saved::all(payload)
    }
}

/// A game that can be saved with its room.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be saved with its room",
    label = "`Serialize` and `Deserialize` are missing",
    note = "add `Serialize, Deserialize` to its derives, or `unsaved` to `#[declare(...)]`: its \
            rooms then end with their host"
)]
pub trait SavedGame: Sized {
    fn to_bytes(&self) -> Vec<u8>;

    fn from_bytes(saved: &[u8]) -> Result<Self, BadState>;
}

#[diagnostic::do_not_recommend]
impl<G: Serialize + DeserializeOwned> SavedGame for G {
    fn to_bytes(&self) -> Vec<u8> {
        saved::of(self)
    }

    fn from_bytes(saved: &[u8]) -> Result<Self, BadState> {
        saved::all(saved)
    }
}
