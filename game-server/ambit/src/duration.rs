//! `2.secs()` and `250.millis()`.

use std::time::Duration;

/// Durations as they are spoken: `2.secs()`, `0.5.secs()`, `250.millis()`.
pub trait Units {
    /// A number of seconds. A negative number or NaN counts as zero.
    fn secs(self) -> Duration;

    /// A number of milliseconds.
    fn millis(self) -> Duration;
}

impl Units for u64 {
    fn secs(self) -> Duration {
        Duration::from_secs(self)
    }

    fn millis(self) -> Duration {
        Duration::from_millis(self)
    }
}

impl Units for f64 {
    fn secs(self) -> Duration {
        Duration::try_from_secs_f64(self).unwrap_or(if self > 0.0 {
            Duration::MAX
        } else {
            Duration::ZERO
        })
    }

    fn millis(self) -> Duration {
        (self / 1_000.0).secs()
    }
}

impl Units for f32 {
    fn secs(self) -> Duration {
        f64::from(self).secs()
    }

    fn millis(self) -> Duration {
        f64::from(self).millis()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_as_they_are_spoken() {
        assert_eq!(2.secs(), Duration::from_secs(2));
        assert_eq!(250.millis(), Duration::from_millis(250));
        assert_eq!(0.5.secs(), Duration::from_millis(500));
        assert_eq!((-1.0).secs(), Duration::ZERO);
        assert_eq!(f64::NAN.secs(), Duration::ZERO);
        assert_eq!(1e300.secs(), Duration::MAX);
        assert_eq!((1.5_f32.secs(), 250.0_f32.millis()), (1_500.millis(), 250.millis()));
        assert_eq!((f32::NAN.secs(), f32::INFINITY.secs()), (Duration::ZERO, Duration::MAX));
    }
}
