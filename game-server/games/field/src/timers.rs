//! Wake-ups of objects at a later time.
//!
//! Due timers come out in the order of their times and, at the same time, in the order of the
//! objects' birth; other timers do not change this order. Timers are never cancelled: the caller
//! checks whether there is still anything to do. Bound: a few timers for each creature. Cost:
//! logarithmic; allocates only when there are more timers than ever before.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ambit_proto::ids::ObjectId;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

/// What to do when a timer is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum WakeReason {
    /// The veil ends.
    Unveil,
    /// A dead avatar or wanderer comes back.
    Respawn,
    /// A wanderer starts its next leg.
    Wander,
}

/// A timer; the order of the fields is the order in which timers come out.
type TimerEntry = (GameTime, ObjectId, WakeReason);

/// The pending timers. See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct WakeTimers {
    /// The earliest on top.
    entries: BinaryHeap<Reverse<TimerEntry>>,
}

impl WakeTimers {
    pub(super) fn add(&mut self, at: GameTime, object: ObjectId, wake: WakeReason) {
        self.entries.push(Reverse((at, object, wake)));
    }

    /// The next timer that is due at `now`.
    pub(super) fn pop_due(&mut self, now: GameTime) -> Option<(ObjectId, WakeReason)> {
        let Reverse((at, object, wake)) = *self.entries.peek()?;
        if at > now {
            return None;
        }
        self.entries.pop();
        Some((object, wake))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_timers_come_in_order_and_later_ones_wait() {
        let mut timers = WakeTimers::default();
        let (old, young) = (ObjectId(1), ObjectId(2));
        timers.add(GameTime::from_millis(20), young, WakeReason::Respawn);
        timers.add(GameTime::from_millis(20), old, WakeReason::Wander);
        timers.add(GameTime::from_millis(10), young, WakeReason::Wander);
        timers.add(GameTime::from_millis(30), old, WakeReason::Unveil);
        let mut due = Vec::new();
        while let Some(next) = timers.pop_due(GameTime::from_millis(29)) {
            due.push(next);
        }
        assert_eq!(
            due,
            [
                (young, WakeReason::Wander),
                (old, WakeReason::Wander),
                (young, WakeReason::Respawn)
            ]
        );
        assert_eq!(
            timers.pop_due(GameTime::from_millis(30)),
            Some((old, WakeReason::Unveil))
        );
    }
}
