//! Which host gets the next room.
//!
//! The wish and what is known of each host go in, a host comes out. What is known is counted from
//! the lobby's own books and measured by the hosts, whichever says more: a report is up to a second
//! old, and rooms started within it would all go to the same host; and no book knows what a room's
//! physics costs.

use std::time::Duration;

use ambit_proto::control::host::HostStats;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use super::hosts::Host;
use super::output::HostId;

/// What an idle room costs, and a player at 20 ticks a second, in thousandths of a core.
/// PoseSource: `docs/crowd.md`.
const ROOM_PERMILLE: u32 = 1;
const PLAYER_PERMILLE: u32 = 1;
/// A host that uses more than this share of its cores gets a room only where none uses less: what
/// is left is for players who come.
const BUSY_PERMILLE: u32 = 700;
/// Hosts that use less than this are alike: who comes in just now costs some for a second or two.
const NEAR_IDLE_PERMILLE: u32 = 300;
/// What a host may send to be counted as full, in bytes a second: a line of 1 Gbit/s.
const FULL_BYTES_PER_S: f32 = 125_000_000.0;
/// A host whose ticks begin so late (p99) is busy, whatever else it says: half a tick of 20 Hz.
const LATE_US: u32 = 25_000;
/// What the newest report counts beside those before.
const NEWEST_REPORT_WEIGHT: f32 = 0.5;

/// A room has as many players before long: rooms that begin one after the other would else all go
/// where the last ones are empty yet.
const EXPECTED_PLAYERS: u32 = 10;

/// What the lobby's books say of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BookedLoad {
    rooms: u32,
    players: u32,
    expected_players: u32,
}

impl BookedLoad {
    /// Another room, with so many players.
    pub(super) fn add(&mut self, players: u32) {
        self.rooms += 1;
        self.players += players;
        self.expected_players += players.max(EXPECTED_PLAYERS);
    }
}

/// What is to be placed.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRequest<'a> {
    /// What is played.
    pub game: &'a str,
    /// Players who are in.
    pub players: u32,
    /// The world that it is a map of: the room itself, if there is but one map.
    pub world: RoomId,
    /// Which of that world's maps it is, from 0.
    pub map: u32,
}

/// A place for a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCandidate {
    /// Which host.
    pub host: HostId,
    /// Rooms that it takes.
    pub capacity: u32,
    /// Rooms that it has.
    pub rooms: u32,
    /// Players in them.
    pub players: u32,
    /// Players that are to be expected in them before long.
    pub expected_players: u32,
    /// What its rooms and players are known to cost, in thousandths of what it can carry.
    pub booked_permille: u32,
    /// What it has to carry, booked or measured, whichever is more.
    pub load_permille: u32,
}

impl HostCandidate {
    /// A host with these rooms and players.
    pub(super) fn new(id: HostId, host: &Host, booked: BookedLoad) -> Self {
        let BookedLoad {
            rooms,
            players,
            expected_players: expected,
        } = booked;
        let booked = rooms * ROOM_PERMILLE + players * PLAYER_PERMILLE;
        let booked_permille = booked / host.cores.max(1);
        let load_permille = booked_permille.max(host.measured.permille);
        HostCandidate {
            host: id,
            capacity: host.capacity,
            rooms,
            players,
            expected_players: expected,
            booked_permille,
            load_permille,
        }
    }

    /// Whether it takes another room.
    pub fn has_capacity(&self) -> bool {
        self.rooms < self.capacity
    }

    /// Whether it should be left alone.
    pub fn is_busy(&self) -> bool {
        self.load_permille >= BUSY_PERMILLE
    }
}

