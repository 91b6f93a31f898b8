//! Reports to one client when its inputs take effect.
//!
//! Effect times go in, at most one a tick. Out come whether a report is due and which effects a
//! datagram reports. The outcomes of the datagrams that reported effects go in. An effect is
//! repeated in each datagram until a datagram that reported it is acknowledged.
//!
//! Invariant: the times in the queue rise strictly, whatever times the client claims. Bound:
//! [`MAX_EFFECTS`]; beyond that the oldest effects are dropped.

use std::collections::VecDeque;

use ambit_proto::ids::Seq;
use ambit_proto::message::{EffectTime, MAX_EFFECTS};

/// The effect times that one client still has to learn; see the module.
#[derive(Debug, Default)]
pub(super) struct EffectReports {
    /// The oldest first, each with the first datagram that reported it.
    unconfirmed: VecDeque<(EffectTime, Option<Seq>)>,
    /// The newest datagram that reported them.
    last_report: Option<Seq>,
    /// Whether a datagram has to be sent for them.
    is_due: bool,
}

impl EffectReports {
    /// Adds the effect time of some inputs.
    pub(super) fn push(&mut self, effect: EffectTime) {
        let follows = |(last, _): &(EffectTime, _)| {
            last.sampled_until < effect.sampled_until
                && last.takes_effect_at < effect.takes_effect_at
        };
        if !self.unconfirmed.back().is_none_or(follows) {
            self.unconfirmed.clear();
        }
        if self.unconfirmed.len() == MAX_EFFECTS {
            self.unconfirmed.pop_front();
        }
        self.unconfirmed.push_back((effect, None));
        self.is_due = true;
    }

    /// Whether a datagram has to be sent for them now.
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Whether there is nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        self.unconfirmed.is_empty()
    }

    /// The effects that a datagram reports, the newest first.
    pub(super) fn newest_first(&self) -> Vec<EffectTime> {
        self.unconfirmed.iter().rev().map(|(effect, _)| *effect).collect()
    }

    /// Notes that a datagram with all of them was sent.
    pub(super) fn note_sent(&mut self, seq: Seq) {
        self.unconfirmed.iter_mut().for_each(|(_, first)| *first = first.or(Some(seq)));
        self.last_report = Some(seq);
        self.is_due = false;
    }

    /// Handles the acknowledgement of a datagram that reported effects.
    pub(super) fn handle_acked(&mut self, seq: Seq) {
        self.unconfirmed.retain(|(_, first)| first.is_none_or(|first| first.newer_than(seq)));
    }

    /// Handles the loss of a datagram that reported effects.
    pub(super) fn handle_lost(&mut self, seq: Seq) {
        self.is_due |= self.last_report == Some(seq) && !self.unconfirmed.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::time::GameTime;

    use super::*;

    #[test]
    fn effects_are_reported_until_a_datagram_with_them_is_acknowledged() {
        let mut effects = EffectReports::default();
        effects.push(effect(10, 200));
        assert!(effects.is_due());
        effects.note_sent(Seq(5));
        effects.push(effect(30, 250));
        assert_eq!(effects.newest_first(), [effect(30, 250), effect(10, 200)]);
        effects.note_sent(Seq(6));
        assert!(!effects.is_due());
        effects.handle_acked(Seq(5));
        assert_eq!(effects.newest_first(), [effect(30, 250)]);
        effects.handle_lost(Seq(5));
        assert!(!effects.is_due());
        effects.handle_lost(Seq(6));
        assert!(effects.is_due());
        effects.note_sent(Seq(7));
        effects.handle_acked(Seq(7));
        assert!(effects.is_empty() && !effects.is_due());
    }

    #[test]
    fn if_client_times_jump_only_the_newest_effect_is_reported() {
        let mut effects = EffectReports::default();
        for (at, tick) in [(90_000, 200), (20, 250), (30, 250)] {
            effects.push(effect(at, tick));
        }
        assert_eq!(effects.newest_first(), [effect(30, 250)]);
        for tick in 0..20 {
            effects.push(effect(40 + tick, 300 + 50 * tick));
        }
        assert_eq!(effects.newest_first().len(), MAX_EFFECTS);
    }

    fn effect(at: u64, effect: u64) -> EffectTime {
        EffectTime {
            sampled_until: GameTime::from_millis(at),
            takes_effect_at: GameTime::from_millis(effect),
        }
    }
}
