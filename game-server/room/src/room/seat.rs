//! The seat of one player: the avatar, the connection, and which commands were executed.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::{AccountId, ClientId, ObjectId};
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use super::input::{REPLAY_CLIENT, TransferId};
use crate::logic::executed_commands::ExecutedCommands;

/// A player's place in the room, from the join until the player is out.
#[derive(Serialize, Deserialize)]
pub(super) struct Seat {
    pub(super) avatar: ObjectId,
    pub(super) name: String,
    /// As in the world, since the player came.
    pub(super) account: Option<AccountId>,
    /// As in the world.
    pub(super) ping_ms: Option<u16>,
    pub(super) presence: Presence,
    /// Which commands of the present client were executed.
    pub(super) executed: ExecutedCommands,
    pub(super) repeats: CommandRepeats,
    /// The transfer by which the player came; `None` for a player who joined through the lobby.
    pub(super) arrived_by: Option<TransferId>,
    /// The newest executed commands of the kinds of which only the newest counts: so the next host
    /// knows them, too.
    pub(super) newest: BTreeMap<u8, u32>,
    /// The newest that have arrived on this connection, executed or refused.
    #[serde(skip)]
    pub(super) arrived: BTreeMap<u8, u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Presence {
    Here(ClientId),
    /// Since when the connection is lost.
    Away(GameTime),
}

/// Whether the present client may repeat commands that the room executed at its last host.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum CommandRepeats {
    Never,
    /// Once the player is back: the room has just come here from another host.
    AfterReturn,
    Until(GameTime),
}

/// How long a client may repeat commands after a return: far longer than a connection can be silent
/// without being lost.
const REPEATS_FOR: Duration = Duration::from_secs(30);
/// A command this far behind another one was numbered by another client: no client has this number
/// of commands under way.
const FAR_BEHIND: u32 = 128;

impl Seat {
    pub(super) fn new(avatar: ObjectId, name: String) -> Self {
        Self {
            avatar,
            name,
            account: None,
            ping_ms: None,
            presence: Presence::Here(REPLAY_CLIENT),
            executed: ExecutedCommands::default(),
            repeats: CommandRepeats::Never,
            arrived_by: None,
            newest: BTreeMap::new(),
            arrived: BTreeMap::new(),
        }
    }

    pub(super) fn connect(&mut self, now: GameTime, client: ClientId) {
        self.presence = Presence::Here(client);
        self.arrived.clear();
        if self.repeats == CommandRepeats::AfterReturn {
            self.repeats = CommandRepeats::Until(now + REPEATS_FOR);
        } else {
            // Another client may number its commands from the start again, and repeats nothing.
            self.repeats = CommandRepeats::Never;
            (self.executed, self.newest) = (ExecutedCommands::default(), BTreeMap::new());
        }
    }

    fn may_repeat(&self, now: GameTime) -> bool {
        matches!(self.repeats, CommandRepeats::Until(until) if until > now)
    }

    pub(super) fn has_executed(&self, now: GameTime, number: u32) -> bool {
        self.may_repeat(now) && self.executed.contains(number)
    }

    /// A command has arrived of a kind of which only the newest counts. Returns whether a newer one
    /// was there before it, here or at the last host: it must not undo that.
    pub(super) fn receive_newest(&mut self, now: GameTime, kind: u8, number: u32) -> bool {
        let is_behind = |last: &u32| last.wrapping_sub(number).cast_signed() >= 0;
        let is_little_behind = |last: &u32| (1..FAR_BEHIND).contains(&last.wrapping_sub(number));
        let is_outdated = self.arrived.get(&kind).is_some_and(is_behind)
            || self.may_repeat(now) && self.newest.get(&kind).is_some_and(is_little_behind);
        if !is_outdated {
            self.arrived.insert(kind, number);
        }
        is_outdated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALK: u8 = 0;
    const REST: u8 = 1;

    #[test]
    fn the_newest_command_of_a_kind_wins_whatever_the_order() {
        let mut seat = Seat::new(ObjectId::default(), "ann".to_owned());
        let now = GameTime::ZERO;
        let outdated = [(7, WALK), (6, WALK), (7, WALK), (5, REST), (9, WALK)]
            .map(|(number, kind)| seat.receive_newest(now, kind, number));
        assert_eq!(outdated, [false, true, true, false, false]);
    }

    #[test]
    fn after_a_return_commands_behind_those_of_the_last_host_are_outdated() {
        let mut seat = Seat::new(ObjectId::default(), "ann".to_owned());
        seat.newest.insert(WALK, 500);
        seat.repeats = CommandRepeats::AfterReturn;
        seat.connect(GameTime::ZERO, REPLAY_CLIENT);
        let outdated = [499, 500 - FAR_BEHIND].map(|number| {
            seat.arrived.clear();
            seat.receive_newest(GameTime::ZERO, WALK, number)
        });
        assert_eq!(outdated, [true, false]);
        // Another client counts from the start again once nothing can be repeated.
        seat.arrived.clear();
        assert!(!seat.receive_newest(GameTime::ZERO + REPEATS_FOR, WALK, 499));
    }
}
