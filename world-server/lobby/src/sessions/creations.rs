//! The rooms that a player created within the last minute: limits their number, and makes a
//! repeated request harmless.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

/// A client's key for a request to create a room: repeated requests have the same key.
pub(crate) type CreationKey = [u8; 16];

/// The rooms that one player created within the last minute; their number is limited.
#[derive(Debug, Default)]
pub(crate) struct RecentCreations(VecDeque<RoomCreation>);

#[derive(Debug)]
struct RoomCreation {
    at: LocalTime,
    key: Option<CreationKey>,
    room: RoomId,
}

impl RecentCreations {
    /// How long a creation counts, and how long its key is known. Longer than the grace period, so
    /// that a client can repeat the request after a reconnect.
    const MEMORY: Duration = Duration::from_mins(1);

    /// The room that the request with this key created.
    pub(crate) fn room_for_key(&mut self, now: LocalTime, key: CreationKey) -> Option<RoomId> {
        self.expire(now);
        self.0.iter().find(|creation| creation.key == Some(key)).map(|creation| creation.room)
    }

    /// The number of rooms created within the last minute.
    pub(crate) fn count_recent(&mut self, now: LocalTime) -> usize {
        self.expire(now);
        self.0.len()
    }

    pub(crate) fn add(&mut self, now: LocalTime, key: Option<CreationKey>, room: RoomId) {
        self.0.push_back(RoomCreation { at: now, key, room });
    }

    /// The known keys and their rooms, the oldest first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Option<CreationKey>, RoomId)> + '_ {
        self.0.iter().map(|creation| (creation.key, creation.room))
    }

    fn expire(&mut self, now: LocalTime) {
        while self.0.front().is_some_and(|oldest| oldest.at + Self::MEMORY < now) {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_creation_counts_for_a_minute() {
        let mut creations = RecentCreations::default();
        creations.add(at(0), Some([1; 16]), RoomId(1));
        creations.add(at(30_000), None, RoomId(2));
        assert_eq!(creations.room_for_key(at(60_000), [1; 16]), Some(RoomId(1)));
        assert_eq!(creations.room_for_key(at(60_000), [2; 16]), None);
        assert_eq!(creations.count_recent(at(60_000)), 2);
        assert_eq!(creations.room_for_key(at(60_001), [1; 16]), None);
        assert_eq!(creations.count_recent(at(60_001)), 1);
    }

    fn at(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
