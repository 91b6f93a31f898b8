//! A bounded queue of events, from the router to whoever reads them.
//!
//! The router never waits: when the queue is full, updates are dropped first, then the older half
//! of what is left. Dropped events are counted, and the reader is told how many it missed. After
//! the last event ([`EventQueue::close`]) no more are accepted.

use std::collections::VecDeque;

use ambit_client_core::client::event::{GameEvent, LobbyEvent};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// An event that such a queue can hold.
pub(crate) trait Queued {
    /// Whether a later read of the state makes up for it.
    fn is_update(&self) -> bool;
    /// Tells the reader that events were dropped.
    fn missed(count: u64) -> Self;
}

/// The queue; see the module.
#[derive(Debug)]
pub(crate) struct EventQueue<E> {
    state: Mutex<QueueState<E>>,
    filled: Notify,
    max_events: usize,
}

#[derive(Debug)]
struct QueueState<E> {
    events: VecDeque<E>,
    missed: u64,
    closed: bool,
}

impl<E: Queued> EventQueue<E> {
    /// An empty queue for at most `max_events`.
    pub(crate) fn new(max_events: usize) -> Self {
        let events = VecDeque::new();
        EventQueue {
            state: Mutex::new(QueueState { events, missed: 0, closed: false }),
            filled: Notify::new(),
            max_events,
        }
    }

    /// Appends an event; makes room if there is none.
    pub(crate) fn push(&self, event: E) {
        self.append(event, false);
    }

    /// Appends an event that `replaces` older ones, since it contains all that they say; removes
    /// them. The reader has missed nothing by that.
    pub(crate) fn push_instead(&self, replaces: impl Fn(&E, &E) -> bool, event: E) {
        self.state.lock().events.retain(|older| !replaces(&event, older));
        self.push(event);
    }

    /// Appends the last event. Who reads it finds the queue closed.
    pub(crate) fn close(&self, last: E) {
        self.append(last, true);
    }

    fn append(&self, event: E, is_last: bool) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        if state.events.len() >= self.max_events {
            state.make_room(self.max_events / 2);
        }
        state.events.push_back(event);
        state.closed = is_last;
        drop(state);
        self.filled.notify_one();
    }

    /// Whether the last event was appended.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// The oldest event.
    pub(crate) fn try_next(&self) -> Option<E> {
        let mut state = self.state.lock();
        match std::mem::take(&mut state.missed) {
            0 => state.events.pop_front(),
            missed => Some(E::missed(missed)),
        }
    }

    /// The oldest event, as soon as there is one; `None` after the last one. It is cancel-safe.
    pub(crate) async fn next(&self) -> Option<E> {
        loop {
            // Before the next look: `close` appends first.
            let closed = self.is_closed();
            if let Some(event) = self.try_next() {
                return Some(event);
            }
            if closed {
                // Another reader may wait, too.
                self.filled.notify_one();
                return None;
            }
            self.filled.notified().await;
        }
    }
}

impl<E: Queued> QueueState<E> {
    fn make_room(&mut self, kept: usize) {
        let before = self.events.len();
        self.events.retain(|event| !event.is_update());
        if self.events.len() > kept {
            self.events.drain(..self.events.len() - kept);
        }
        self.missed += (before - self.events.len()) as u64;
    }
}

impl Queued for LobbyEvent {
    fn is_update(&self) -> bool {
        matches!(self, LobbyEvent::RoomChanged { .. })
    }

    fn missed(count: u64) -> Self {
        LobbyEvent::Missed { count }
    }
}

impl Queued for GameEvent {
    fn is_update(&self) -> bool {
        self.is_update()
    }

    fn missed(count: u64) -> Self {
        GameEvent::Missed { count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    enum Test {
        Update,
        Event(u32),
        Missed(u64),
    }

    impl Queued for Test {
        fn is_update(&self) -> bool {
            *self == Test::Update
        }

        fn missed(count: u64) -> Self {
            Test::Missed(count)
        }
    }

    #[test]
    fn updates_are_dropped_first_and_the_reader_is_told() {
        let queue = EventQueue::new(10);
        queue.push(Test::Event(1));
        (0..9).for_each(|_| queue.push(Test::Update));
        queue.push(Test::Event(2));
        assert_eq!(taken(&queue), [Test::Missed(9), Test::Event(1), Test::Event(2)]);
        assert_eq!(taken(&queue), []);
    }

    #[test]
    fn a_queue_that_nobody_reads_keeps_the_newest_events() {
        let queue = EventQueue::new(10);
        (0..1_000).for_each(|number| queue.push(Test::Event(number)));
        let events = taken(&queue);
        assert!(events.len() <= 11);
        assert_eq!(events.last(), Some(&Test::Event(999)));
        let Test::Missed(missed) = events[0] else { panic!("{events:?}") };
        assert_eq!(missed + events.len() as u64 - 1, 1_000);
    }

    #[test]
    fn an_event_can_take_the_place_of_outdated_ones() {
        let queue = EventQueue::new(10);
        for number in 0..1_000 {
            let is_odd =
                |_: &Test, event: &Test| matches!(event, Test::Event(number) if number % 2 == 1);
            if number < 5 {
                queue.push(Test::Event(number));
            } else {
                queue.push_instead(is_odd, Test::Event(number * 2 + 1));
            }
        }
        let expected = [0, 2, 4, 1_999].map(Test::Event);
        assert_eq!(taken(&queue), expected);
    }

    #[tokio::test]
    async fn the_last_event_is_read_and_nothing_follows() {
        let queue = EventQueue::new(10);
        queue.push(Test::Event(1));
        queue.close(Test::Event(2));
        queue.push(Test::Event(3));
        assert_eq!(queue.next().await, Some(Test::Event(1)));
        assert_eq!(queue.next().await, Some(Test::Event(2)));
        assert_eq!(queue.next().await, None);
        assert_eq!(queue.next().await, None);
    }

    #[tokio::test]
    async fn a_reader_wakes_up_for_an_event_and_for_the_end() {
        let queue = EventQueue::new(10);
        let read = async { (queue.next().await, queue.next().await, queue.next().await) };
        let write = async {
            tokio::task::yield_now().await;
            queue.push(Test::Event(1));
            tokio::task::yield_now().await;
            queue.close(Test::Event(2));
        };
        let (events, ()) = tokio::join!(read, write);
        assert_eq!(events, (Some(Test::Event(1)), Some(Test::Event(2)), None));
    }

    fn taken(queue: &EventQueue<Test>) -> Vec<Test> {
        std::iter::from_fn(|| queue.try_next()).collect()
    }
}
