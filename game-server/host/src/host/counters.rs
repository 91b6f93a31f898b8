//! What a host counts, for `HostStats`.
//!
//! Rooms and connections on many threads add; once a second the host reads. Each counter is a plain
//! sum since the host began; none of them orders anything, so all accesses are relaxed. Cost: an
//! atomic addition.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ambit_host_protocol::stats::HostStats;
use ambit_host_protocol::{TICK_BUCKETS, tick_bucket};

use super::recent::RecentTicks;
use ambit_endpoint::accept::EndpointCounters;
use ambit_room::stats::RoomStats;
use ambit_transport::acceptance_limits::LimitReached;

/// The queue at which something was dropped, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReason {
    /// A client sent more datagrams between two ticks than its queue holds.
    InboxFull,
    /// QUIC's send buffer held more than a tick's worth: the oldest went.
    SendBufferFull,
    /// A tick's datagrams that the network, without a processor, did not take.
    SendBehind,
    /// A datagram larger than the path allows.
    SendTooLarge,
    /// A datagram to a connection that is gone.
    SendClosed,
    /// Control messages that a client did not read; it was closed.
    ControlFull,
    /// Control messages of a newer client that this host does not know.
    ControlUnknown,
    /// A connection that did not join while too many others hadn't either.
    GreetingFull,
    /// A connection that did not join while too many others from its address hadn't either.
    GreetingAddressFull,
    /// Orders that a room, stuck in a tick, did not take.
    PostsFull,
    /// Ticks that are missing in a room's files since the disk failed.
    FilesFailed,
    /// Rooms that run without their files since these could not be made.
    FilesNotMade,
    /// Recordings that ended before their rooms, or were not begun: the folder's bound.
    RecordingsFull,
    /// Messages that the WorldServer did not read.
    MessagesFull,
    /// Figures and heartbeats that the WorldServer did not read.
    StatsFull,
}

impl DropReason {
    const ALL: [(DropReason, &'static str); 15] = [
        (DropReason::InboxFull, "game_inbox/full"),
        (DropReason::SendBufferFull, "game_datagrams/send_buffer_full"),
        (DropReason::SendBehind, "game_datagrams/network_behind"),
        (DropReason::SendTooLarge, "game_datagrams/too_large"),
        (DropReason::SendClosed, "game_datagrams/closed"),
        (DropReason::ControlFull, "game_control/slow_reader"),
        (DropReason::ControlUnknown, "game_control/unknown"),
        (DropReason::GreetingFull, "game_greeting/full"),
        (DropReason::GreetingAddressFull, "game_greeting/address_full"),
        (DropReason::PostsFull, "room_posts/full"),
        (DropReason::FilesFailed, "room_files/failed"),
        (DropReason::FilesNotMade, "room_files/not_made"),
        (DropReason::RecordingsFull, "room_files/over_bound"),
        (DropReason::MessagesFull, "host_news/full"),
        (DropReason::StatsFull, "host_stats/full"),
    ];
}

impl From<LimitReached> for DropReason {
    fn from(limit: LimitReached) -> Self {
        match limit {
            LimitReached::Total => Self::GreetingFull,
            LimitReached::Share => Self::GreetingAddressFull,
        }
    }
}

/// A counter of rooms by its name.
type Named = (&'static str, fn(&RoomStats) -> u64);

const BITS: [Named; 11] = [
    ("stamps", |stats| stats.bits.stamps),
    ("records", |stats| stats.bits.records),
    ("pose_headers", |stats| stats.bits.pose_headers),
    ("pose_places", |stats| stats.bits.pose_indices),
    ("pose_contents", |stats| stats.bits.pose_contents),
    ("link_headers", |stats| stats.bits.link_headers),
    ("messages", |stats| stats.bits.messages),
    ("messages_repeated", |stats| stats.bits.messages_repeated),
    ("slices", |stats| stats.bits.slices),
    ("slices_repeated", |stats| stats.bits.slices_repeated),
    ("padding", |stats| stats.bits.padding),
];
const ENCODINGS: [Named; 4] = [
    ("records/made", |stats| stats.records.encoded),
    ("records/used", |stats| stats.records.uses),
    ("poses/made", |stats| stats.pose_codes.encoded),
    ("poses/used", |stats| stats.pose_codes.uses),
];
const POSES: [Named; 3] = [
    ("sent", |stats| stats.poses.sent),
    ("foretold", |stats| stats.poses.extrapolated),
    ("deferred", |stats| stats.poses.deferred),
];

const ROOM_DROPS: [Named; 7] = [
    ("game_datagrams/malformed", |stats| stats.malformed),
    ("game_datagrams/stale", |stats| stats.datagrams_stale),
    ("game_commands/malformed", |stats| stats.commands_malformed),
    ("game_commands/outdated", |stats| stats.commands_outdated),
    ("game_commands/rate_limited", |stats| stats.commands_over_rate),
    ("game_inputs/rate_limited", |stats| stats.samples_over_rate),
    ("game_notices/full", |stats| stats.notices_dropped),
];

/// A counter of rooms, and the sum over all rooms in a host's report.
type Summed = (fn(&RoomStats) -> u64, fn(&mut HostStats) -> &mut u64);

const SUMS: [Summed; 10] = [
    (|room| room.datagrams_in, |host| &mut host.datagrams_in),
    (|room| room.datagrams_out, |host| &mut host.datagrams_out),
    (|room| room.bytes_in, |host| &mut host.bytes_in),
    (|room| room.bytes_out, |host| &mut host.bytes_out),
    (|room| room.enters, |host| &mut host.enters),
    (|room| room.leaves, |host| &mut host.leaves),
    (|room| room.events, |host| &mut host.events),
    (|room| room.late_events, |host| &mut host.late_events),
    (|room| room.commands, |host| &mut host.commands),
    (|room| room.commands_refused, |host| &mut host.commands_refused),
];

#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Of the host's own endpoint; zeros for a host behind the WorldServer's.
    pub(crate) acceptance: Arc<EndpointCounters>,
    /// Game connections now.
    clients: AtomicU32,
    drops: [AtomicU64; DropReason::ALL.len()],
    sums: [AtomicU64; SUMS.len()],
    /// The highest since the last reading.
    amplification_permille: AtomicU32,
    room_drops: [AtomicU64; ROOM_DROPS.len()],
    ticks_skipped: AtomicU64,
    tick_buckets: [AtomicU64; TICK_BUCKETS.len() + 1],
    tick_micros: AtomicU64,
    recent_ticks: RecentTicks,
    bits: [AtomicU64; BITS.len()],
    encodings: [AtomicU64; ENCODINGS.len()],
    poses: [AtomicU64; POSES.len()],
}

/// A game connection, counted until this is dropped.
pub(crate) struct CountedClient<'a>(&'a AtomicU32);

