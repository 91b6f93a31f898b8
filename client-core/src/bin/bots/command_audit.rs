//! What of a bot's commands was confirmed, and whether the game has it.
//!
//! Confirmed numbers go in, and what the host says of commands when it is asked later; what was
//! confirmed and is not there is *lost*. To go somewhere is out of date once a newer wish to go was
//! heard: such a command is there if a newer one is.

use std::collections::BTreeSet;

use ambit_proto::control::game::Commands;

/// SentDatagrams below the newest that a host knows one by one.
const KNOWN_COMMANDS: u32 = 128;
/// Wishes to go that are remembered.
const MAX_WALKS: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct CommandAudit {
    /// Confirmed, and not looked for yet.
    confirmed: Vec<u32>,
    /// Those of them that were confirmed before the question that waits for its answer.
    awaiting_answer: Vec<u32>,
    walks: BTreeSet<u32>,
    lost: Vec<u32>,
    doubled: u32,
}

impl CommandAudit {
    /// The bot has said that it wants to go somewhere.
    pub(crate) fn note_walk(&mut self, number: u32) {
        self.walks.insert(number);
        if self.walks.len() > MAX_WALKS {
            self.walks.pop_first();
        }
    }

    /// Commands are confirmed.
    pub(crate) fn confirm(&mut self, numbers: &[u32]) {
        self.confirmed.extend(numbers);
    }

    /// Whether there is anything to ask the host about; if so, it is asked now.
    pub(crate) fn ask(&mut self) -> bool {
        self.awaiting_answer.append(&mut self.confirmed);
        !self.awaiting_answer.is_empty()
    }

    /// The host has answered.
    pub(crate) fn answer(&mut self, told: &Commands) {
        let bits = u128::from(told.latest) | u128::from(told.before) << 64;
        let has = |number: u32| {
            let back = told.newest.wrapping_sub(number);
            back < KNOWN_COMMANDS && bits >> back & 1 == 1
        };
        for number in std::mem::take(&mut self.awaiting_answer) {
            let is_older_than_known =
                (KNOWN_COMMANDS..1 << 31).contains(&told.newest.wrapping_sub(number));
            let newer_walk = || self.walks.range(number + 1..).any(|walk| has(*walk));
            let is_there =
                is_older_than_known || has(number) || self.walks.contains(&number) && newer_walk();
            if !is_there {
                self.lost.push(number);
            }
        }
        self.doubled = self.doubled.max(told.doubled);
    }

    /// The connection broke: the host counts anew with the next one.
    pub(crate) fn clear(&mut self) {
        self.confirmed.clear();
        self.awaiting_answer.clear();
    }

    /// What was confirmed and is not there.
    pub(crate) fn lost(&self) -> &[u32] {
        &self.lost
    }

    /// How many were carried out twice.
    pub(crate) fn doubled(&self) -> u32 {
        self.doubled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmed_command_that_the_host_lacks_is_lost() {
        let mut accounts = CommandAudit::default();
        assert!(!accounts.ask());
        accounts.confirm(&[1, 2, 3]);
        assert!(accounts.ask());
        // Confirmed after the question: not to be expected in its answer.
        accounts.confirm(&[4]);
        accounts.answer(&told(3, &[1, 3]));
        assert_eq!((accounts.lost(), accounts.doubled()), (&[2][..], 0));
        assert!(accounts.ask());
        accounts.answer(&Commands {
            doubled: 1,
            ..told(4, &[1, 3, 4])
        });
        assert_eq!((accounts.lost(), accounts.doubled()), (&[2][..], 1));
    }

    #[test]
    fn a_walk_that_a_newer_one_has_overtaken_is_not_lost() {
        let mut accounts = CommandAudit::default();
        accounts.note_walk(5);
        accounts.note_walk(6);
        accounts.confirm(&[5, 6]);
        accounts.ask();
        accounts.answer(&told(6, &[6]));
        assert!(accounts.lost().is_empty());
        accounts.confirm(&[4]);
        accounts.ask();
        accounts.answer(&told(6, &[6]));
        assert_eq!(accounts.lost(), [4]);
    }

    #[test]
    fn commands_older_than_the_hosts_window_are_not_checked() {
        let mut accounts = CommandAudit::default();
        accounts.confirm(&[1]);
        accounts.ask();
        accounts.answer(&told(200, &[200]));
        assert!(accounts.lost().is_empty());
    }

    fn told(newest: u32, numbers: &[u32]) -> Commands {
        let bits = numbers
            .iter()
            .fold(0_u128, |bits, number| bits | 1 << (newest - number));
        Commands {
            newest,
            latest: bits as u64,
            before: (bits >> 64) as u64,
            doubled: 0,
        }
    }
}
