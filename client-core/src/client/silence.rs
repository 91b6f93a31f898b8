//! Tells a dead line from a quiet one: when a view says that the host is silent, and when the
//! client looks for another way.
//!
//! The time and that of the last datagram go in; out comes what to do. The link asks a host that it
//! has not heard for 500 ms, and each one answers at once: so what stays silent for
//! [`SHOWN_AFTER`] has not answered for a second.

use std::time::Duration;

use ambit_proto::time::LocalTime;

/// When views are told.
pub(crate) const SHOWN_AFTER: Duration = Duration::from_millis(1_500);
/// When the client asks for a ticket, to dial anew.
pub(crate) const REDIALLED_AFTER: Duration = Duration::from_secs(3);
/// Once there is a ticket, a host that lives is heard within this.
pub(crate) const HEARD_WITHIN: Duration = Duration::from_secs(1);
/// How long it waits for the ticket, before it asks again.
const ASKED_EVERY: Duration = Duration::from_secs(5);

/// The silence of one game's host.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    is_shown: bool,
    ask_at: Option<LocalTime>,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SilenceStep {
    /// Views are told that nothing has been heard for so long.
    Show(Duration),
    /// A ticket is needed.
    Redial,
    /// Views are told that the host is heard again.
    Hide,
}

impl Silence {
    /// What to do now, if anything.
    pub(crate) fn step(&mut self, now: LocalTime, last_heard: LocalTime) -> Option<SilenceStep> {
        let silence = now.since(last_heard);
        if silence < SHOWN_AFTER {
            self.ask_at = None;
            return std::mem::take(&mut self.is_shown).then_some(SilenceStep::Hide);
        }
        if !self.is_shown {
            self.is_shown = true;
            return Some(SilenceStep::Show(silence));
        }
        if now < self.next_deadline(last_heard) {
            return None;
        }
        self.ask_at = Some(now + ASKED_EVERY);
        Some(SilenceStep::Redial)
    }

    /// When [`Silence::step`] is to be called, if nothing is heard until then.
    pub(crate) fn next_deadline(&self, last_heard: LocalTime) -> LocalTime {
        if !self.is_shown {
            return last_heard + SHOWN_AFTER;
        }
        self.ask_at.unwrap_or(last_heard + REDIALLED_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_host_is_shown_and_redialled_until_it_is_heard() {
        let at = LocalTime::from_millis;
        let mut silence = Silence::default();
        let mut heard = at(1_000);
        assert_eq!(silence.step(at(2_499), heard), None);
        assert_eq!(silence.next_deadline(heard), at(2_500));
        assert_eq!(
            silence.step(at(2_500), heard),
            Some(SilenceStep::Show(Duration::from_millis(1_500)))
        );
        assert_eq!(silence.step(at(3_999), heard), None);
        assert_eq!(silence.next_deadline(heard), at(4_000));
        assert_eq!(silence.step(at(4_000), heard), Some(SilenceStep::Redial));
        assert_eq!(silence.next_deadline(heard), at(9_000));
        assert_eq!(silence.step(at(8_999), heard), None);
        assert_eq!(silence.step(at(9_000), heard), Some(SilenceStep::Redial));
        heard = at(9_500);
        assert_eq!(silence.step(at(9_500), heard), Some(SilenceStep::Hide));
        assert_eq!(silence.step(at(9_600), heard), None);
        assert_eq!(silence.next_deadline(heard), at(11_000));
    }
}
