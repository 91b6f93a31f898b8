//! Limits on what one peer may do.
//!
//! Two small parts: a rate with a burst, and a list of the rooms that a player created, which
//! limits them and makes a repeated request harmless. Each needs a bounded amount of memory.
//! (Connections by address are counted by `ambit_host::places`, as on hosts.)

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

/// A token bucket in one number: the time at which it will be full again.
///
/// Source: the generic cell rate algorithm (ITU-T I.371).
#[derive(Clone, Debug)]
pub(in crate::lobby) struct TokenBucket {
    interval: Duration,
    burst: u32,
    full_at: LocalTime,
}

impl TokenBucket {
    /// Creates a full bucket of `burst` tokens that gets `per_s` tokens a second; both at least 1.
    pub(in crate::lobby) fn new(per_s: u32, burst: u32) -> Self {
        Self {
            interval: Duration::from_secs(1) / per_s.max(1),
            burst: burst.max(1),
            full_at: LocalTime::ZERO,
        }
    }

    /// Takes a token; `false` if there is none.
    pub(in crate::lobby) fn take(&mut self, now: LocalTime) -> bool {
        let full_at = self.full_at.max(now) + self.interval;
        let fits = full_at.since(now) <= self.interval * self.burst;
        if fits {
            self.full_at = full_at;
        }
        fits
    }
}

/// A client's key for a request to create a room: repeated requests have the same key.
pub(in crate::lobby) type CreationKey = [u8; 16];

/// The rooms that one player created within the last minute; their number is limited.
#[derive(Debug, Default)]
pub(in crate::lobby) struct RecentCreations(VecDeque<RoomCreation>);

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
    pub(in crate::lobby) fn room_for_key(
        &mut self,
        now: LocalTime,
        key: CreationKey,
    ) -> Option<RoomId> {
        self.expire(now);
        self.0
            .iter()
            .find(|creation| creation.key == Some(key))
            .map(|creation| creation.room)
    }

    /// The number of rooms created within the last minute.
    pub(in crate::lobby) fn count_recent(&mut self, now: LocalTime) -> usize {
        self.expire(now);
        self.0.len()
    }

    pub(in crate::lobby) fn add(&mut self, now: LocalTime, key: Option<CreationKey>, room: RoomId) {
        self.0.push_back(RoomCreation { at: now, key, room });
    }

    /// The known keys and their rooms, the oldest first.
    pub(in crate::lobby) fn entries(
        &self,
    ) -> impl Iterator<Item = (Option<CreationKey>, RoomId)> + '_ {
        self.0.iter().map(|creation| (creation.key, creation.room))
    }

    fn expire(&mut self, now: LocalTime) {
        while self
            .0
            .front()
            .is_some_and(|oldest| oldest.at + Self::MEMORY < now)
        {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_at_once_then_its_rate() {
        let mut bucket = TokenBucket::new(20, 40);
        let granted = (0..100).filter(|_| bucket.take(at(1_000))).count();
        assert_eq!(granted, 40);
        assert!(!bucket.take(at(1_049)));
        assert!(bucket.take(at(1_050)));
        assert!(!bucket.take(at(1_050)));
        let granted = (0..1_000)
            .filter(|step| bucket.take(at(2_000 + step)))
            .count();
        assert_eq!(granted, 38); // 50 ms each from 1,050 to 2,999.
    }

    #[test]
    fn a_bucket_never_holds_more_than_its_burst() {
        let mut bucket = TokenBucket::new(1, 3);
        assert_eq!((0..10).filter(|_| bucket.take(at(1_000_000))).count(), 3);
    }

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
