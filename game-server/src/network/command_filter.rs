//! What one client wants, as far as it may want something.
//!
//! Commands as they arrive go in; those that count come out. OffsetBounds: [`COMMANDS_PER_S`], the
//! rest is refused; an answer to one that is refused so, once a second.

use std::time::Duration;

use ambit_proto::message::{Action, Command, KeyInput};
use ambit_proto::time::GameTime;
use ambit_proto::wire::{self, WireError};

/// Commands that a client may send in a second, and at once: a held click that steers at the
/// highest tick rate.
pub const COMMANDS_PER_S: f64 = 64.0;

/// What came out of a client's datagram.
#[derive(Debug, PartialEq)]
pub enum UplinkEvent {
    /// A command within the allowance.
    Command(Command),
    /// A command to go or to hold keys that was sent before one that has been heard already: what
    /// it wanted is out of date.
    Outdated,
    /// A command over the allowance: its number, if the client is to be told; it is told once a
    /// second.
    OverRate(Option<u32>),
    /// A message that makes no sense.
    Malformed(WireError),
    /// The player's controls, perhaps older than what was heard.
    Input(KeyInput),
    /// The client cannot read poses for want of their bases.
    MissingBaseline,
}

/// See the module.
#[derive(Debug)]
pub struct CommandFilter {
    /// Number of the newest command to go or to hold keys.
    last_steer: Option<u32>,
    tokens: f64,
    tokens_at: GameTime,
    /// When it was told last that it speaks too often.
    last_refusal_at: Option<GameTime>,
}

impl CommandFilter {
    /// Of a client that has just come in.
    pub fn new(now: GameTime) -> Self {
        CommandFilter {
            last_steer: None,
            tokens: COMMANDS_PER_S,
            tokens_at: now,
            last_refusal_at: None,
        }
    }

    /// A reliable message.
    pub fn handle_message(&mut self, at: GameTime, bytes: &[u8]) -> UplinkEvent {
        match wire::decode::<Command>(bytes) {
            Err(error) => UplinkEvent::Malformed(error),
            Ok(command) if !self.take_token(at) => {
                UplinkEvent::OverRate(self.may_answer_refusal(at).then_some(command.number))
            }
            Ok(command) if self.is_outdated(&command) => UplinkEvent::Outdated,
            Ok(command) => UplinkEvent::Command(command),
        }
    }

    /// Commands come in any order. For those where the last word counts, a late one must not undo a
    /// newer one.
    fn is_outdated(&mut self, command: &Command) -> bool {
        if !matches!(command.action, Action::Move { .. } | Action::Keys(_)) {
            return false;
        }
        let is_newer = |last: u32| command.number.wrapping_sub(last).cast_signed() > 0;
        let outdated = self.last_steer.is_some_and(|last| !is_newer(last));
        if !outdated {
            self.last_steer = Some(command.number);
        }
        outdated
    }

    /// An answer for each command of a flood would cost more than the flood.
    fn may_answer_refusal(&mut self, at: GameTime) -> bool {
        let may = self
            .last_refusal_at
            .is_none_or(|told| at.since(told) >= Duration::from_secs(1));
        if may {
            self.last_refusal_at = Some(at);
        }
        may
    }

    /// A token bucket over the client's commands.
    fn take_token(&mut self, at: GameTime) -> bool {
        let earned = at.since(self.tokens_at).as_secs_f64() * COMMANDS_PER_S;
        self.tokens = (self.tokens + earned).min(COMMANDS_PER_S);
        self.tokens_at = self.tokens_at.max(at);
        let may = self.tokens >= 1.0;
        if may {
            self.tokens -= 1.0;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_key_command_wins_whatever_the_order() {
        let mut hearing = CommandFilter::new(GameTime::ZERO);
        let heard = [7, 6, 9].map(|number| {
            let bytes = wire::encode(&mut Command {
                number,
                action: Action::Keys(number),
            });
            matches!(
                hearing.handle_message(GameTime::ZERO, &bytes),
                UplinkEvent::Command(_)
            )
        });
        assert_eq!(heard, [true, false, true]);
    }
}
