//! The time of day and the date, as a room knows them.

use std::time::Duration;

use crate::world::World;

const DAY: Duration = Duration::from_hours(24);

/// A moment of a calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Calendar {
    unix_ms: i64,
}

impl Calendar {
    /// The number of seconds since the beginning of 1970.
    pub fn unix_seconds(self) -> i64 {
        self.unix_ms.div_euclid(1_000)
    }

    /// The number of days since the first of January 1970, which was a Thursday.
    pub fn day(self) -> i64 {
        self.unix_ms.div_euclid(DAY.as_millis() as i64)
    }

    /// The day of the week: 0 for Monday to 6 for Sunday.
    pub fn weekday(self) -> u8 {
        (self.day() + 3).rem_euclid(7) as u8
    }

    /// The time since midnight.
    pub fn time_of_day(self) -> Duration {
        Duration::from_millis(self.unix_ms.rem_euclid(DAY.as_millis() as i64) as u64)
    }

    /// How long it is until it is this time of day: up to a day, and a whole one if it is that now.
    ///
    /// # Panics
    /// If it is no time of a day.
    pub fn until(self, time_of_day: Duration) -> Duration {
        assert!(time_of_day < DAY, "a day has 24 hours, not {time_of_day:?}");
        let past = self.time_of_day();
        let ahead = time_of_day.saturating_sub(past);
        if ahead.is_zero() { (time_of_day + DAY).saturating_sub(past) } else { ahead }
    }
}

/// # Dates
impl<G> World<G> {
    /// What a calendar shows at [`World::now`]. It comes from the clock of the room's host, and is
    /// an input of the room: a room that is replayed has the same. If that clock is set, it jumps;
    /// [`World::now`] does not.
    ///
    /// ```
    /// # use ambit::prelude::*;
    /// # #[derive(Kind)]
    /// # struct Walker { path: Path }
    /// # #[derive(Serialize, Deserialize)]
    /// enum Timer { Market }
    ///
    /// # #[derive(Default, Serialize, Deserialize, Declare)]
    /// # #[declare(kinds(Walker), timer = Timer)]
    /// # struct Village;
    /// # impl Game for Village {
    /// #     const INFO: GameInfo = GameInfo::new("village", "Live.").lasting();
    /// #     type Avatar = Walker;
    /// #     no_commands!();
    /// #     type Refusal = ambit::NoRefusal;
    /// #     fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Walker> {
    /// #         world.spawn(Walker { path: Path::at(world.centre()) })
    /// #     }
    /// // Market is daily at 4 o'clock. If the room sleeps then, it is when the room wakes.
    /// fn start(&mut self, world: &mut World<Self>) {
    ///     world.after(world.calendar().until(Duration::from_hours(4)), Timer::Market);
    /// }
    ///
    /// fn timer(&mut self, world: &mut World<Self>, timer: Timer, _: GameTime) {
    ///     match timer {
    ///         Timer::Market => {
    ///             let next = world.calendar().until(Duration::from_hours(4));
    ///             world.after(next, Timer::Market);
    ///         }
    ///     }
    /// }
    /// # }
    /// ```
    pub fn calendar(&self) -> Calendar {
        let now = self.room().now().millis();
        Calendar { unix_ms: self.room().calendar_ms().saturating_add_unsigned(now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_a_day_a_weekday_and_a_time() {
        // The 29th of November 2026, a Sunday, 21:00:00.5 UTC.
        let moment = Calendar { unix_ms: 1_795_986_000_500 };
        assert_eq!((moment.unix_seconds(), moment.day()), (1_795_986_000, 20_786));
        assert_eq!(moment.weekday(), 6);
        assert_eq!(moment.time_of_day(), Duration::from_millis(75_600_500));
        assert_eq!(moment.until(Duration::from_hours(4)), Duration::from_millis(25_199_500));
        assert_eq!(moment.until(Duration::from_hours(22)), Duration::from_millis(3_599_500));
        assert_eq!(moment.until(moment.time_of_day()), DAY);
        let before = Calendar { unix_ms: -1 };
        assert_eq!((before.day(), before.weekday(), before.unix_seconds()), (-1, 2, -1));
    }
}
