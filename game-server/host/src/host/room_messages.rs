//! What rooms send the WorldServer, on its way to the host's owner.
//!
//! Journal entries get their numbers here, and leave in the order of their numbers: the WorldServer
//! acknowledges all entries up to a number. Bound: [`ROOM_MESSAGES`]; further messages are dropped,
//! with an error in the log. That happens only when the link is about to be given up anyway: then
//! the rooms go on at another host, or end. No room waits, but while another one adds its entry.

use ambit_host_protocol::messages::HostMessage;
use ambit_proto::ids::RoomId;
use ambit_room::journal::JournalEntry;
use parking_lot::Mutex;
use tokio::sync::mpsc;

/// Messages of rooms that may wait for the owner. It reads them without pause, so this is reached
/// only when the WorldServer has not read for long; then the link ends (`host_link::HOST_QUEUE`).
const ROOM_MESSAGES: usize = 4_096;

/// The rooms' end of the queue.
pub(crate) struct RoomMessages {
    queue: mpsc::Sender<HostMessage>,
    /// The number of the newest journal entry. Held while an entry is queued.
    last_journal: Mutex<u64>,
}

impl RoomMessages {
    /// The two ends of the queue.
    pub(crate) fn new() -> (Self, mpsc::Receiver<HostMessage>) {
        let (queue, messages) = mpsc::channel(ROOM_MESSAGES);
        (Self { queue, last_journal: Mutex::new(0) }, messages)
    }

    /// Sends a message; `false` if it was dropped.
    pub(crate) fn send(&self, message: HostMessage) -> bool {
        let is_sent = self.queue.try_send(message).is_ok();
        if !is_sent {
            tracing::error!("the WorldServer does not read this host's messages");
        }
        is_sent
    }

    /// Sends a room's journal entry. Returns its number, and `false` if it was dropped.
    pub(crate) fn send_journal(&self, room: RoomId, entry: JournalEntry) -> (u64, bool) {
        let mut last = self.last_journal.lock();
        *last += 1;
        (*last, self.send(HostMessage::Journal { room, entry, number: *last }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_rooms_that_tick_at_once_leave_in_the_order_of_their_numbers() {
        let (rooms, mut messages) = RoomMessages::new();
        std::thread::scope(|scope| {
            for room in 0..4 {
                let rooms = &rooms;
                scope.spawn(move || {
                    for _ in 0..500 {
                        let (_, is_sent) =
                            rooms.send_journal(RoomId(room), JournalEntry::default());
                        assert!(is_sent);
                    }
                });
            }
        });
        let numbers = std::iter::from_fn(|| match messages.try_recv() {
            Ok(HostMessage::Journal { number, .. }) => Some(number),
            _ => None,
        });
        assert_eq!(numbers.collect::<Vec<u64>>(), (1..=2_000).collect::<Vec<u64>>());
    }

    #[test]
    fn what_does_not_fit_into_the_queue_is_dropped_and_reported() {
        let (rooms, _messages) = RoomMessages::new();
        let sent = (0..=ROOM_MESSAGES).filter(|_| rooms.send(HostMessage::HandingOver)).count();
        assert_eq!(sent, ROOM_MESSAGES);
        let entry = rooms.send_journal(RoomId(1), JournalEntry::default());
        assert_eq!(entry, (1, false));
    }
}