/// A way to place rooms.
pub trait Placement: Send {
    /// The host for a room; none if no host takes one. Pure: the same hosts give the same place.
    /// `hosts` are in the order in which they came, each once.
    fn place(&self, wish: PlacementRequest<'_>, hosts: &[HostCandidate]) -> Option<HostId>;
}

/// The least loaded host of those in use, by what is booked or measured; one that is idle only when
/// all others are busy, or fewer than `spread` are in use.
///
/// So rooms spread over `spread` hosts evenly, and those beyond can be ended when nobody needs
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeasuredPlacement {
    /// How many hosts are in use in any case.
    pub(super) spread: usize,
}

impl Placement for MeasuredPlacement {
    fn place(&self, _: PlacementRequest<'_>, hosts: &[HostCandidate]) -> Option<HostId> {
        let in_use = hosts.iter().filter(|host| host.rooms > 0).count();
        let mut idle_allowed = self.spread.saturating_sub(in_use);
        let is_wanted = |host: &&HostCandidate| {
            let is_idle = host.rooms == 0;
            let is_allowed = !is_idle || idle_allowed > 0;
            idle_allowed -= usize::from(is_idle && is_allowed);
            is_allowed
        };
        let wanted: Vec<&HostCandidate> = hosts.iter().filter(is_wanted).collect();
        let calm = |host: &&&HostCandidate| host.has_capacity() && !host.is_busy();
        least_loaded(wanted.iter().filter(calm).copied())
            .or_else(|| {
                least_loaded(
                    hosts
                        .iter()
                        .filter(|host| host.has_capacity() && !host.is_busy()),
                )
            })
            .or_else(|| least_loaded(hosts.iter().filter(|host| host.has_capacity())))
    }
}

/// By load in tenths, since no measurement is the same twice, and what is little comes and goes;
/// then players, those who are expected first, then rooms; the one that came first of several.
fn least_loaded<'a>(hosts: impl Iterator<Item = &'a HostCandidate>) -> Option<HostId> {
    let load = |host: &HostCandidate| {
        if host.load_permille < NEAR_IDLE_PERMILLE {
            0
        } else {
            host.load_permille / 100
        }
    };
    hosts
        .min_by_key(|host| {
            (
                load(host),
                host.expected_players,
                host.players,
                host.rooms,
                host.host,
            )
        })
        .map(|host| host.host)
}

/// What a host's reports say of its load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReportedLoad {
    /// In thousandths of what it can carry: cores, the line, and whether its ticks come late.
    pub permille: u32,
    /// Smoothed, in thousandths of its cores.
    cpu_permille: f32,
    /// At the newest report.
    bytes_out: u64,
    at: Option<LocalTime>,
}

