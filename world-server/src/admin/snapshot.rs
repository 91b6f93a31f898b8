//! A copy of the lobby's statistics and lists, taken between two messages of the lobby's actor.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use ambit_host_protocol::stats::{CallbackTime, HostStats, LateRoom, RoomCallbacks, TickFigures};
use ambit_lobby::{Host, HostId, LobbyStats};
use ambit_proto::control::world;
use ambit_proto::ids::RoomId;

use crate::keep::planner::KeepStats;

/// Rooms that are shown as late at most: each is a label of two metrics.
const MOST_LATE_ROOMS: usize = 64;

#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) lobby: LobbyStats,
    pub(crate) rooms: Vec<world::Room>,
    pub(crate) hosts: Vec<(HostId, Host)>,
    /// Counters of the hosts that were lost.
    pub(crate) lost_host_stats: HostStats,
    /// Number of items dropped at bounded queues, by `queue/reason`.
    pub(crate) drops: BTreeMap<String, u64>,
    /// Packets and bytes of this server's endpoints, as in [`HostStats::wire`].
    pub(crate) wire: BTreeMap<String, u64>,
    pub(crate) draining: bool,
    /// How long until the server ends, if an operator has planned it, and why.
    pub(crate) planned_end: Option<(Duration, String)>,
    /// Only with `--keep`.
    pub(crate) kept: Option<KeepStats>,
    /// Rooms that wait for a host of the build that saved them, with that build.
    pub(crate) waiting_rooms: Vec<(RoomId, String)>,
    /// The files of rooms that were set aside.
    pub(crate) files_set_aside: Vec<String>,
    /// Only in a cluster: this server's role as text, and whether it is in service.
    pub(crate) role: Option<(String, bool)>,
}

impl Snapshot {
    /// Packets and bytes here and on all hosts: those of a host that is embedded are counted here.
    pub(crate) fn all_wire(&self) -> BTreeMap<String, u64> {
        let mut sum = self.all_hosts().wire;
        add_counts(&mut sum, &self.wire);
        sum
    }

    /// The sum over all hosts: those that are connected, and the counters of those that were lost.
    pub(crate) fn all_hosts(&self) -> HostStats {
        let mut sum = self.lost_host_stats.clone();
        for (_, host) in &self.hosts {
            add_stats(&mut sum, &host.stats);
            sum.rooms += host.stats.rooms;
            sum.players += host.stats.players;
            sum.clients += host.stats.clients;
            sum.rooms_late += host.stats.rooms_late;
            sum.cpu_permille += host.stats.cpu_permille;
            sum.amplification_permille =
                sum.amplification_permille.max(host.stats.amplification_permille);
            merge_worst(&mut sum.recent_work, host.stats.recent_work);
            merge_worst(&mut sum.recent_lateness, host.stats.recent_lateness);
        }
        sum
    }

    /// Of the rooms that are late or were so, those that skip the most ticks now. During a failover
    /// two hosts may have the same room.
    pub(crate) fn late_rooms(&self) -> Vec<LateRoom> {
        let mut by_room = BTreeMap::<RoomId, LateRoom>::new();
        for late in self.hosts.iter().flat_map(|(_, host)| &host.stats.late_rooms) {
            let sum = by_room.entry(late.room).or_default();
            sum.room = late.room;
            sum.ticks_skipped += late.ticks_skipped;
            sum.load_level = sum.load_level.max(late.load_level);
            sum.recent_ticks_skipped += late.recent_ticks_skipped;
        }
        let mut rooms: Vec<LateRoom> = by_room.into_values().collect();
        rooms.sort_by_key(|late| Reverse(late.rank()));
        rooms.truncate(MOST_LATE_ROOMS);
        rooms
    }

    /// Of the rooms whose games have taken the most time, what their functions took, by room.
    pub(crate) fn room_callbacks(&self) -> Vec<(RoomId, Vec<CallbackTime>)> {
        let rooms = self.hosts.iter().flat_map(|(_, host)| &host.stats.room_callbacks);
        // During a failover two hosts may have the same room: the one that has done more is shown.
        let mut by_room = BTreeMap::<RoomId, &RoomCallbacks>::new();
        let nanos = |it: &RoomCallbacks| it.callbacks.iter().map(|time| time.nanos).sum::<u64>();
        for room in rooms {
            let known = by_room.entry(room.room).or_insert(room);
            if nanos(room) > nanos(known) {
                *known = room;
            }
        }
        let mut rooms: Vec<&RoomCallbacks> = by_room.into_values().collect();
        rooms.sort_by_cached_key(|room| Reverse(nanos(room)));
        rooms.truncate(MOST_LATE_ROOMS);
        rooms.into_iter().map(|room| (room.room, room.callbacks.clone())).collect()
    }

    /// Drops here and on all hosts. Some queues exist in both (`handshakes`); these are summed
    /// under one name.
    pub(crate) fn all_drops(&self) -> BTreeMap<String, u64> {
        let mut sum = self.all_hosts().drops;
        add_counts(&mut sum, &self.drops);
        sum
    }
}

