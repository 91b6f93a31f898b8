//! Which components of an object a client may know.

use ambit_proto::ids::ObjectId;
use ambit_proto::schema::{ComponentAudience, Schema};

use super::viewer::Viewer;
use crate::logic::world::World;

/// What one client may know of one object.
pub(super) struct ViewerAccess {
    /// A mask: bit `i` is component `i` of the kind.
    pub(super) components: u16,
    /// Whether the object belongs to the player or to the player's team.
    pub(super) is_ally: bool,
}

impl ViewerAccess {
    pub(super) fn of(world: &World, schema: &Schema, object: ObjectId, viewer: &Viewer) -> Self {
        let is_own = world.owner(object) == Some(viewer.player);
        let team = world.team(object).filter(|_| world.contains(viewer.avatar));
        let is_ally = is_own || team.is_some() && team == world.team(viewer.avatar);
        let components = &schema.kinds[usize::from(world.kind(object))].components;
        let may_know = |audience: ComponentAudience| match audience {
            ComponentAudience::Public => true,
            ComponentAudience::Team => is_ally,
            ComponentAudience::Owner => is_own,
            // The network's schema has none.
            ComponentAudience::Server => false,
        };
        let known = components.iter().enumerate().filter(|(_, spec)| may_know(spec.audience));
        ViewerAccess { components: known.fold(0, |mask, (index, _)| mask | 1 << index), is_ally }
    }
}
