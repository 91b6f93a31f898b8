//! The changes of a tick, in the order in which they happened.
//!
//! The network learns only of these and looks up the rest in the world. A change takes effect at
//! the horizon of its tick unless it has a time of its own.

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::message::FieldValue;
use ambit_proto::time::GameTime;

use crate::logic::sound::EventSound;

/// A change in the world, for the network.
#[expect(missing_docs, reason = "`object`: what the variant is about")]
#[derive(Clone, Debug, PartialEq)]
pub enum WorldChange {
    /// An object was created. It may be removed again by the end of the tick.
    Spawned {
        object: ObjectId,
        /// The cell that it is in; `None` if its kind is room-wide.
        cell: Option<Cell>,
    },
    /// An object was removed.
    Despawned {
        object: ObjectId,
        /// When it was removed.
        at: GameTime,
    },
    /// An object is in another cell.
    ChangeCell {
        object: ObjectId,
        /// The cell before.
        from: Cell,
        /// The cell now.
        to: Cell,
    },
    /// Components of an object have another present or future. Once per object and tick, after all
    /// other changes of it.
    Components {
        object: ObjectId,
        /// Bit `n` is set if component `n` has changed.
        mask: u16,
        /// Bit `n` is set if gauge or flag `n` has changed from a time before the horizon on, or
        /// may have.
        late: u16,
        /// If the path has changed: it is as before until then. Zero if that is not known.
        path_as_before_until: GameTime,
    },
    /// The next part of an object's path is to be sent: clients receive no more than
    /// [`PATH_TOLD_AHEAD`](super::PATH_TOLD_AHEAD) of it, and the horizon is at an end or a turn
    /// beyond that. The player whose avatar it is has the whole path already.
    PathAhead { object: ObjectId },
    /// An object became active: it has another pose, and its pose did not change at the previous
    /// tick. Reported at its creation too. As long as the object stays active,
    /// [`World::active_objects`](super::World::active_objects) lists it and nothing is reported
    /// here.
    BecameActive { object: ObjectId },
    /// An object belongs to another team or owner.
    Team { object: ObjectId },
    /// An avatar is engaged with an object, its target or its attacker: its player gets the
    /// freshest updates of it.
    Engaged {
        /// The avatar of that player.
        viewer: ObjectId,
        /// The object it is engaged with.
        object: ObjectId,
        /// When the engagement ends.
        until: GameTime,
    },
    /// A player sees the world through another object from now on.
    Avatar {
        /// The avatar before, which may still exist.
        from: ObjectId,
        /// The new one.
        to: ObjectId,
    },
    /// The bandwidth limit of a client has changed.
    Budget {
        /// The player; `None` for all clients, including later ones.
        player: Option<PlayerId>,
        /// The new limit.
        bytes_per_s: u32,
    },
    /// The game may answer differently which viewers see this object.
    AskWhoSees { object: ObjectId },
    /// The game may answer differently which objects a viewer sees.
    AskWhatIsSeenBy {
        /// The avatar of that viewer.
        viewer: ObjectId,
    },
    /// An event.
    Event {
        /// Index of the event in the schema.
        kind: u8,
        /// The clients that receive it.
        audience: EventAudience,
        /// When the event takes effect.
        effect: GameTime,
        /// The fields that the schema lists.
        fields: Vec<FieldValue<ObjectId>>,
        /// What those who are near hear if they do not get the event.
        sound: Option<EventSound>,
    },
}

/// The clients that receive an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventAudience {
    /// Those that follow the object that it is about.
    Followers(ObjectId),
    /// All clients of the room.
    Everyone,
    /// Those whose avatars are of this team.
    Team(u8),
    /// The client of this player.
    Player(PlayerId),
}

impl WorldChange {
    /// The object that the change is about, if there is one.
    pub const fn object(&self) -> Option<ObjectId> {
        match *self {
            Self::Spawned { object, .. }
            | Self::Despawned { object, .. }
            | Self::ChangeCell { object, .. }
            | Self::Components { object, .. }
            | Self::PathAhead { object }
            | Self::BecameActive { object }
            | Self::Team { object }
            | Self::Engaged { object, .. }
            | Self::AskWhoSees { object }
            | Self::AskWhatIsSeenBy { viewer: object }
            | Self::Avatar { to: object, .. }
            | Self::Event { audience: EventAudience::Followers(object), .. } => Some(object),
            Self::Event { .. } | Self::Budget { .. } => None,
        }
    }
}
