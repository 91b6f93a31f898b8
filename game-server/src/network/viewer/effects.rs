//! When a client's own inputs take effect: told until it is known to have heard.
//!
//! Effects go in, one a tick at most; whether they are due, and which ones a datagram tells, comes
//! out. Fates of datagrams go in. Invariant: times rise strictly, whatever a client says of its
//! times. Bound: [`MAX_EFFECTS`]; of more, the oldest are left out. An effect is told until a
//! datagram that told it is confirmed, whatever else is.

use std::collections::VecDeque;

use ambit_proto::ids::Seq;
use ambit_proto::message::{Effect, MAX_EFFECTS};

/// Datagrams whose fates are waited for; of more, the oldest confirm nothing.
const MOST_TELLERS: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// The oldest first, with the first datagram that told each.
    waiting: VecDeque<(Effect, Option<Seq>)>,
    /// The datagrams that told them, whose fates are not known; the newest last.
    tellers: VecDeque<Seq>,
    /// Whether a datagram is to leave for them.
    is_due: bool,
}

impl Effects {
    /// Inputs take effect.
    pub(super) fn push(&mut self, effect: Effect) {
        let follows = |(last, _): &(Effect, _)| last.at < effect.at && last.effect < effect.effect;
        if !self.waiting.back().is_none_or(follows) {
            self.waiting.clear();
        }
        if self.waiting.len() == MAX_EFFECTS {
            self.waiting.pop_front();
        }
        self.waiting.push_back((effect, None));
        self.is_due = true;
    }

    /// Whether a datagram is to leave for them now.
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Whether there are any that a datagram would tell.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What a datagram tells, the newest first.
    pub(super) fn told(&self) -> Vec<Effect> {
        self.waiting
            .iter()
            .rev()
            .map(|(effect, _)| *effect)
            .collect()
    }

    /// A datagram with all of them has left.
    pub(super) fn note_sent(&mut self, seq: Seq) {
        self.waiting
            .iter_mut()
            .for_each(|(_, first)| *first = first.or(Some(seq)));
        if self.tellers.len() == MOST_TELLERS {
            self.tellers.pop_front();
        }
        self.tellers.push_back(seq);
        self.is_due = false;
    }

    /// The client has received that datagram.
    pub(super) fn handle_acked(&mut self, seq: Seq) {
        // Not every datagram has room for them.
        if self.forget(seq).is_some() {
            self.waiting
                .retain(|(_, first)| first.is_none_or(|first| first.newer_than(seq)));
        }
    }

    /// That datagram counts as lost.
    pub(super) fn handle_lost(&mut self, seq: Seq) {
        let newest = self.tellers.back().copied();
        self.is_due |=
            self.forget(seq).is_some() && newest == Some(seq) && !self.waiting.is_empty();
    }

    /// Its fate is known; `None` if it told nothing.
    fn forget(&mut self, seq: Seq) -> Option<Seq> {
        let index = self.tellers.iter().position(|teller| *teller == seq)?;
        self.tellers.remove(index)
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::time::GameTime;

    use super::*;

    #[test]
    fn effects_are_told_until_a_datagram_with_them_is_confirmed() {
        let mut effects = Effects::default();
        effects.push(effect(10, 200));
        assert!(effects.is_due());
        effects.note_sent(Seq(5));
        effects.push(effect(30, 250));
        assert_eq!(effects.told(), [effect(30, 250), effect(10, 200)]);
        effects.note_sent(Seq(6));
        assert!(!effects.is_due());
        effects.handle_acked(Seq(5));
        assert_eq!(effects.told(), [effect(30, 250)]);
        effects.handle_lost(Seq(5));
        assert!(!effects.is_due());
        effects.handle_lost(Seq(6));
        assert!(effects.is_due());
        effects.note_sent(Seq(7));
        effects.handle_acked(Seq(7));
        assert!(effects.is_empty() && !effects.is_due());
    }

    #[test]
    fn a_datagram_that_told_nothing_confirms_nothing() {
        let mut effects = Effects::default();
        effects.push(effect(10, 200));
        effects.note_sent(Seq(5));
        effects.handle_acked(Seq(6));
        assert_eq!(effects.told(), [effect(10, 200)]);
        effects.handle_lost(Seq(5));
        assert!(effects.is_due());
    }

    #[test]
    fn a_client_whose_times_jump_hears_of_the_newest_alone() {
        let mut effects = Effects::default();
        for (at, tick) in [(90_000, 200), (20, 250), (30, 250)] {
            effects.push(effect(at, tick));
        }
        assert_eq!(effects.told(), [effect(30, 250)]);
        for tick in 0..20 {
            effects.push(effect(40 + tick, 300 + 50 * tick));
        }
        assert_eq!(effects.told().len(), MAX_EFFECTS);
    }

    fn effect(at: u64, effect: u64) -> Effect {
        Effect {
            at: GameTime::from_millis(at),
            effect: GameTime::from_millis(effect),
        }
    }
}