impl Drop for CountedClient<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Counters {
    /// A game connection is here.
    pub(crate) fn client(&self) -> CountedClient<'_> {
        self.clients.fetch_add(1, Relaxed);
        CountedClient(&self.clients)
    }

    pub(crate) fn dropped(&self, what: DropReason) {
        self.drops[what as usize].fetch_add(1, Relaxed);
    }

    /// Counts `count` drops of one kind.
    pub(crate) fn dropped_many(&self, what: DropReason, count: u64) {
        self.drops[what as usize].fetch_add(count, Relaxed);
    }

    /// A room's tick took `work`, and began so `late`.
    pub(crate) fn ticked(&self, work: Duration, late: Duration) {
        self.recent_ticks.add(work, late);
        self.tick_buckets[tick_bucket(work)].fetch_add(1, Relaxed);
        self.tick_micros.fetch_add(work.as_micros() as u64, Relaxed);
    }

    pub(crate) fn skipped(&self, ticks: u64) {
        self.ticks_skipped.fetch_add(ticks, Relaxed);
    }

    /// Adds what a room has counted since it last reported `before`.
    pub(crate) fn advance(&self, before: &RoomStats, now: &RoomStats) {
        let add = |to: &AtomicU64, of: fn(&RoomStats) -> u64| {
            to.fetch_add(of(now).saturating_sub(of(before)), Relaxed);
        };
        for (sum, (of, _)) in self.sums.iter().zip(SUMS) {
            add(sum, of);
        }
        let named = self.bits.iter().zip(BITS);
        let named = named.chain(self.encodings.iter().zip(ENCODINGS));
        let named = named.chain(self.poses.iter().zip(POSES));
        for (sum, (_, of)) in named.chain(self.room_drops.iter().zip(ROOM_DROPS)) {
            add(sum, of);
        }
        self.amplification_permille.fetch_max(now.amplification_permille, Relaxed);
    }

    /// The sums since the start; the caller adds rooms, players, tickets and processor time.
    pub(crate) fn read(&self) -> HostStats {
        let (work, late) = self.recent_ticks.read();
        let mut stats = HostStats {
            recent_work: Some(work),
            recent_lateness: Some(late),
            clients: self.clients.load(Relaxed),
            amplification_permille: self.amplification_permille.swap(0, Relaxed),
            ticks_skipped: self.ticks_skipped.load(Relaxed),
            tick_buckets: self.tick_buckets.iter().map(|bucket| bucket.load(Relaxed)).collect(),
            tick_seconds_sum: self.tick_micros.load(Relaxed) as f64 / 1e6,
            drops: self.read_drops(),
            bits: read_named(&self.bits, &BITS),
            wire: self.read_wire(),
            encodings: read_named(&self.encodings, &ENCODINGS),
            poses: read_named(&self.poses, &POSES),
            ..HostStats::default()
        };
        for (sum, (_, in_report)) in self.sums.iter().zip(SUMS) {
            *in_report(&mut stats) = sum.load(Relaxed);
        }
        stats
    }

    fn read_wire(&self) -> BTreeMap<String, u64> {
        let wire = self.acceptance.wire();
        wire.named()
            .map(|(direction, part, count)| (format!("{direction}/{part}"), count))
            .collect()
    }

    /// Reasons that never occurred are listed too: a graph should show a zero and not a gap.
    fn read_drops(&self) -> BTreeMap<String, u64> {
        let mut drops = read_named(&self.room_drops, &ROOM_DROPS);
        drops.extend(
            DropReason::ALL
                .map(|(what, name)| (name.to_owned(), self.drops[what as usize].load(Relaxed))),
        );
        drops.extend(self.acceptance.drops().map(|(name, count)| (name.to_owned(), count)));
        drops
    }
}

