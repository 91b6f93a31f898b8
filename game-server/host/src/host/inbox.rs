//! The queue of datagrams between the connections' readers and the room.

use std::sync::Arc;

use ambit_proto::ids::ClientId;
use ambit_proto::time::GameTime;
use bytes::Bytes;
use parking_lot::Mutex;

/// Datagrams that a client may send between two ticks. At 20 ticks a second this is 1,280 a second,
/// fifty times what a client sends. What is beyond it is dropped, as if the path had lost it.
pub(crate) const SHARE: u32 = 64;

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
    /// The room has gone on at another host.
    is_closed: bool,
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
    /// For the datagrams of one client: limits how many wait here.
    pub(crate) fn slot(self: &Arc<Self>, client: ClientId) -> Slot {
        Slot { inbox: Arc::clone(self), client, used: 0, taken: 0 }
    }

    /// Exchanges what has arrived for `empty`, so that both keep their memory.
    pub(crate) fn swap(&self, empty: &mut Vec<Arrived>) {
        let mut waiting = self.waiting.lock();
        waiting.taken += 1;
        std::mem::swap(&mut waiting.datagrams, empty);
    }

    /// From now on nothing is kept: the room has gone on at another host, and its clients are about
    /// to follow.
    pub(crate) fn close(&self) {
        let mut waiting = self.waiting.lock();
        (waiting.datagrams, waiting.is_closed) = (Vec::new(), true);
    }
}

impl Slot {
    /// Adds a datagram; `false` when the client's share is used up.
    pub(crate) fn push(&mut self, at: GameTime, datagram: Bytes) -> bool {
        let mut waiting = self.inbox.waiting.lock();
        if waiting.is_closed {
            return true;
        }
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
    fn a_flooding_client_loses_its_excess_but_no_other_client_s_datagrams() {
        let inbox = Arc::new(Inbox::default());
        let mut flooding = inbox.slot(ClientId(1));
        let mut quiet = inbox.slot(ClientId(2));
        let drain = |inbox: &Inbox| {
            let mut datagrams = Vec::new();
            inbox.swap(&mut datagrams);
            datagrams.iter().map(|(client, _, bytes)| (client.0, bytes[0])).collect::<Vec<_>>()
        };
        let datagram = |byte: u8| Bytes::from(vec![byte]);
        let accepted = (0..200).filter(|_| flooding.push(GameTime::ZERO, datagram(7))).count();
        assert_eq!(accepted, SHARE as usize);
        assert!(quiet.push(GameTime::ZERO, datagram(8)));
        let first = drain(&inbox);
        assert_eq!((first.len(), first[0], first[64]), (65, (1, 7), (2, 8)));
        assert!(flooding.push(GameTime::ZERO, datagram(9)), "each tick has a new share");
        assert_eq!(drain(&inbox), [(1, 9)]);
        assert_eq!(drain(&inbox), []);
    }

    #[test]
    fn what_comes_after_the_room_has_left_is_dropped_without_a_report() {
        let inbox = Arc::new(Inbox::default());
        let mut slot = inbox.slot(ClientId(1));
        inbox.close();
        assert!((0..2 * SHARE).all(|_| slot.push(GameTime::ZERO, Bytes::new())));
        let mut datagrams = Vec::new();
        inbox.swap(&mut datagrams);
        assert!(datagrams.is_empty());
    }
}
