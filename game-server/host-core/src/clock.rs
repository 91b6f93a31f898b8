//! Room time at a host.

use ambit_proto::time::{GameTime, LocalTime};

/// One room's clock: how far it is ahead of the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomClock {
    /// In microseconds. A room may be older than its host.
    ahead_us: i64,
}

impl RoomClock {
    /// A clock that shows zero at `now`.
    pub fn start(now: LocalTime) -> Self {
        Self::showing(now, GameTime::ZERO)
    }

    /// A clock that shows `time` at `now`.
    pub fn showing(now: LocalTime, time: GameTime) -> Self {
        Self { ahead_us: time.micros().cast_signed() - now.micros().cast_signed() }
    }

    /// The room's time at a time of the host's clock.
    pub fn room_time(self, now: LocalTime) -> GameTime {
        let micros = now.micros().saturating_add_signed(self.ahead_us);
        GameTime::from_micros(micros)
    }

    /// The host's time at a time of the room's.
    pub fn local_time(self, time: GameTime) -> LocalTime {
        LocalTime::from_micros(time.micros().saturating_add_signed(-self.ahead_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_may_be_older_than_its_host() {
        let clock = RoomClock::showing(LocalTime::from_millis(10), ms(5_000));
        assert_eq!(clock.room_time(LocalTime::from_millis(60)), ms(5_050));
        assert_eq!(clock.local_time(ms(5_050)), LocalTime::from_millis(60));
        assert_eq!(clock.local_time(ms(1)), LocalTime::ZERO);
        let younger = RoomClock::start(LocalTime::from_millis(700));
        assert_eq!(younger.room_time(LocalTime::from_millis(750)), ms(50));
    }

    fn ms(millis: u64) -> GameTime {
        GameTime::from_millis(millis)
    }
}
