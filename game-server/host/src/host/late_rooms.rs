//! The list of late rooms in a host's reports: those that lose ticks now come first.
//!
//! The rooms with their totals go in at each report, the list comes out. A room that lost a
//! thousand ticks an hour ago, and none since, is behind one that has lost two within the last
//! seconds.
//!
//! Bound: an entry for each room of the host.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use ambit_host_protocol::stats::LateRoom;

/// Rooms in a list: each of them is a label of a metric.
const MOST_LATE_ROOMS: usize = 16;
/// What counts as now: the last whole window and the current one, so 5 to 10 s.
const WINDOW: Duration = Duration::from_secs(5);

/// Remembers how many ticks the rooms had lost some seconds ago.
#[derive(Debug, Default)]
pub(super) struct LateRooms {
    /// Those of now.
    rooms: BTreeMap<RoomId, Totals>,
    window_ends_at: LocalTime,
}

/// The ticks that a room had lost when the window before the current one began, and when the
/// current one began.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    before: u64,
    current: u64,
}

/// What is known of a room at a report.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickLosses {
    pub(super) room: RoomId,
    /// Since it runs on this host.
    pub(super) ticks_skipped: u64,
    pub(super) load_level: u8,
}

impl LateRooms {
    /// The rooms that have lost ticks or send less, of all of the host's.
    pub(super) fn list(
        &mut self,
        now: LocalTime,
        rooms: impl Iterator<Item = TickLosses>,
    ) -> Vec<LateRoom> {
        let begins_window = now >= self.window_ends_at;
        if begins_window {
            self.window_ends_at = now + WINDOW;
        }
        let known = std::mem::take(&mut self.rooms);
        let mut late = Vec::new();
        for found in rooms {
            let mut totals = known.get(&found.room).copied().unwrap_or_default();
            if begins_window {
                totals.before = totals.current;
                totals.current = found.ticks_skipped;
            }
            self.rooms.insert(found.room, totals);
            if found.ticks_skipped > 0 || found.load_level > 0 {
                late.push(LateRoom {
                    room: found.room,
                    ticks_skipped: found.ticks_skipped,
                    load_level: found.load_level.into(),
                    recent_ticks_skipped: found.ticks_skipped.saturating_sub(totals.before),
                });
            }
        }
        late.sort_by_key(|late| (Reverse(late.rank()), late.room));
        late.truncate(MOST_LATE_ROOMS);
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_that_lose_ticks_now_come_before_those_that_have_lost_more() {
        let mut list = LateRooms::default();
        let mut report = |at_s: u64, rooms: &[(u64, u64, u8)]| {
            let rooms = rooms.iter().map(|&(room, ticks_skipped, load_level)| TickLosses {
                room: RoomId(room),
                ticks_skipped,
                load_level,
            });
            let listed = list.list(LocalTime::from_millis(1_000 * at_s), rooms);
            let figures = listed.iter().map(|late| (late.room.0, late.recent_ticks_skipped));
            figures.collect::<Vec<_>>()
        };
        assert_eq!(report(0, &[(1, 0, 0), (2, 900, 0)]), [(2, 900)]);
        assert_eq!(report(4, &[(1, 0, 0), (2, 900, 0)]), [(2, 900)]);
        let figures = report(6, &[(1, 3, 0), (2, 900, 0)]);
        assert_eq!(figures, [(1, 3), (2, 0)]);
        let later = report(12, &[(1, 5, 0), (2, 900, 0), (3, 0, 2)]);
        assert_eq!(later, [(1, 2), (3, 0), (2, 0)]);
        // One that is gone, and comes back with a new life, begins at zero.
        assert_eq!(report(13, &[(2, 900, 0)]), [(2, 0)]);
        assert_eq!(report(14, &[(1, 4, 0), (2, 900, 0)]), [(1, 4), (2, 0)]);
    }

    #[test]
    fn sixteen_rooms_with_old_losses_hide_no_room_that_is_late_now() {
        let mut list = LateRooms::default();
        let old = (0..MOST_LATE_ROOMS as u64).map(|room| TickLosses {
            room: RoomId(room),
            ticks_skipped: 1_000,
            load_level: 0,
        });
        let new = TickLosses { room: RoomId(99), ticks_skipped: 1, load_level: 1 };
        for at_s in [0, 10, 20_u64] {
            list.list(LocalTime::from_millis(1_000 * at_s), old.clone());
        }
        let now = LocalTime::from_millis(21_000);
        let listed = list.list(now, old.chain([new]));
        assert_eq!(listed.len(), MOST_LATE_ROOMS);
        assert_eq!(listed[0].room, RoomId(99));
    }
}
