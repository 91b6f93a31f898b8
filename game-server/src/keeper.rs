//! What the WorldServer is told of a room all along, so that it can go on elsewhere: each tick what it has taken, and about once a second all
//! that it is.
//!
//! A room after a tick goes in, messages come out. A WorldServer that has all of them up to a tick has the room of that tick.
//! Cost: what was taken; once a second, all objects (see the bench `checkpoint`). Rooms take turns within the second by their ids.

use std::time::Duration;

use ambit_proto::control::host::{RoomSaved, RoomTick, host_to_world};
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

    /// What there is to tell after a tick.
    pub(crate) fn tell(&mut self, id: RoomId, room: &Room, now: GameTime, mut tell: impl FnMut(host_to_world::Body)) {
        if self.begun {
            let accepted = saved::of(room.accepted());
            tell(host_to_world::Body::RoomTick(RoomTick { room: id.0, at_us: now.micros(), accepted }));
        }
        if now < self.save_at {
            return;
        }
        let first = !self.begun;
        let Some(state) = room.save().filter(|state| state.len() <= LARGEST) else {
            if first {
                tracing::warn!(room = id.0, "the room is too large to be kept: it will end with this process");
            }
            self.save_at = now + EVERY;
            return;
        };
        tell(host_to_world::Body::RoomSaved(RoomSaved { room: id.0, at_us: now.micros(), state }));
        self.begun = true;
        let turn = Duration::from_millis(id.0 % 20 * 50);
        self.save_at = if first { now + turn + EVERY / 2 } else { now + EVERY };
    }
}
