//! Which recordings of a folder go, so that it stays within its bound.
//!
//! What is in the folder goes in, the names of what is deleted come out. Files of other names are
//! not recordings and count for nothing. Recordings go from the oldest on, and only if they have
//! ended; those of condemned rooms go by their age alone. Cost: a sort.

use std::time::Duration;

/// How much a folder of recordings may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordBound {
    /// All recordings together; `None` for no bound.
    pub bytes: Option<u64>,
    /// Since a recording was last written; `None` for no bound.
    pub age: Option<Duration>,
}

/// A file with the name of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundRecording {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Since it was last written.
    pub(crate) age: Duration,
    /// Whether it is a recording that no room writes to any more.
    pub(crate) has_ended: bool,
}

/// What becomes of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pruning {
    /// The files to delete, in this order.
    pub(crate) deleted: Vec<FoundRecording>,
    /// What the others have together.
    pub(crate) left_bytes: u64,
}

/// What the end of a name says of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordingName {
    Played,
    Condemned,
}

impl RecordBound {
    /// Whether `more` bytes fit in beside `left` bytes.
    pub(crate) fn allows(&self, left: u64, more: u64) -> bool {
        self.bytes.is_none_or(|most| left.saturating_add(more) <= most)
    }

    /// What goes so that `more` bytes fit in.
    pub(crate) fn prune(&self, mut found: Vec<FoundRecording>, more: u64) -> Pruning {
        found.retain(|file| kind_of(&file.name).is_some());
        let mut left_bytes = found.iter().map(|file| file.bytes).sum();
        found.sort_by(|a, b| b.age.cmp(&a.age).then_with(|| a.name.cmp(&b.name)));
        let is_deleted = |file: &FoundRecording| {
            let is_old = self.age.is_some_and(|most| file.age > most);
            let is_played = kind_of(&file.name) == Some(RecordingName::Played);
            let goes = file.has_ended && (is_old || is_played && !self.allows(left_bytes, more));
            if goes {
                left_bytes -= file.bytes;
            }
            goes
        };
        let deleted = found.into_iter().filter(is_deleted).collect();
        Pruning { deleted, left_bytes }
    }
}

/// `None` unless a room's recording is named so: `room-7.rec`, `room-7-2.rec`,
/// `room-7-condemned.rec`.
fn kind_of(name: &str) -> Option<RecordingName> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = name.strip_prefix("room-")?.strip_suffix(".rec")?;
    let (room, rest) = parts.split_once('-').map_or((parts, None), |(a, b)| (a, Some(b)));
    match rest {
        _ if !is_number(room) => None,
        None => Some(RecordingName::Played),
        Some("condemned") => Some(RecordingName::Condemned),
        Some(count) => is_number(count).then_some(RecordingName::Played),
    }
}

/// Whether a file has the name of a recording.
pub(crate) fn is_recording_name(name: &str) -> bool {
    kind_of(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn file(name: &str, bytes: u64, days: u32) -> FoundRecording {
        FoundRecording { name: name.to_owned(), bytes, age: DAY * days, has_ended: true }
    }

    /// The names of what goes, and what is left.
    fn prune(bound: RecordBound, found: &[FoundRecording], more: u64) -> (Vec<String>, u64) {
        let Pruning { deleted, left_bytes } = bound.prune(found.to_vec(), more);
        (deleted.into_iter().map(|file| file.name).collect(), left_bytes)
    }

    #[test]
    fn the_oldest_recordings_go_until_there_is_space() {
        let bound = RecordBound { bytes: Some(100), age: None };
        let found =
            [file("room-1.rec", 40, 3), file("room-2-2.rec", 30, 9), file("room-2.rec", 20, 1)];
        assert_eq!(prune(bound, &found, 10), (vec![], 90));
        assert_eq!(prune(bound, &found, 11), (vec!["room-2-2.rec".to_owned()], 60));
        let both = ["room-2-2.rec", "room-1.rec"].map(str::to_owned).to_vec();
        assert_eq!(prune(bound, &found, 41), (both, 20));
        let (all, left) = prune(bound, &found, 101);
        assert_eq!((all.len(), left), (3, 0));
        assert!(!bound.allows(0, 101));
        assert_eq!(prune(RecordBound::default(), &found, u64::MAX), (vec![], 90));
    }

    #[test]
    fn old_recordings_go_although_there_is_space() {
        let bound = RecordBound { bytes: None, age: Some(DAY * 7) };
        let found = [file("room-1.rec", 1, 7), file("room-2.rec", 1, 8)];
        assert_eq!(prune(bound, &found, 0), (vec!["room-2.rec".to_owned()], 1));
    }

    #[test]
    fn a_recording_that_a_room_writes_never_goes() {
        let bound = RecordBound { bytes: Some(10), age: Some(DAY) };
        let running = FoundRecording { has_ended: false, ..file("room-1.rec", 50, 30) };
        let found = [running, file("room-2.rec", 5, 0)];
        assert_eq!(prune(bound, &found, 1), (vec!["room-2.rec".to_owned()], 50));
    }

    #[test]
    fn the_state_of_a_condemned_room_goes_by_its_age_alone() {
        let bound = RecordBound { bytes: Some(10), age: Some(DAY * 7) };
        let condemned = "room-1-condemned.rec";
        assert_eq!(prune(bound, &[file(condemned, 50, 7)], 1), (vec![], 50));
        assert_eq!(prune(bound, &[file(condemned, 50, 8)], 1), (vec![condemned.to_owned()], 0));
        let ageless = RecordBound { bytes: Some(10), age: None };
        assert_eq!(prune(ageless, &[file(condemned, 50, 999)], 1), (vec![], 50));
    }

    #[test]
    fn files_with_other_names_are_left_alone() {
        let bound = RecordBound { bytes: Some(0), age: Some(Duration::ZERO) };
        for name in [
            "room-1.jsonl",
            "room-.rec",
            "room-a.rec",
            "room-1-.rec",
            "room-1-b.rec",
            "room-1-condemned-2.rec",
            "room-1.rec.bak",
            "notes.rec",
            "my-room-1.rec",
            "",
        ] {
            assert_eq!(prune(bound, &[file(name, 9, 9)], 1), (vec![], 0), "{name:?}");
            assert!(!is_recording_name(name));
        }
    }
}
