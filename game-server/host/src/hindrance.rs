//! Why a thread or a process does not get on: what the system counts of it at two moments goes in,
//! a sentence for operators comes out.
//!
//! A loop that never ends, and a machine that is short of processor time, look the same from
//! outside: nothing comes. The processor time that was used against the time that has passed tells
//! them apart. No I/O and no clock: [`crate::processor_time`] reads the figures.

use std::fmt;
use std::time::Duration;

/// Ticks a second of the times in `/proc`: fixed at 100 towards programs, however the
/// kernel counts.
const TICKS_PER_S: u64 = 100;
/// What uses this share of the time, in per cent, is not held up by others.
const BUSY_PERCENT: u32 = 80;

/// What the system counts of a thread or a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorUse {
    /// Processor time since its start, of all of its threads together.
    pub used: Duration,
    /// Whether it runs, or would run if it had a processor.
    pub is_runnable: bool,
}

/// Why something does not get on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// It computes all the time.
    Busy(TimeShare),
    /// It would compute, but others have the processors.
    Starved(TimeShare),
    /// It waits for something that is no processor.
    Waits(TimeShare),
    /// The system does not tell.
    Unknown,
}

/// How much processor time was used while how much time passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeShare {
    /// Processor time.
    pub used: Duration,
    /// Time.
    pub passed: Duration,
}

impl ProcessorUse {
    /// Reads the text of `/proc/PID/stat` or `/proc/PID/task/TID/stat`. The state is field 3, user
    /// and system time are fields 14 and 15; the second field is a name, which may hold anything.
    pub fn parse(stat: &str) -> Option<Self> {
        let after_name = stat.rsplit_once(')')?.1;
        let mut fields = after_name.split_ascii_whitespace();
        let is_runnable = fields.next()? == "R";
        let user: u64 = fields.nth(10)?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        let ticks = user.saturating_add(system);
        let used = Duration::from_millis(ticks.saturating_mul(1_000) / TICKS_PER_S);
        Some(Self { used, is_runnable })
    }
}

impl Hindrance {
    /// Decides it by the figures at the begin and at the end of a time that has `passed`.
    pub fn of(passed: Duration, begin: Option<ProcessorUse>, end: Option<ProcessorUse>) -> Self {
        let (Some(begin), Some(end)) = (begin, end) else {
            return Self::Unknown;
        };
        let share = TimeShare { used: end.used.saturating_sub(begin.used), passed };
        if share.used * 100 >= passed * BUSY_PERCENT {
            Self::Busy(share)
        } else if end.is_runnable {
            Self::Starved(share)
        } else {
            Self::Waits(share)
        }
    }
}

/// The rest of a sentence, behind what does not get on.
impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(share) => {
                write!(f, "has used a processor for {share}: it may loop for ever")
            }
            Self::Starved(share) => write!(
                f,
                "had a processor for {share} only, and waits for one: this machine is short of \
                 processor time"
            ),
            Self::Waits(share) => write!(
                f,
                "has used a processor for {share}, and waits for something else, such as a lock, \
                 a disk or the network"
            ),
            Self::Unknown => {
                f.write_str("may loop for ever, or this machine is short of processor time")
            }
        }
    }
}

impl fmt::Display for TimeShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, passed) = (self.used.as_secs_f64(), self.passed.as_secs_f64());
        write!(f, "{used:.1} of the last {passed:.1} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_the_system_are_read_after_any_name() {
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194560 100 0 0 0 123 77 0 0 20 0 5 0 1000 1 2";
        let used = Duration::from_secs(2);
        assert_eq!(ProcessorUse::parse(stat), Some(ProcessorUse { used, is_runnable: false }));
        let running = ProcessorUse::parse(&stat.replace(") S", ") R"));
        assert_eq!(running, Some(ProcessorUse { used, is_runnable: true }));
        assert_eq!(ProcessorUse::parse(""), None);
        assert_eq!(ProcessorUse::parse("42 (name) S 1"), None);
    }

    #[test]
    fn a_loop_is_told_apart_from_a_machine_that_is_short_of_time() {
        let of = |used_ms, is_runnable| {
            let begin = ProcessorUse { used: Duration::from_secs(7), is_runnable: true };
            let used = begin.used + Duration::from_millis(used_ms);
            let end = ProcessorUse { used, is_runnable };
            Hindrance::of(Duration::from_secs(1), Some(begin), Some(end)).to_string()
        };
        assert!(of(980, true).contains("1.0 of the last 1.0 s: it may loop for ever"));
        assert!(of(200, true).contains("0.2 of the last 1.0 s only, and waits for one: this"));
        assert!(of(0, false).contains("0.0 of the last 1.0 s, and waits for something else"));
        // A process may have several threads.
        assert!(of(2_500, false).contains("may loop for ever"));
        let unknown = Hindrance::of(Duration::from_secs(1), None, None);
        assert_eq!(unknown, Hindrance::Unknown);
        let both = unknown.to_string();
        assert!(both.contains("loop for ever") && both.contains("short of processor"), "{both}");
    }
}
