//! What a game keeps of each player beside the objects.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use ambit_proto::ids::PlayerId;
use ambit_room::logic::player_values::{PlayerValues, UnreadableProfile};
use ambit_room::saved::{self, BadState};
use serde::{Deserialize, Serialize};

use crate::declare::Declare;
use crate::player_value::PlayerValue as _;
use crate::world::World;

/// The values of all players of a room of the game `G`.
pub(crate) struct TypedValues<G: Declare> {
    players: BTreeMap<PlayerId, ValuesOf<G>>,
}

struct ValuesOf<G: Declare> {
    profile: G::Profile,
    seat: G::Seat,
    has_changed: bool,
}

/// The values of a player, each as it is saved.
#[derive(Serialize, Deserialize)]
struct SavedValues {
    profile: Vec<u8>,
    seat: Vec<u8>,
    has_changed: bool,
}

impl<G: Declare> Default for TypedValues<G> {
    fn default() -> Self {
        Self { players: BTreeMap::new() }
    }
}

impl<G: Declare> fmt::Debug for TypedValues<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.players.keys()).finish()
    }
}

impl<G: Declare + Send + 'static> PlayerValues for TypedValues<G> {
    fn has_profiles(&self) -> bool {
        G::HAS_PROFILES
    }

    fn open(&mut self, player: PlayerId, profile: Option<&[u8]>) -> Result<(), UnreadableProfile> {
        let profile = profile.map(G::Profile::from_json).transpose()?.unwrap_or_default();
        let seat = G::Seat::default();
        self.players.insert(player, ValuesOf { profile, seat, has_changed: false });
        Ok(())
    }

    fn close(&mut self, player: PlayerId) {
        self.players.remove(&player);
    }

    fn has_changed(&self, player: PlayerId) -> bool {
        self.players.get(&player).is_some_and(|values| values.has_changed)
    }

    fn take_profile(&mut self, player: PlayerId) -> Option<Vec<u8>> {
        let values = self.players.get_mut(&player).filter(|_| G::HAS_PROFILES)?;
        values.has_changed = false;
        Some(values.profile.to_json())
    }

    fn save(&self) -> Vec<u8> {
        let saved = |(&player, values): (&PlayerId, &ValuesOf<G>)| {
            let (profile, seat) = (values.profile.to_saved(), values.seat.to_saved());
            (player, SavedValues { profile, seat, has_changed: values.has_changed })
        };
        saved::section(&self.players.iter().map(saved).collect::<Vec<_>>())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), BadState> {
        let saved: Vec<(PlayerId, SavedValues)> = saved::only_section(saved)?;
        let values = |(player, saved): (PlayerId, SavedValues)| {
            let SavedValues { profile, seat, has_changed } = saved;
            let profile = G::Profile::from_saved(&profile)?;
            let seat = G::Seat::from_saved(&seat)?;
            Ok((player, ValuesOf { profile, seat, has_changed }))
        };
        self.players = saved.into_iter().map(values).collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// # What the game keeps of a player
///
/// The *profile* lasts as long as the account: it is loaded before
/// [`Game::join`](crate::Game::join), and written some seconds after a change, at a gate, and after
/// [`Game::leave`](crate::Game::leave), all that have changed together, so that what one player has
/// given to another is in both or in none, whatever dies. A player without an account has a
/// profile, too, which is not stored. The *seat* lasts until the player leaves this room. Both are
/// as `Default` makes them for a new player, and are saved with the room.
///
/// ```
/// # use ambit::prelude::*;
/// # #[derive(Kind)]
/// # struct Walker { path: Path }
/// #[derive(Default, Serialize, Deserialize)]
/// struct Savings { coins: u32 }
///
/// #[derive(Default, Serialize, Deserialize)]
/// struct Seat { steps: u32 }
///
/// #[derive(Default, Serialize, Deserialize, Declare)]
/// #[declare(kinds(Walker), profile = Savings, seat = Seat)]
/// struct Market;
/// # impl Game for Market {
/// #     const INFO: GameInfo = GameInfo::new("market", "Buy and sell.");
/// #     type Avatar = Walker;
/// #     no_commands!();
/// #     type Refusal = ambit::NoRefusal;
/// #     fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Walker> {
/// #         world.spawn(Walker { path: Path::at(world.centre()) })
/// #     }
/// # }
/// # impl Market {
///
/// fn pay(&mut self, world: &mut World<Self>, buyer: PlayerId, seller: PlayerId) {
///     let can_pay = world.profile(buyer).is_some_and(|savings| savings.coins >= 5);
///     if can_pay && world.profile(seller).is_some() {
///         world.edit_profile(buyer).unwrap().coins -= 5;
///         world.edit_profile(seller).unwrap().coins += 5;
///     }
/// }
/// # }
/// ```
impl<G: Declare + Send + 'static> World<G> {
    /// The profile of a player of the room, or of the newcomer of a `join`.
    pub fn profile(&self, player: impl Into<PlayerId>) -> Option<&G::Profile> {
        Some(&self.values()?.players.get(&player.into())?.profile)
    }

    /// The profile of a player, to be changed: it is then written.
    pub fn edit_profile(&mut self, player: impl Into<PlayerId>) -> Option<&mut G::Profile> {
        let values = self.values_mut()?.players.get_mut(&player.into())?;
        values.has_changed = true;
        Some(&mut values.profile)
    }

    /// The seat of a player of the room, or of the newcomer of a `join`.
    pub fn seat(&self, player: impl Into<PlayerId>) -> Option<&G::Seat> {
        Some(&self.values()?.players.get(&player.into())?.seat)
    }

    /// The seat of a player, to be changed.
    pub fn edit_seat(&mut self, player: impl Into<PlayerId>) -> Option<&mut G::Seat> {
        Some(&mut self.values_mut()?.players.get_mut(&player.into())?.seat)
    }

    fn values(&self) -> Option<&TypedValues<G>> {
        let values: &dyn Any = self.room().player_values();
        values.downcast_ref()
    }

    fn values_mut(&mut self) -> Option<&mut TypedValues<G>> {
        let values: &mut dyn Any = self.room_mut().player_values_mut();
        values.downcast_mut()
    }
}
