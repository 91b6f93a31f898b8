//! The worlds of the operator's list: they are opened at the start, and stay open without players.
//!
//! A world is the room that has its name and is the operator's. One that has ended, by its rules or
//! by a crash, is opened again as a new one after some seconds, and so is one that no host could
//! open.

use std::time::Duration;

use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::lobby::Lobby;
use crate::lobby::rooms::room::{LobbyRoom, RoomLife, RoomPhase};
use crate::lobby::timers::Timer;

/// A world that no host has taken is tried again after this time.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

impl Lobby {
    /// Opens what is not open.
    pub(in crate::lobby) fn open_worlds(&mut self, now: LocalTime) {
        if self.draining {
            return;
        }
        let mut are_open = true;
        for index in 0..self.config.worlds.len() {
            are_open &= self.open_world(now, index);
        }
        if !are_open {
            self.effects.timers.set(Timer::Worlds, now + TRY_AGAIN_AFTER);
        }
    }

    /// Returns whether the world is open, or about to be.
    fn open_world(&mut self, now: LocalTime, index: usize) -> bool {
        let Some(id) = self.operated_room(index) else {
            return false;
        };
        if self.rooms.at(id).phase != RoomPhase::Waiting {
            return true;
        }
        self.begin_start(now, id, None).is_ok()
    }

    /// The room of this world. It is added if there is none, and the other servers can be told.
    fn operated_room(&mut self, index: usize) -> Option<RoomId> {
        let world = &self.config.worlds[index];
        let is_it = |room: &&LobbyRoom| {
            room.life == RoomLife::Operated
                && room.map_identity.is_none()
                && room.name() == &world.create.name
        };
        if let Some(known) = self.rooms.iter().find(is_it) {
            return Some(known.id);
        }
        self.check_directory().ok()?;
        let id = self.rooms.add_operated(world.create.clone());
        self.effects.counters.rooms_made += 1;
        Some(id)
    }
}
