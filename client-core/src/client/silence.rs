//! Tells a dead line from a quiet one: when a view says that the host is silent, and when the
//! client looks for another way.
//!
//! The time and that of the last datagram go in; out comes what to do. The link asks a host that it
//! has not heard for 500 ms, and each one answers at once: so what stays silent for
//! [`SHOWN_AFTER`] has not answered for a second. A host that has nothing to say is quiet, but for
//! a word every 1.5 s: it is asked when that is missing for 200 ms, and again every 250 ms. So what
//! stays silent for [`QUIET_SHOWN_AFTER`] has not answered three times.

use std::time::Duration;

use ambit_proto::time::LocalTime;

/// When views are told.
pub(crate) const SHOWN_AFTER: Duration = Duration::from_millis(1_500);
/// When they are told of one that was quiet before.
pub(crate) const QUIET_SHOWN_AFTER: Duration = Duration::from_millis(2_400);
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

/// What was heard of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostHeard {
    /// When it was last heard.
    pub(crate) at: LocalTime,
    /// Whether it was quiet then.
    pub(crate) is_quiet: bool,
}

impl HostHeard {
    fn shown_at(self) -> LocalTime {
        self.at + if self.is_quiet { QUIET_SHOWN_AFTER } else { SHOWN_AFTER }
    }
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
    pub(crate) fn step(&mut self, now: LocalTime, heard: HostHeard) -> Option<SilenceStep> {
        if now < heard.shown_at() {
            self.ask_at = None;
            return std::mem::take(&mut self.is_shown).then_some(SilenceStep::Hide);
        }
        if !self.is_shown {
            self.is_shown = true;
            return Some(SilenceStep::Show(now.since(heard.at)));
        }
        if now < self.next_deadline(heard) {
            return None;
        }
        self.ask_at = Some(now + ASKED_EVERY);
        Some(SilenceStep::Redial)
    }

    /// When [`Silence::step`] is to be called, if nothing is heard until then.
    pub(crate) fn next_deadline(&self, heard: HostHeard) -> LocalTime {
        if !self.is_shown {
            return heard.shown_at();
        }
        self.ask_at.unwrap_or(heard.at + REDIALLED_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_host_is_shown_and_redialled_until_it_is_heard() {
        let at = LocalTime::from_millis;
        let mut silence = Silence::default();
        let mut heard = HostHeard { at: at(1_000), is_quiet: false };
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
        heard.at = at(9_500);
        assert_eq!(silence.step(at(9_500), heard), Some(SilenceStep::Hide));
        assert_eq!(silence.step(at(9_600), heard), None);
        assert_eq!(silence.next_deadline(heard), at(11_000));
    }
    #[test]
    fn a_quiet_host_has_more_time_to_be_heard() {
        let at = LocalTime::from_millis;
        let mut silence = Silence::default();
        let heard = HostHeard { at: at(1_000), is_quiet: true };
        assert_eq!(silence.next_deadline(heard), at(3_400));
        assert_eq!(silence.step(at(3_399), heard), None);
        assert_eq!(
            silence.step(at(3_400), heard),
            Some(SilenceStep::Show(Duration::from_millis(2_400)))
        );
        assert_eq!(silence.next_deadline(heard), at(4_000));
    }
}
