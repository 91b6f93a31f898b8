//! Components of kinds that the client knows.

use ambit_client::TypedKind;
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::system::{Commands, Query, Res};

use crate::client::AmbitClient;

/// A component that is read from the objects of a kind, for a client that knows the game: all of
/// that kind have it, and it changes only if its value does
/// ([`AmbitAppExt::add_ambit_kind`](crate::AmbitAppExt::add_ambit_kind)).
///
/// ```
/// use ambit_bevy::KindComponent;
/// use ambit_shooter_kinds::{Ship, ShipView};
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component, PartialEq)]
/// struct Hull {
///     shielded: bool,
///     wrecked: bool,
/// }
///
/// impl KindComponent for Hull {
///     type Kind = Ship;
///
///     fn read(ship: ShipView<'_>) -> Self {
///         Hull { shielded: ship.shielded, wrecked: ship.wrecked }
///     }
/// }
/// ```
pub trait KindComponent: Component<Mutability = Mutable> + PartialEq {
    /// Of the crate that server and clients share.
    type Kind: TypedKind;

    /// The component for an object of this kind, in each frame.
    fn read(view: <Self::Kind as TypedKind>::Reading<'_>) -> Self;
}

/// Gives each object of the kind its component.
pub(crate) fn read_kind<C: KindComponent>(
    client: Res<AmbitClient>,
    mut known: Query<&mut C>,
    mut commands: Commands,
) {
    for (entity, entry) in client.shown() {
        let Some(view) = entry.get::<C::Kind>() else { continue };
        let value = C::read(view);
        if let Ok(mut component) = known.get_mut(entity) {
            if *component != value {
                *component = value;
            }
        } else {
            // The program may have despawned it.
            commands.entity(entity).try_insert(value);
        }
    }
}
