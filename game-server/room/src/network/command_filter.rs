//! Filters the commands of one client.
//!
//! Commands go in as they arrive; those that are within the client's allowance and not outdated
//! come out. Bounds: [`COMMANDS_PER_S`]; commands above that are refused, and at most one such
//! refusal a second is answered.

use ambit_proto::message::{Action, Command, KeyInput};
use ambit_proto::time::GameTime;
use ambit_proto::wire::{self, WireError};

use crate::token_bucket::TokenBucket;

/// Commands that a client may send in a second, and in one burst: enough for a held mouse button
/// that steers at the highest tick rate.
pub const COMMANDS_PER_S: u32 = 64;

/// What a datagram of a client contained.
#[derive(Debug, PartialEq)]
pub enum UplinkEvent {
    /// A command within the client's allowance.
    Command(Command),
    /// A command to move that is older than one already received; it is ignored.
    Outdated,
    /// A command above the allowance. Holds its number if the client is to be notified, which
    /// happens at most once a second.
    OverRate(Option<u32>),
    /// A message that cannot be decoded.
    Malformed(WireError),
    /// The player's controls; they may be older than those already received.
    Input(KeyInput),
    /// The client could not read poses: it lacked a baseline, or they were invalid.
    LostTrack,
}

/// The limits for one client's commands; see the module.
#[derive(Debug)]
pub struct CommandFilter {
    /// Number of the newest command to move.
    last_steer: Option<u32>,
    commands: TokenBucket,
    /// Limits the answers to refused commands: one for each command of a flood would cost more than
    /// the flood itself.
    refusals: TokenBucket,
}

impl Default for CommandFilter {
    fn default() -> Self {
        CommandFilter {
            last_steer: None,
            commands: TokenBucket::new(COMMANDS_PER_S, COMMANDS_PER_S),
            refusals: TokenBucket::new(1, 1),
        }
    }
}

impl CommandFilter {
    /// Decodes a reliable message and applies the limits to it.
    pub fn handle_message(&mut self, at: GameTime, bytes: &[u8]) -> UplinkEvent {
        match wire::decode::<Command>(bytes) {
            Err(error) => UplinkEvent::Malformed(error),
            Ok(command) if !self.commands.take(at.into()) => {
                UplinkEvent::OverRate(self.refusals.take(at.into()).then_some(command.number))
            }
            Ok(command) if self.is_outdated(&command) => UplinkEvent::Outdated,
            Ok(command) => UplinkEvent::Command(command),
        }
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

    #[test]
    fn the_newest_move_wins_whatever_the_order() {
        let mut filter = CommandFilter::default();
        let accepted = [7, 6, 9].map(|number| {
            let bytes = wire::encode(&mut Command {
                number,
                action: Action::Move { x: 1.0, y: 1.0 },
            });
            matches!(
                filter.handle_message(GameTime::ZERO, &bytes),
                UplinkEvent::Command(_)
            )
        });
        assert_eq!(accepted, [true, false, true]);
    }

    #[test]
    fn commands_above_the_rate_are_refused_with_one_answer_a_second() {
        let mut filter = CommandFilter::default();
        let mut send = |millis, number| {
            let action = Action::Custom(Vec::new());
            let bytes = wire::encode(&mut Command { number, action });
            match filter.handle_message(GameTime::from_millis(millis), &bytes) {
                UplinkEvent::Command(_) => None,
                UplinkEvent::OverRate(answered) => Some(answered),
                other => panic!("{other:?}"),
            }
        };
        assert!((0..COMMANDS_PER_S).all(|number| send(0, number).is_none()));
        assert_eq!((send(0, 100), send(0, 101)), (Some(Some(100)), Some(None)));
        assert_eq!((send(16, 102), send(16, 103)), (None, Some(None)));
        assert!((0..COMMANDS_PER_S - 1).all(|number| send(1_000, 200 + number).is_none()));
        assert_eq!(send(1_000, 300), Some(Some(300)));
    }
}
