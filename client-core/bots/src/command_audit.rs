//! Checks that the game has executed a bot's confirmed commands.
//!
//! Confirmed numbers go in, and the host's later answers about its commands. A confirmed command
//! that the host does not have is *lost*. A walk command is obsolete once a newer one has been
//! executed, so it counts as executed if a newer one is.

use std::collections::BTreeSet;

use ambit_proto::control::game::Commands;

/// How many of the newest commands a host knows one by one.
const KNOWN_COMMANDS: u32 = 128;
/// Maximum number of walk commands that are remembered.
const MAX_WALKS: usize = 256;

/// The confirmed commands of one bot.
#[derive(Debug, Default)]
pub(crate) struct CommandAudit {
    /// Confirmed and not checked yet.
    confirmed: Vec<u32>,
    /// Those confirmed before the request that waits for its answer.
    awaiting_answer: Vec<u32>,
    walks: BTreeSet<u32>,
    lost: Vec<u32>,
    doubled: u32,
}

impl CommandAudit {
    /// The bot has sent a walk command.
    pub(crate) fn note_walk(&mut self, number: u32) {
        self.walks.insert(number);
        if self.walks.len() > MAX_WALKS {
            self.walks.pop_first();
        }
    }

    /// Adds confirmed commands.
    pub(crate) fn confirm(&mut self, numbers: &[u32]) {
        self.confirmed.extend(numbers);
    }

    /// Prepares a request to the host; false if there is nothing to check.
    pub(crate) fn ask(&mut self) -> bool {
        self.awaiting_answer.append(&mut self.confirmed);
        !self.awaiting_answer.is_empty()
    }

    /// Handles the host's answer.
    pub(crate) fn answer(&mut self, answer: &Commands) {
        let bits = u128::from(answer.latest) | u128::from(answer.before) << 64;
        let has = |number: u32| {
            let back = answer.newest.wrapping_sub(number);
            back < KNOWN_COMMANDS && bits >> back & 1 == 1
        };
        for number in std::mem::take(&mut self.awaiting_answer) {
            let is_older_than_known =
                (KNOWN_COMMANDS..1 << 31).contains(&answer.newest.wrapping_sub(number));
            let newer_walk = || self.walks.range(number + 1..).any(|walk| has(*walk));
            let is_there =
                is_older_than_known || has(number) || self.walks.contains(&number) && newer_walk();
            if !is_there {
                self.lost.push(number);
            }
        }
        self.doubled = self.doubled.max(answer.doubled);
    }

    /// The connection broke: the host counts again from the next one.
    pub(crate) fn clear(&mut self) {
        self.confirmed.clear();
        self.awaiting_answer.clear();
    }

    /// Confirmed commands that the host does not have.
    pub(crate) fn lost(&self) -> &[u32] {
        &self.lost
    }

    /// Number of commands that were executed twice.
    pub(crate) fn doubled(&self) -> u32 {
        self.doubled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmed_command_that_the_host_lacks_is_lost() {
        let mut audit = CommandAudit::default();
        assert!(!audit.ask());
        audit.confirm(&[1, 2, 3]);
        assert!(audit.ask());
        // Confirmed after the request: its answer need not contain it.
        audit.confirm(&[4]);
        audit.answer(&answer(3, &[1, 3]));
        assert_eq!((audit.lost(), audit.doubled()), (&[2][..], 0));
        assert!(audit.ask());
        audit.answer(&Commands {
            doubled: 1,
            ..answer(4, &[1, 3, 4])
        });
        assert_eq!((audit.lost(), audit.doubled()), (&[2][..], 1));
    }

    #[test]
    fn a_walk_that_a_newer_one_has_overtaken_is_not_lost() {
        let mut audit = CommandAudit::default();
        audit.note_walk(5);
        audit.note_walk(6);
        audit.confirm(&[5, 6]);
        audit.ask();
        audit.answer(&answer(6, &[6]));
        assert!(audit.lost().is_empty());
        audit.confirm(&[4]);
        audit.ask();
        audit.answer(&answer(6, &[6]));
        assert_eq!(audit.lost(), [4]);
    }

    #[test]
    fn commands_older_than_the_hosts_window_are_not_checked() {
        let mut audit = CommandAudit::default();
        audit.confirm(&[1]);
        audit.ask();
        audit.answer(&answer(200, &[200]));
        assert!(audit.lost().is_empty());
    }

    fn answer(newest: u32, numbers: &[u32]) -> Commands {
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
