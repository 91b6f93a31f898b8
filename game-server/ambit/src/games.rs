//! The games that a server offers.

use ambit_proto::codes;
use ambit_room::logic::game::Game as RoomGame;
use ambit_room::logic::registry::Registry;
use ambit_steering::{SharedMotion, Steering};

use crate::adapter::Typed;
use crate::game::Game;
use crate::parameters::Parameters as _;
use crate::refusal::Refusal as _;

/// The games that a server offers, by name: `Games::new().with::<Stroll>().with::<Chess>()`.
#[derive(Clone, Debug, Default)]
pub struct Games {
    registry: Registry,
    /// What clients share with the games.
    motions: Vec<SharedMotion>,
}

impl Games {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a game.
    ///
    /// # Panics
    /// At the start of the program, if the game cannot be offered: another game has its name, a
    /// parameter is that of every room, its declaration is too large for the wire, a refusal has
    /// the name of a general code, or it cannot be read from what it saves. The message says which.
    #[must_use]
    pub fn with<G: Game>(self) -> Self {
        let game = Typed(G::default());
        if let Err(error) = game.schema().check() {
            panic!("the game {:?} cannot be offered: {error}", G::INFO.name);
        }
        let refusals = G::Refusal::declarations();
        let is_general = |name: &str| codes::from_name(name).is_some();
        if let Some(refusal) = refusals.iter().find(|it| is_general(&it.name)) {
            panic!(
                "the game {:?} cannot be offered: its refusal {:?} has the name of a general \
                 code, which means something else to clients; choose another name",
                G::INFO.name,
                refusal.name
            );
        }
        if let Some(saved) = game.0.save_fields()
            && G::default().restore_fields(&saved).is_err()
        {
            panic!(
                "the game {:?} cannot be read from what it saves; its format has no names, so \
                 serde's `flatten`, `tag`, `untagged` and `skip_serializing_if` do not work",
                G::INFO.name
            );
        }
        let info = G::INFO.parameters(G::Parameters::TABLE);
        let motions = self.motions.into_iter().chain(motions_of::<G>()).collect();
        Self { registry: self.registry.with(info, Typed::<G>::make), motions }
    }

    /// What the clients of these programs share with the games.
    #[cfg(feature = "serve")]
    pub(crate) fn motions(&self) -> &[SharedMotion] {
        &self.motions
    }
}

/// What clients share with a game, as its kinds declare it.
pub(crate) fn motions_of<G: Game>() -> impl Iterator<Item = SharedMotion> {
    let steering = |(kind, functions)| Steering { game: G::INFO.name, kind, functions };
    let kinds = G::kinds().into_iter().filter_map(|declared| declared.steering);
    kinds.map(steering).map(SharedMotion::from)
}

/// For tools with games that are written against the room.
#[doc(hidden)]
impl From<Registry> for Games {
    fn from(registry: Registry) -> Self {
        Self { registry, motions: Vec::new() }
    }
}

impl From<Games> for Registry {
    fn from(games: Games) -> Self {
        games.registry
    }
}
