//! Identifiers of objects that know their kind.

use std::marker::PhantomData;

use ambit_proto::ids::{ClientObjectId, ObjectId};
use ambit_proto::message::{TypedId, TypedKind};
use derive_where::derive_where;
use serde::{Deserialize, Serialize};

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
#[derive(Serialize, Deserialize, derive_more::Display, derive_more::Debug)]
#[display("{object}")]
#[debug("Id({object})")]
#[derive_where(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(transparent, bound = "")]
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
