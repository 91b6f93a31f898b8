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
pub(super) enum Wake {
    /// The veil is over.
    Unveil,
    /// The dead come back.
    Return,
    /// A wanderer sets out again.
    Wander,
    /// A walker has come to its waypoint.
    Walk,
}

/// A plan; the order of the fields is the order in which plans come out.
type Plan = (GameTime, ObjectId, Wake);

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Timers {
    /// The earliest on top.
    plans: BinaryHeap<Reverse<Plan>>,
}

impl Timers {
    pub(super) fn add(&mut self, at: GameTime, object: ObjectId, wake: Wake) {
        self.plans.push(Reverse((at, object, wake)));
    }

    /// The next thing that is due at `now`.
    pub(super) fn pop_due(&mut self, now: GameTime) -> Option<(ObjectId, Wake)> {
        let Reverse((at, object, wake)) = *self.plans.peek()?;
        if at > now {
            return None;
        }
        self.plans.pop();
        Some((object, wake))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_in_order_and_what_is_not_waits() {
        let mut timers = Timers::default();
        let (old, young) = (ObjectId(1), ObjectId(2));
        timers.add(GameTime::from_millis(20), young, Wake::Return);
        timers.add(GameTime::from_millis(20), old, Wake::Wander);
        timers.add(GameTime::from_millis(10), young, Wake::Wander);
        timers.add(GameTime::from_millis(30), old, Wake::Unveil);
        let mut due = Vec::new();
        while let Some(next) = timers.pop_due(GameTime::from_millis(29)) {
            due.push(next);
        }
        assert_eq!(
            due,
            [
                (young, Wake::Wander),
                (old, Wake::Wander),
                (young, Wake::Return)
            ]
        );
        assert_eq!(
            timers.pop_due(GameTime::from_millis(30)),
            Some((old, Wake::Unveil))
        );
    }
}
