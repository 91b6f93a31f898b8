//! Filters the commands of one client.
//!
//! Commands go in as they arrive; those that the schema declares and that are within the client's
//! allowance come out. All others come out as faults, so that they are counted. The room checks the
//! rest: whether they are outdated, positions and objects. Bounds: [`COMMANDS_PER_S`]; of each kind
//! of fault, one a second is answered.

use ambit_proto::codes::ErrorCode;
use ambit_proto::message::{Command, FieldValue};
use ambit_proto::schema::Schema;
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
    /// It is above the client's allowance.
    OverRate {
        /// Its number, if the client is to be notified.
        report: Option<u32>,
    },
    /// It cannot be decoded, or the schema declares no such command or other fields.
    Malformed {
        error: WireError,
        /// The code of the answer.
        code: ErrorCode,
        /// Its number, if that could be read and the client is to be notified.
        report: Option<u32>,
    },
}

/// Why the game does not get a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandFault {
    /// It is above the client's allowance.
    OverRate,
    /// Only the newest of its kind counts, and a newer one was received before it.
    Outdated,
}

/// The limits for one client's commands; see the module.
#[derive(Debug)]
pub struct CommandFilter {
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
            commands: TokenBucket::new(COMMANDS_PER_S, COMMANDS_PER_S),
            reports: FaultReports { over_rate, outdated, malformed },
        }
    }
}

impl CommandFilter {
    /// Decodes a reliable message and applies the limits to it.
    pub fn handle_message(
        &mut self,
        at: GameTime,
        bytes: &[u8],
        schema: &Schema,
    ) -> FilteredCommand {
        let command = match read_command(bytes, schema) {
            Ok(command) => command,
            Err((code, error)) => {
                let number = bytes.first_chunk().copied().map(u32::from_le_bytes);
                let report = number.filter(|_| self.reports.malformed.take(at.into()));
                return FilteredCommand::Malformed { error, code, report };
            }
        };
        if self.commands.take(at.into()) {
            return FilteredCommand::Accepted(command);
        }
        let report = self.may_report(at, CommandFault::OverRate).then_some(command.number);
        FilteredCommand::OverRate { report }
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
}

/// A command with fields as the schema declares them.
fn read_command(bytes: &[u8], schema: &Schema) -> Result<Command, (ErrorCode, WireError)> {
    let malformed = |error| (ErrorCode::Malformed, error);
    let command: Command = wire::decode(bytes).map_err(malformed)?;
    let kind = schema.command(command.kind).ok_or_else(|| {
        let what = "command";
        let value = command.kind.into();
        (ErrorCode::UnknownCommand, WireError::Unknown { what, value })
    })?;
    if !FieldValue::all_fit(&command.fields, &kind.fields) {
        let what = "a field of a command";
        return Err(malformed(WireError::OutOfRange { what }));
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::Alias;
    use ambit_proto::space::Position;

    use super::*;

    /// Of [`Schema::example`]; the second has no fields.
    const WALK_TO: u8 = 0;
    const REST: u8 = 1;
    const CAST: u8 = 2;
    const SHOUT: u8 = 3;

    #[test]
    fn commands_above_the_rate_are_refused_with_one_answer_a_second() {
        let mut filter = CommandFilter::default();
        let mut send = |millis, number| match send(&mut filter, millis, number, REST) {
            FilteredCommand::Accepted(_) => None,
            FilteredCommand::OverRate { report } => Some(report),
            malformed @ FilteredCommand::Malformed { .. } => panic!("{malformed:?}"),
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
        let mut reports = |millis: u64| {
            let at = GameTime::from_millis(millis);
            let outdated = filter.may_report(at, CommandFault::Outdated).then_some(9);
            let malformed = filter.handle_message(at, &[5, 0, 0, 1, 7], &Schema::example());
            let FilteredCommand::Malformed {
                error: WireError::Truncated, report: malformed, ..
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
    fn a_command_that_the_schema_does_not_declare_is_refused() {
        let text = |length| FieldValue::Text("x".repeat(length));
        let at = || FieldValue::Position(Position::default());
        check(4, vec![], ErrorCode::UnknownCommand);
        check(255, vec![at()], ErrorCode::UnknownCommand);
        let misfits = [
            (WALK_TO, vec![]),
            (WALK_TO, vec![FieldValue::None]),
            (WALK_TO, vec![at(), at()]),
            (WALK_TO, vec![FieldValue::Object(Alias::default())]),
            (REST, vec![FieldValue::None]),
            (CAST, vec![FieldValue::Choice(2), FieldValue::None, FieldValue::None]),
            (SHOUT, vec![FieldValue::Number(0), text(1)]),
            (SHOUT, vec![FieldValue::Number(10), text(1)]),
            (SHOUT, vec![FieldValue::Number(1), text(101)]),
        ];
        for (kind, fields) in misfits {
            check(kind, fields, ErrorCode::Malformed);
        }
    }

    #[test]
    fn a_malformed_command_without_a_whole_number_has_no_answer() {
        let mut filter = CommandFilter::default();
        for length in 0..4 {
            assert_eq!(
                filter.handle_message(GameTime::ZERO, &vec![1; length], &Schema::example()),
                FilteredCommand::Malformed {
                    error: WireError::Truncated,
                    code: ErrorCode::Malformed,
                    report: None
                }
            );
        }
    }

    /// These are refused with this code.
    fn check(kind: u8, fields: Vec<FieldValue<Alias>>, expected: ErrorCode) {
        let mut command = Command { number: 3, kind, fields };
        let filtered = CommandFilter::default().handle_message(
            GameTime::ZERO,
            &wire::encode(&mut command),
            &Schema::example(),
        );
        let FilteredCommand::Malformed { code, report, .. } = filtered else {
            panic!("{filtered:?}")
        };
        assert_eq!((code, report), (expected, Some(3)), "{command:?}");
    }

    fn send(filter: &mut CommandFilter, millis: u64, number: u32, kind: u8) -> FilteredCommand {
        let to = FieldValue::Position(Position::default());
        let mut command =
            Command { number, kind, fields: (kind == WALK_TO).then_some(to).into_iter().collect() };
        let at = GameTime::from_millis(millis);
        filter.handle_message(at, &wire::encode(&mut command), &Schema::example())
    }
}
