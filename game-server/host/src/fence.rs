//! Whether this process was itself stopped for so long that its rooms may be somebody else's by
//! now.
//!
//! Who hangs is given up after a while, and its rooms go on elsewhere. When it wakes up it does not
//! know that yet; what it took now would be confirmed to players and known to nobody. So whoever is
//! about to confirm something, and whoever says that the host lives, passes here first: between two
//! passages there is never more than the bound, or there is no passage any more.
//!
//! The WorldServer counts from the last sign of life, which may have left one
//! [`HEARTBEAT_INTERVAL`] before the process stopped, and what leaves now needs some time to get
//! there: hence the bound.

use std::time::Duration;

use crate::protocol::HEARTBEAT_INTERVAL;
use ambit_proto::time::LocalTime;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fence {
    most: Option<Duration>,
    passed_at: Option<LocalTime>,
    closed: bool,
}

impl Fence {
    /// Begins anew, for a host that is given up after so much silence; 0 for one that never is.
    pub fn guard(&mut self, silence: Duration) {
        let most = silence
            .saturating_sub(2 * HEARTBEAT_INTERVAL)
            .max(silence / 2);
        *self = Self {
            most: (!silence.is_zero()).then_some(most),
            ..Self::default()
        };
    }

    /// Whether what is said at `now` still counts. Once it does not, it never does again.
    pub fn pass(&mut self, now: LocalTime) -> bool {
        let was_stopped = |most| self.passed_at.is_some_and(|at| now.since(at) > most);
        self.closed |= self.most.is_some_and(was_stopped);
        self.passed_at = Some(now);
        !self.closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_stopped_for_too_long_does_not_pass_any_more() {
        let mut fence = Fence::default();
        fence.guard(Duration::from_secs(2));
        let passes =
            [0, 1_500, 3_000, 4_501, 4_502].map(|ms| fence.pass(LocalTime::from_millis(ms)));
        assert_eq!(passes, [true, true, true, false, false]);
    }

    #[test]
    fn who_is_never_given_up_always_passes() {
        let mut fence = Fence::default();
        fence.guard(Duration::ZERO);
        assert!(
            [0, 100_000]
                .map(|ms| fence.pass(LocalTime::from_millis(ms)))
                .iter()
                .all(|passes| *passes)
        );
    }
}
