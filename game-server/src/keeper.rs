//! What the WorldServer is told of a room all along, so that it can go on elsewhere: each tick what it has taken, and about once a second all
//! that it is.
//!
//! A room after a tick goes in, messages come out. A WorldServer that has all of them up to a tick has the room of that tick.
//! Cost: what was taken; once a second, all objects (see the bench `checkpoint`). Rooms take turns within the second by their ids.

use std::time::Duration;

use ambit_proto::control::host::{RoomSaved, RoomTick};
use ambit_proto::ids::RoomId;
use ambit_proto::time::GameTime;

use crate::room::Room;
use crate::saved;

/// How often all of it is told.
const EVERY: Duration = Duration::from_secs(1);
/// A room that is larger than this can't be told: the link's messages are bounded.
const LARGEST: usize = ambit_proto::frame::MAX_HOST - 1_024;

/// See the module.
#[derive(Debug)]
pub(crate) struct Keeper {
    save_at: GameTime,
    /// Whether anything was told that ticks can follow.
    begun: bool,
}

impl Keeper {
    /// Of a room that is about to tick here; nothing if it can't go on elsewhere.
    pub(crate) fn of(room: &Room) -> Option<Self> {
        room.save().map(|_| Self { save_at: GameTime::ZERO, begun: false })
    }

    /// What a tick has taken: to be told before anything of it is confirmed to a player. Nothing before the first [`Keeper::save`].
    pub(crate) fn tick(&self, id: RoomId, room: &Room, now: GameTime) -> Option<RoomTick> {
        let accepted = || saved::of(room.accepted());
        self.begun.then(|| RoomTick { room: id.0, at_us: now.micros(), accepted: accepted(), serial: 0 })
    }

    /// It is time to tell all that the room is.
    pub(crate) fn hurry(&mut self) {
        self.save_at = GameTime::ZERO;
    }

    /// All that the room is after a tick, if it is time to tell that.
    pub(crate) fn save(&mut self, id: RoomId, room: &Room, now: GameTime) -> Option<RoomSaved> {
        if now < self.save_at {
            return None;
        }
        let first = !self.begun;
        let Some(state) = room.save().filter(|state| state.len() <= LARGEST) else {
            if first {
                tracing::warn!(room = id.0, "the room is too large to be kept: it will end with this process");
            }
            self.save_at = now + EVERY;
            return None;
        };
        self.begun = true;
        let turn = Duration::from_millis(id.0 % 20 * 50);
        self.save_at = if first { now + turn + EVERY / 2 } else { now + EVERY };
        Some(RoomSaved { room: id.0, at_us: now.micros(), state })
    }
}
