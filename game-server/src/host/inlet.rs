//! What connections need of a room: the way to its actor, its clock, a number for each new client; and the
//! queue between a connection's reader and the room.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use actix::{Addr, Handler, Message};
use ambit_proto::ids::ClientId;
use ambit_proto::time::GameTime;
use bytes::Bytes;
use crossbeam_queue::ArrayQueue;
use tokio::sync::Semaphore;

use crate::actor::GameServer;
use crate::clock_thread::RoomClock;
use crate::host::counters::{Counters, Drop};

/// Datagrams that a client may send between two ticks. At 20 ticks a second this is 1,280 a second, twenty times what a
/// client sends. When it is full the oldest goes: the newest holds what the client knows best, and a lost command is
/// resent.
const INBOX: usize = 64;

/// Messages about a room's players that may wait for the room. Only a room that is stuck for good takes none for so long;
/// then new ones are dropped, since nothing could be done about them.
const POSTS: usize = 4_096;

/// The way into a room.
pub(crate) struct RoomInlet {
    pub(crate) actor: Addr<GameServer>,
    pub(crate) clock: RoomClock,
    counters: Arc<Counters>,
    posts: Arc<Semaphore>,
    next_client: AtomicU32,
    players: AtomicU32,
}

impl RoomInlet {
    pub(crate) fn new(actor: Addr<GameServer>, clock: RoomClock, counters: Arc<Counters>) -> Self {
        Self {
            actor,
            clock,
            counters,
            posts: Arc::new(Semaphore::new(POSTS)),
            next_client: AtomicU32::new(1),
            players: AtomicU32::new(0),
        }
    }

    /// A number that no other connection of this room has had.
    pub(crate) fn next_client(&self) -> ClientId {
        ClientId(self.next_client.fetch_add(1, Relaxed))
    }

    /// Sends a message without waiting for the room: when its mailbox is full a task waits in its place. The order of messages
    /// that find room is kept.
    pub(crate) fn post<M>(&self, message: M)
    where
        M: Message<Result = ()> + Send + 'static,
        GameServer: Handler<M>,
    {
        let Ok(place) = Arc::clone(&self.posts).try_acquire_owned() else {
            self.counters.dropped(Drop::PostsFull);
            return tracing::error!("a room does not take its messages; it is stuck in a tick");
        };
        // Already in the mailbox unless that is full; cancelled if nobody waited for the answer.
        let request = self.actor.send(message);
        tokio::spawn(async move {
            // An error means that the room is gone, and with it whatever the message was about.
            let _ = request.await;
            drop(place);
        });
    }

    /// Players in the room at its last tick.
    pub(crate) fn players(&self) -> u32 {
        self.players.load(Relaxed)
    }

    pub(crate) fn set_players(&self, players: u32) {
        self.players.store(players, Relaxed);
    }
}

/// Datagrams of one client, with the room's time at their arrival.
pub(crate) struct Inbox {
    queue: ArrayQueue<(GameTime, Bytes)>,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self { queue: ArrayQueue::new(INBOX) }
    }

    /// Adds one; `false` when the oldest had to go for it.
    pub(crate) fn push(&self, at: GameTime, datagram: Bytes) -> bool {
        self.queue.force_push((at, datagram)).is_none()
    }

    /// What is there now. What arrives meanwhile may come along, at most one more queue's length.
    pub(crate) fn drain(&self) -> impl Iterator<Item = (GameTime, Bytes)> + '_ {
        std::iter::from_fn(|| self.queue.pop()).take(2 * INBOX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_inbox_drops_the_oldest() {
        let inbox = Inbox::new();
        for n in 0..INBOX as u8 {
            assert!(inbox.push(GameTime::ZERO, Bytes::from(vec![n])));
        }
        assert!(!inbox.push(GameTime::ZERO, Bytes::from_static(&[255])));
        let left: Vec<u8> = inbox.drain().map(|(_, datagram)| datagram[0]).collect();
        assert_eq!(left.len(), INBOX);
        assert_eq!((left[0], left[INBOX - 1]), (1, 255));
    }
}
