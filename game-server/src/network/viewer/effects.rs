//! When a client's own inputs take effect: told until it is known to have heard.
//!
//! EffectReports go in, one a tick at most; whether they are due, and which ones a datagram tells,
//! comes out. Fates of datagrams go in. Invariant: times rise strictly, whatever a client says of
//! its times. Bound: [`MAX_EFFECTS`]; of more, the oldest are left out. An effect is told until a
//! datagram that told it is confirmed, whatever else is.

use std::collections::VecDeque;

use ambit_proto::ids::Seq;
use ambit_proto::message::{EffectTime, MAX_EFFECTS};

/// Datagrams whose fates are waited for; of more, the oldest confirm nothing.
const MAX_TRACKED_DATAGRAMS: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct EffectReports {
    /// The oldest first, with the first datagram that told each.
    unconfirmed: VecDeque<(EffectTime, Option<Seq>)>,
    /// The datagrams that told them, whose fates are not known; the newest last.
    reporting_datagrams: VecDeque<Seq>,
    /// Whether a datagram is to leave for them.
    is_due: bool,
}

impl EffectReports {
    /// InputSender take effect.
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

    /// Whether a datagram is to leave for them now.
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Whether there are any that a datagram would tell.
    pub(super) fn is_empty(&self) -> bool {
        self.unconfirmed.is_empty()
    }

    /// What a datagram tells, the newest first.
    pub(super) fn newest_first(&self) -> Vec<EffectTime> {
        self.unconfirmed
            .iter()
            .rev()
            .map(|(effect, _)| *effect)
            .collect()
    }

    /// A datagram with all of them has left.
    pub(super) fn note_sent(&mut self, seq: Seq) {
        self.unconfirmed
            .iter_mut()
            .for_each(|(_, first)| *first = first.or(Some(seq)));
        if self.reporting_datagrams.len() == MAX_TRACKED_DATAGRAMS {
            self.reporting_datagrams.pop_front();
        }
        self.reporting_datagrams.push_back(seq);
        self.is_due = false;
    }

    /// The client has received that datagram.
    pub(super) fn handle_acked(&mut self, seq: Seq) {
        // Not every datagram has room for them.
        if self.stop_tracking(seq).is_some() {
            self.unconfirmed
                .retain(|(_, first)| first.is_none_or(|first| first.newer_than(seq)));
        }
    }

    /// That datagram counts as lost.
    pub(super) fn handle_lost(&mut self, seq: Seq) {
        let newest = self.reporting_datagrams.back().copied();
        self.is_due |= self.stop_tracking(seq).is_some()
            && newest == Some(seq)
            && !self.unconfirmed.is_empty();
    }

    /// Its fate is known; `Unchanged` if it told nothing.
    fn stop_tracking(&mut self, seq: Seq) -> Option<Seq> {
        let index = self
            .reporting_datagrams
            .iter()
            .position(|teller| *teller == seq)?;
        self.reporting_datagrams.remove(index)
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
    fn an_ack_of_a_datagram_without_effects_confirms_nothing() {
        let mut effects = EffectReports::default();
        effects.push(effect(10, 200));
        effects.note_sent(Seq(5));
        effects.handle_acked(Seq(6));
        assert_eq!(effects.newest_first(), [effect(10, 200)]);
        effects.handle_lost(Seq(5));
        assert!(effects.is_due());
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
