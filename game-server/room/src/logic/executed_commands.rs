//! Which of a client's commands were executed, so that none is executed twice when the client sends
//! it again to another host.
//!
//! Command numbers ascend and wrap. The set remembers the newest `REMEMBERED` numbers. No client
//! has that many commands in flight: an older number belongs to another client, and then the set
//! restarts with it.

use serde::{Deserialize, Serialize};

/// How many numbers back are remembered.
const REMEMBERED: u32 = 128;

/// The executed command numbers of one client. See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExecutedCommands {
    newest: u32,
    /// Bit n stands for the number n below the newest.
    bits: u128,
}

impl ExecutedCommands {
    /// Marks a command as executed.
    pub(crate) fn insert(&mut self, number: u32) {
        let ahead = number.wrapping_sub(self.newest);
        if self.bits == 0 || (1..1 << 31).contains(&ahead) {
            let shifted = if self.bits == 0 { None } else { self.bits.checked_shl(ahead) };
            (self.newest, self.bits) = (number, shifted.unwrap_or(0) | 1);
        } else if let Some(bit) = self.bit_of(number) {
            self.bits |= bit;
        } else {
            (self.newest, self.bits) = (number, 1);
        }
    }

    /// Whether a command was executed.
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.bit_of(number).is_some_and(|bit| self.bits & bit != 0)
    }

    fn bit_of(&self, number: u32) -> Option<u128> {
        let back = self.newest.wrapping_sub(number);
        (back < REMEMBERED).then(|| 1 << back)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn numbers_of_another_client_replace_those_of_the_first() {
        let mut done = ExecutedCommands::default();
        for number in [1_000, 1_001] {
            done.insert(number);
        }
        assert!(!done.contains(1));
        for number in [1, 2] {
            done.insert(number);
        }
        assert_eq!(
            [1, 2, 3, 1_001].map(|number| done.contains(number)),
            [true, true, false, false]
        );
        let before = done;
        done.insert(2);
        assert_eq!(done, before);
    }

    #[test]
    fn recently_executed_commands_are_known_in_any_order() {
        for start in [0, 1, u32::MAX - 40] {
            let mut rng = fastrand::Rng::with_seed(3);
            let mut done = ExecutedCommands::default();
            let mut plain = BTreeSet::new();
            assert!(!done.contains(start));
            for step in 0_u32..500 {
                // Numbers arrive up to 30 steps late, and some never.
                let offset = step.saturating_sub(rng.u32(..30));
                if rng.u8(..4) > 0 {
                    done.insert(start.wrapping_add(offset));
                    plain.insert(offset);
                }
                let newest = plain.last().copied().unwrap_or(0);
                for offset in newest.saturating_sub(REMEMBERED - 1)..newest + 5 {
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
