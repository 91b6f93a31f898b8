//! How long something still lasts.

use std::time::Duration;

use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

/// How long something still lasts, in whole milliseconds, 49 days at most: for what players take to
/// another map ([`Game::carry`](crate::Game::carry)), which has a time of its own.
///
/// ```
/// # use ambit::{GameTime, TimeLeft};
/// let (here, there) = (GameTime::from_millis(5_000), GameTime::from_millis(900));
/// let left = TimeLeft::until(GameTime::from_millis(7_000), here);
/// assert_eq!(left.ends_at(there), GameTime::from_millis(2_900));
/// assert!(TimeLeft::until(GameTime::from_millis(4_000), here).is_over());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TimeLeft(u32);

impl TimeLeft {
    /// What is left now of something that ends at `end`; nothing if that is over.
    pub fn until(end: GameTime, now: GameTime) -> Self {
        Self(u32::try_from(end.since(now).as_millis()).unwrap_or(u32::MAX))
    }

    /// Whether nothing is left.
    pub fn is_over(self) -> bool {
        self.0 == 0
    }

    /// When it ends on a map whose time is `now`.
    pub fn ends_at(self, now: GameTime) -> GameTime {
        now + Duration::from_millis(self.0.into())
    }
}
