//! One object of a world, for reading or editing: what the companions of a kind are made of.

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::schema::Codec;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::logic::world::World as RoomWorld;

use crate::id::Id;
use crate::placement::Placed;

/// An object that exists, for reading.
#[derive(Clone, Copy)]
pub struct ObjectRef<'w> {
    pub(crate) world: &'w RoomWorld,
    pub(crate) id: ObjectId,
}

/// An object that exists, for editing.
pub struct ObjectMut<'w> {
    pub(crate) world: &'w mut RoomWorld,
    pub(crate) id: ObjectId,
}

impl ObjectMut<'_> {
    /// The same object, for a shorter time.
    pub fn reborrow(&mut self) -> ObjectMut<'_> {
        ObjectMut { world: self.world, id: self.id }
    }

    /// The same object, for reading.
    pub fn to_ref(&self) -> ObjectRef<'_> {
        ObjectRef { world: self.world, id: self.id }
    }

    /// A change takes effect now or, for what is found out late in a tick, after the horizon of the
    /// previous tick.
    pub(crate) fn earliest(&self, from: GameTime) -> GameTime {
        from.max(self.world.previous_horizon())
    }
}

/// What an object is called in the log.
pub(crate) trait Named {
    fn name(&self) -> String;
}

impl Named for ObjectRef<'_> {
    fn name(&self) -> String {
        format!("the {} {}", kind_name(self.world, self.world.kind(self.id)), self.id)
    }
}

impl Named for ObjectMut<'_> {
    fn name(&self) -> String {
        self.to_ref().name()
    }
}

impl Named for Spawn<'_> {
    fn name(&self) -> String {
        format!("a new {}", kind_name(self.world, self.kind))
    }
}

fn kind_name(world: &RoomWorld, kind: u8) -> &str {
    world.schema().kind(kind).map_or("object", |kind| &kind.name)
}

/// The creation of an object.
pub struct Spawn<'w> {
    pub(crate) world: &'w RoomWorld,
    pub(crate) kind: u8,
}

impl Spawn<'_> {
    /// When the object appears.
    pub(crate) fn now(&self) -> GameTime {
        self.world.now()
    }

    /// How a component is encoded: a game may have adjusted the declaration.
    pub(crate) fn codec(&self, index: u8) -> Option<Codec> {
        let component = self.world.schema().kind(self.kind)?.component(index)?;
        Some(component.codec.clone())
    }
}

/// What every object has, whatever its kind. The companions of a kind, such as `WalkerRef` and
/// `WalkerMut`, implement it. A component of the same name takes precedence.
pub trait Object {
    /// The kind.
    type Kind;

    #[doc(hidden)]
    fn object(&self) -> ObjectRef<'_>;

    /// The object's id.
    fn id(&self) -> Id<Self::Kind> {
        Id::new(self.object().id)
    }

    /// Where it is now.
    fn position(&self) -> Position
    where
        Self::Kind: Placed,
    {
        let ObjectRef { world, id } = self.object();
        world.position(id)
    }

    /// Where it is at another time, as far as known.
    fn position_at(&self, time: GameTime) -> Position
    where
        Self::Kind: Placed,
    {
        let ObjectRef { world, id } = self.object();
        world.position_at(id, time)
    }

    /// Whether it is about to move.
    fn is_moving(&self) -> bool
    where
        Self::Kind: Placed,
    {
        let ObjectRef { world, id } = self.object();
        world.is_moving(id)
    }

    /// The player who receives its owner-only components.
    fn owner(&self) -> Option<PlayerId> {
        let ObjectRef { world, id } = self.object();
        world.owner(id)
    }

    /// The team that receives its team-only components.
    fn team(&self) -> Option<u8> {
        let ObjectRef { world, id } = self.object();
        world.team(id)
    }
}
