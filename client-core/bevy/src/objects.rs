//! Entities for what is in sight.

use ambit_client::{ClientObjectId, FrameEntry};
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::system::{Commands, Query, ResMut};
use bevy_transform::components::Transform;

use crate::axes::WorldAxes;
use crate::client::AmbitClient;
use crate::table::EntityStore;

/// An object in sight, or a room-wide one, which has no `Transform`.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmbitObject {
    /// The client's id of it: ascending, never reused.
    pub id: ClientObjectId,
    /// The index of its kind in the game's schema; [`AmbitClient::object`] knows more.
    pub kind: u8,
}

/// The player's own avatar, and what is room-wide and the player's own.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own;

/// Takes a frame, and brings the entities in step with it.
pub(crate) fn show(
    mut client: ResMut<AmbitClient>,
    transforms: Query<'_, '_, &'static mut Transform>,
    commands: Commands,
) {
    let axes = client.axes();
    client.take_frame(&mut Entities { axes, transforms, commands });
}

/// Makes, moves and despawns entities.
pub(crate) struct Entities<'w, 's> {
    axes: WorldAxes,
    transforms: Query<'w, 's, &'static mut Transform>,
    commands: Commands<'w, 's>,
}

impl Entities<'_, '_> {
    fn spawn(&mut self, entry: FrameEntry<'_>) -> Entity {
        let object = AmbitObject { id: entry.id(), kind: entry.kind_index() };
        let mut entity = self.commands.spawn(object);
        if entry.is_own() {
            entity.insert(Own);
        }
        entity.id()
    }
}

impl EntityStore<FrameEntry<'_>, ambit_client::Transform> for Entities<'_, '_> {
    fn came(&mut self, object: FrameEntry<'_>, shown: ambit_client::Transform) -> Entity {
        let entity = self.spawn(object);
        let mut transform = Transform::IDENTITY;
        self.axes.place(&shown, &mut transform);
        self.commands.entity(entity).insert(transform);
        entity
    }

    fn moved(&mut self, entity: Entity, shown: ambit_client::Transform) {
        // The program may have despawned it.
        if let Ok(mut transform) = self.transforms.get_mut(entity) {
            let mut placed = *transform;
            self.axes.place(&shown, &mut placed);
            // Perhaps only its velocity has changed.
            transform.set_if_neq(placed);
        }
    }

    fn went(&mut self, entity: Entity) {
        self.commands.entity(entity).try_despawn();
    }
}

impl EntityStore<FrameEntry<'_>, ()> for Entities<'_, '_> {
    fn came(&mut self, row: FrameEntry<'_>, (): ()) -> Entity {
        self.spawn(row)
    }

    fn moved(&mut self, _: Entity, (): ()) {}

    fn went(&mut self, entity: Entity) {
        self.commands.entity(entity).try_despawn();
    }
}
