//! How much less a room sends while it is late.
//!
//! A level goes in, with a tick and a client; out comes the least important class of objects whose
//! poses the client gets at this tick. Far objects become rarer first, then near ones. Those that
//! the player is engaged with, records (Enter, Update, Leave) and events are sent as always. From
//! the second level on, poses are coded once for all clients, also for those that ask for the fine
//! coding: that costs bytes, but a tenth of the time.
//!
//! The clients take turns, so that each tick costs about the same. What a client is not sent at a
//! tick is not looked at for it, so a higher level saves time as well as bytes.

use ambit_proto::ids::ClientId;
use serde::{Deserialize, Serialize};

use super::replication::freshness::FreshnessClass;

/// How much less a room sends, from 0 (nothing is left out) to [`LoadLevel::MAX`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LoadLevel(u8);

/// By level: the intervals in ticks at which near and far objects are sent.
const INTERVALS: [(u64, u64); LoadLevel::COUNT] =
    [(1, 1), (1, 2), (1, 4), (1, 8), (2, 8), (4, 16), (8, 32), (16, 64)];
/// From this level on, no poses are coded for one client alone.
const FIRST_SHARED: LoadLevel = LoadLevel(2);

impl LoadLevel {
    /// Nothing is left out.
    pub const NONE: Self = Self(0);
    /// The number of levels.
    pub const COUNT: usize = 8;
    /// Near objects are sent at each 16th tick, far ones at each 64th.
    pub const MAX: Self = Self(Self::COUNT as u8 - 1);

    /// Its number, from 0.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Its number, as an index.
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// The intervals in ticks at which near and far objects are sent to a client.
    pub fn intervals(self) -> (u64, u64) {
        INTERVALS[self.index().min(Self::COUNT - 1)]
    }

    /// Whether poses are coded once for all clients, whatever these ask for.
    pub fn is_coding_shared(self) -> bool {
        self >= FIRST_SHARED
    }

    /// The next level, at which less is sent.
    pub fn raised(self) -> Self {
        Self::from(self.0.saturating_add(1))
    }

    /// The level below, at which more is sent.
    pub fn lowered(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// The least important class that `client` is sent at this tick.
    pub(super) fn farthest_class(self, tick: u64, client: ClientId) -> FreshnessClass {
        let (near, far) = self.intervals();
        let turn = tick.wrapping_add(client.0.into());
        match () {
            () if turn.is_multiple_of(far) => FreshnessClass::Far,
            () if turn.is_multiple_of(near) => FreshnessClass::Near,
            () => FreshnessClass::Engaged,
        }
    }
}

/// Values beyond the highest level count as that level: a recording may come from anywhere.
impl From<u8> for LoadLevel {
    fn from(number: u8) -> Self {
        Self(number.min(Self::MAX.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_objects_become_rarer_first_and_engaged_ones_never() {
        let mut level = LoadLevel::NONE;
        for (near, far) in INTERVALS {
            let classes: Vec<_> =
                (0..64).map(|tick| level.farthest_class(tick, ClientId(5))).collect();
            let sent = |class| classes.iter().filter(|&&farthest| farthest >= class).count() as u64;
            assert_eq!(sent(FreshnessClass::Engaged), 64);
            assert_eq!(sent(FreshnessClass::Near), 64 / near);
            assert_eq!(sent(FreshnessClass::Far), 64 / far);
            level = level.raised();
        }
        assert_eq!(level, LoadLevel::MAX);
        assert_eq!(level.lowered().number(), LoadLevel::MAX.number() - 1);
        assert_eq!(LoadLevel::NONE.lowered(), LoadLevel::NONE);
        assert_eq!(LoadLevel::from(200), LoadLevel::MAX);
    }

    #[test]
    fn clients_take_turns() {
        let at_one_tick = |client| LoadLevel::from(2).farthest_class(7, ClientId(client));
        let all: Vec<_> = (0..8).map(at_one_tick).collect();
        let far = all.iter().filter(|&&class| class == FreshnessClass::Far);
        assert_eq!(far.count(), 2);
    }
}
