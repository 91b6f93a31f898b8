//! Whether the path loses datagrams, by their outcomes.
//!
//! Outcomes go in; out comes whether the line is *lossy*. The share of lost datagrams is smoothed
//! over some [`SMOOTHING`] of them: some seconds of a game. It has to rise to [`LOSSY_FROM`] before
//! the line counts as lossy, and to fall to [`CLEAN_BELOW`] before it does not any more. So one
//! datagram lost on a good line changes nothing, and a lossy line does not seem to change with each
//! outcome. No clock: the same outcomes give the same answer.
//!
//! Units: shares of 2^16. Cost: an addition for each outcome.

/// Each outcome counts one part in this number.
const SMOOTHING: u32 = 64;
/// All were lost.
const WHOLE: u32 = 1 << 16;
/// 2 %: more than one loss in a row of acknowledgements, which counts 1.6 %.
const LOSSY_FROM: u32 = WHOLE / 50;
/// 0.3 %: a line that has lost 5 % counts as lossy for 180 more datagrams, and of such lines one in
/// ten thousand loses none of 180.
const CLEAN_BELOW: u32 = WHOLE * 3 / 1_000;

/// The losses of one direction; see the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineLoss {
    /// Smoothed.
    share: u32,
    is_lossy: bool,
}

impl LineLoss {
    /// Whether the line is lossy.
    pub(super) fn is_lossy(self) -> bool {
        self.is_lossy
    }

    /// A datagram has arrived; also one that was taken for lost.
    pub(super) fn handle_acked(&mut self) {
        self.share -= self.share.div_ceil(SMOOTHING);
        self.is_lossy &= self.share >= CLEAN_BELOW;
    }

    /// A datagram was lost.
    pub(super) fn handle_lost(&mut self) {
        self.share += (WHOLE - self.share) / SMOOTHING;
        self.is_lossy |= self.share >= LOSSY_FROM;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_loss_makes_no_lossy_line_and_two_soon_after_each_other_do() {
        let mut loss = LineLoss::default();
        loss.handle_lost();
        assert!(!loss.is_lossy());
        (0..30).for_each(|_| loss.handle_acked());
        loss.handle_lost();
        assert!(loss.is_lossy());
    }

    #[test]
    fn a_line_counts_as_lossy_until_it_has_lost_nothing_for_some_seconds() {
        let mut loss = LineLoss::default();
        (0..400).for_each(
            |number| {
                if number % 20 == 0 { loss.handle_lost() } else { loss.handle_acked() }
            },
        );
        assert!(loss.is_lossy());
        let acked = (0..1_000).position(|_| {
            loss.handle_acked();
            !loss.is_lossy()
        });
        assert!(acked.is_some_and(|acked| (120..250).contains(&acked)), "{acked:?}");
        loss.handle_lost();
        assert!(!loss.is_lossy(), "the losses before are forgotten");
    }

    #[test]
    fn a_line_that_loses_one_in_twenty_is_lossy_nearly_always() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut loss = LineLoss::default();
        let lossy = (0..100_000).filter(|_| {
            if rng.u8(0..20) == 0 {
                loss.handle_lost();
            } else {
                loss.handle_acked();
            }
            loss.is_lossy()
        });
        let lossy = lossy.count();
        assert!(lossy > 99_500, "{lossy}");
    }
}
