//! Starts that did not finish: how the next one restores rooms. Pure.
//!
//! A start begins before its first room is restored, and has finished when all restored rooms have
//! run for a moment. If the process ends in between, a room may be the cause: the next start tries
//! them one at a time, and notes which. If it ends as well, it has found the room, and the start
//! after that sets the room aside. Other ends of the process look the same, so a room is set aside
//! only if it was tried alone.

use ambit_proto::ids::RoomId;

/// What the directory says about starts that did not finish: a few lines, which operators can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnfinishedStarts {
    /// How many in a row.
    count: u32,
    /// The room that the last of them was trying.
    tried: Option<RoomId>,
}

/// How a start restores rooms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StartPlan {
    /// Earlier starts in a row that did not finish.
    pub(crate) unfinished: u32,
    pub(crate) one_at_a_time: bool,
    /// Not to be restored.
    pub(crate) set_aside: Option<RoomId>,
}

impl UnfinishedStarts {
    /// What the file says; `None` if there is none. One that cannot be read says at least that a
    /// start did not finish.
    pub(crate) fn parse(text: Option<&str>) -> Self {
        let Some(text) = text else {
            return Self::default();
        };
        let value = |name: &str| {
            let mut values = text.lines().filter_map(|line| line.strip_prefix(name));
            values.next().and_then(|value| value.trim().parse().ok())
        };
        let count = value("starts ").and_then(|count| u32::try_from(count).ok());
        Self { count: count.unwrap_or(1).max(1), tried: value("room ").map(RoomId) }
    }

    /// The text of the file; `None` if there is to be none.
    pub(crate) fn to_text(self) -> Option<String> {
        let room = self.tried.map(|room| format!("room {}\n", room.0));
        let text = format!("starts {}\n{}", self.count, room.unwrap_or_default());
        (self.count > 0).then_some(text)
    }

    /// How this start restores rooms, after these.
    pub(crate) fn plan(self) -> StartPlan {
        StartPlan { unfinished: self.count, one_at_a_time: self.count > 0, set_aside: self.tried }
    }

    /// This start begins, after these. The room that is set aside stays noted until it is.
    pub(crate) fn begin(self) -> Self {
        let count = self.count.saturating_add(1);
        Self { count, ..self }
    }

    /// This start tries that room, or none.
    pub(crate) fn trying(self, tried: Option<RoomId>) -> Self {
        Self { tried, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CULPRIT: RoomId = RoomId(7);

    #[test]
    fn the_room_that_two_starts_end_with_is_set_aside_by_the_third() {
        let first = UnfinishedStarts::parse(None);
        assert_eq!(first.plan(), StartPlan::default());
        // It ends before all rooms have run for a moment.
        let second = next_start(first.begin());
        let plan = second.plan();
        assert!(plan.one_at_a_time && plan.set_aside.is_none(), "{plan:?}");
        let trying = second.begin().trying(Some(RoomId(3)));
        let third = next_start(trying.trying(Some(CULPRIT)));
        let plan = third.plan();
        assert!(plan.one_at_a_time);
        assert_eq!((plan.unfinished, plan.set_aside), (2, Some(CULPRIT)));
        // It stays noted until it is set aside.
        assert_eq!(next_start(third.begin()).plan().set_aside, Some(CULPRIT));
        let fourth = next_start(third.begin().trying(None));
        assert_eq!((fourth.plan().unfinished, fourth.plan().set_aside), (3, None));
    }

    #[test]
    fn a_start_that_ends_between_two_rooms_sets_none_aside() {
        let second = next_start(UnfinishedStarts::default().begin());
        let third = next_start(second.begin().trying(Some(CULPRIT)).trying(None));
        assert_eq!(third.plan().set_aside, None);
    }

    #[test]
    fn a_damaged_file_counts_as_one_unfinished_start() {
        for text in ["", "starts x\nroom y", "starts 0", "\0\0\0"] {
            let plan = UnfinishedStarts::parse(Some(text)).plan();
            assert_eq!((plan.unfinished, plan.set_aside), (1, None), "{text:?}");
        }
    }

    /// What the next process reads.
    fn next_start(noted: UnfinishedStarts) -> UnfinishedStarts {
        let text = noted.to_text().expect("a start has begun");
        UnfinishedStarts::parse(Some(&text))
    }
}
