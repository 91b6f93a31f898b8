//! What operators are told: the log's lines, and the newest events for those who ask by HTTP.
//!
//! The lobby's actor and the interface of operators write here; `/admin/v1/events` reads. An event
//! that is older than the newest [`KEPT`] is forgotten, and who asks for it is told how many are
//! missing.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ambit_lobby::OperatorEvent;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::watch;

/// Events of the last minutes: some 200 bytes each.
const KEPT: usize = 1_000;

/// An event with its place in the sequence of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NumberedEvent {
    /// 1 for the first one since the server's start.
    pub(crate) number: u64,
    /// Milliseconds since 1970.
    pub(crate) at_ms: u64,
    #[serde(flatten)]
    pub(crate) event: OperatorEvent,
}

/// What is known after a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct EventsAfter {
    /// How many came after that number and are forgotten.
    pub(crate) missed: u64,
    /// The number of the newest one.
    pub(crate) newest: u64,
    pub(crate) events: Vec<NumberedEvent>,
}

/// The newest events.
#[derive(Debug, Default)]
struct EventRing {
    newest: u64,
    events: VecDeque<NumberedEvent>,
}

impl EventRing {
    fn push(&mut self, at_ms: u64, event: OperatorEvent) -> u64 {
        self.newest += 1;
        if self.events.len() == KEPT {
            self.events.pop_front();
        }
        self.events.push_back(NumberedEvent { number: self.newest, at_ms, event });
        self.newest
    }

    /// A number that is not known yet is of an earlier server: everything is new then.
    fn after(&self, number: u64) -> EventsAfter {
        let number = if number > self.newest { 0 } else { number };
        let oldest = self.events.front().map_or(self.newest + 1, |event| event.number);
        let events = self.events.iter().filter(|event| event.number > number).cloned();
        let missed = (oldest - 1).saturating_sub(number);
        EventsAfter { missed, newest: self.newest, events: events.collect() }
    }
}

/// The events of a server; clones share them.
#[derive(Clone, Debug)]
pub(crate) struct OperatorLog {
    ring: Arc<Mutex<EventRing>>,
    newest: Arc<watch::Sender<u64>>,
}

impl OperatorLog {
    pub(crate) fn new() -> Self {
        Self { ring: Arc::default(), newest: Arc::new(watch::Sender::new(0)) }
    }

    /// Logs an event, and tells those who wait for one.
    #[expect(clippy::disallowed_methods, reason = "events say when they happened")]
    pub(crate) fn report(&self, event: OperatorEvent) {
        event.log();
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let newest = self.ring.lock().push(since_1970.as_millis() as u64, event);
        self.newest.send_replace(newest);
    }

    /// The events after this number; 0 for all that are kept.
    pub(crate) fn after(&self, number: u64) -> EventsAfter {
        self.ring.lock().after(number)
    }

    /// The same once there is one. `None` if the server ends.
    pub(crate) async fn wait_for(&self, number: u64) -> Option<EventsAfter> {
        let mut newest = self.newest.subscribe();
        // An earlier server had more.
        let number = if number > *newest.borrow() { 0 } else { number };
        newest.wait_for(|newest| *newest > number).await.ok()?;
        Some(self.after(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(player: u64) -> OperatorEvent {
        OperatorEvent::PlayerAway { player, name: "ann".to_owned() }
    }

    #[test]
    fn who_asks_gets_what_is_kept_after_a_number_and_learns_what_is_not() {
        let mut ring = EventRing::default();
        assert_eq!(ring.after(0), EventsAfter::default());
        for player in 1..=1_010 {
            ring.push(player, event(player));
        }
        let numbers = |after: u64| {
            let EventsAfter { missed, events, .. } = ring.after(after);
            (missed, events.len(), events.first().map(|event| event.number))
        };
        assert_eq!(numbers(0), (10, 1_000, Some(11)));
        assert_eq!(numbers(4), (6, 1_000, Some(11)));
        assert_eq!(numbers(10), (0, 1_000, Some(11)));
        assert_eq!(numbers(1_009), (0, 1, Some(1_010)));
        assert_eq!(numbers(1_010), (0, 0, None));
        assert_eq!(numbers(9_999), (10, 1_000, Some(11)), "of an earlier server");
    }

    #[test]
    fn an_event_is_one_flat_object() {
        let mut ring = EventRing::default();
        ring.push(1_700_000_000_000, event(7));
        let json = serde_json::to_value(&ring.after(0).events).expect("it is JSON");
        let expected = serde_json::json!([{
            "number": 1, "at_ms": 1_700_000_000_000_u64, "event": "player_away", "player": 7,
            "name": "ann"
        }]);
        assert_eq!(json, expected);
    }
}
