//! Identifiers of objects that know their kind.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use ambit_proto::ids::{ClientObjectId, ObjectId};
use ambit_proto::message::{TypedId, TypedKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The identifier of an object of the kind `K`.
///
/// It is small, can be copied and stored, and never names another object: ids are not reused. The
/// object may be gone, so [`World::get`](crate::World::get) and
/// [`World::edit`](crate::World::edit) return an `Option`. The order of ids is the order of birth.
///
/// [`World::cast`](crate::World::cast) makes an `Id` of an [`ObjectId`], and `into` the reverse.
///
/// A client that knows the game gets the `Id` of an object from `FrameEntry::typed_id`. It holds
/// the client's [`ClientObjectId`] of the object, and is for the client's own commands alone.
pub struct Id<K> {
    object: ObjectId,
    kind: PhantomData<fn() -> K>,
}

impl<K> Id<K> {
    /// Only for an object that has or had this kind.
    pub(crate) const fn new(object: ObjectId) -> Self {
        Self { object, kind: PhantomData }
    }

    /// The same id, without the kind.
    pub const fn object(self) -> ObjectId {
        self.object
    }
}

impl<K: TypedKind> TypedId for Id<K> {
    fn of_client(kind: &str, id: ClientObjectId) -> Option<Self> {
        let object = ObjectId::of_client(kind, id)?;
        (kind == K::NAME).then(|| Self::new(object))
    }

    fn client_object_id(self) -> Option<ClientObjectId> {
        self.object().client_object_id()
    }
}

impl<K> From<Id<K>> for ObjectId {
    fn from(id: Id<K>) -> Self {
        id.object
    }
}

// Derives would ask the same of `K`.

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Id<K> {}

impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.object == other.object
    }
}

impl<K> Eq for Id<K> {}

impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.object.cmp(&other.object)
    }
}

impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.object.hash(state);
    }
}

impl<K> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.object)
    }
}

impl<K> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.fmt(f)
    }
}

impl<K> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object.serialize(serializer)
    }
}

impl<'de, K> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ObjectId::deserialize(deserializer).map(Self::new)
    }
}