fn read_named(counters: &[AtomicU64], names: &[Named]) -> BTreeMap<String, u64> {
    counters
        .iter()
        .zip(names)
        .map(|(count, (name, _))| ((*name).to_owned(), count.load(Relaxed)))
        .collect()
}

#[cfg(test)]
mod tests {
    use ambit_host_protocol::stats::TickFigures;

    use super::*;

    #[test]
    fn each_drop_reason_has_its_own_name_and_counter() {
        for (index, (reason, name)) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{name}");
            let counters = Counters::default();
            counters.dropped(reason);
            let drops = counters.read().drops;
            assert_eq!(drops[name], 1);
            assert_eq!(drops.len(), DropReason::ALL.len() + ROOM_DROPS.len() + 3);
        }
    }

    #[test]
    fn refused_handshakes_are_among_the_drops() {
        let counters = Counters::default();
        counters.acceptance.refused_address.fetch_add(3, Relaxed);
        assert_eq!(counters.read().drops["handshakes/address_full"], 3);
    }

    #[test]
    fn a_client_is_counted_while_it_is_connected() {
        let counters = Counters::default();
        let first = counters.client();
        let second = counters.client();
        assert_eq!(counters.read().clients, 2);
        drop(first);
        assert_eq!(counters.read().clients, 1);
        drop(second);
        assert_eq!(counters.read().clients, 0);
    }

    #[test]
    fn a_room_adds_only_the_difference_to_its_last_stats() {
        let counters = Counters::default();
        let first = RoomStats { enters: 3, bytes_out: 1_000, ..RoomStats::default() };
        let second = RoomStats { enters: 5, bytes_out: 1_500, ..RoomStats::default() };
        counters.advance(&RoomStats::default(), &first);
        counters.advance(&first, &second);
        let stats = counters.read();
        assert_eq!((stats.enters, stats.bytes_out), (5, 1_500));
    }

    #[test]
    fn ticks_are_counted_in_their_buckets() {
        let counters = Counters::default();
        counters.ticked(Duration::from_micros(100), Duration::ZERO);
        counters.ticked(Duration::from_secs(2), Duration::from_millis(3));
        let stats = counters.read();
        assert_eq!(stats.tick_buckets.first(), Some(&1));
        assert_eq!(stats.tick_buckets.last(), Some(&1));
        assert!((stats.tick_seconds_sum - 2.0001).abs() < 1e-9);
        let max_us = |figures: Option<TickFigures>| figures.map(|figures| figures.max_us);
        assert_eq!(
            (max_us(stats.recent_work), max_us(stats.recent_lateness)),
            (Some(2_000_000), Some(3_000))
        );
    }
}
