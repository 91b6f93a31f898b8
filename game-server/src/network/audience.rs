//! Who may know what of an object.

use ambit_proto::ids::ObjectId;
use ambit_proto::schema::{ComponentAudience, Schema};

use super::viewer::Viewer;
use crate::logic::world::World;

/// What one client may know of an object.
pub(super) struct ViewerAccess {
    /// As a mask.
    pub(super) components: u16,
    /// Whether it belongs to the player's party.
    pub(super) is_ally: bool,
}

impl ViewerAccess {
    pub(super) fn of(world: &World, schema: &Schema, object: ObjectId, viewer: &Viewer) -> Self {
        let owned = world.owner(object) == Some(viewer.player);
        let team = world.team(object).filter(|_| world.contains(viewer.avatar));
        let close = owned || team.is_some() && team == world.team(viewer.avatar);
        let components = &schema.kinds[usize::from(world.kind(object))].components;
        let may_follow = |audience: ComponentAudience| match audience {
            ComponentAudience::Public => true,
            ComponentAudience::Team => close,
            ComponentAudience::Owner => owned,
        };
        let known = components
            .iter()
            .enumerate()
            .filter(|(_, spec)| may_follow(spec.audience));
        ViewerAccess {
            components: known.fold(0, |mask, (index, _)| mask | 1 << index),
            is_ally: close,
        }
    }
}
