//! What connections need of a room: its actor, its clock, a number for each new client; and the
//! queue between the connections' readers and the room.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix::{Addr, Handler, Message};
use ambit_proto::ids::ClientId;
use ambit_proto::time::GameTime;
use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::actor::RoomActor;
use crate::host::counters::{Counters, DropReason};
use crate::host_core::clock::RoomClock;
use ambit_room::network::loads::RegionLoads;

/// Datagrams that a client may send between two ticks. At 20 ticks a second this is 1,280 a second,
/// fifty times what a client sends. What is beyond it is dropped, as if the path had lost it.
const SHARE: u32 = 64;

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

    /// Players in the room at its last tick.
    pub(crate) fn players(&self) -> u32 {
        self.players.load(Relaxed)
    }

    pub(crate) fn set_players(&self, players: u32) {
        self.players.store(players, Relaxed);
    }
}

/// A datagram, from whom it is, and the room's time at its arrival.
pub(crate) type Arrived = (ClientId, GameTime, Bytes);

/// What has arrived for a room since its last tick, in that order: at most [`SHARE`] datagrams of
/// each client.
///
/// One queue for all: what a thousand readers write lies side by side, and the room takes it in one
/// go. The lock is held for an append or a swap.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    datagrams: Vec<Arrived>,
    /// How often the room has taken them.
    taken: u64,
}

/// One client's way into the inbox, and how much of its share is used.
#[derive(Debug)]
pub(crate) struct Slot {
    inbox: Arc<Inbox>,
    client: ClientId,
    used: u32,
    /// Of the inbox, when `used` was counted.
    taken: u64,
}

impl Inbox {
    /// A way in.
    pub(crate) fn slot(self: &Arc<Self>, client: ClientId) -> Slot {
        Slot {
            inbox: Arc::clone(self),
            client,
            used: 0,
            taken: 0,
        }
    }

    /// Exchanges what has arrived for `empty`, so that both keep their memory.
    pub(crate) fn swap(&self, empty: &mut Vec<Arrived>) {
        let mut waiting = self.lock();
        waiting.taken += 1;
        std::mem::swap(&mut waiting.datagrams, empty);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Adds a datagram; `false` when the client's share is used up.
    pub(crate) fn push(&mut self, at: GameTime, datagram: Bytes) -> bool {
        let mut waiting = self.inbox.lock();
        if self.taken != waiting.taken {
            (self.taken, self.used) = (waiting.taken, 0);
        }
        let fits = self.used < SHARE;
        if fits {
            self.used += 1;
            waiting.datagrams.push((self.client, at, datagram));
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_floods_loses_what_is_beyond_its_share_and_takes_nothing_of_the_others() {
        let inbox = Arc::new(Inbox::default());
        let (mut loud, mut calm) = (inbox.slot(ClientId(1)), inbox.slot(ClientId(2)));
        let taken = |inbox: &Inbox| {
            let mut datagrams = Vec::new();
            inbox.swap(&mut datagrams);
            datagrams
                .iter()
                .map(|(client, _, bytes)| (client.0, bytes[0]))
                .collect::<Vec<_>>()
        };
        let said = |byte: u8| Bytes::from(vec![byte]);
        let heard = (0..200)
            .filter(|_| loud.push(GameTime::ZERO, said(7)))
            .count();
        assert_eq!(heard, SHARE as usize);
        assert!(calm.push(GameTime::ZERO, said(8)));
        let first = taken(&inbox);
        assert_eq!((first.len(), first[0], first[64]), (65, (1, 7), (2, 8)));
        assert!(
            loud.push(GameTime::ZERO, said(9)),
            "a share is for one tick"
        );
        assert_eq!(taken(&inbox), [(1, 9)]);
        assert_eq!(taken(&inbox), []);
    }
}
