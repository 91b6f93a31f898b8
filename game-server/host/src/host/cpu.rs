//! How much processor time a host uses.
//!
//! Where the system does not tell, the answer is zero. Units: thousandths of one core.

use std::time::{Duration, Instant};

use crate::processor_time::HostThreads;

/// Remembers the last reading.
#[derive(Debug)]
pub(crate) struct CpuMeter {
    used: Duration,
    at: Instant,
}

impl CpuMeter {
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    pub(crate) fn start(threads: &HostThreads) -> Self {
        Self { used: threads.used(), at: Instant::now() }
    }

    /// The share of one core since the last call.
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    pub(crate) fn permille(&mut self, threads: &HostThreads) -> u32 {
        let used = threads.used();
        let at = Instant::now();
        let share = used.saturating_sub(self.used).as_secs_f64()
            / at.duration_since(self.at).as_secs_f64().max(1e-3);
        (self.used, self.at) = (used, at);
        (share * 1_000.0).round() as u32
    }
}
