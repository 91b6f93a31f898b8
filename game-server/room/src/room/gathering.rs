//! The players who were in the room when it was started, and have not come into the game yet.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::ids::PlayerId;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

/// How long a game waits for them.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Gathering {
    awaited: BTreeSet<PlayerId>,
    until: GameTime,
    is_over: bool,
}

impl Gathering {
    /// These are about to come. To be called before the first tick ends.
    pub(super) fn expect(&mut self, now: GameTime, players: &[PlayerId]) {
        self.awaited = players.iter().copied().collect();
        self.until = now + PATIENCE;
    }

    /// A player has come, or does not come any more.
    pub(super) fn forget(&mut self, player: PlayerId) {
        self.awaited.remove(&player);
    }

    /// Whether this is the first tick at which no player is waited for.
    pub(super) fn ends(&mut self, now: GameTime) -> bool {
        let was_over = self.is_over;
        self.is_over |= self.awaited.is_empty() || now >= self.until;
        self.is_over && !was_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: PlayerId = PlayerId(1);
    const BOB: PlayerId = PlayerId(2);

    fn at(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }

    #[test]
    fn it_ends_once_when_the_last_has_come_or_gone() {
        let mut gathering = Gathering::default();
        gathering.expect(at(0), &[ANN, BOB]);
        assert!(!gathering.ends(at(0)));
        gathering.forget(ANN);
        assert!(!gathering.ends(at(50)));
        gathering.forget(BOB);
        assert!(gathering.ends(at(100)));
        assert!(!gathering.ends(at(150)));
    }

    #[test]
    fn it_waits_for_ten_seconds_and_for_no_player_not_at_all() {
        let mut gathering = Gathering::default();
        assert!(gathering.clone().ends(at(0)));
        gathering.expect(at(0), &[ANN]);
        assert!(!gathering.ends(at(9_999)));
        assert!(gathering.ends(at(10_000)));
    }
}
