//! What a host counts, and reports once a second. Counters are sums since the host began.

use std::collections::BTreeMap;

use ambit_proto::ids::RoomId;

/// The figures of a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostStats {
    pub rooms: u32,
    pub players: u32,
    pub datagrams_in: u64,
    pub datagrams_out: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub enters: u64,
    pub leaves: u64,
    pub events: u64,
    /// Commands that were executed.
    pub commands: u64,
    /// Commands that the games refused.
    pub commands_refused: u64,
    /// Ticks by their work. [`crate::TICK_BUCKETS`] has the upper bounds; one more bucket takes the
    /// rest.
    pub tick_buckets: Vec<u64>,
    pub tick_seconds_sum: f64,
    /// Items dropped at bounded queues, by `queue/reason`.
    pub drops: BTreeMap<String, u64>,
    /// Tickets that were refused, by reason.
    pub tickets_refused: BTreeMap<String, u64>,
    /// Events and updates that arrived after their effect time, as the clients report.
    pub late_events: u64,
    pub ticks_skipped: u64,
    /// Share of one core that this process used over the last second, times 1,000.
    pub cpu_permille: u32,
    /// Bytes sent over bytes received, times 1,000, of the client for which that is highest.
    pub amplification_permille: u32,
    /// Game connections now.
    pub clients: u32,
    /// How long the newest 256 ticks of all rooms took.
    pub recent_work: Option<TickFigures>,
    /// How late these ticks began.
    pub recent_lateness: Option<TickFigures>,
    /// Bits of game datagrams, by purpose.
    pub bits: BTreeMap<String, u64>,
    /// Bits of objects, by "game/kind/part": "records", or the class of a pose.
    pub kind_bits: BTreeMap<String, u64>,
    /// Packets and bytes of the host's own endpoint, by direction and part: "out/heads"...
    pub wire: BTreeMap<String, u64>,
    /// How often data was encoded, and how often an encoding was used: `what/made`, `what/used`.
    pub encodings: BTreeMap<String, u64>,
    /// Poses that were due for a client, by outcome.
    pub poses: BTreeMap<String, u64>,
    /// The rooms with the most changes.
    pub room_loads: Vec<RoomLoad>,
    /// Rooms that send less because their ticks take too long.
    pub rooms_late: u32,
    /// The rooms to which no client is connected now.
    pub unplayed_rooms: Vec<RoomId>,
    /// As in [`crate::messages::HostReady`].
    pub ticket_time_unix_s: u64,
    /// Of the rooms that have lost ticks or send less now, those that lose the most ticks now.
    pub late_rooms: Vec<LateRoom>,
    /// SHA-256 of each certificate (DER) that the host shows to browsers, now or next.
    pub web_certificates_sha256: Vec<Vec<u8>>,
    /// The rooms whose games have taken the most time.
    pub room_callbacks: Vec<RoomCallbacks>,
    /// What games have counted themselves, by `game/name`.
    pub game_counts: BTreeMap<String, u64>,
}

/// Median, 99th percentile and maximum, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TickFigures {
    pub p50_us: u32,
    pub p99_us: u32,
    pub max_us: u32,
}

/// The load of the regions of a room's map: squares of cells, row by row from the south-west.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomLoad {
    pub room: RoomId,
    pub columns: u32,
    pub rows: u32,
    /// Cells along an edge of a region.
    pub edge_cells: u32,
    /// Objects now, by region; the two below are by region, too.
    pub objects: Vec<u32>,
    /// Avatars now.
    pub players: Vec<u32>,
    /// Components, poses and events that changed in the last whole 4 s.
    pub changes: Vec<u32>,
}

/// A room that has lost ticks, or sends less, since its ticks take too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateRoom {
    pub room: RoomId,
    /// Since it runs on this host.
    pub ticks_skipped: u64,
    /// How much less it sends, from 0 (everything is sent).
    pub load_level: u32,
    /// Of `ticks_skipped`, those of the last 5 to 10 s.
    pub recent_ticks_skipped: u64,
}

impl LateRoom {
    /// Which of two rooms is later: that with the higher rank.
    pub fn rank(&self) -> (u64, u32, u64) {
        (self.recent_ticks_skipped, self.load_level, self.ticks_skipped)
    }
}

/// What the functions of a room's game have taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomCallbacks {
    pub room: RoomId,
    pub callbacks: Vec<CallbackTime>,
}

/// One function of a game, since the room runs on this host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallbackTime {
    /// Its name: `join`, `step`...
    pub callback: String,
    pub calls: u64,
    /// Nanoseconds in all calls.
    pub nanos: u64,
}
