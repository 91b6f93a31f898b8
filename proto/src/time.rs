//! Time as an argument: two clocks that must not be mixed.
//!
//! [`GameTime`] is the room's clock: microseconds since the room began; clients estimate it.
//! [`LocalTime`] is the monotonic clock of a link's owner, counted from an origin that the owner
//! chooses. On the server they are the same clock, hence the one conversion.
//!
//! Invariant: arithmetic saturates at both ends; it never wraps and never panics. Unit:
//! microseconds; the wire carries whole milliseconds, see [`GameTime::whole_millis`].

#![warn(missing_docs, reason = "authors of games and clients import it")]

use std::ops::{Add, AddAssign};
use std::time::Duration;

macro_rules! clock_time {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub struct $name(u64);

        impl $name {
            /// The clock's origin.
            pub const ZERO: Self = Self(0);
            /// Later than anything that happens: "never" as a deadline.
            pub const MAX: Self = Self(u64::MAX);

            /// The time that many microseconds after the origin.
            pub const fn from_micros(micros: u64) -> Self {
                Self(micros)
            }

            /// The time that many milliseconds after the origin.
            pub const fn from_millis(millis: u64) -> Self {
                Self(millis.saturating_mul(1_000))
            }

            /// Microseconds since the origin.
            pub const fn micros(self) -> u64 {
                self.0
            }

            /// Whole milliseconds since the origin, rounded down.
            pub const fn millis(self) -> u64 {
                self.0 / 1_000
            }

            /// The time since `earlier`; zero if this is not after it.
            pub const fn since(self, earlier: Self) -> Duration {
                Duration::from_micros(self.0.saturating_sub(earlier.0))
            }

            /// `duration` before this, but not before the origin.
            pub fn saturating_sub(self, duration: Duration) -> Self {
                Self(self.0.saturating_sub(micros_of(duration)))
            }

            /// The last whole millisecond at or before this: what the other end of a connection
            /// will read.
            pub const fn whole_millis(self) -> Self {
                Self(self.0 - self.0 % 1_000)
            }
        }

        impl Add<Duration> for $name {
            type Output = Self;

            fn add(self, duration: Duration) -> Self {
                Self(self.0.saturating_add(micros_of(duration)))
            }
        }

        impl AddAssign<Duration> for $name {
            fn add_assign(&mut self, duration: Duration) {
                *self = *self + duration;
            }
        }
    };
}

clock_time!(
    /// A moment on the room's clock.
    GameTime
);
clock_time!(
    /// A moment on the monotonic clock of a link's owner.
    LocalTime
);

/// On the server the room's clock is the link's clock.
impl From<GameTime> for LocalTime {
    fn from(time: GameTime) -> Self {
        Self(time.0)
    }
}

fn micros_of(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        let second = GameTime::from_millis(1_000);
        assert_eq!(second + Duration::MAX, GameTime::MAX);
        assert_eq!(GameTime::MAX + Duration::from_micros(1), GameTime::MAX);
        assert_eq!(second.saturating_sub(Duration::from_secs(2)), GameTime::ZERO);
        assert_eq!(GameTime::from_millis(u64::MAX), GameTime::MAX);
    }

    #[test]
    fn a_difference_is_never_negative() {
        let early = LocalTime::from_micros(5);
        let late = LocalTime::from_micros(1_505);
        assert_eq!(late.since(early), Duration::from_micros(1_500));
        assert_eq!(early.since(late), Duration::ZERO);
    }

    #[test]
    fn whole_millis_survives_conversion_to_millis_and_back() {
        let time = GameTime::from_micros(16_667);
        assert_eq!(time.whole_millis(), GameTime::from_millis(time.millis()));
        assert_eq!(time.whole_millis(), GameTime::from_micros(16_000));
    }
}
