//! What connections need of a room: its actor, its clock, a number for each new client.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use actix::{Addr, Handler, Message};
use ambit_proto::ids::ClientId;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::actor::RoomActor;
use super::counters::{Counters, DropReason};
use super::inbox::Inbox;
use crate::host_core::clock::RoomClock;
use ambit_room::network::loads::RegionLoads;

/// Orders that may wait for the room. Only a room that is stuck for good takes none for so long;
/// then new ones are dropped, since nothing could be done about them.
const POSTS: usize = 4_096;

/// The way into a room.
pub(crate) struct RoomInlet {
    pub(crate) actor: Addr<RoomActor>,
    pub(crate) clock: RoomClock,
    pub(crate) inbox: Arc<Inbox>,
    /// How often the room was given to a host, this time included.
    pub(crate) incarnation: u32,
    counters: Arc<Counters>,
    posts: Arc<Semaphore>,
    next_client: AtomicU32,
    /// Players at most.
    pub(crate) seats: u32,
    players: AtomicU32,
    is_late: AtomicBool,
    clients: AtomicU32,
    load: Mutex<RegionLoads>,
}

impl RoomInlet {
    pub(crate) fn new(
        actor: Addr<RoomActor>,
        clock: RoomClock,
        inbox: Arc<Inbox>,
        incarnation: u32,
        seats: u32,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            actor,
            clock,
            inbox,
            incarnation,
            seats,
            counters,
            posts: Arc::new(Semaphore::new(POSTS)),
            next_client: AtomicU32::new(1),
            players: AtomicU32::new(0),
            is_late: AtomicBool::new(false),
            clients: AtomicU32::new(0),
            load: Mutex::default(),
        }
    }

    /// A number that no other connection of this room has had.
    pub(crate) fn next_client(&self) -> ClientId {
        ClientId(self.next_client.fetch_add(1, Relaxed))
    }

    /// Sends a message without waiting for the room: when its mailbox is full a task waits in its
    /// place. Messages that find room keep their order. The task ends when the room has handled the
    /// message; there is none if the room is stuck.
    pub(crate) fn post<M>(&self, message: M) -> Option<JoinHandle<()>>
    where
        M: Message<Result = ()> + Send + 'static,
        RoomActor: Handler<M>,
    {
        let Ok(place) = Arc::clone(&self.posts).try_acquire_owned() else {
            self.counters.dropped(DropReason::PostsFull);
            tracing::error!("a room does not take its messages: it is stuck in a tick");
            return None;
        };
        // Already in the mailbox unless that is full; cancelled if nobody waited for the answer.
        let request = self.actor.send(message);
        Some(tokio::spawn(async move {
            // An error means that the room has ended, so the message has no meaning any more.
            let _ = request.await;
            drop(place);
        }))
    }

    /// What the parts of the map cost, about a second ago.
    pub(crate) fn load(&self) -> RegionLoads {
        self.load
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set_load(&self, load: RegionLoads) {
        *self.load.lock().unwrap_or_else(PoisonError::into_inner) = load;
    }

    /// Whether the room sends less because it is late.
    pub(crate) fn is_late(&self) -> bool {
        self.is_late.load(Relaxed)
    }

    pub(crate) fn set_late(&self, is_late: bool) {
        self.is_late.store(is_late, Relaxed);
    }

    /// Players in the room at its last tick.
    pub(crate) fn players(&self) -> u32 {
        self.players.load(Relaxed)
    }

    pub(crate) fn set_players(&self, players: u32) {
        self.players.store(players, Relaxed);
    }

    /// Clients that were connected to the room at its last tick.
    pub(crate) fn clients(&self) -> u32 {
        self.clients.load(Relaxed)
    }

    pub(crate) fn set_clients(&self, clients: u32) {
        self.clients.store(clients, Relaxed);
    }
}
