//! What the world says about a tick, in the order in which it happened.
//!
//! This is all that the network learns: it looks the rest up in the world. Everything takes effect
//! at the horizon of its tick unless it has a time of its own.

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

/// Something that has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum WorldChange {
    /// An object has come into being. It may be gone again by the end of the tick.
    Spawned {
        /// Which.
        object: ObjectId,
        /// Where.
        cell: Cell,
    },
    /// An object is gone.
    Despawned {
        /// Which.
        object: ObjectId,
        /// Since when.
        at: GameTime,
    },
    /// An object is in another cell.
    ChangeCell {
        /// Which.
        object: ObjectId,
        /// Where it was.
        from: Cell,
        /// Where it is.
        to: Cell,
    },
    /// Components of an object have another present or future. Once an object a tick, after all
    /// else that happened to it.
    Components {
        /// Which.
        object: ObjectId,
        /// Bit `n` is set when component `n` has changed.
        mask: u16,
    },
    /// An object has another pose, and had none of its own at the tick before: it begins to stir.
    /// Said at its birth too. As long as it goes on, [`World::posed`](super::World::posed) lists it
    /// and nothing is said here.
    BecameActive {
        /// Which.
        object: ObjectId,
    },
    /// An object belongs to another team, or to none.
    Team {
        /// Which.
        object: ObjectId,
    },
    /// An avatar has to do with an object, its target or its attacker: its player wants the
    /// freshest news of it.
    EngagedObjects {
        /// Whose player.
        viewer: ObjectId,
        /// With what.
        object: ObjectId,
        /// Until when.
        until: GameTime,
    },
    /// A client may be sent more, or less.
    Budget {
        /// Whose; all clients', those still to come included, if nobody's.
        player: Option<PlayerId>,
        /// At most.
        bytes_per_s: u32,
    },
    /// The game may answer otherwise than before whether others see this object.
    Visibility {
        /// Which.
        object: ObjectId,
    },
    /// Something happened, to be told to those who follow `about`.
    Event {
        /// Index of the event in the schema.
        kind: u8,
        /// Who follows this object is told.
        about: ObjectId,
        /// When it happens.
        effect: GameTime,
        /// As the schema says.
        fields: Vec<EventField>,
    },
}

/// A field of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventField {
    /// An object. A client that does not follow it is told of none.
    Object(ObjectId),
    /// A point in space.
    Position(Position),
    /// A whole number.
    Number(i64),
}

impl WorldChange {
    /// The object that this is about, if it is about one.
    pub const fn object(&self) -> Option<ObjectId> {
        match *self {
            Self::Spawned { object, .. }
            | Self::Despawned { object, .. }
            | Self::ChangeCell { object, .. }
            | Self::Components { object, .. }
            | Self::BecameActive { object }
            | Self::Team { object }
            | Self::EngagedObjects { object, .. }
            | Self::Visibility { object }
            | Self::Event { about: object, .. } => Some(object),
            Self::Budget { .. } => None,
        }
    }
}
