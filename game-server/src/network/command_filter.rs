//! Filters the commands of one client.
//!
//! Commands go in as they arrive; those that are within the client's allowance and not outdated
//! come out. Bounds: [`COMMANDS_PER_S`]; commands above that are refused, and at most one such
//! refusal a second is answered.

use std::time::Duration;

use ambit_proto::message::{Action, Command, KeyInput};
use ambit_proto::time::GameTime;
use ambit_proto::wire::{self, WireError};

/// Commands that a client may send in a second, and in one burst: enough for a held mouse button
/// that steers at the highest tick rate.
pub const COMMANDS_PER_S: f64 = 64.0;

/// What a datagram of a client contained.
#[derive(Debug, PartialEq)]
pub enum UplinkEvent {
    /// A command within the client's allowance.
    Command(Command),
    /// A command to move or to hold keys that is older than one already received; it is ignored.
    Outdated,
    /// A command above the allowance. Holds its number if the client is to be notified, which
    /// happens at most once a second.
    OverRate(Option<u32>),
    /// A message that cannot be decoded.
    Malformed(WireError),
    /// The player's controls; they may be older than those already received.
    Input(KeyInput),
    /// The client cannot decode poses because it misses their baselines.
    MissingBaseline,
}

/// The limits for one client's commands; see the module.
#[derive(Debug)]
pub struct CommandFilter {
    /// Number of the newest command to move or to hold keys.
    last_steer: Option<u32>,
    tokens: f64,
    tokens_at: GameTime,
    /// When the client was last notified of a refusal.
    last_refusal_at: Option<GameTime>,
}

impl CommandFilter {
    /// The filter for a client that joins at `now`.
    pub fn new(now: GameTime) -> Self {
        CommandFilter {
            last_steer: None,
            tokens: COMMANDS_PER_S,
            tokens_at: now,
            last_refusal_at: None,
        }
    }

    /// Decodes a reliable message and applies the limits to it.
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

    /// Commands arrive in any order. Where only the newest counts, an older one must not undo it.
    fn is_outdated(&mut self, command: &Command) -> bool {
        if !matches!(command.action, Action::Move { .. }) {
            return false;
        }
        let is_newer = |last: u32| command.number.wrapping_sub(last).cast_signed() > 0;
        let outdated = self.last_steer.is_some_and(|last| !is_newer(last));
        if !outdated {
            self.last_steer = Some(command.number);
        }
        outdated
    }

    /// Limits the answers: one for each command of a flood would cost more than the flood itself.
    fn may_answer_refusal(&mut self, at: GameTime) -> bool {
        let is_allowed = self
            .last_refusal_at
            .is_none_or(|last| at.since(last) >= Duration::from_secs(1));
        if is_allowed {
            self.last_refusal_at = Some(at);
        }
        is_allowed
    }

    /// A token bucket over the client's commands.
    fn take_token(&mut self, at: GameTime) -> bool {
        let earned = at.since(self.tokens_at).as_secs_f64() * COMMANDS_PER_S;
        self.tokens = (self.tokens + earned).min(COMMANDS_PER_S);
        self.tokens_at = self.tokens_at.max(at);
        let is_allowed = self.tokens >= 1.0;
        if is_allowed {
            self.tokens -= 1.0;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_move_wins_whatever_the_order() {
        let mut filter = CommandFilter::new(GameTime::ZERO);
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
}
