//! The players at gates, and those who have left by one.
//!
//! Positions of avatars go in, tick by tick, and whom the game sends to another map from wherever
//! they are, which is the same as a gate there; requests for a transfer come out. A player requests
//! a transfer once for each time that its avatar enters a gate. The request is repeated until it is
//! answered: with a departure, with a refusal, or by the player itself, who steps out. A player who
//! was refused, or arrives within a gate, has to step out before the gate counts again. So no
//! player is sent to and fro.
//!
//! Invariants:
//! 1. Transfers of one player have ascending numbers. So an order that is repeated is executed
//!    once.
//! 2. What a departed player carried is known until the player comes again or is out for good.
//!
//! Bound: a few words for each player, and for each departed one what was carried
//! (`MAX_TRANSFER_STATE_BYTES`). Cost: players x gates a tick.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::ids::PlayerId;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use super::input::TransferId;
use crate::logic::gate::Gate;

/// A request without an answer is repeated after this time: the answer may be lost with a host that
/// has died.
const REPEAT_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Gates {
    gates: Vec<Gate>,
    state: GateState,
}

/// The part of it that a snapshot holds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct GateState {
    /// Players whose avatars are in a gate.
    inside: BTreeSet<PlayerId>,
    /// Requests without an answer, and when they were last sent.
    requests: BTreeMap<PlayerId, GameTime>,
    departed: BTreeMap<PlayerId, Departure>,
}

/// How a player has left by a gate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Departure {
    pub(super) transfer: TransferId,
    pub(super) carried: Vec<u8>,
}

impl Gates {
    pub(super) fn all(&self) -> &[Gate] {
        &self.gates
    }

    /// The gates of the game's map.
    pub(super) fn put_up(&mut self, gates: Vec<Gate>) {
        self.gates = gates;
    }

    pub(super) fn state(&self) -> &GateState {
        &self.state
    }

    pub(super) fn restore(&mut self, state: GateState) {
        self.state = state;
    }

    /// Notes where a player's avatar is after a tick, and where the game sends it. Returns the map,
    /// and the place there, for which a transfer is to be requested now.
    pub(super) fn watch(
        &mut self,
        now: GameTime,
        player: PlayerId,
        position: Position,
        sent_to: Option<(u32, Position)>,
    ) -> Option<(u32, Position)> {
        let GateState { inside, requests, .. } = &mut self.state;
        let gate = self.gates.iter().find(|gate| gate.contains(position));
        let Some(target) = sent_to.or_else(|| gate.map(|gate| (gate.map, gate.at))) else {
            inside.remove(&player);
            requests.remove(&player);
            return None;
        };
        let is_due = inside.insert(player)
            || requests.get(&player).is_some_and(|sent| now.since(*sent) >= REPEAT_AFTER);
        is_due.then(|| {
            requests.insert(player, now);
            target
        })
    }

    /// Whether a player's avatar stands in a gate.
    pub(super) fn has(&self, player: PlayerId) -> bool {
        self.state.inside.contains(&player)
    }

    /// The request is answered: the player stays.
    pub(super) fn refuse(&mut self, player: PlayerId) {
        self.state.requests.remove(&player);
    }

    /// The player has left by a gate.
    pub(super) fn depart(&mut self, player: PlayerId, departure: Departure) {
        self.forget(player);
        self.state.departed.insert(player, departure);
    }

    /// How the player has left by a gate; `None` if the player has come again since.
    pub(super) fn departure(&self, player: PlayerId) -> Option<&Departure> {
        self.state.departed.get(&player)
    }

    /// The player has arrived by a transfer, at this position.
    pub(super) fn arrive(&mut self, player: PlayerId, position: Position) {
        self.forget(player);
        if self.gates.iter().any(|gate| gate.contains(position)) {
            self.state.inside.insert(player);
        }
    }

    /// Removes all that is known of a player.
    pub(super) fn forget(&mut self, player: PlayerId) {
        self.state.inside.remove(&player);
        self.state.requests.remove(&player);
        self.state.departed.remove(&player);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: PlayerId = PlayerId(1);

    #[test]
    fn a_request_is_repeated_until_it_is_answered() {
        let mut gates = gates();
        assert_eq!(watch(&mut gates, 0, 50.0), None);
        assert_eq!(watch(&mut gates, 50, 99.0), Some(3));
        assert_eq!(watch(&mut gates, 100, 99.0), None);
        assert_eq!(watch(&mut gates, 1_050, 99.0), Some(3), "the request is not answered");
        gates.refuse(ANN);
        assert_eq!(watch(&mut gates, 9_000, 99.0), None, "the request is refused");
        assert_eq!(watch(&mut gates, 9_050, 97.0), None, "the player leaves the gate");
        assert_eq!(watch(&mut gates, 9_100, 99.0), Some(3), "the player enters the gate again");
    }

    #[test]
    fn a_player_who_arrives_in_a_gate_is_not_transferred_back() {
        let mut gates = gates();
        gates.arrive(ANN, Position::on_ground(99.0, 50.0));
        assert_eq!(watch(&mut gates, 0, 99.0), None);
        assert_eq!(watch(&mut gates, 5_000, 99.0), None);
        assert_eq!(watch(&mut gates, 5_050, 90.0), None);
        assert_eq!(watch(&mut gates, 5_100, 98.0), Some(3));
    }

    #[test]
    fn whom_the_game_sends_away_requests_a_transfer_from_anywhere_once() {
        let mut gates = gates();
        let here = Position::on_ground(50.0, 50.0);
        let mut send = |at_ms, to| gates.watch(GameTime::from_millis(at_ms), ANN, here, to);
        let target = Some((7, here));
        assert_eq!((send(0, None), send(50, target), send(100, target)), (None, target, None));
        assert_eq!(send(1_050, target), target, "the request is not answered");
        assert_eq!((send(1_100, None), send(1_150, target)), (None, target), "sent once more");
        gates.refuse(ANN);
        assert_eq!(gates.watch(GameTime::from_millis(9_000), ANN, here, target), None, "refused");
    }

    fn watch(gates: &mut Gates, at_ms: u64, x: f32) -> Option<u32> {
        let now = GameTime::from_millis(at_ms);
        let place = Position::on_ground(x, 50.0);
        gates.watch(now, ANN, place, None).map(|(map, _)| map)
    }

    fn gates() -> Gates {
        let low = Position::on_ground(98.0, 45.0);
        let high = Position::on_ground(100.0, 55.0);
        let mut gates = Gates::default();
        gates.put_up(vec![Gate { low, high, map: 3, at: Position::on_ground(5.0, 50.0) }]);
        gates
    }
}
