//! Placement: which host gets the next room.
//!
//! A request and the candidates go in, a host comes out. Each candidate's load is the larger of two
//! values: the load booked by the lobby, from the known cost of rooms and players, and the load
//! that the host reports. A report is up to a second old, so rooms started within that time would
//! all go to the same host; and the booked load does not know what a room's physics costs.

use std::time::Duration;

use ambit_host_protocol::stats::HostStats;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::output::HostId;

/// Cost of an idle room, and of a player at 20 ticks a second, in thousandths of a core. Source:
/// `docs/data/crowd.tsv`.
const ROOM_PERMILLE: u32 = 1;
const PLAYER_PERMILLE: u32 = 1;
/// A host that uses more than this share of its cores gets a room only if all others do too: the
/// rest is reserved for players who join.
const BUSY_PERMILLE: u32 = 700;
/// Hosts that use less than this count as equal: a player who joins costs more for a second or two.
const NEAR_IDLE_PERMILLE: u32 = 300;
/// A host that sends this many bytes a second counts as full: a link of 1 Gbit/s.
const FULL_BYTES_PER_S: f32 = 125_000_000.0;
/// A host whose ticks begin this late (p99) counts as busy, whatever else it reports: half a tick
/// at 20 Hz.
const LATE_US: u32 = 25_000;
/// Weight of the newest report in the moving average.
const NEWEST_REPORT_WEIGHT: f32 = 0.5;

/// A room is expected to have this many players soon. Otherwise rooms that start one after the
/// other would all go to the host whose last rooms are still empty.
const EXPECTED_PLAYERS: u32 = 10;

/// The rooms and players that the lobby has placed on a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BookedLoad {
    rooms: u32,
    players: u32,
    expected_players: u32,
}

impl BookedLoad {
    /// Adds a room with this many players.
    pub(super) fn add(&mut self, players: u32) {
        self.rooms += 1;
        self.players += players;
        self.expected_players += players.max(EXPECTED_PLAYERS);
    }
}

/// The room to place.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRequest<'a> {
    /// The name of the game.
    pub game: &'a str,
    /// Number of players in the room.
    pub players: u32,
    /// The world of which it is a map: the room itself, if the world has one map.
    pub world: RoomId,
    /// The number of the map in its world, from 0.
    pub map: u32,
}

/// A host that may get the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCandidate {
    pub host: HostId,
    /// Maximum number of rooms.
    pub capacity: u32,
    pub rooms: u32,
    /// Number of players in its rooms.
    pub players: u32,
    /// Number of players expected in its rooms soon.
    pub expected_players: u32,
    /// The known cost of its rooms and players, in thousandths of its capacity.
    pub booked_permille: u32,
    /// Its load, booked or reported, whichever is higher.
    pub load_permille: u32,
}

impl HostCandidate {
    /// A host of this many rooms at most and this many cores, with the rooms and players that are
    /// booked and the load that it reports.
    pub(super) fn new(
        host: HostId,
        capacity: u32,
        cores: u32,
        booked: BookedLoad,
        measured: &ReportedLoad,
    ) -> Self {
        let BookedLoad { rooms, players, expected_players: expected } = booked;
        let booked = rooms * ROOM_PERMILLE + players * PLAYER_PERMILLE;
        let booked_permille = booked / cores.max(1);
        let load_permille = booked_permille.max(measured.permille);
        HostCandidate {
            host,
            capacity,
            rooms,
            players,
            expected_players: expected,
            booked_permille,
            load_permille,
        }
    }

    /// Whether it has capacity for another room.
    pub fn has_capacity(&self) -> bool {
        self.rooms < self.capacity
    }

    /// Whether it should get no room while others are less loaded.
    pub fn is_busy(&self) -> bool {
        self.load_permille >= BUSY_PERMILLE
    }
}

/// A placement strategy.
pub trait Placement: Send {
    /// Chooses a host for a room; `None` if no host has capacity. Pure: the same hosts give the
    /// same result. `hosts` are in the order in which they connected, each once.
    fn place(&self, request: PlacementRequest<'_>, hosts: &[HostCandidate]) -> Option<HostId>;
}

/// Chooses the least loaded host of those in use, by booked or reported load. It uses an idle host
/// only if all others are busy, or fewer than `spread` are in use.
///
/// So rooms spread evenly over `spread` hosts, and further hosts can be ended when they are idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeasuredPlacement {
    /// The number of hosts that are always used.
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
        let is_available = |host: &&&HostCandidate| host.has_capacity() && !host.is_busy();
        least_loaded(wanted.iter().filter(is_available).copied())
            .or_else(|| {
                least_loaded(hosts.iter().filter(|host| host.has_capacity() && !host.is_busy()))
            })
            .or_else(|| least_loaded(hosts.iter().filter(|host| host.has_capacity())))
    }
}

/// Chooses by load in tenths, since measurements fluctuate, and low loads count as 0; then by
/// expected players, players, rooms, and the order of connection.
fn least_loaded<'a>(hosts: impl Iterator<Item = &'a HostCandidate>) -> Option<HostId> {
    let load = |host: &HostCandidate| {
        if host.load_permille < NEAR_IDLE_PERMILLE { 0 } else { host.load_permille / 100 }
    };
    hosts
        .min_by_key(|host| (load(host), host.expected_players, host.players, host.rooms, host.host))
        .map(|host| host.host)
}

/// The load that a host reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReportedLoad {
    /// In thousandths of its capacity: cores, network, and late ticks.
    pub permille: u32,
    /// Smoothed, in thousandths of its cores.
    cpu_permille: f32,
    /// Value of the newest report.
    bytes_out: u64,
    at: Option<LocalTime>,
}