impl ReportedLoad {
    /// Another report of a host with so many cores has come.
    pub(super) fn add_report(&mut self, now: LocalTime, stats: &HostStats, cores: u32) {
        let cpu = stats.cpu_permille as f32 / cores.max(1) as f32;
        self.cpu_permille +=
            (cpu - self.cpu_permille) * self.at.map_or(1.0, |_| NEWEST_REPORT_WEIGHT);
        let since = self
            .at
            .map_or(Duration::ZERO, |at| now.since(at))
            .as_secs_f32();
        let bytes = stats.bytes_out.saturating_sub(self.bytes_out) as f32;
        let line = if since > 0.0 {
            1_000.0 * bytes / since / FULL_BYTES_PER_S
        } else {
            0.0
        };
        let late = stats
            .recent_lateness
            .is_some_and(|late| late.p99_us >= LATE_US);
        let floor = if late { BUSY_PERMILLE } else { 0 };
        self.permille = (self.cpu_permille.max(line) as u32).max(floor);
        (self.bytes_out, self.at) = (stats.bytes_out, Some(now));
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::control::host::TickFigures;

    use super::*;

    #[test]
    fn rooms_of_the_same_size_are_spread_evenly() {
        let mut hosts: Vec<HostCandidate> = (1..=4).map(|id| candidate(id, 0, 0)).collect();
        for _ in 0..40 {
            let place = MeasuredPlacement { spread: 4 }
                .place(WISH, &hosts)
                .expect("a place");
            let host = hosts
                .iter_mut()
                .find(|host| host.host == place)
                .expect("one of them");
            (host.rooms, host.players, host.expected_players) = (
                host.rooms + 1,
                host.players + 10,
                host.expected_players + 10,
            );
            host.load_permille = host.rooms + host.players;
        }
        assert!(
            hosts
                .iter()
                .all(|host| (host.rooms, host.players) == (10, 100)),
            "{hosts:?}"
        );
    }

    #[test]
    fn new_rooms_spread_evenly_over_hosts_with_small_differences_in_load() {
        let mut booked = [BookedLoad::default(); 4];
        for room in 0..40_u32 {
            let hosts = (1..=4).zip(&booked).map(|(id, of)| {
                let BookedLoad {
                    rooms,
                    players,
                    expected_players: expected,
                } = *of;
                // Some are measured while many come in.
                let load_permille = room * 37 % NEAR_IDLE_PERMILLE;
                HostCandidate {
                    rooms,
                    players,
                    expected_players: expected,
                    load_permille,
                    ..candidate(id, 0, 0)
                }
            });
            let place = MeasuredPlacement { spread: 4 }
                .place(WISH, &hosts.collect::<Vec<_>>())
                .expect("a place");
            // Some rooms are full at once, others not yet.
            booked[place.0 as usize - 1].add(room * 7 % 11);
        }
        assert_eq!(booked.map(|of| of.rooms), [10; 4]);
    }

    #[test]
    fn no_host_exceeds_its_capacity_and_busy_hosts_are_the_last_resort() {
        let place = |hosts: &[HostCandidate]| {
            MeasuredPlacement { spread: 2 }
                .place(WISH, hosts)
                .map(|host| host.0)
        };
        let busy = HostCandidate {
            load_permille: 900,
            ..candidate(1, 1, 1)
        };
        let full = HostCandidate {
            capacity: 3,
            ..candidate(2, 3, 0)
        };
        assert_eq!(place(&[busy, full]), Some(1));
        assert_eq!(place(&[full]), None);
        assert_eq!(place(&[]), None);
        assert_eq!(
            place(&[
                busy,
                full,
                HostCandidate {
                    load_permille: 600,
                    ..candidate(3, 20, 500)
                }
            ]),
            Some(3)
        );
    }

    #[test]
    fn an_idle_host_beyond_the_spread_is_used_only_when_others_are_full() {
        let place = |hosts: &[HostCandidate]| {
            MeasuredPlacement { spread: 2 }
                .place(WISH, hosts)
                .map(|host| host.0)
        };
        assert_eq!(
            place(&[candidate(1, 4, 9), candidate(2, 5, 9), candidate(3, 0, 0)]),
            Some(1)
        );
        assert_eq!(
            place(&[candidate(1, 4, 9), candidate(2, 0, 0), candidate(3, 0, 0)]),
            Some(2)
        );
        let busy = |id| HostCandidate {
            load_permille: 800,
            ..candidate(id, 4, 9)
        };
        assert_eq!(place(&[busy(1), busy(2), candidate(3, 0, 0)]), Some(3));
        let full = |id| HostCandidate {
            capacity: 4,
            ..candidate(id, 4, 9)
        };
        assert_eq!(place(&[full(1), full(2), candidate(3, 0, 0)]), Some(3));
    }

    #[test]
    fn what_is_measured_counts_cores_the_line_and_lateness() {
        let mut measured = ReportedLoad::default();
        let second = |s: u64| LocalTime::from_millis(1_000 * s);
        let report = HostStats {
            cpu_permille: 500,
            ..HostStats::default()
        };
        measured.add_report(second(1), &report, 2);
        assert_eq!(measured.permille, 250);
        measured.add_report(
            second(2),
            &HostStats {
                cpu_permille: 1_500,
                ..report.clone()
            },
            2,
        );
        assert_eq!(measured.permille, 500, "smoothed");
        measured.add_report(
            second(3),
            &HostStats {
                bytes_out: 100_000_000,
                ..HostStats::default()
            },
            2,
        );
        assert_eq!(measured.permille, 800, "100 of 125 MB/s");
        let late = TickFigures {
            p99_us: 30_000,
            ..TickFigures::default()
        };
        let report = HostStats {
            recent_lateness: Some(late),
            bytes_out: 100_000_000,
            ..HostStats::default()
        };
        measured.add_report(second(9), &report, 2);
        assert_eq!(measured.permille, BUSY_PERMILLE);
    }

    const WISH: PlacementRequest<'_> = PlacementRequest {
        game: "field",
        players: 10,
        world: RoomId(1),
        map: 0,
    };

    fn candidate(id: u64, rooms: u32, players: u32) -> HostCandidate {
        let load_permille = rooms + players;
        HostCandidate {
            host: HostId(id),
            capacity: 64,
            rooms,
            players,
            expected_players: players,
            booked_permille: 0,
            load_permille,
        }
    }
}
