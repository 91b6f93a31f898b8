//! Bounds how often one thing is reported to operators.

use std::time::Duration;

use ambit_proto::time::LocalTime;

/// What happens again is reported together after this time.
const EVERY: Duration = Duration::from_secs(1);

/// When something was reported last, and how often it has happened since.
#[derive(Debug, Default)]
pub struct ReportLimit {
    reported_at: Option<LocalTime>,
    since: u64,
}

impl ReportLimit {
    /// It has happened. Returns how often, this time included, if that is to be reported now.
    pub fn note(&mut self, now: LocalTime) -> Option<u64> {
        self.since += 1;
        if self.reported_at.is_some_and(|at| now.since(at) < EVERY) {
            return None;
        }
        self.reported_at = Some(now);
        Some(std::mem::take(&mut self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_again_is_counted_for_the_next_report() {
        let mut limit = ReportLimit::default();
        let mut note = |millis: u64| limit.note(LocalTime::from_micros(millis * 1_000));
        let reports = [5, 6, 7, 1_004, 1_005, 1_006, 9_000].map(&mut note);
        assert_eq!(reports, [Some(1), None, None, None, Some(4), None, Some(2)]);
    }
}
