//! Filters the commands of one client.
//!
//! Commands go in as they arrive; those that are within the client's allowance and not outdated
//! come out. All others come out as faults, so that they are counted. Bounds: [`COMMANDS_PER_S`];
//! of each kind of fault, one a second is answered.

use ambit_proto::codes::ErrorCode;
use ambit_proto::message::{Action, Command};
use ambit_proto::time::GameTime;
use ambit_proto::wire::{self, WireError};

use crate::token_bucket::TokenBucket;

/// Commands that a client may send in a second, and in one burst: enough for a held mouse button
/// that steers at the highest tick rate.
pub const COMMANDS_PER_S: u32 = 64;

/// What became of a command.
#[derive(Debug, PartialEq)]
pub enum FilteredCommand {
    /// It is within the client's allowance.
    Accepted(Command),
    /// The game does not get it.
    Faulty {
        fault: CommandFault,
        /// Its number, if the client is to be notified.
        report: Option<u32>,
    },
    /// It cannot be decoded.
    Malformed {
        error: WireError,
        /// Its number, if that could be read and the client is to be notified.
        report: Option<u32>,
    },
}

/// Why the game does not get a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandFault {
    /// It is above the client's allowance.
    OverRate,
    /// It steers, and a newer command that steers was received before it.
    Outdated,
}

/// The limits for one client's commands; see the module.
#[derive(Debug)]
pub struct CommandFilter {
    /// Number of the newest command to move.
    last_steer: Option<u32>,
    commands: TokenBucket,
    reports: FaultReports,
}

/// Limits the answers to faulty commands: one for each command of a flood would cost more than the
/// flood itself.
#[derive(Debug)]
struct FaultReports {
    over_rate: TokenBucket,
    outdated: TokenBucket,
    malformed: TokenBucket,
}

impl CommandFault {
    /// The code of the answer.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::OverRate => ErrorCode::RateLimited,
            Self::Outdated => ErrorCode::Outdated,
        }
    }
}

impl Default for CommandFilter {
    fn default() -> Self {
        let [over_rate, outdated, malformed] = [(); 3].map(|()| TokenBucket::new(1, 1));
        CommandFilter {
            last_steer: None,
            commands: TokenBucket::new(COMMANDS_PER_S, COMMANDS_PER_S),
            reports: FaultReports {
                over_rate,
                outdated,
                malformed,
            },
        }
    }
}

impl CommandFilter {
    /// Decodes a reliable message and applies the limits to it.
    pub fn handle_message(&mut self, at: GameTime, bytes: &[u8]) -> FilteredCommand {
        let command = match wire::decode::<Command>(bytes) {
            Ok(command) => command,
            Err(error) => {
                let number = bytes.first_chunk().copied().map(u32::from_le_bytes);
                let report = number.filter(|_| self.reports.malformed.take(at.into()));
                return FilteredCommand::Malformed { error, report };
            }
        };
        let fault = if !self.commands.take(at.into()) {
            CommandFault::OverRate
        } else if self.is_outdated(&command) {
            CommandFault::Outdated
        } else {
            return FilteredCommand::Accepted(command);
        };
        let report = self.may_report(at, fault).then_some(command.number);
        FilteredCommand::Faulty { fault, report }
    }

    /// Whether the client is to be notified of this fault, which happens at most once a second for
    /// each kind.
    pub fn may_report(&mut self, now: GameTime, fault: CommandFault) -> bool {
        let bucket = match fault {
            CommandFault::OverRate => &mut self.reports.over_rate,
            CommandFault::Outdated => &mut self.reports.outdated,
        };
        bucket.take(now.into())
    }

    /// Commands arrive in any order. Where only the newest counts, an older one must not undo it.
    fn is_outdated(&mut self, command: &Command) -> bool {
        if !is_steering(&command.action) {
            return false;
        }
        let is_newer = |last: u32| command.number.wrapping_sub(last).cast_signed() > 0;
        let outdated = self.last_steer.is_some_and(|last| !is_newer(last));
        if !outdated {
            self.last_steer = Some(command.number);
        }
        outdated
    }
}

/// Whether an action steers the avatar: only the newest of these counts.
pub(crate) fn is_steering(action: &Action) -> bool {
    matches!(action, Action::Move { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOVE: Action = Action::Move { x: 1.0, y: 1.0 };

    #[test]
    fn the_newest_move_wins_whatever_the_order() {
        let mut filter = CommandFilter::default();
        let accepted = [7, 6, 9].map(|number| {
            let filtered = send(&mut filter, 0, number, MOVE);
            matches!(filtered, FilteredCommand::Accepted(_))
        });
        assert_eq!(accepted, [true, false, true]);
    }

    #[test]
    fn commands_above_the_rate_are_refused_with_one_answer_a_second() {
        let mut filter = CommandFilter::default();
        let mut send = |millis, number| {
            let action = Action::Custom(Vec::new());
            match send(&mut filter, millis, number, action) {
                FilteredCommand::Accepted(_) => None,
                FilteredCommand::Faulty {
                    fault: CommandFault::OverRate,
                    report,
                } => Some(report),
                other => panic!("{other:?}"),
            }
        };
        assert!((0..COMMANDS_PER_S).all(|number| send(0, number).is_none()));
        assert_eq!((send(0, 100), send(0, 101)), (Some(Some(100)), Some(None)));
        assert_eq!((send(16, 102), send(16, 103)), (None, Some(None)));
        assert!((0..COMMANDS_PER_S - 1).all(|number| send(1_000, 200 + number).is_none()));
        assert_eq!(send(1_000, 300), Some(Some(300)));
    }

    #[test]
    fn each_kind_of_fault_is_reported_once_a_second() {
        let mut filter = CommandFilter::default();
        send(&mut filter, 0, 9, MOVE);
        let mut reports = |millis: u64| {
            let outdated = send(&mut filter, millis, 9, MOVE);
            let FilteredCommand::Faulty {
                fault: CommandFault::Outdated,
                report: outdated,
            } = outdated
            else {
                panic!("{outdated:?}")
            };
            // Action 7 does not exist.
            let malformed = filter.handle_message(GameTime::from_millis(millis), &[5, 0, 0, 1, 7]);
            let FilteredCommand::Malformed {
                error: WireError::Unknown { .. },
                report: malformed,
            } = malformed
            else {
                panic!("{malformed:?}")
            };
            (outdated, malformed)
        };
        let both = (Some(9), Some(0x0100_0005));
        assert_eq!((reports(0), reports(999)), (both, (None, None)));
        assert_eq!((reports(1_000), reports(1_001)), (both, (None, None)));
    }

    #[test]
    fn a_malformed_command_without_a_whole_number_has_no_answer() {
        let mut filter = CommandFilter::default();
        for length in 0..4 {
            assert_eq!(
                filter.handle_message(GameTime::ZERO, &vec![1; length]),
                FilteredCommand::Malformed {
                    error: WireError::Truncated,
                    report: None
                }
            );
        }
    }

    fn send(
        filter: &mut CommandFilter,
        millis: u64,
        number: u32,
        action: Action,
    ) -> FilteredCommand {
        let bytes = wire::encode(&mut Command { number, action });
        filter.handle_message(GameTime::from_millis(millis), &bytes)
    }
}
