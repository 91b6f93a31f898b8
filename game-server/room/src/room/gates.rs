//! Who is at a gate, and who has left by one.
//!
//! Where avatars are goes in, tick by tick, and what is to be said of that comes out. A player
//! wishes to go once for each time that its avatar gets into a gate, and the wish is said again
//! until it is answered: with a departure, with a refusal, or by the player itself, who steps out.
//! Whoever was refused, or arrives within a gate, has to step out before it counts again: no
//! ping-pong.
//!
//! Invariants:
//! 1. A transfer has a number, and of one player only higher ones than before count: what is said
//!    twice is done once.
//! 2. Of a player who has left by a gate it is known what was carried until the player comes again
//!    or is out for good.
//!
//! Bound: a few words for each player, and for each who has left what was carried
//! (`MAX_TRANSFER_STATE_BYTES`). Cost: players x gates a tick, on maps that have gates.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::ids::PlayerId;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use crate::logic::gate::Gate;

/// A wish that nobody has answered is said again after so long: the answer may be lost with a host
/// that has died.
const AGAIN: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Gates {
    gates: Vec<Gate>,
    state: State,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    /// Whose avatars are in a gate.
    inside: BTreeSet<PlayerId>,
    /// When wishes that wait for an answer were last said.
    wishes: BTreeMap<PlayerId, GameTime>,
    departed: BTreeMap<PlayerId, Departure>,
}

/// A player has left by a gate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Departure {
    pub(super) number: u64,
    pub(super) carried: Vec<u8>,
}

impl Gates {
    /// What the game says of its map.
    pub(super) fn put_up(&mut self, gates: Vec<Gate>) {
        self.gates = gates;
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    pub(super) fn restore(&mut self, state: State) {
        self.state = state;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    /// A player's avatar is there after a tick. The gate that the player wishes to go through, if
    /// that is to be said now.
    pub(super) fn watch(
        &mut self,
        now: GameTime,
        player: PlayerId,
        place: Position,
    ) -> Option<Gate> {
        let State { inside, wishes, .. } = &mut self.state;
        let Some(gate) = self.gates.iter().find(|gate| gate.contains(place)) else {
            inside.remove(&player);
            wishes.remove(&player);
            return None;
        };
        let is_due = inside.insert(player)
            || wishes
                .get(&player)
                .is_some_and(|said| now.since(*said) >= AGAIN);
        is_due.then(|| {
            wishes.insert(player, now);
            *gate
        })
    }

    /// Whether a player's avatar stands in a gate.
    pub(super) fn has(&self, player: PlayerId) -> bool {
        self.state.inside.contains(&player)
    }

    /// The wish is answered: the player stays.
    pub(super) fn refuse(&mut self, player: PlayerId) {
        self.state.wishes.remove(&player);
    }

    /// The player has left by a gate.
    pub(super) fn depart(&mut self, player: PlayerId, departure: Departure) {
        self.forget(player);
        self.state.departed.insert(player, departure);
    }

    /// How the player has left, if by a gate and for now.
    pub(super) fn departure(&self, player: PlayerId) -> Option<&Departure> {
        self.state.departed.get(&player)
    }

    /// The player has come by a gate, to that place.
    pub(super) fn arrive(&mut self, player: PlayerId, place: Position) {
        self.forget(player);
        if self.gates.iter().any(|gate| gate.contains(place)) {
            self.state.inside.insert(player);
        }
    }

    /// Nothing is left of the player.
    pub(super) fn forget(&mut self, player: PlayerId) {
        self.state.inside.remove(&player);
        self.state.wishes.remove(&player);
        self.state.departed.remove(&player);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: PlayerId = PlayerId(1);

    #[test]
    fn a_wish_is_said_at_the_gate_and_again_until_it_is_answered() {
        let mut gates = gates();
        assert_eq!(watch(&mut gates, 0, 50.0), None);
        assert_eq!(watch(&mut gates, 50, 99.0), Some(3));
        assert_eq!(watch(&mut gates, 100, 99.0), None);
        assert_eq!(
            watch(&mut gates, 1_050, 99.0),
            Some(3),
            "nobody has answered"
        );
        gates.refuse(ANN);
        assert_eq!(watch(&mut gates, 9_000, 99.0), None, "refused");
        assert_eq!(watch(&mut gates, 9_050, 97.0), None, "steps out");
        assert_eq!(watch(&mut gates, 9_100, 99.0), Some(3), "and tries again");
    }

    #[test]
    fn who_arrives_within_a_gate_does_not_go_back_at_once() {
        let mut gates = gates();
        gates.arrive(ANN, Position::on_ground(99.0, 50.0));
        assert_eq!(watch(&mut gates, 0, 99.0), None);
        assert_eq!(watch(&mut gates, 5_000, 99.0), None);
        assert_eq!(watch(&mut gates, 5_050, 90.0), None);
        assert_eq!(watch(&mut gates, 5_100, 98.0), Some(3));
    }

    fn watch(gates: &mut Gates, at_ms: u64, x: f32) -> Option<u32> {
        gates
            .watch(
                GameTime::from_millis(at_ms),
                ANN,
                Position::on_ground(x, 50.0),
            )
            .map(|gate| gate.map)
    }

    fn gates() -> Gates {
        let (low, high) = (
            Position::on_ground(98.0, 45.0),
            Position::on_ground(100.0, 55.0),
        );
        let mut gates = Gates::default();
        gates.put_up(vec![Gate {
            low,
            high,
            map: 3,
            at: Position::on_ground(5.0, 50.0),
        }]);
        gates
    }
}
