//! What the WorldServer has of a room, and so what the room may confirm to its players.

use ambit_proto::ids::RoomId;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_room::journal::{JournalEntry, RoomSnapshot};
use ambit_room::room::Room;

use crate::checkpoints::CheckpointSender;
use crate::release::RoomConfirmations;

/// See the module.
#[derive(Debug)]
pub(super) struct RoomSaving {
    /// `None` if the WorldServer does not save the room.
    checkpoints: Option<CheckpointSender>,
    confirmations: RoomConfirmations,
}

impl RoomSaving {
    pub(super) fn new(checkpoints: Option<CheckpointSender>) -> Self {
        Self { checkpoints, confirmations: RoomConfirmations::default() }
    }

    /// Makes the next snapshot due, for a WorldServer that has nothing of the room.
    pub(super) fn restart(&mut self) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.restart();
        }
    }

    /// The journal entry of the room's last tick, if the WorldServer is to have it.
    pub(super) fn journal(&self, room: &Room, now: GameTime) -> Option<JournalEntry> {
        self.checkpoints.as_ref()?.journal(room, now)
    }

    /// A snapshot of the room after its tick at `now`, if it is due.
    pub(super) fn snapshot(
        &mut self,
        id: RoomId,
        room: &Room,
        now: GameTime,
    ) -> Option<RoomSnapshot> {
        self.checkpoints.as_mut()?.snapshot(id, room, now)
    }

    /// A snapshot after the last tick, with no journal after it.
    pub(super) fn last_snapshot(&mut self, id: RoomId, room: &Room) -> Option<RoomSnapshot> {
        let checkpoints = self.checkpoints.as_mut()?;
        let last = room.last_tick()?;
        checkpoints.hurry();
        checkpoints.snapshot(id, room, last)
    }

    /// Before a tick; see [`RoomConfirmations::limit`]. Returns whether [`RoomSaving::limit`] has
    /// changed.
    pub(super) fn note_kept(&mut self, now: LocalTime, kept: u64, has_lease: bool) -> bool {
        let before = self.limit();
        self.confirmations.limit(now, kept, has_lease) != before
    }

    /// The newest tick that the room may confirm, if it may not confirm the coming one: that is the
    /// case while acknowledgements are late.
    pub(super) fn limit(&self) -> Option<GameTime> {
        self.confirmations.last_limit()
    }

    /// After a tick: its entry leaves now, with this number.
    pub(super) fn note_entry(&mut self, now: LocalTime, at: GameTime, number: u64) {
        self.confirmations.note_entry(now, at, number);
    }

    /// After a tick: it has no entry.
    pub(super) fn note_unsaved(&mut self) {
        self.confirmations.note_unsaved();
    }

    /// Whether nothing that has happened in the room can be lost with this process any more.
    pub(super) fn are_all_kept(&self) -> bool {
        self.confirmations.are_all_kept()
    }

    /// The entry that the datagrams of the last tick have to wait for; zero for none.
    pub(super) fn release_after(&self) -> u64 {
        self.confirmations.after()
    }
}
