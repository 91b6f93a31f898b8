//! Movement that is known in advance: sent once, and costs nothing until it changes.

use ambit_proto::schema::Codec;
use ambit_proto::space::Position;

use super::Place;

#[cfg(feature = "rules")]
pub(super) mod access;

/// A path: positions over time, straight from one point to the next.
///
/// The first component of objects whose movement is known in advance. Clients get the whole path,
/// so it needs no updates until it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Path {
    start: Position,
}

impl Path {
    /// At rest at a position. If it is not finite: at the origin, with an error in the log.
    pub const fn at(position: Position) -> Self {
        Self { start: position }
    }
}

impl Place for Path {
    fn codec() -> Codec {
        Codec::Path
    }

    access_by!();
}
