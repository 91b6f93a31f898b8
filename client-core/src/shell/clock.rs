//! The only clock of the shell.

use ambit_proto::time::LocalTime;
use tokio::time::Instant;

/// A monotonic clock that starts with the client. Uses tokio's clock, which tests may pause.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShellClock {
    started: Instant,
}

impl ShellClock {
    #[expect(clippy::disallowed_methods, reason = "the shell's clock")]
    pub(super) fn start() -> Self {
        ShellClock { started: Instant::now() }
    }

    pub(super) fn now(self) -> LocalTime {
        LocalTime::ZERO + self.started.elapsed()
    }

    /// The time of an instant; zero before the start.
    pub(super) fn time_of(self, instant: std::time::Instant) -> LocalTime {
        LocalTime::ZERO + Instant::from_std(instant).saturating_duration_since(self.started)
    }

    pub(super) fn instant(self, time: LocalTime) -> Instant {
        self.started + time.since(LocalTime::ZERO)
    }
}
