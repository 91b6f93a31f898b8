//! What is to be done later, and when.
//!
//! Due things come out in the order of their times, and at one time in the order of the objects'
//! birth; what somebody else has planned in between changes nothing. A plan is never taken back:
//! whoever is woken looks whether there is still anything to do. Bound: a few plans for each body.
//! Cost: logarithmic; nothing is allocated once there were as many plans before.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ambit_proto::ids::ObjectId;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

/// What to wake somebody for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum WakeReason {
    /// The veil is over.
    Unveil,
    /// The dead come back.
    Respawn,
    /// A wanderer sets out again.
    Wander,
    /// A walker has come to its waypoint.
    Walk,
}

/// A plan; the order of the fields is the order in which plans come out.
type TimerEntry = (GameTime, ObjectId, WakeReason);

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct WakeTimers {
    /// The earliest on top.
    entries: BinaryHeap<Reverse<TimerEntry>>,
}

impl WakeTimers {
    pub(super) fn add(&mut self, at: GameTime, object: ObjectId, wake: WakeReason) {
        self.entries.push(Reverse((at, object, wake)));
    }

    /// The next thing that is due at `now`.
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
