//! The queue of events for the view.
//!
//! Events go in and come out in order. The queue is bounded, since a view may stop reading: when it
//! is full, all `Update` and `MapProgress` events in it are dropped and counted (the newest state
//! can be read directly). Nothing else is ever dropped. If the queue is more than half full after
//! that, the view does not read, and the owner ends the connection.

use std::collections::VecDeque;

use super::event::ViewEvent;

/// Default maximum number of queued events.
pub(crate) const DEFAULT_MAX_EVENTS: usize = 65_536;

/// The view does not read: the queue is full of events that can't be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the events of the client are not read: {waiting} wait that cannot be dropped")]
pub(crate) struct EventsUnread {
    waiting: usize,
}

/// The events that wait for the view; see the module.
#[derive(Debug)]
pub(crate) struct EventQueue {
    events: VecDeque<ViewEvent>,
    max_events: usize,
    dropped: u64,
}

impl EventQueue {
    /// An empty queue for at most `bound` events.
    pub(crate) fn new(bound: usize) -> Self {
        EventQueue { events: VecDeque::new(), max_events: bound, dropped: 0 }
    }

    /// Appends an event. The error means that the view does not read; the event is queued all the
    /// same.
    pub(crate) fn push(&mut self, event: ViewEvent) -> Result<(), EventsUnread> {
        self.events.push_back(event);
        if self.events.len() <= self.max_events { Ok(()) } else { self.drop_updates() }
    }

    /// Removes and returns the oldest event.
    pub(crate) fn pop(&mut self) -> Option<ViewEvent> {
        self.events.pop_front()
    }

    /// Whether no event waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Events dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    // Drops all of them, not just the oldest: so a full queue is scanned only once per half a bound
    // of pushes.
    fn drop_updates(&mut self) -> Result<(), EventsUnread> {
        let before = self.events.len();
        self.events.retain(|event| !matches!(event, ViewEvent::Game(event) if event.is_update()));
        let waiting = self.events.len();
        self.dropped += (before - waiting) as u64;
        if waiting <= self.max_events / 2 { Ok(()) } else { Err(EventsUnread { waiting }) }
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::ClientObjectId;
    use ambit_proto::time::GameTime;

    use super::*;
    use crate::client::event::{GameEvent, ObjectUpdated};

    #[test]
    fn events_come_out_in_order() {
        let mut queue = EventQueue::new(10);
        for id in 0..5 {
            queue.push(leave(id)).expect("the queue is not full");
        }
        assert_eq!(
            std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(),
            (0..5).map(leave).collect::<Vec<_>>()
        );
        assert!(queue.is_empty());
    }

    #[test]
    fn a_full_queue_drops_updates_and_nothing_else() {
        let mut queue = EventQueue::new(10);
        for id in 0..1_000 {
            if id % 300 == 0 {
                queue.push(leave(id)).expect("the queue is not full");
            }
            queue.push(update(id)).expect("updates make room");
        }
        assert!(queue.events.len() <= 10);
        let kept = std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>();
        assert_eq!(
            kept.iter()
                .filter(|event| matches!(event, ViewEvent::Game(GameEvent::Leave { .. })))
                .count(),
            4
        );
        let updates = kept
            .iter()
            .filter(|event| matches!(event, ViewEvent::Game(GameEvent::Update(_))))
            .count() as u64;
        assert_eq!(queue.dropped() + updates, 1_000);
    }

    #[test]
    fn a_queue_full_of_undroppable_events_has_no_reader() {
        let mut queue = EventQueue::new(10);
        for id in 0..10 {
            queue.push(leave(id)).expect("the queue is not full");
        }
        assert_eq!(queue.push(leave(10)), Err(EventsUnread { waiting: 11 }));
    }

    fn leave(id: u32) -> ViewEvent {
        GameEvent::Leave { id: ClientObjectId(id), t: GameTime::ZERO }.into()
    }

    fn update(id: u32) -> ViewEvent {
        let id = ClientObjectId(id);
        let t = GameTime::ZERO;
        GameEvent::Update(ObjectUpdated { id, t, at: t, components: Vec::new() }).into()
    }
}
