//! What connections need of a room: its mailbox, its clock, a number for each new client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use ambit_proto::ids::ClientId;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::counters::{Counters, DropReason};
use super::inbox::Inbox;
use super::measured_game::CallbackTimes;
use super::room_mailbox::{RoomCall, RoomMailbox};
use ambit_host_core::clock::RoomClock;
use ambit_room::network::load_level::LoadLevel;
use ambit_room::network::loads::RegionLoads;

/// Orders that may wait for the room. The queue is full only if the room is stuck for good: then
/// new orders are dropped, since the room could not carry them out.
const POSTS: usize = 4_096;

/// The way into a room.
pub(crate) struct RoomInlet {
    pub(crate) way_in: WayIn,
    /// From which journal entry on the WorldServer can restore the room.
    pub(crate) saved_from: Arc<AtomicU64>,
    counters: Arc<Counters>,
    posts: Arc<Semaphore>,
    next_client: AtomicU32,
    pub(crate) figures: Mutex<RoomFigures>,
    pub(crate) callbacks: Arc<CallbackTimes>,
    /// Cancelled when the room is closed without its thread: that takes nothing any more.
    pub(crate) given_up: CancellationToken,
}

/// Where what comes for a room goes.
pub(crate) struct WayIn {
    pub(crate) mailbox: RoomMailbox,
    pub(crate) clock: RoomClock,
    pub(crate) inbox: Arc<Inbox>,
    /// How often the room was given to a host, this time included.
    pub(crate) incarnation: u32,
    /// Players at most.
    pub(crate) seats: u32,
}

/// What the room reports about itself.
#[derive(Default)]
pub(crate) struct RoomFigures {
    /// Players in the room at its last tick.
    pub(crate) players: u32,
    /// Clients that were connected to the room at its last tick.
    pub(crate) clients: u32,
    /// How much less the room sends because it is late.
    pub(crate) load_level: LoadLevel,
    /// Ticks that the room has skipped on this host.
    pub(crate) ticks_skipped: u64,
    /// What the parts of the map cost, about a second ago.
    pub(crate) load: RegionLoads,
}

impl RoomInlet {
    pub(crate) fn new(
        way_in: WayIn,
        saved_from: Arc<AtomicU64>,
        counters: Arc<Counters>,
        callbacks: Arc<CallbackTimes>,
    ) -> Self {
        Self {
            way_in,
            saved_from,
            counters,
            posts: Arc::new(Semaphore::new(POSTS)),
            next_client: AtomicU32::new(1),
            figures: Mutex::default(),
            callbacks,
            given_up: CancellationToken::new(),
        }
    }

    /// A number that no other connection of this room has had.
    pub(crate) fn next_client(&self) -> ClientId {
        ClientId(self.next_client.fetch_add(1, Relaxed))
    }

    /// Sends a call without waiting for the room: when its mailbox is full a task waits in its
    /// place. The receiver has an end when the room has carried the call out, or has ended; there
    /// is none if the room is stuck.
    pub(crate) fn post(&self, call: RoomCall) -> Option<oneshot::Receiver<()>> {
        let Ok(place) = Arc::clone(&self.posts).try_acquire_owned() else {
            self.counters.dropped(DropReason::PostsFull);
            tracing::error!("a room does not take its messages: it is stuck in a tick");
            return None;
        };
        Some(self.way_in.mailbox.post(call, place))
    }
}