impl ReportedLoad {
    /// Adds a report of a host with this many cores.
    pub(super) fn add_report(&mut self, now: LocalTime, stats: &HostStats, cores: u32) {
        let cpu = stats.cpu_permille as f32 / cores.max(1) as f32;
        self.cpu_permille +=
            (cpu - self.cpu_permille) * self.at.map_or(1.0, |_| NEWEST_REPORT_WEIGHT);
        let since = self.at.map_or(Duration::ZERO, |at| now.since(at)).as_secs_f32();
        let bytes = stats.bytes_out.saturating_sub(self.bytes_out) as f32;
        let line = if since > 0.0 { 1_000.0 * bytes / since / FULL_BYTES_PER_S } else { 0.0 };
        let late = stats.recent_lateness.is_some_and(|late| late.p99_us >= LATE_US);
        let floor = if late { BUSY_PERMILLE } else { 0 };
        self.permille = (self.cpu_permille.max(line) as u32).max(floor);
        (self.bytes_out, self.at) = (stats.bytes_out, Some(now));
    }
}

#[cfg(test)]
mod tests {
    use ambit_host_protocol::stats::TickFigures;

    use super::*;

    #[test]
    fn rooms_of_the_same_size_are_spread_evenly() {
        let mut hosts: Vec<HostCandidate> = (1..=4).map(|id| candidate(id, 0, 0)).collect();
        for _ in 0..40 {
            let place = MeasuredPlacement { spread: 4 }.place(REQUEST, &hosts).expect("a place");
            let host = hosts.iter_mut().find(|host| host.host == place).expect("one of them");
            (host.rooms, host.players, host.expected_players) =
                (host.rooms + 1, host.players + 10, host.expected_players + 10);
            host.load_permille = host.rooms + host.players;
        }
        assert!(hosts.iter().all(|host| (host.rooms, host.players) == (10, 100)), "{hosts:?}");
    }

    #[test]
    fn new_rooms_spread_evenly_over_hosts_with_small_differences_in_load() {
        let mut booked = [BookedLoad::default(); 4];
        for room in 0..40_u32 {
            let hosts = (1..=4).zip(&booked).map(|(id, of)| {
                let BookedLoad { rooms, players, expected_players: expected } = *of;
                // Some hosts are measured while many players join.
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
                .place(REQUEST, &hosts.collect::<Vec<_>>())
                .expect("a place");
            // Some rooms fill at once, others later.
            booked[place.0 as usize - 1].add(room * 7 % 11);
        }
        assert_eq!(booked.map(|of| of.rooms), [10; 4]);
    }

    #[test]
    fn no_host_exceeds_its_capacity_and_busy_hosts_are_the_last_resort() {
        let place = |hosts: &[HostCandidate]| {
            MeasuredPlacement { spread: 2 }.place(REQUEST, hosts).map(|host| host.0)
        };
        let busy = HostCandidate { load_permille: 900, ..candidate(1, 1, 1) };
        let full = HostCandidate { capacity: 3, ..candidate(2, 3, 0) };
        assert_eq!(place(&[busy, full]), Some(1));
        assert_eq!(place(&[full]), None);
        assert_eq!(place(&[]), None);
        assert_eq!(
            place(&[busy, full, HostCandidate { load_permille: 600, ..candidate(3, 20, 500) }]),
            Some(3)
        );
    }

    #[test]
    fn an_idle_host_beyond_the_spread_is_used_only_when_others_are_full() {
        let place = |hosts: &[HostCandidate]| {
            MeasuredPlacement { spread: 2 }.place(REQUEST, hosts).map(|host| host.0)
        };
        assert_eq!(place(&[candidate(1, 4, 9), candidate(2, 5, 9), candidate(3, 0, 0)]), Some(1));
        assert_eq!(place(&[candidate(1, 4, 9), candidate(2, 0, 0), candidate(3, 0, 0)]), Some(2));
        let busy = |id| HostCandidate { load_permille: 800, ..candidate(id, 4, 9) };
        assert_eq!(place(&[busy(1), busy(2), candidate(3, 0, 0)]), Some(3));
        let full = |id| HostCandidate { capacity: 4, ..candidate(id, 4, 9) };
        assert_eq!(place(&[full(1), full(2), candidate(3, 0, 0)]), Some(3));
    }

    #[test]
    fn reported_load_counts_cores_network_and_late_ticks() {
        let mut measured = ReportedLoad::default();
        let second = |s: u64| LocalTime::from_millis(1_000 * s);
        let report = HostStats { cpu_permille: 500, ..HostStats::default() };
        measured.add_report(second(1), &report, 2);
        assert_eq!(measured.permille, 250);
        measured.add_report(second(2), &HostStats { cpu_permille: 1_500, ..report.clone() }, 2);
        assert_eq!(measured.permille, 500, "smoothed");
        measured.add_report(
            second(3),
            &HostStats { bytes_out: 100_000_000, ..HostStats::default() },
            2,
        );
        assert_eq!(measured.permille, 800, "100 of 125 MB/s");
        let late = TickFigures { p99_us: 30_000, ..TickFigures::default() };
        let report = HostStats {
            recent_lateness: Some(late),
            bytes_out: 100_000_000,
            ..HostStats::default()
        };
        measured.add_report(second(9), &report, 2);
        assert_eq!(measured.permille, BUSY_PERMILLE);
    }

    const REQUEST: PlacementRequest<'_> =
        PlacementRequest { game: "field", players: 10, world: RoomId(1), map: 0 };

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
