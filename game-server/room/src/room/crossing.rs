//! Players who go to another map of the world, or come from one: the room's part of that.
//!
//! The lobby decides (`lobby::worlds`); the room says who is at a gate, lets go, and admits.
//! Leaving and arriving are taken like all else ([`Accepted`]), so a room that goes on elsewhere
//! has done them too.

use crate::logic::game::MAX_TRANSFER_STATE_BYTES;
use ambit_proto::ids::PlayerId;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::gates::Departure;
use super::{Output, Presence, Room, Seat};
use crate::logic::executed_commands::ExecutedCommands;

impl Room {
    /// Says who has got into a gate. Nothing for who has left the tick before.
    pub(super) fn watch_gates(&mut self, now: GameTime) {
        if self.gates.is_empty() {
            return;
        }
        for (&player, seat) in &self.seats {
            let from = self.world.position(seat.avatar);
            if let Some(gate) = self.gates.watch(now, player, from) {
                self.said.push(Output::AtGate {
                    player,
                    map: gate.map,
                    at: gate.at,
                    from,
                });
            }
        }
    }

    /// The player may go, and goes if it still stands at the gate and the game has nothing against
    /// it.
    pub(super) fn let_go(&mut self, player: PlayerId, number: u64) {
        let carried = match (self.seats.get(&player), self.gates.departure(player)) {
            (Some(seat), _) if seat.transfer >= number => return, // Of an earlier time that the player was here.
            (Some(_), _) => self.depart(player, number),
            (None, Some(departure)) if departure.number == number => {
                Some(departure.carried.clone())
            }
            (None, _) => None,
        };
        if carried.is_none() {
            self.gates.refuse(player);
        }
        self.said.push(Output::Departed {
            player,
            number,
            carried,
        });
    }

    fn depart(&mut self, player: PlayerId, number: u64) -> Option<Vec<u8>> {
        if !self.gates.has(player) {
            return None;
        }
        let carried = self.game.carry(&self.world, player)?;
        if carried.len() > MAX_TRANSFER_STATE_BYTES {
            tracing::error!(
                player = player.0,
                "the game carries {} bytes through a gate, at most {MAX_TRANSFER_STATE_BYTES} are possible: the player stays",
                carried.len()
            );
            return None;
        }
        if let Some(Seat {
            presence: Presence::Here(client),
            ..
        }) = self.seats.get(&player)
        {
            // Known to the shell as one that is about to go elsewhere: it closes the connection by
            // itself.
            let client = *client;
            self.disconnect(client);
            self.said.push(Output::Elsewhere { client });
        }
        self.vacate(player);
        self.gates.depart(
            player,
            Departure {
                number,
                carried: carried.clone(),
            },
        );
        Some(carried)
    }

    /// A player comes from another map; nobody is connected yet.
    pub(super) fn admit(&mut self, now: GameTime, arrival: &Arriving) {
        let &Arriving {
            player,
            number,
            ref name,
            at,
            ref carried,
        } = arrival;
        if self
            .seats
            .get(&player)
            .is_some_and(|seat| seat.transfer >= number)
        {
            return self.said.push(Output::Arrived { player, number });
        }
        if self
            .gates
            .departure(player)
            .is_some_and(|departure| departure.number >= number)
        {
            return; // Has been here since, and has gone again.
        }
        // One whose departure nobody remembers.
        self.vacate(player);
        let at = if self.world.grid().contains(at) {
            at
        } else {
            self.world.middle()
        };
        let avatar = self.game.arrive(&mut self.world, player, name, at, carried);
        self.world.set_owner(avatar, player);
        self.world.trace_join(player, avatar, name);
        self.gates.arrive(player, self.world.position(avatar));
        let seat = Seat {
            avatar,
            name: name.clone(),
            presence: Presence::Away(now),
            done: ExecutedCommands::default(),
            again_until: GameTime::ZERO,
            transfer: number,
            steered: None,
        };
        self.seats.insert(player, seat);
        self.said.push(Output::Arrived { player, number });
    }
}

/// Who comes from another map, and how.
pub(super) struct Arriving {
    pub(super) player: PlayerId,
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) at: Position,
    pub(super) carried: Vec<u8>,
}
