//! An order of candidates for sections without slots: those of the trainer and of benches.

use ambit_proto::pose::Pose;

/// Candidates by the distance of their baselines from the reference's, so that an object follows
/// those that push it. Candidates at the same distance, or all if there is no reference, keep their
/// order. Both ends sort the same.
#[derive(Debug, Default)]
pub struct CandidateOrder {
    /// Squared distance and index in one number, since comparing is most of the work.
    keys: Vec<u64>,
}

impl CandidateOrder {
    /// The lower bits of a key, which hold the index.
    const INDEX_BITS: u32 = 20;

    /// Sorts candidates by their baselines: the first 2^20; the others are left out. Those farther
    /// than 2^22 grid units from the reference count as equally far.
    pub fn sort<'p>(
        &mut self,
        reference: Option<&Pose>,
        baselines: impl Iterator<Item = &'p Pose>,
    ) {
        // No sum overflows: coordinates are at most `MAX_AT`, 2^27.
        let farthest = (1 << (u64::BITS - Self::INDEX_BITS)) - 1;
        let distance2 = |baseline: &Pose| {
            let Some(reference) = reference else { return 0 };
            let offsets =
                [0, 1, 2].map(|axis| u64::from(baseline.at[axis].abs_diff(reference.at[axis])));
            offsets.iter().map(|offset| offset * offset).sum::<u64>().min(farthest)
        };
        self.keys.clear();
        self.keys.extend(
            baselines
                .zip(0..1 << Self::INDEX_BITS)
                .map(|(baseline, index)| distance2(baseline) << Self::INDEX_BITS | index),
        );
        self.keys.sort_unstable();
    }

    /// The indices of the candidates, in their order.
    pub fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.keys.iter().map(|key| (key & ((1 << Self::INDEX_BITS) - 1)) as usize)
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::MAX_AT;

    use super::*;

    #[test]
    fn candidates_are_sorted_by_their_distance_from_the_reference() {
        let at = |x: i32| Pose { at: [x, 0, 0], ..Pose::default() };
        let baselines = [at(50), at(-3), at(2), at(3), at(MAX_AT)];
        let mut order = CandidateOrder::default();
        order.sort(Some(&at(1)), baselines.iter());
        assert_eq!(order.indices().collect::<Vec<_>>(), [2, 3, 1, 0, 4]);
        order.sort(None, baselines.iter());
        assert_eq!(order.indices().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }
}
