//! What one client wants, as far as it may want something.
//!
//! Commands as they arrive go in; those that count come out. Bounds: [`COMMANDS_PER_S`], the rest
//! is refused; an answer to one that is refused so, once a second.

use std::time::Duration;

use ambit_proto::message::{Action, Command, Input};
use ambit_proto::time::GameTime;
use ambit_proto::wire::{self, WireError};

/// Commands that a client may send in a second, and at once: a held click that steers at the
/// highest tick rate.
pub const COMMANDS_PER_S: f64 = 64.0;

/// What came out of a client's datagram.
#[derive(Debug, PartialEq)]
pub enum Heard {
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
    Input(Input),
    /// The client cannot read poses for want of their bases.
    LostTrack,
}

/// See the module.
#[derive(Debug)]
pub struct Hearing {
    /// Number of the newest command to go or to hold keys.
    last_steer: Option<u32>,
    allowance: f64,
    allowance_at: GameTime,
    /// When it was told last that it speaks too often.
    told_at: Option<GameTime>,
}

impl Hearing {
    /// Of a client that has just come in.
    pub fn new(now: GameTime) -> Self {
        Hearing {
            last_steer: None,
            allowance: COMMANDS_PER_S,
            allowance_at: now,
            told_at: None,
        }
    }

    /// A reliable message.
    pub fn hear(&mut self, at: GameTime, bytes: &[u8]) -> Heard {
        match wire::decode::<Command>(bytes) {
            Err(error) => Heard::Malformed(error),
            Ok(command) if !self.may_speak(at) => {
                Heard::OverRate(self.may_be_told(at).then_some(command.number))
            }
            Ok(command) if self.is_outdated(&command) => Heard::Outdated,
            Ok(command) => Heard::Command(command),
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
    fn may_be_told(&mut self, at: GameTime) -> bool {
        let may = self
            .told_at
            .is_none_or(|told| at.since(told) >= Duration::from_secs(1));
        if may {
            self.told_at = Some(at);
        }
        may
    }

    /// A token bucket over the client's commands.
    fn may_speak(&mut self, at: GameTime) -> bool {
        let earned = at.since(self.allowance_at).as_secs_f64() * COMMANDS_PER_S;
        self.allowance = (self.allowance + earned).min(COMMANDS_PER_S);
        self.allowance_at = self.allowance_at.max(at);
        let may = self.allowance >= 1.0;
        if may {
            self.allowance -= 1.0;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_commands_to_hold_keys_the_newest_counts_whatever_the_order() {
        let mut hearing = Hearing::new(GameTime::ZERO);
        let heard = [7, 6, 9].map(|number| {
            let bytes = wire::encode(&mut Command {
                number,
                action: Action::Keys(number),
            });
            matches!(hearing.hear(GameTime::ZERO, &bytes), Heard::Command(_))
        });
        assert_eq!(heard, [true, false, true]);
    }
}
