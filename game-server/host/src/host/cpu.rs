//! How much processor time this process uses.
//!
//! Linux tells in `/proc/self/stat`; elsewhere the answer is zero. Units: thousandths of one core.

use std::time::{Duration, Instant};

/// Ticks a second of the times in `/proc`: fixed at 100 towards programs, whatever the kernel
/// counts in.
const TICKS_PER_S: u64 = 100;

/// Remembers the last reading.
#[derive(Debug)]
pub(crate) struct CpuMeter {
    used: Duration,
    at: Instant,
}

impl CpuMeter {
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    pub(crate) fn start() -> Self {
        Self { used: process_time(), at: Instant::now() }
    }

    /// The share of one core since the last call.
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    pub(crate) fn permille(&mut self) -> u32 {
        let used = process_time();
        let at = Instant::now();
        let share = used.saturating_sub(self.used).as_secs_f64()
            / at.duration_since(self.at).as_secs_f64().max(1e-3);
        (self.used, self.at) = (used, at);
        (share * 1_000.0).round() as u32
    }
}

fn process_time() -> Duration {
    std::fs::read_to_string("/proc/self/stat")
        .ok()
        .and_then(|stat| parse(&stat))
        .unwrap_or_default()
}

/// User and system time are fields 14 and 15; the second field is the program's name, which may
/// hold anything.
fn parse(stat: &str) -> Option<Duration> {
    let after_name = stat.rsplit_once(')')?.1;
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system) * 1_000 / TICKS_PER_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_parsed_after_any_process_name() {
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194560 100 0 0 0 123 77 0 0 20 0 5 0 1000 1 2";
        assert_eq!(parse(stat), Some(Duration::from_secs(2)));
        assert_eq!(parse(""), None);
        assert_eq!(parse("42 (name) S 1"), None);
    }
}
