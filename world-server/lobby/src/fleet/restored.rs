//! Rooms that an earlier process has kept, until they have run here for a moment.
//!
//! They wait for a host as long as they have members: that hosts come late, hang, or have another
//! build is no reason to end a room. One that ends before it has run here, or because it failed, is
//! set aside (`trials`): the build that saved it may be able to read it.
//!
//! A room may end the process that restores it, and with an embedded host that is the WorldServer.
//! So the shell counts starts that did not finish. After one, rooms are tried one at a time: the
//! shell notes which (`LobbyAction::NoteTrial`), the room is placed, and the next one follows when
//! it has run for a moment or has ended. `LobbyAction::RestoreDone` says that all have.

use std::collections::BTreeSet;

use ambit_proto::ids::RoomId;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct RestoredRooms {
    /// Those that have not run here for a moment.
    unproven: BTreeSet<RoomId>,
    one_at_a_time: bool,
    /// The one that is tried.
    tried: Option<RoomId>,
    /// The one that the shell received last.
    noted: Option<RoomId>,
}

impl RestoredRooms {
    pub(super) fn set_one_at_a_time(&mut self) {
        self.one_at_a_time = true;
    }

    /// These rooms were restored. Returns whether there are any.
    pub(super) fn watch(&mut self, rooms: impl Iterator<Item = RoomId>) -> bool {
        self.unproven = rooms.collect();
        !self.unproven.is_empty()
    }

    pub(super) fn is_unproven(&self, room: RoomId) -> bool {
        self.unproven.contains(&room)
    }

    pub(super) fn are_all_proven(&self) -> bool {
        self.unproven.is_empty()
    }

    /// Whether the room may get a host now.
    pub(super) fn may_run(&self, room: RoomId) -> bool {
        !self.one_at_a_time || self.tried == Some(room) || !self.is_unproven(room)
    }

    /// The tried room has no host, so another one can be tried meanwhile.
    pub(super) fn pause_trial(&mut self, room: RoomId) {
        self.tried = self.tried.filter(|tried| *tried != room);
    }

    /// The room has run, or has ended. Returns whether it was to be proven.
    pub(super) fn clear(&mut self, room: RoomId) -> bool {
        let was_unproven = self.unproven.remove(&room);
        if was_unproven {
            self.pause_trial(room);
        }
        was_unproven
    }

    /// Whether a room is to be chosen that is tried next.
    pub(super) fn is_trial_due(&self) -> bool {
        self.one_at_a_time && self.tried.is_none()
    }

    pub(super) fn unproven(&self) -> impl Iterator<Item = RoomId> {
        self.unproven.iter().copied()
    }

    /// This room is tried from now on, or none is. Returns whether the shell knows of another one.
    pub(super) fn begin_trial(&mut self, room: Option<RoomId>) -> bool {
        self.tried = room;
        std::mem::replace(&mut self.noted, room) != room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_tried_one_at_a_time_only_if_that_was_set() {
        let mut rooms = RestoredRooms::default();
        assert!(rooms.watch([1, 2].map(RoomId).into_iter()));
        assert!(!rooms.is_trial_due());
        assert!(rooms.may_run(RoomId(1)) && rooms.may_run(RoomId(2)));
        rooms.set_one_at_a_time();
        assert!(rooms.is_trial_due());
        assert!(!rooms.may_run(RoomId(1)) && !rooms.may_run(RoomId(2)));
        assert!(rooms.may_run(RoomId(3)), "it is new");
    }

    #[test]
    fn each_trial_is_news_once_and_ends_with_its_room_or_its_host() {
        let mut rooms = RestoredRooms::default();
        rooms.watch([1, 2].map(RoomId).into_iter());
        rooms.set_one_at_a_time();
        assert!(!rooms.begin_trial(None), "no room has been tried");
        assert!(rooms.begin_trial(Some(RoomId(1))) && !rooms.is_trial_due());
        assert!(rooms.may_run(RoomId(1)) && !rooms.may_run(RoomId(2)));
        rooms.pause_trial(RoomId(2));
        assert!(!rooms.is_trial_due());
        rooms.pause_trial(RoomId(1));
        assert!(rooms.is_trial_due() && !rooms.begin_trial(Some(RoomId(1))));
        assert!(rooms.clear(RoomId(1)) && !rooms.clear(RoomId(1)));
        assert!(rooms.is_trial_due() && !rooms.are_all_proven());
        assert_eq!(rooms.unproven().collect::<Vec<_>>(), [RoomId(2)]);
        assert!(rooms.begin_trial(Some(RoomId(2))));
        assert!(rooms.clear(RoomId(2)) && rooms.are_all_proven());
        assert!(rooms.begin_trial(None));
    }
}
