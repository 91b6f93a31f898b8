//! The requests of rooms that the shell passes on to the store.

use std::collections::{BTreeMap, BTreeSet};

use ambit_proto::ids::RoomId;

/// The requests that the shell has.
#[derive(Debug, Default)]
pub(in crate::lobby) struct StoreJobs {
    pub(in crate::lobby) by_room: BTreeMap<RoomId, BTreeSet<(u32, u64)>>,
    /// Rooms whose players know that the store does not work.
    pub(in crate::lobby) told: BTreeSet<RoomId>,
}