/// Adds the counters. Gauges (rooms, players) are not added: they end with the host.
pub(crate) fn add_stats(sum: &mut HostStats, stats: &HostStats) {
    sum.datagrams_in += stats.datagrams_in;
    sum.datagrams_out += stats.datagrams_out;
    sum.bytes_in += stats.bytes_in;
    sum.bytes_out += stats.bytes_out;
    sum.enters += stats.enters;
    sum.leaves += stats.leaves;
    sum.events += stats.events;
    sum.commands += stats.commands;
    sum.commands_refused += stats.commands_refused;
    sum.late_events += stats.late_events;
    sum.ticks_skipped += stats.ticks_skipped;
    sum.tick_seconds_sum += stats.tick_seconds_sum;
    if sum.tick_buckets.len() < stats.tick_buckets.len() {
        sum.tick_buckets.resize(stats.tick_buckets.len(), 0);
    }
    for (bucket, count) in sum.tick_buckets.iter_mut().zip(&stats.tick_buckets) {
        *bucket += count;
    }
    add_counts(&mut sum.drops, &stats.drops);
    add_counts(&mut sum.tickets_refused, &stats.tickets_refused);
    add_counts(&mut sum.bits, &stats.bits);
    add_counts(&mut sum.wire, &stats.wire);
    add_counts(&mut sum.kind_bits, &stats.kind_bits);
    add_counts(&mut sum.encodings, &stats.encodings);
    add_counts(&mut sum.poses, &stats.poses);
    add_counts(&mut sum.game_counts, &stats.game_counts);
}

/// Quantiles of several hosts cannot be summed: takes the worst of each.
fn merge_worst(of_all: &mut Option<TickFigures>, of_one: Option<TickFigures>) {
    let all = of_all.unwrap_or_default();
    let one = of_one.unwrap_or_default();
    *of_all = Some(TickFigures {
        p50_us: all.p50_us.max(one.p50_us),
        p99_us: all.p99_us.max(one.p99_us),
        max_us: all.max_us.max(one.max_us),
    });
}

fn add_counts(sum: &mut BTreeMap<String, u64>, counts: &BTreeMap<String, u64>) {
    for (name, count) in counts {
        *sum.entry(name.clone()).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use ambit_host_protocol::messages::HostReady;

    use super::*;

    #[test]
    fn counters_of_all_hosts_are_summed_and_kept_for_lost_hosts() {
        let host = |enters, rooms, drops: u64| HostStats {
            enters,
            rooms,
            clients: rooms,
            tick_buckets: vec![1, 2],
            drops: [("inbox/full".to_owned(), drops)].into(),
            ..HostStats::default()
        };
        let mut snapshot = Snapshot::default();
        add_stats(&mut snapshot.lost_host_stats, &host(5, 1, 2));
        snapshot.hosts = vec![
            (HostId(2), host_with_stats(host(7, 3, 1))),
            (HostId(3), host_with_stats(host(1, 1, 0))),
        ];
        let sum = snapshot.all_hosts();
        assert_eq!((sum.enters, sum.rooms, sum.clients), (13, 4, 4));
        assert_eq!(sum.tick_buckets, [3, 6]);
        assert_eq!(sum.drops["inbox/full"], 3);
        snapshot.drops.insert("inbox/full".into(), 10);
        assert_eq!(snapshot.all_drops()["inbox/full"], 13);
    }

    #[test]
    fn late_rooms_of_all_hosts_are_listed_by_their_lost_ticks_up_to_a_limit() {
        let late = |room, recent_ticks_skipped, load_level| LateRoom {
            room: RoomId(room),
            ticks_skipped: 1_000 - recent_ticks_skipped,
            load_level,
            recent_ticks_skipped,
        };
        let host = |late_rooms| HostStats { rooms_late: 1, late_rooms, ..HostStats::default() };
        let mut snapshot = Snapshot::default();
        add_stats(&mut snapshot.lost_host_stats, &host(vec![late(9, 9, 9)]));
        let many = (100..200).map(|room| late(room, 1, 0)).collect();
        snapshot.hosts = vec![
            (HostId(2), host_with_stats(host(vec![late(5, 30, 2)]))),
            (HostId(3), host_with_stats(host(vec![late(7, 50, 0), late(5, 30, 4)]))),
            (HostId(4), host_with_stats(host(many))),
        ];
        let rooms = snapshot.late_rooms();
        let of_two_hosts = LateRoom { ticks_skipped: 2 * (1_000 - 30), ..late(5, 60, 4) };
        assert_eq!(rooms[..3], [of_two_hosts, late(7, 50, 0), late(100, 1, 0)]);
        assert_eq!(rooms.len(), MOST_LATE_ROOMS);
        assert_eq!(snapshot.all_hosts().rooms_late, 3, "of those that run");
    }

    fn host_with_stats(stats: HostStats) -> Host {
        let ready = HostReady {
            version: ambit_host_protocol::VERSION,
            address: "127.0.0.1:7777".into(),
            certificate_sha256: vec![0; 32],
            ..HostReady::default()
        };
        let mut host = Host::try_from(ready).expect("a host that is ready");
        host.stats = stats;
        host
    }
}
