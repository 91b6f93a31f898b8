//! Which of a client's commands were carried out: so that none counts twice when it is said again at another host.
//!
//! Numbers ascend, wrapping; the newest [`KEPT`] of them are known. An older one counts as not carried out: no client has so many on their way.

use serde::{Deserialize, Serialize};

/// How many numbers back are known.
const KEPT: u32 = 128;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Done {
    newest: u32,
    /// Bit n: the number n below the newest.
    bits: u128,
}

impl Done {
    /// A command is carried out.
    pub(crate) fn insert(&mut self, number: u32) {
        let ahead = number.wrapping_sub(self.newest);
        if self.bits == 0 || (1..1 << 31).contains(&ahead) {
            let kept = if self.bits == 0 { None } else { self.bits.checked_shl(ahead) };
            (self.newest, self.bits) = (number, kept.unwrap_or(0) | 1);
        } else if let Some(bit) = self.bit_of(number) {
            self.bits |= bit;
        }
    }

    /// Whether a command was carried out.
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.bit_of(number).is_some_and(|bit| self.bits & bit != 0)
    }

    fn bit_of(&self, number: u32) -> Option<u128> {
        let back = self.newest.wrapping_sub(number);
        (back < KEPT).then(|| 1 << back)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_was_carried_out_lately_is_known_in_whatever_order_it_came() {
        for start in [0, 1, u32::MAX - 40] {
            let mut rng = fastrand::Rng::with_seed(3);
            let (mut done, mut plain) = (Done::default(), BTreeSet::new());
            assert!(!done.contains(start));
            for step in 0_u32..500 {
                // Up to 30 numbers late, some never.
                let offset = step.saturating_sub(rng.u32(..30));
                if rng.u8(..4) > 0 {
                    done.insert(start.wrapping_add(offset));
                    plain.insert(offset);
                }
                let newest = plain.last().copied().unwrap_or(0);
                for offset in newest.saturating_sub(KEPT - 1)..newest + 5 {
                    assert_eq!(
                        done.contains(start.wrapping_add(offset)),
                        plain.contains(&offset),
                        "{start} + {offset}"
                    );
                }
            }
        }
    }
}
